use crate::Capacity;
use crate::capacity::Player;
use crate::queue::Item;
use weft_units::{Bytes, Duration, Instant, Rate, Rng};

/// Unit of work: bits of work are counted in units of rate (bits per second) times
/// nanoseconds, so that service is exact integer arithmetic.
const WORK_PER_BYTE: u128 = 8 * 1_000_000_000;

/// Transmitter of one packet after the other, in virtual time: free = max(free, arrival)
/// + size / rate, with every change of capacity at its own time.
pub(crate) struct Transmitter<P> {
    player: Player,
    rate: Rate,
    next_rate: Option<(Instant, Rate)>,
    service: Option<Service<P>>,
    bucket: Bucket,
    carry: Carry,
}

/// Work beyond the packet that ended at `at`, because ends are rounded up to a
/// nanosecond. A packet that starts exactly then takes it over, so many packets together
/// are as exact as one.
struct Carry {
    at: Instant,
    work: u128,
}

/// Next event of the transmitter.
pub(crate) enum Step<P> {
    /// The last bit of a packet left the transmitter.
    Sent {
        at: Instant,
        item: Item<P>,
        queued_for: Duration,
    },
    /// The capacity changed.
    RateChanged { at: Instant },
}

/// Packet in transmission, with the `work` remaining as of `since`.
struct Service<P> {
    item: Item<P>,
    work: u128,
    since: Instant,
    finish: Option<Instant>,
    queued_for: Duration,
}

/// Tokens saved during idle time, in units of work, as of `since`.
struct Bucket {
    depth: u128,
    saved: u128,
    since: Instant,
}

impl<P> Transmitter<P> {
    pub fn new(capacity: &Capacity, burst: Bytes, rng: &Rng) -> Transmitter<P> {
        let (player, rate) = Player::new(capacity, rng);
        let depth = work_of(burst);
        let mut transmitter = Transmitter {
            player,
            rate,
            next_rate: None,
            service: None,
            bucket: Bucket {
                depth,
                saved: depth,
                since: Instant::ZERO,
            },
            carry: Carry {
                at: Instant::ZERO,
                work: 0,
            },
        };
        transmitter.next_rate = transmitter.player.next();
        transmitter
    }

    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Whether an arriving packet starts at once.
    pub fn is_idle(&self) -> bool {
        self.service.is_none() && self.rate > Rate::ZERO
    }

    pub fn is_empty(&self) -> bool {
        self.service.is_none()
    }

    pub fn size_in_service(&self) -> Option<Bytes> {
        self.service.as_ref().map(|s| s.item.info.size)
    }

    /// Returns the end of the current transmission at a constant rate.
    pub fn finish(&self) -> Option<Instant> {
        self.service.as_ref()?.finish
    }

    /// Returns the time of the next change of capacity.
    pub fn next_change(&self) -> Option<Instant> {
        self.next_rate.map(|(at, _)| at)
    }

    /// Whether [`Transmitter::step`] has an event until `now`.
    #[inline]
    pub fn is_due(&self, now: Instant) -> bool {
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        is_due(self.finish()) || is_due(self.next_change())
    }

    /// Returns the next event until `now`.
    pub fn step(&mut self, now: Instant) -> Option<Step<P>> {
        let change = self.next_rate.filter(|(at, _)| *at <= now);
        let finish = self.finish().filter(|at| *at <= now);
        match (finish, change) {
            (Some(finish), change) if change.is_none_or(|(at, _)| finish <= at) => {
                let service = self.service.take()?;
                self.bucket.since = finish;
                let done = work_done(self.rate, service.since, finish);
                self.carry = Carry {
                    at: finish,
                    work: done.saturating_sub(service.work),
                };
                Some(Step::Sent {
                    at: finish,
                    item: service.item,
                    queued_for: service.queued_for,
                })
            }
            (_, Some((at, rate))) => {
                self.change_rate(at, rate);
                self.next_rate = self.player.next();
                Some(Step::RateChanged { at })
            }
            _ => None,
        }
    }

    /// Starts a packet; the transmitter must be idle.
    pub fn start(&mut self, at: Instant, item: Item<P>) {
        let mut work = self.bucket.pay(work_of(item.info.size), self.rate, at);
        if self.carry.at == at {
            work = work.saturating_sub(std::mem::take(&mut self.carry.work));
        }
        self.service = Some(Service {
            work,
            since: at,
            finish: end(at, work, self.rate),
            queued_for: item.age(at),
            item,
        });
    }

    /// Sets the capacity to `rate` from now on, replacing any schedule.
    pub fn set_capacity(&mut self, at: Instant, rate: Rate) {
        self.player = Player::Ended;
        self.next_rate = None;
        self.change_rate(at, rate);
    }

    /// Removes the packet in transmission.
    pub fn abort(&mut self, at: Instant) -> Option<Item<P>> {
        let service = self.service.take()?;
        self.bucket.since = at;
        Some(service.item)
    }

    /// Returns the time from `now`, at the current rate, to transmit the rest of the
    /// current packet and `backlog` after it; `None` in an outage.
    pub fn time_for(&self, now: Instant, backlog: Bytes) -> Option<Duration> {
        let left = self.service.as_ref().map_or(0, |s| {
            s.work.saturating_sub(work_done(self.rate, s.since, now))
        });
        let work = left + work_of(backlog);
        if work == 0 {
            return Some(Duration::ZERO);
        }
        time_for(work, self.rate)
    }

    fn change_rate(&mut self, at: Instant, rate: Rate) {
        match &mut self.service {
            Some(service) => {
                let done = work_done(self.rate, service.since, at);
                service.work = service.work.saturating_sub(done);
                service.since = at;
                service.finish = end(at, service.work, rate);
            }
            None => self.bucket.fill(self.rate, at),
        }
        self.rate = rate;
    }
}

impl Bucket {
    /// Adds the tokens for the idle time since the last call.
    fn fill(&mut self, rate: Rate, at: Instant) {
        if self.depth > 0 {
            let more = work_done(rate, self.since, at);
            self.saved = (self.saved + more).min(self.depth);
            self.since = at;
        }
    }

    /// Returns the rest of `work` that the saved tokens do not cover.
    fn pay(&mut self, work: u128, rate: Rate, at: Instant) -> u128 {
        self.fill(rate, at);
        let paid = self.saved.min(work);
        self.saved -= paid;
        work - paid
    }
}

fn work_of(size: Bytes) -> u128 {
    u128::from(size.0) * WORK_PER_BYTE
}

fn work_done(rate: Rate, since: Instant, at: Instant) -> u128 {
    u128::from(rate.as_bps()) * u128::from(at.saturating_since(since).as_nanos())
}

fn end(at: Instant, work: u128, rate: Rate) -> Option<Instant> {
    let nanos = time_for(work, rate)?.as_nanos();
    at.as_nanos().checked_add(nanos).map(Instant::from_nanos)
}

/// Returns the transmission time, rounded up; `None` at rate zero, or if it leaves no
/// room on the clock for the propagation after it.
fn time_for(work: u128, rate: Rate) -> Option<Duration> {
    let rate = rate.as_bps();
    if rate == 0 {
        return None;
    }
    // A 64-bit division is several times faster than a 128-bit one.
    let nanos = match u64::try_from(work) {
        Ok(work) => work.div_ceil(rate),
        Err(_) => u64::try_from(work.div_ceil(u128::from(rate))).ok()?,
    };
    (nanos < u64::MAX / 4).then_some(Duration::from_nanos(nanos))
}

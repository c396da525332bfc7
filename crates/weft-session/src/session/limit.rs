//! Limit on everything that is sent over all paths together: media, copies, repair,
//! retransmissions, probes and reports, with the headers of IP and UDP.
//!
//! It is one token bucket. Sound and reports are always sent and charged afterwards;
//! pictures and retransmissions wait for tokens; copies and repair packets need some of
//! the bucket to stay full, and probes need half of it. Each rank thus gets what the more
//! important ones leave. The target rate is lowered by everything that is sent in
//! addition to media, so that tokens remain.

use weft_units::{Bytes, Duration, Instant, Rate};

use super::{Session, Streams};
use crate::path::{Path, Purpose, Waiting};

/// Time that a full bucket lasts: no second brings more than this above the rate.
/// Together with the traffic that is always sent, it is below a twentieth. Chosen by us.
const BURST: Duration = Duration::from_millis(30);
/// Smallest bucket at low rates: a packet and the part that copies must leave.
const LEAST_BURST: Bytes = Bytes(2600);
/// Waiting time after which copies and repair packets are useless. Chosen by us: a frame
/// time and a half.
const WORTH_WAITING: Duration = Duration::from_millis(50);
/// SRTP tag (RFC 7714), UDP and IPv6 headers of a packet; IPv4 needs 20 bytes less.
const AROUND: u64 = 16 + 8 + 40;
/// Time over which the share of media in all traffic is averaged.
const MEMORY: Duration = Duration::from_secs(1);
/// Interval at which the target rate is reviewed. Chosen by us: two frames.
const NEWS: Duration = Duration::from_millis(60);
/// Share assumed before anything is sent, and lowest share: copies on two more paths,
/// with headers.
const FIRST_SHARE: f64 = 0.85;
const LEAST_SHARE: f64 = 0.25;
/// Part of the limit that is the encoders' target: occasional overshoot must drain.
/// Chosen by us: `no_second_brings_more_than_the_bound`.
const FILLED: f64 = 0.95;
/// Bits times nanoseconds in a byte times a second.
const UNIT: i128 = 8 * 1_000_000_000;

/// Token bucket of everything that is sent.
#[derive(Debug)]
pub(super) struct SendLimit {
    rate: Rate,
    /// Tokens in bytes times [`UNIT`]; negative after traffic that is always sent.
    left: i128,
    at: Instant,
    /// Bytes of media, and of everything that was sent or waited too long.
    media: f64,
    all: f64,
    told_at: Instant,
}

/// Importance of a packet, which decides how much it must leave in the bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rank {
    Unasked,
    Media,
    Copy,
    Probe,
}

impl Rank {
    fn of(purpose: Purpose) -> Rank {
        match purpose {
            Purpose::Audio => Rank::Unasked,
            Purpose::Retransmission | Purpose::Video => Rank::Media,
            Purpose::Copy | Purpose::Repair => Rank::Copy,
            Purpose::Padding => Rank::Probe,
        }
    }
}

/// Decision about the next packet on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    Now,
    At(Instant),
    /// The packet has waited too long.
    Never,
}

impl SendLimit {
    pub fn new(now: Instant, rate: Rate) -> SendLimit {
        let mut limit = SendLimit {
            rate,
            left: 0,
            at: now,
            media: 0.0,
            all: 0.0,
            told_at: now,
        };
        limit.left = limit.burst();
        limit
    }

    fn burst(&self) -> i128 {
        let burst = (self.rate * BURST).max(LEAST_BURST);
        i128::from(burst.0) * UNIT
    }

    fn left_at(&self, now: Instant) -> i128 {
        let since = now.saturating_since(self.at).as_nanos();
        let earned = i128::from(self.rate.as_bps()) * i128::from(since);
        (self.left + earned).min(self.burst())
    }

    /// Returns when there is room for this many bytes.
    fn room_at(&self, rank: Rank, size: Bytes) -> Instant {
        let part = match rank {
            Rank::Unasked => return self.at,
            Rank::Media => 0,
            Rank::Copy => 4,
            Rank::Probe => 2,
        };
        let burst = self.burst();
        let kept = if part == 0 { 0 } else { burst / part };
        let needed = (i128::from(size.0) * UNIT + kept).min(burst);
        let missing = (needed - self.left).max(0);
        let rate = i128::from(self.rate.as_bps().max(1));
        let wait = (missing + rate - 1) / rate;
        self.at + Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX / 2))
    }

    pub(super) fn spend(&mut self, now: Instant, size: Bytes) {
        self.left = self.left_at(now) - i128::from(size.0) * UNIT;
        self.age(now);
        self.at = now;
        self.all += size.0 as f64;
    }

    fn age(&mut self, now: Instant) {
        let since = now.saturating_since(self.at).as_secs_f64();
        let kept = (-since / MEMORY.as_secs_f64()).exp();
        (self.media, self.all) = (self.media * kept, self.all * kept);
    }

    /// Returns whether the share of media may have changed since the last call that
    /// returned true.
    fn is_news(&mut self, now: Instant) -> bool {
        let is_news = now.saturating_since(self.told_at) >= NEWS;
        if is_news {
            self.told_at = now;
        }
        is_news
    }

    /// Returns the rate for the encoders.
    fn for_media(&self) -> Rate {
        /// Bytes from which the share is meaningful.
        const ENOUGH: f64 = 10_000.0;
        let share = match self.all >= ENOUGH {
            true => (self.media / self.all).max(LEAST_SHARE),
            false => FIRST_SHARE,
        };
        self.rate.mul_f64(share * FILLED)
    }
}

/// Returns the size of a packet of this length on the link.
fn on_link(size: Bytes) -> Bytes {
    Bytes(size.0 + AROUND)
}

impl Streams {
    /// Returns the encoder's bytes that this packet carries for the first time.
    fn media_in(&self, waiting: &Waiting) -> usize {
        let is_first = matches!(waiting.purpose, Purpose::Audio | Purpose::Video);
        let stream = self.senders.get(&waiting.stream);
        let packet = stream.and_then(|s| s.get(waiting.sequence));
        packet.filter(|_| is_first).map_or(0, |p| p.payload.len())
    }
}

impl Session {
    /// Charges a packet that is sent this many times, and counts its media.
    pub(super) fn spend(
        &mut self,
        now: Instant,
        size: Bytes,
        times: usize,
        waiting: Option<&Waiting>,
    ) {
        if let Some(limit) = &mut self.limit {
            limit.spend(now, Bytes(on_link(size).0 * times as u64));
            limit.media += waiting.map_or(0, |w| self.streams.media_in(w)) as f64;
            self.rate.moved |= limit.is_news(now);
        }
    }

    /// Returns when the limit allows the next packet of a path.
    pub(super) fn turn(&self, now: Instant, path: &Path) -> Turn {
        let Some(limit) = &self.limit else {
            return Turn::Now;
        };
        let Some(waiting) = path.queue.front() else {
            return Turn::Now;
        };
        let rank = Rank::of(waiting.purpose);
        let times = 1 + waiting.copies.len() as u64;
        let size = Bytes(on_link(waiting.size).0 * times);
        let room_at = limit.room_at(rank, size);
        if room_at <= now {
            return Turn::Now;
        }
        if rank != Rank::Copy {
            return Turn::At(room_at);
        }
        match self.made_at(waiting).map(|at| at + WORTH_WAITING) {
            Some(end) if now < end => Turn::At(room_at.min(end)),
            _ => Turn::Never,
        }
    }

    /// Returns the earliest time at which the limit allows the next packet of a path.
    pub(super) fn turn_at(&self, path: &Path) -> Instant {
        match self.turn(Instant::ZERO, path) {
            Turn::At(at) => at,
            Turn::Now | Turn::Never => Instant::ZERO,
        }
    }

    fn made_at(&self, waiting: &Waiting) -> Option<Instant> {
        let stream = self.streams.senders.get(&waiting.stream)?;
        match (waiting.purpose, &stream.repair) {
            (Purpose::Repair, Some(repair)) => Some(repair.get(waiting.sequence)?.made_at),
            _ => Some(stream.get(waiting.sequence)?.created_at),
        }
    }

    /// Drops a packet that has waited too long. It still counts as demand.
    pub(super) fn leave_out(&mut self, now: Instant, waiting: &Waiting) {
        if let Some(limit) = &mut self.limit {
            limit.age(now);
            limit.left = limit.left_at(now);
            limit.at = now;
            limit.all += on_link(waiting.size).0 as f64;
        }
    }

    /// Returns whether the limit leaves room for a probe.
    pub(super) fn may_probe(&self, now: Instant) -> bool {
        let room = |limit: &SendLimit| limit.room_at(Rank::Probe, on_link(self.config.max_packet));
        self.limit.as_ref().is_none_or(|limit| room(limit) <= now)
    }

    /// Returns the rate for the encoders within the limit.
    pub(super) fn limit_for_media(&self) -> Option<Rate> {
        self.limit.as_ref().map(SendLimit::for_media)
    }

    /// Returns the largest size of the next picture that can leave within this time under
    /// the limit.
    pub(super) fn limit_budget(&self, now: Instant, within: Duration) -> Option<Bytes> {
        let limit = self.limit.as_ref()?;
        let left = limit.left_at(now).max(0) / UNIT;
        let queued: Bytes = self.paths.values().map(|p| p.queue.bytes()).sum();
        let room = Bytes(left as u64) + limit.for_media() * within;
        Some(room.saturating_sub(queued))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    #[test]
    fn each_rank_leaves_something_for_those_before_it() {
        let mut limit = SendLimit::new(ms(0), Rate::from_mbps(8));
        // 30 ms at one byte per microsecond.
        assert_eq!(limit.left, 30_000 * UNIT);
        limit.spend(ms(0), Bytes(29_000));
        let at = |rank| limit.room_at(rank, Bytes(1000));
        assert_eq!(at(Rank::Unasked), ms(0));
        assert_eq!(at(Rank::Media), ms(0));
        assert_eq!(at(Rank::Copy), Instant::ZERO + Duration::from_micros(7500));
        assert_eq!(at(Rank::Probe), ms(15));
        limit.spend(ms(0), Bytes(2000));
        assert_eq!(limit.room_at(Rank::Media, Bytes(1000)), ms(2), "in debt");
        assert_eq!(limit.left_at(ms(10_000)), 30_000 * UNIT, "a full bucket");
    }

    #[test]
    fn copies_of_everything_halve_the_media() {
        let mut limit = SendLimit::new(ms(0), Rate::from_mbps(2));
        assert_eq!(limit.for_media(), Rate::from_kbps(1615));
        for n in 0..1000 {
            limit.spend(ms(n * 10), Bytes(2000));
            limit.media += 1000.0;
        }
        let media = limit.for_media().as_kbps();
        assert!((940.0..=960.0).contains(&media), "{media} kbit/s");
    }
}

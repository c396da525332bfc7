//! Link that carries the newest picture first.

use weft_experiment::Hop;
use weft_links::{Departure, LinkSpec, Medium, MediumSpec, QueueLimit, StationId};
use weft_units::{Bytes, Duration, Instant, Rng};

/// Picture at a point of its route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Picture {
    /// Time of its arrival at this point.
    pub at: Instant,
    /// Its number among the captured pictures.
    pub number: usize,
}

/// Link for the oracle alone. Its medium only transmits; the specification gives the
/// delay after that.
pub(super) struct Crossing {
    medium: Medium<()>,
    from: StationId,
    to: StationId,
    line: LinkSpec,
}

/// Picture whose last bit has left.
struct Sent {
    began_at: Instant,
    ended_at: Instant,
}

/// Loss probability that counts as an outage and not as random loss.
const NOTHING_ARRIVES: f64 = 1.0;

impl Crossing {
    /// Creates the link of this hop on a medium of this kind, with capacity from this
    /// generator.
    pub fn new(spec: &MediumSpec, rng: &Rng, hop: &Hop) -> Crossing {
        let mut alone = spec.clone();
        let link = alone.link_mut(hop.from);
        let link = link.expect("a set-up in which stations share is refused");
        let transmits = LinkSpec {
            burst: link.burst,
            // At most one packet waits, and it is accepted during an outage.
            queue: QueueLimit::Bytes(Bytes(u64::MAX)),
            ..LinkSpec::new(link.capacity.clone(), Duration::ZERO)
        };
        let line = std::mem::replace(link, transmits);
        Crossing {
            medium: Medium::new(&alone, rng),
            from: hop.from,
            to: hop.to,
            line,
        }
    }

    /// Returns the pictures that leave the link if these arrive at it, as long as the
    /// last bit leaves it by `until`. Both lists are in order of time and number.
    pub fn cross(&mut self, pictures: &[Picture], size: Bytes, until: Instant) -> Vec<Picture> {
        let mut arrived: Vec<Picture> = Vec::new();
        let mut idle_at = Instant::ZERO;
        let mut next = 0;
        while let Some(picture) = pictures.get(next) {
            let Some(sent) = self.transmit(idle_at.max(picture.at), size, until) else {
                break;
            };
            // A link starts no transmission during an outage: after it, the link takes
            // the newest picture of that time.
            let newest = pictures.partition_point(|p| p.at <= sent.began_at) - 1;
            let (delay, loss) = self.line.line_at(sent.ended_at);
            if loss < NOTHING_ARRIVES {
                // A decreasing delay does not reorder pictures.
                let last = arrived.last().map_or(Instant::ZERO, |picture| picture.at);
                arrived.push(Picture {
                    at: last.max(sent.ended_at + delay),
                    number: pictures[newest].number,
                });
            }
            idle_at = sent.ended_at;
            next = newest + 1;
        }
        arrived
    }

    /// Transmits one picture, requested when the link is idle or in an outage; `None` if
    /// it has not left by `until`.
    fn transmit(&mut self, asked_at: Instant, size: Bytes, until: Instant) -> Option<Sent> {
        let channel = self.medium.channel_of(self.from);
        self.medium.enqueue(asked_at, self.from, self.to, size, ());
        loop {
            let due = self.medium.poll_timeout(channel)?.at;
            if due > until {
                return None;
            }
            if let Some((_, Departure::Delivered { at, queued_for, .. })) =
                self.medium.poll(due, channel)
            {
                return Some(Sent {
                    began_at: asked_at + queued_for,
                    ended_at: at,
                });
            }
        }
    }
}

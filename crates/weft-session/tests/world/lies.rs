//! False reports of a receiver.

use weft_units::{Instant, Rng};
use weft_wire::rtcp::{Packet, parse_compound};

use super::World;

/// False report on a path's packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lie {
    /// All have arrived, at the same moment, and so have many that are not sent yet.
    AllHaveCome,
    /// None has arrived.
    NoneHasCome,
    /// They arrived at random times within twelve days, as far as that can be expressed.
    AnyTime,
    /// Each arrived before the one that was sent before it.
    BackInTime,
    /// Every other packet has not arrived.
    Half,
}

impl Lie {
    pub const ALL: [Lie; 5] = [
        Lie::AllHaveCome,
        Lie::NoneHasCome,
        Lie::AnyTime,
        Lie::BackInTime,
        Lie::Half,
    ];

    fn tell(self, rng: &mut Rng, arrivals: &mut Vec<Option<Instant>>) {
        /// Packets that are reported before they are sent.
        const MORE: usize = 200;
        match self {
            Lie::AllHaveCome => {
                let last = arrivals.iter().flatten().max().copied();
                arrivals.resize(arrivals.len() + MORE, None);
                arrivals.fill(Some(last.unwrap_or(Instant::ZERO)));
            }
            Lie::NoneHasCome => arrivals.fill(None),
            Lie::AnyTime => {
                const TWELVE_DAYS: u64 = 12 * 86_400 * 1_000_000_000;
                let any = |_| Some(Instant::from_nanos(rng.below(TWELVE_DAYS)));
                *arrivals = (0..arrivals.len()).map(any).collect();
            }
            Lie::BackInTime => arrivals.reverse(),
            Lie::Half => arrivals.iter_mut().step_by(2).for_each(|at| *at = None),
        }
    }
}

/// Selection of the false reports.
#[derive(Default)]
pub struct Lies {
    lie: Option<Lie>,
    /// Only link whose packets are reported falsely, if set.
    link: Option<u8>,
    rng: Option<Rng>,
}

impl Lies {
    /// Returns the replacement for a report.
    pub fn told(&mut self, report: &[u8]) -> Vec<u8> {
        let (Some(lie), Some(rng)) = (self.lie, &mut self.rng) else {
            return report.to_vec();
        };
        let mut packets = parse_compound(report, &mut 1_000_000).expect("a report");
        for packet in &mut packets {
            match packet {
                Packet::PathFeedback(feedback)
                    if self.link.is_none_or(|link| link == feedback.path.0) =>
                {
                    lie.tell(rng, &mut feedback.arrivals);
                    feedback.marks.clear();
                }
                Packet::TransportFeedback(feedback) => lie.tell(rng, &mut feedback.arrivals),
                _ => {}
            }
        }
        let mut told = Vec::new();
        packets.iter().for_each(|packet| packet.write(&mut told));
        told
    }
}

impl World {
    /// Makes the receiver lie from now on: about the packets of one link, if its reports
    /// name links, or about all.
    pub fn lie(&mut self, lie: Lie, link: Option<u8>) {
        self.lies = Lies {
            lie: Some(lie),
            link,
            rng: Some(Rng::new(7)),
        };
    }

    /// Returns the bytes that the sender has sent on each link so far.
    pub fn bytes_sent(&self) -> Vec<u64> {
        let sent = self.links.iter().map(|l| l.up.counters().sent.bytes.0);
        sent.collect()
    }
}

//! False reports of a receiver.

use weft_units::{Instant, Rng};
use weft_wire::rtcp::{Packet, parse_compound};

use super::World;

/// False report of a path's packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lie {
    /// All have come, at the same moment, and many that are still to be sent.
    AllHaveCome,
    /// None has come.
    NoneHasCome,
    /// They came at any time within twelve days, as far as can be told.
    AnyTime,
    /// Each came before the one that was sent before it.
    BackInTime,
    /// Every other one is said not to have come.
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
        /// Packets that are reported though they have not been sent yet.
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

/// Choice of the false reports.
#[derive(Default)]
pub struct Lies {
    lie: Option<Lie>,
    /// Link whose packets alone are reported falsely.
    link: Option<u8>,
    rng: Option<Rng>,
}

impl Lies {
    /// Returns what takes the place of a report.
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
    /// From now on the receiver lies: of the packets of one link, if its reports
    /// know links, or of all.
    pub fn lie(&mut self, lie: Lie, link: Option<u8>) {
        self.lies = Lies {
            lie: Some(lie),
            link,
            rng: Some(Rng::new(7)),
        };
    }

    /// Bytes that the sender has sent by each link so far.
    pub fn bytes_sent(&self) -> Vec<u64> {
        let sent = self.links.iter().map(|l| l.up.counters().sent.bytes.0);
        sent.collect()
    }
}

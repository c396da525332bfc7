//! Receiver that treats lost packets as Janus 1.1 does: it reports arrivals five times a
//! second, requests a packet twice, and drops an RTX packet that it has not requested,
//! after reporting its arrival.

use std::collections::BTreeMap;

use weft_links::LinkSpec;
use weft_session::SchedulerKind;
use weft_units::{Duration, Instant, Ssrc};
use weft_wire::rtcp::{Packet, TransportFeedback, parse_compound};
use weft_wire::rtp::{self, ExtensionMap};

use super::World;

/// Period of Janus' reports (`DEFAULT_TWCC_PERIOD` in its ice.c).
const EVERY: Duration = Duration::from_millis(200);
/// Waits before it requests a missing packet for the first and for the second time
/// (`SEQ_MISSING_WAIT` and `SEQ_NACKED_WAIT`).
const WAITS: [Duration; 2] = [Duration::from_millis(12), Duration::from_millis(155)];
const MEDIA: Ssrc = Ssrc(100);
const RTX: Ssrc = Ssrc(101);

#[derive(Default)]
pub struct Janus {
    extensions: ExtensionMap,
    reported: Instant,
    /// Report of everything that has arrived since the last one.
    held: Option<TransportFeedback>,
    /// Time at which each packet was found missing, and the number of requests for it.
    asked: BTreeMap<u16, (Instant, usize)>,
    /// Media packet that has arrived.
    came: u16,
}

impl Janus {
    /// Returns the messages that the sender gets instead of the receiver's.
    pub fn told(&mut self, now: Instant, message: &[u8]) -> Vec<u8> {
        let packets = parse_compound(message, &mut 1_000_000).expect("our own");
        let mut told = Vec::new();
        for packet in packets {
            match packet {
                Packet::TransportFeedback(report) => self.hold(report),
                Packet::Nack(mut nack) => {
                    nack.lost.retain(|sequence| self.asks(now, *sequence));
                    if !nack.lost.is_empty() {
                        Packet::Nack(nack).write(&mut told);
                    }
                }
                other => other.write(&mut told),
            }
        }
        if now.saturating_since(self.reported) >= EVERY {
            self.reported = now;
            let report = self.held.take().map(Packet::TransportFeedback);
            report.iter().for_each(|report| report.write(&mut told));
        }
        told
    }

    /// Returns whether Janus requests this packet now, which the receiver reports as
    /// missing.
    fn asks(&mut self, now: Instant, sequence: u16) -> bool {
        let (since, times) = self.asked.entry(sequence).or_insert((now, 0));
        let wait = WAITS.get(*times);
        let asks = wait.is_some_and(|wait| now.saturating_since(*since) >= *wait);
        *times += usize::from(asks);
        asks
    }

    fn hold(&mut self, report: TransportFeedback) {
        let Some(held) = &mut self.held else {
            self.held = Some(report);
            return;
        };
        let offset = report.base_sequence.wrapping_sub(held.base_sequence) as i16;
        for (arrival, place) in report.arrivals.iter().zip(i64::from(offset)..) {
            // Earlier packets have been reported.
            let Ok(place) = usize::try_from(place) else {
                continue;
            };
            let length = held.arrivals.len().max(place + 1);
            held.arrivals.resize(length, None);
            held.arrivals[place] = held.arrivals[place].or(*arrival);
        }
    }

    /// Returns the packet that the receiver gets instead: an RTX packet that it has not
    /// requested is replaced by one that it already has.
    pub fn passed(&mut self, packet: &[u8]) -> Vec<u8> {
        let mut passed = packet.to_vec();
        let (header, payload) = rtp::parse(packet, &self.extensions).expect("our own");
        let start = packet.len() - payload.len();
        if header.ssrc == MEDIA {
            self.came = header.sequence;
        } else if let (RTX, [high, low, ..]) = (header.ssrc, payload) {
            let sequence = u16::from_be_bytes([*high, *low]);
            if self
                .asked
                .get(&sequence)
                .is_none_or(|(_, times)| *times == 0)
            {
                passed[start..start + 2].copy_from_slice(&self.came.to_be_bytes());
            }
        }
        passed
    }
}

impl World {
    pub fn with_janus(seed: u64, specs: &[LinkSpec]) -> World {
        let extensions = ExtensionMap {
            transport_sequence: Some(3),
            ..ExtensionMap::default()
        };
        let janus = Janus {
            extensions,
            ..Janus::default()
        };
        let kind = SchedulerKind::default();
        let mut world = World::with_extensions(seed, specs, kind, extensions, false);
        world.janus = Some(janus);
        world
    }
}

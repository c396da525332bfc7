//! Body of the fuzz target `data`, which tests also run.

use std::sync::OnceLock;
use std::time::Instant as StdInstant;

use weft_units::fuzz::records;
use weft_units::{Duration, Instant};

use crate::channels::{DataChannels, MAX_CHANNELS, MAX_MESSAGE, SCTP_PORT};
use crate::{ChannelConfig, ChannelId, Config, Event, Message, Output, Urgency};

/// Length of a packet's common header, and the offset of its checksum (RFC 9260 section 3.1).
const HEADER: usize = 12;
const CHECKSUM: std::ops::Range<usize> = 8..12;
/// Maximum number of answer rounds before time passes.
const MOST_ROUNDS: usize = 100;

/// Feeds the bytes to data channels as packets: from a stranger, and from a peer that
/// opens, sends and closes. The peer's packets are changed on the way, or have invented
/// chunks with a valid checksum. It must never panic, time must advance, and the reported
/// events must stay within their bounds. Returns the number of inputs.
pub fn fuzz_packets(data: &[u8]) -> usize {
    let mut pair = Pair::new();
    pair.settle();
    for (how, content) in records(data) {
        pair.step(how, content);
        pair.settle();
    }
    pair.inputs
}

/// Both ends of an association.
struct Pair {
    now: Instant,
    victim: DataChannels,
    peer: DataChannels,
    /// Latest packet from the peer.
    last: Vec<u8>,
    /// Channels that the victim has open.
    open: Vec<ChannelId>,
    inputs: usize,
}

impl Pair {
    fn new() -> Pair {
        let end = |is_dtls_client| {
            DataChannels::new(Config {
                is_dtls_client,
                remote_port: SCTP_PORT,
                max_message: MAX_MESSAGE,
                epoch: epoch(),
            })
        };
        let now = Instant::ZERO + Duration::from_secs(1);
        let (mut victim, mut peer) = (end(false), end(true));
        for end in [&mut victim, &mut peer] {
            end.connect(now);
        }
        Pair {
            now,
            victim,
            peer,
            last: vec![0; HEADER],
            open: Vec::new(),
            inputs: 0,
        }
    }

    fn step(&mut self, how: u8, content: &[u8]) {
        let now = self.now;
        let channel = ChannelId(2 * u16::from(how >> 4));
        match how & 7 {
            0 => self.handle(content.to_vec()),
            1 | 2 => {
                let header = self.last.iter().take(HEADER).copied();
                let packet = header.chain(content.iter().copied()).collect();
                self.handle(with_checksum(packet));
            }
            3 => {
                let mut packet = self.last.clone();
                let length = packet.len();
                for change in content.chunks_exact(2) {
                    packet[usize::from(change[0]) % length] = change[1];
                }
                self.handle(with_checksum(packet));
            }
            4 => {
                let message = Message::Binary(content.repeat(1 + usize::from(how >> 3)));
                let urgency = Urgency::default();
                let _ = self.peer.send(now, channel, &message, urgency);
            }
            5 => {
                let label = String::from_utf8_lossy(content).into_owned();
                let config = ChannelConfig {
                    label,
                    ..ChannelConfig::default()
                };
                let _ = self.peer.open(now, config);
            }
            6 => self.peer.close(now, channel),
            _ => {
                self.now += Duration::from_millis(1 + 50 * u64::from(how >> 3));
                self.victim.handle_timeout(self.now);
                self.peer.handle_timeout(self.now);
                let next = self.victim.poll_timeout();
                assert!(next.is_none_or(|d| d.at > self.now), "spins: {next:?}");
            }
        }
    }

    fn handle(&mut self, packet: Vec<u8>) {
        self.inputs += 1;
        self.victim.handle_packet(self.now, &packet);
    }

    /// Exchanges packets until neither end has more to send.
    fn settle(&mut self) {
        for _ in 0..MOST_ROUNDS {
            let mut packets = Vec::new();
            while let Some(output) = self.peer.poll_output() {
                if let Output::Packet { packet, .. } = output {
                    packets.push(packet);
                }
            }
            let mut answers = Vec::new();
            for packet in packets {
                self.last.clone_from(&packet);
                self.handle(packet);
            }
            while let Some(output) = self.victim.poll_output() {
                match output {
                    Output::Packet { packet, .. } => answers.push(packet),
                    Output::Event(event) => self.on_event(event),
                }
            }
            if answers.is_empty() {
                return;
            }
            for packet in answers {
                self.inputs += 1;
                self.peer.handle_packet(self.now, &packet);
            }
        }
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Opened { channel, config } => {
                assert!(!self.open.contains(&channel), "{channel:?} opened twice");
                assert!(config.label.len() <= ChannelConfig::MAX_NAME);
                self.open.push(channel);
                assert!(self.open.len() <= MAX_CHANNELS);
            }
            Event::Message { channel, message } => {
                assert!(self.open.contains(&channel), "{channel:?} is not open");
                let length = match message {
                    Message::Text(text) => text.len(),
                    Message::Binary(bytes) => bytes.len(),
                };
                assert!(length <= MAX_MESSAGE, "a message of {length} bytes");
            }
            Event::Closed { channel } => self.open.retain(|open| *open != channel),
            Event::Ended { .. } => self.open.clear(),
        }
    }
}

/// Returns an epoch; any value works in virtual time.
#[allow(clippy::disallowed_methods)]
fn epoch() -> StdInstant {
    static EPOCH: OnceLock<StdInstant> = OnceLock::new();
    *EPOCH.get_or_init(StdInstant::now)
}

/// Sets the checksum, CRC32c in little-endian order (RFC 9260 appendix A).
fn with_checksum(mut packet: Vec<u8>) -> Vec<u8> {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    packet.resize(packet.len().max(HEADER), 0);
    packet[CHECKSUM].fill(0);
    let crc = packet.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (POLYNOMIAL & (crc & 1).wrapping_neg())
        })
    });
    packet[CHECKSUM].copy_from_slice(&(!crc).to_le_bytes());
    packet
}

#[cfg(test)]
mod tests;

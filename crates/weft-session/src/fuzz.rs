//! Body of the fuzz target `session`, which a test also runs.

use weft_units::fuzz::records;
use weft_units::{Codec, Duration, Ecn, Instant, PathId, Rate, Rng, Ssrc, StreamId};
use weft_wire::rtp::{ExtensionMap, Extensions, Header, PathExtension};

use crate::{
    Config, Delivery, Feedback, FeedbackFormat, Frame, Input, Output, ReceiveStreamConfig,
    Retransmission, SendStreamConfig, Session,
};

const MEDIA: Ssrc = Ssrc(100);
const MEDIA_AGAIN: Ssrc = Ssrc(101);
const REPAIR: Ssrc = Ssrc(102);
/// SSRC of the stream that the session sends.
const OURS: Ssrc = Ssrc(200);
const EXTENSIONS: ExtensionMap = ExtensionMap {
    transport_sequence: Some(3),
    path: Some(5),
    mid: None,
    audio_level: None,
    rid: None,
    repaired_rid: None,
    dependency: None,
};
/// Most timers that may be due in a row at the same time.
const MOST_AT_ONCE: usize = 100;

/// Feeds the bytes to a session as packets of a peer with valid keys: whole packets, and
/// well-formed ones with any numbers and content, while paths come and leave, pictures
/// are sent and time passes. The first byte selects the negotiated features. Time must
/// always advance. Returns the number of inputs.
pub fn fuzz_packets(data: &[u8]) -> usize {
    let Some((negotiated, data)) = data.split_first() else {
        return 0;
    };
    let mut call = Call::new(*negotiated);
    for (how, content) in records(data) {
        call.now += Duration::from_millis(u64::from(how >> 3));
        call.step(how & 7, content);
        call.catch_up();
    }
    call.inputs
}

struct Call {
    now: Instant,
    session: Session,
    ours: StreamId,
    inputs: usize,
}

impl Call {
    fn new(negotiated: u8) -> Call {
        let extensions = ExtensionMap {
            path: EXTENSIONS.path.filter(|_| negotiated & 3 == 0),
            transport_sequence: EXTENSIONS
                .transport_sequence
                .filter(|_| negotiated & 3 != 1),
            ..EXTENSIONS
        };
        let config = Config {
            feedback_format: match negotiated & 4 {
                0 => FeedbackFormat::Transport,
                _ => FeedbackFormat::Stream,
            },
            ..Config::new(extensions, Ssrc(1))
        };
        let codec = Codec::ALL[usize::from(negotiated >> 4) % Codec::ALL.len()];
        let mut session = Session::new(Instant::ZERO, config, Rng::new(1));
        session.add_receive_stream(ReceiveStreamConfig {
            ssrc: Some(MEDIA),
            mid: None,
            rid: None,
            payload_type: 96,
            rtx: Some((Some(MEDIA_AGAIN), 97)),
            fec: Some((Some(REPAIR), 98)),
            codec,
            delivery: match negotiated & 8 {
                0 => Delivery::Packets,
                _ => Delivery::Frames,
            },
        });
        let ours = session.add_send_stream(SendStreamConfig {
            ssrc: OURS,
            retransmission: Retransmission::Rtx(Ssrc(201), 97),
            fec: Some((Ssrc(202), 98)),
            payload_type: 96,
            codec,
            mid: None,
            rid: None,
            feedback: Feedback::EachPacket,
        });
        let mut call = Call {
            now: Instant::ZERO,
            session,
            ours,
            inputs: 0,
        };
        for path in [PathId(0), PathId(1)] {
            let rtt = Duration::from_millis(20);
            call.input(Input::PathUp { path, rtt });
        }
        call
    }

    fn input(&mut self, input: Input<'_>) {
        self.inputs += 1;
        self.session.handle_input(self.now, input);
    }

    fn step(&mut self, what: u8, content: &[u8]) {
        let (ecn, path) = (Ecn::NotEct, PathId(content.first().map_or(0, |b| b & 1)));
        let packet = &media(content)[..];
        match what {
            0 => self.input(Input::Rtp {
                path,
                ecn,
                packet: content,
            }),
            1 => self.input(Input::Rtcp {
                path,
                packet: content,
            }),
            2 => self.input(Input::Rtp { path, ecn, packet }),
            3 => self.input(Input::RtpAgain { path, ecn, packet }),
            4 => {
                let packet = &rtcp(content)[..];
                self.input(Input::Rtcp { path, packet });
            }
            5 => match content {
                [0, ..] => self.input(Input::PathSilent { path }),
                [1, ..] => self.input(Input::PathDown { path }),
                [3, ..] => self.input(Input::PathRemoved { path }),
                [2, ms, ..] => self
                    .session
                    .set_max_rate(self.now, Rate::from_kbps(u64::from(*ms) * 40)),
                [ms, ..] => {
                    let rtt = Duration::from_millis(u64::from(*ms));
                    self.input(Input::PathUp { path, rtt });
                }
                [] => self.session.request_keyframe(self.now, self.ours),
            },
            6 => self.send(content),
            _ => {
                let longer = content.iter().map(|b| u64::from(*b)).sum();
                self.now += Duration::from_millis(longer);
            }
        }
    }

    /// Sends a picture or sound.
    fn send(&mut self, content: &[u8]) {
        let size = match content {
            [high, low, ..] => usize::from(u16::from_be_bytes([high & 0x1f, *low])),
            _ => content.len(),
        };
        let frame = Frame {
            data: &vec![1; size],
            timestamp: (self.now.as_nanos() / 11_111) as u32,
            keyframe: content.len() & 1 == 0,
            temporal_layer: content.get(2).map(|b| b & 3),
            layer_sync: false,
            non_reference: false,
            captured_at: self.now,
            audio_level: None,
        };
        self.inputs += 1;
        let sent = self.session.send_frame(self.now, self.ours, &frame);
        sent.expect("it has the stream");
    }

    /// Handles due timers and drains the session's outputs.
    fn catch_up(&mut self) {
        for _ in 0..MOST_AT_ONCE {
            while let Some(output) = self.session.poll_output() {
                if let Output::Transmit(sent) = output {
                    self.session.recycle(sent.packet);
                }
            }
            if self.session.poll_timeout().is_none_or(|d| d.at > self.now) {
                return;
            }
            self.input(Input::Timeout);
        }
        panic!("spins: {:?}", self.session.poll_timeout());
    }
}

/// Builds a packet of a known stream, or nearly so: the peer chooses the stream, numbers
/// and payload.
fn media(content: &[u8]) -> Vec<u8> {
    let (head, payload) = content.split_at(content.len().min(10));
    let byte = |place: usize| head.get(place).copied().unwrap_or(0);
    let word = |place: usize| u16::from_be_bytes([byte(place), byte(place + 1)]);
    let (ssrc, payload_type) = match byte(1) & 7 {
        0 => (MEDIA_AGAIN, 97),
        1 => (REPAIR, 98),
        2 => (Ssrc(300), 96),
        _ => (MEDIA, 96),
    };
    let header = Header {
        marker: byte(1) & 8 != 0,
        payload_type,
        sequence: word(2),
        timestamp: u32::from(word(4)) << (byte(1) >> 5),
        ssrc,
        extensions: Extensions {
            transport_sequence: Some(word(6)),
            path: Some(PathExtension {
                path: PathId(byte(0) >> 1),
                stream_sequence: word(8),
                transport_sequence: word(6),
            }),
            ..Extensions::default()
        },
    };
    let mut packet = Vec::new();
    let of = [MEDIA];
    let sources = if ssrc == REPAIR { &of[..] } else { &[] };
    header.write_with_sources(&EXTENSIONS, sources, &mut packet);
    packet.extend_from_slice(payload);
    packet
}

/// Builds a message of any type about the stream that the session sends.
fn rtcp(content: &[u8]) -> Vec<u8> {
    let [_, packet_type, count, body @ ..] = content else {
        return Vec::new();
    };
    let mut message = vec![0x80 | count & 31, 200 | packet_type & 7, 0, 0];
    message.extend_from_slice(&1_u32.to_be_bytes());
    if count & 32 == 0 {
        message.extend_from_slice(&OURS.0.to_be_bytes());
    }
    message.extend_from_slice(body);
    message.resize(message.len().next_multiple_of(4), 0);
    let words = (message.len() / 4 - 1) as u16;
    message[2..4].copy_from_slice(&words.to_be_bytes());
    message
}

#[cfg(test)]
mod tests;

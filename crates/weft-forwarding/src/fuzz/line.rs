//! Other end of a connection to a fuzzed plane.

use weft_ice::{Credentials, RemoteCandidate};
use weft_peer::PeerConfig;
use weft_secure::{Association, DtlsRole, Remote};
use weft_units::{PathId, Ssrc};
use weft_wire::rtp::{ExtensionMap, Extensions, Header, PathExtension};
use weft_wire::sdp::{SessionDescription, Setup};

use super::server;

/// Other end of a connection, which can send any packet.
pub(super) struct Line {
    pub association: Association,
    /// Plane that the connection belongs to.
    pub plane: usize,
    pub ours: Ssrc,
    pub theirs: Ssrc,
    pub extensions: ExtensionMap,
}

impl Line {
    /// Writes a media packet with numbers and payload from the content.
    pub fn media(&self, content: &[u8]) -> Vec<u8> {
        let (head, payload) = content.split_at(content.len().min(10));
        let byte = |place: usize| head.get(place).copied().unwrap_or(0);
        let word = |place: usize| u16::from_be_bytes([byte(place), byte(place + 1)]);
        let header = Header {
            marker: byte(0) & 1 == 1,
            payload_type: 96 + (byte(0) >> 1 & 3),
            sequence: word(1),
            timestamp: u32::from(word(3)) * 90,
            ssrc: Ssrc(self.ours.0.wrapping_add(u32::from(byte(0) >> 6))),
            extensions: Extensions {
                transport_sequence: Some(word(5)),
                path: Some(PathExtension {
                    path: PathId(byte(9)),
                    stream_sequence: word(7),
                    transport_sequence: word(5),
                }),
                ..Extensions::default()
            },
        };
        let mut packet = Vec::new();
        header.write(&self.extensions, &mut packet);
        packet.extend_from_slice(payload);
        packet
    }

    /// Writes an RTCP message of any type about the stream that it receives.
    pub fn rtcp(&self, content: &[u8]) -> Vec<u8> {
        let [packet_type, count, body @ ..] = content else {
            return vec![0x80, 201, 0, 1, 0, 0, 0, 1];
        };
        let mut message = vec![0x80 | count & 31, 200 | packet_type & 7, 0, 0];
        message.extend_from_slice(&self.ours.0.to_be_bytes());
        if count & 32 == 0 {
            message.extend_from_slice(&self.theirs.0.to_be_bytes());
        }
        message.extend_from_slice(body);
        message.resize(message.len().next_multiple_of(4), 0);
        let words = (message.len() / 4 - 1) as u16;
        message[2..4].copy_from_slice(&words.to_be_bytes());
        message
    }
}

/// Returns the text with a piece replaced; the first bytes are the offset (two) and the
/// length (one).
pub(super) fn changed(text: String, changes: &[u8]) -> String {
    let [high, low, length, new @ ..] = changes else {
        return text;
    };
    let mut bytes = text.into_bytes();
    let at = usize::from(u16::from_be_bytes([*high, *low])) % bytes.len();
    let end = bytes.len().min(at + usize::from(*length));
    bytes.splice(at..end, new.iter().copied());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the server's values in its answer.
pub(super) fn remote(answer: &SessionDescription) -> Option<Remote> {
    let media = answer.media.first()?;
    let fingerprint = media.fingerprint.as_ref()?.to_string();
    Some(Remote {
        credentials: Credentials {
            ufrag: media.ice_ufrag.clone()?,
            pwd: media.ice_pwd.clone()?,
        },
        fingerprint: fingerprint.parse().ok()?,
        dtls: match media.setup {
            Some(Setup::Active) => DtlsRole::Server,
            _ => DtlsRole::Client,
        },
        candidates: vec![RemoteCandidate {
            addr: server(),
            priority: 1,
        }],
    })
}

/// Returns the answer to a plane's offer from an end with this configuration: the offer
/// itself, with reversed directions.
pub(super) fn answer_to(offer: &str, config: &PeerConfig) -> String {
    let Credentials { ufrag, pwd } = &config.association.ice.credentials;
    let fingerprint = config.association.certificate.fingerprint();
    let turned = |line: &str| match line.split_once(':').unwrap_or((line, "")).0 {
        "a=ice-ufrag" => Some(format!("a=ice-ufrag:{ufrag}")),
        "a=ice-pwd" => Some(format!("a=ice-pwd:{pwd}")),
        "a=fingerprint" => Some(format!("a=fingerprint:{fingerprint}")),
        "a=setup" => Some("a=setup:active".to_owned()),
        "a=sendonly" => Some("a=recvonly".to_owned()),
        "a=candidate" | "a=end-of-candidates" | "a=ssrc" | "a=ssrc-group" | "a=msid" => None,
        _ => Some(line.to_owned()),
    };
    let lines: Vec<String> = offer.lines().filter_map(turned).collect();
    lines.join("\r\n") + "\r\n"
}

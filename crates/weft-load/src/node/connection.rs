//! Connection of a client, and its counters.

use std::net::SocketAddr;

use weft_peer::Peer;
use weft_units::{Instant, Rate, Rng, StreamId};

use super::leaving::Leaving;
use crate::received::{Received, Span};
use crate::replay::Replay;
use crate::weak::WeakLink;

/// Returns the header bytes of a datagram: IPv4 and UDP (RFC 791, RFC 768), or IPv6 and UDP
/// (RFC 8200).
pub(super) fn headers(remote: SocketAddr) -> u64 {
    match remote {
        SocketAddr::V4(_) => 20 + 8,
        SocketAddr::V6(_) => 40 + 8,
    }
}

/// Client that is being created.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewClient {
    /// Participant that it belongs to.
    pub member: u32,
    /// Time at which its participant started to join.
    pub requested_at: Instant,
    /// Rate of the slow link to it, if there is one.
    pub weak: Option<Rate>,
}

/// Datagrams within the measurement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traffic {
    /// Bytes of all of them, with IP and UDP headers.
    pub bytes: u64,
    /// RTP packets.
    pub rtp: u64,
}

impl Traffic {
    pub fn count(&mut self, remote: SocketAddr, len: usize) {
        self.bytes += len as u64 + headers(remote);
    }
}

/// Connection of a client.
pub(super) struct Connection {
    pub new: NewClient,
    pub role: Role,
    pub weak: Option<WeakLink>,
    pub answered_at: Instant,
    pub connected_at: Option<Instant>,
    pub first_rtp_at: Option<Instant>,
    /// Reason why it ended.
    pub failed: Option<String>,
    pub received: Traffic,
    pub sent: Traffic,
}

/// Direction of a client's media.
pub(crate) enum Role {
    Publisher(Box<Publisher>),
    Viewer(Received),
}

/// Streams of a publisher.
pub(crate) struct Publisher {
    pub replay: Replay,
    /// Streams of the encodings, the smallest first.
    pub video: Vec<StreamId>,
    pub sound: Option<StreamId>,
    /// Number of sound packets so far, and the time of the next one.
    pub sounds: u64,
    pub next_sound: Instant,
    /// Pictures that have not been sent completely.
    pub leaving: Leaving,
}

/// Report of a connection.
#[derive(Debug)]
pub(crate) struct ConnectionReport {
    pub new: NewClient,
    /// Time at which both descriptions were available.
    pub answered_at: Instant,
    pub connected_at: Option<Instant>,
    pub first_rtp_at: Option<Instant>,
    pub failed: Option<String>,
    pub received: Traffic,
    pub sent: Traffic,
    /// Datagrams lost on the slow link.
    pub weak_lost: u64,
    pub role: RoleReport,
}

/// Counters of a client, by its role.
#[derive(Debug)]
pub(crate) enum RoleReport {
    Publisher {
        /// Times of its pictures, by number.
        sent_at: Vec<Instant>,
        /// Skipped pictures.
        skipped: u64,
        /// Keyframes that the server requested.
        keyframe_requests: u64,
        /// Target rate at the end.
        target: Rate,
    },
    Viewer {
        received: Received,
        /// Packets of pictures and sound since the start.
        packets: Packets,
        /// Publishers whose picture was frozen at the end.
        frozen: Vec<u32>,
    },
}

/// Packets of a viewer since the start, by their sequence numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Packets {
    /// Packets that arrived in time, originally or by repair.
    pub received: u64,
    /// Packets of these that arrived only by repair.
    pub repaired: u64,
    /// Packets that did not arrive.
    pub missing: u64,
}

/// Whether a datagram is RTP, not RTCP, STUN or DTLS (RFC 7983 section 7, RFC 5761
/// section 4).
fn is_rtp(datagram: &[u8]) -> bool {
    matches!(datagram, [128..=191, second, ..] if !(192..=223).contains(second))
}

impl Connection {
    pub fn new(now: Instant, new: NewClient, role: Role) -> Connection {
        let rng = Rng::new(u64::from(new.member));
        Connection {
            weak: new.weak.map(|rate| WeakLink::new(rate, rng)),
            answered_at: now,
            new,
            role,
            connected_at: None,
            first_rtp_at: None,
            failed: None,
            received: Traffic::default(),
            sent: Traffic::default(),
        }
    }

    pub fn on_datagram(
        &mut self,
        now: Instant,
        measured: bool,
        remote: SocketAddr,
        datagram: &[u8],
    ) {
        let rtp = is_rtp(datagram);
        if rtp {
            self.first_rtp_at.get_or_insert(now);
        }
        if measured {
            self.received.count(remote, datagram.len());
            self.received.rtp += u64::from(rtp);
        }
    }

    pub fn on_connected(&mut self, now: Instant) {
        self.connected_at.get_or_insert(now);
        if let Role::Publisher(publisher) = &mut self.role {
            publisher.replay.start(now);
            publisher.next_sound = now;
        }
    }

    pub fn on_keyframe_requested(&mut self, stream: StreamId) {
        if let Role::Publisher(publisher) = &mut self.role {
            let encoding = publisher.video.iter().position(|video| *video == stream);
            if let Some(encoding) = encoding {
                publisher.replay.request_keyframe(encoding);
            }
        }
    }

    pub fn on_target(&mut self, rate: Rate, with_sound: bool) {
        if let Role::Publisher(publisher) = &mut self.role {
            publisher.replay.set_target(rate, with_sound);
        }
    }

    pub fn set_wanted(&mut self, wanted: &[bool]) {
        if let Role::Publisher(publisher) = &mut self.role {
            publisher.replay.set_wanted(wanted);
        }
    }

    pub fn report(
        &self,
        now: Instant,
        peer: Option<&Peer>,
        span: Option<Span>,
    ) -> ConnectionReport {
        let stats = peer.map(|peer| peer.session().stats());
        let role = match &self.role {
            Role::Publisher(publisher) => RoleReport::Publisher {
                sent_at: publisher.replay.sent_at().to_vec(),
                skipped: publisher.replay.skipped(),
                keyframe_requests: publisher.replay.keyframe_requests(),
                target: stats.map_or(Rate::ZERO, |stats| stats.target_rate),
            },
            Role::Viewer(received) => {
                let mut packets = Packets::default();
                for (_, stream) in stats.iter().flat_map(|stats| &stats.receivers) {
                    packets.received += stream.packets.received;
                    packets.repaired += stream.packets.recovered;
                    packets.missing += stream.packets.missing;
                }
                let end = span.map_or(now, |span| span.until.min(now));
                let frozen = received.by_publisher.iter();
                let frozen = frozen.filter(|(_, from)| from.freezes.is_frozen(end));
                RoleReport::Viewer {
                    packets,
                    frozen: frozen.map(|(publisher, _)| *publisher).collect(),
                    received: received.clone(),
                }
            }
        };
        ConnectionReport {
            new: self.new,
            answered_at: self.answered_at,
            connected_at: self.connected_at,
            first_rtp_at: self.first_rtp_at,
            failed: self.failed.clone(),
            received: self.received,
            sent: self.sent,
            weak_lost: self.weak.as_ref().map_or(0, WeakLink::lost),
            role,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rtp_counts_as_media() {
        assert!(is_rtp(&[0x80, 96, 0]));
        assert!(is_rtp(&[0x90, 0x80 | 96, 0]));
        // A sender report, a STUN request, a DTLS record, nothing.
        for other in [&[0x80, 200, 0][..], &[0, 1, 0], &[22, 254, 253], &[]] {
            assert!(!is_rtp(other), "{other:?}");
        }
    }
}

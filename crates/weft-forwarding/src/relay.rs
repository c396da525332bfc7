//! Messages between the planes of one server.
//!
//! Each participant belongs to one plane. Its publication is decrypted there once and
//! sent to the other planes that have viewers of it. So a relay is a sink of one plane
//! and a source of another.

use crate::publisher::{Places, Publisher, Slot};
use crate::routing::TrackId;
use crate::topics::Topic;
use weft_peer::stun_user_name;
use weft_rooms::Publishing;
use weft_units::{Ecn, FiveTuple, Rate};
use weft_wire::media::MediaPacket;
use weft_wire::payload::Form;

/// Maximum number of planes in one server: each has its own character in ICE's user names
/// (RFC 8839 section 5.4).
pub const MAX_PLANES: usize = NAMES.len();

const NAMES: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Plane of a server, numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaneId(u8);

impl PlaneId {
    /// Returns the plane with this number; `None` from [`MAX_PLANES`] on.
    #[must_use]
    pub fn new(number: usize) -> Option<PlaneId> {
        let number = u8::try_from(number).ok()?;
        (usize::from(number) < MAX_PLANES).then_some(PlaneId(number))
    }

    /// Number of the plane, from 0.
    #[must_use]
    pub fn number(self) -> usize {
        usize::from(self.0)
    }

    /// First character of the user names of its peers.
    pub(crate) fn name(self) -> char {
        char::from(NAMES[self.number()])
    }

    /// Returns the plane that a connectivity check is for, in a server with this many
    /// planes; `None` if the datagram is not a check with such a name. It may be forged.
    #[must_use]
    pub fn of_check(datagram: &[u8], planes: usize) -> Option<PlaneId> {
        let name = stun_user_name(datagram)?;
        match planes {
            1 => PlaneId::new(0),
            _ => PlaneId::of_user_name(name).filter(|plane| plane.number() < planes),
        }
    }

    /// Returns the plane that assigned this user name to a peer.
    pub(crate) fn of_user_name(name: &str) -> Option<PlaneId> {
        let first = name.bytes().next()?;
        PlaneId::new(NAMES.iter().position(|name| *name == first)?)
    }
}

/// Message from one plane to another. Messages between two planes keep their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Relayed(pub(crate) Message);

impl Relayed {
    /// Whether the message may be lost if the other plane is too slow: a media packet or
    /// a datagram. After a loss, send [`Relayed::interrupted`].
    #[must_use]
    pub fn is_optional(&self) -> bool {
        matches!(self.0, Message::Packet { .. } | Message::Datagram { .. })
    }

    /// Returns the message that messages to the other plane were lost: its viewers
    /// continue with the next keyframes.
    #[must_use]
    pub fn interrupted() -> Relayed {
        Relayed(Message::Interrupted)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    /// Datagram that the system delivered to another plane's socket.
    Datagram {
        tuple: FiveTuple,
        ecn: Ecn,
        octets: Vec<u8>,
    },
    /// A peer of the sender has sent an authenticated check between these addresses.
    Claimed {
        tuple: FiveTuple,
        /// Whether it has also answered a check there, which proves that its address is
        /// not forged.
        proved: bool,
    },
    /// Present publication of a participant; `None` if it has ended.
    Published {
        publisher: Publisher,
        publication: Option<Announced>,
    },
    /// The sender has viewers of this track, or has no longer.
    Wanted { track: TrackId, wanted: bool },
    /// Packet of one of the sender's tracks.
    Packet { track: TrackId, packet: MediaPacket },
    /// Message from a participant on a data channel.
    Said {
        topic: Topic,
        message: weft_peer::data::Message,
    },
    /// Packets before this message are missing.
    Interrupted,
    /// A viewer needs a keyframe of this track.
    KeyframeWanted { track: TrackId },
    /// Rates of a participant's publication that the sender's viewers can use.
    Usable { publisher: Publisher, rates: Usable },
    /// Rates that the sender's viewers could use.
    Demands { rates: Vec<Rate> },
}

/// Publication as other planes see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Announced {
    /// Number of its connection; a new connection has other packet numbers.
    pub(crate) source: u64,
    /// Streams that are played.
    pub(crate) streams: Publishing,
    /// Places, forms and encodings.
    pub(crate) tracks: Vec<(Slot, Form, Vec<TrackId>)>,
}

impl Announced {
    /// Places of its tracks, with their forms and numbers of encodings.
    pub(crate) fn places(&self) -> Places {
        let tracks = self.tracks.iter();
        let places = tracks.map(|(slot, form, encodings)| (*slot, *form, encodings.len()));
        places.collect()
    }
}

/// Rates of a publication that viewers can use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usable {
    /// Rate of the viewer who can use the most; `None` without viewers.
    pub(crate) most: Option<Rate>,
    /// Rate at which the weakest viewer sees half of the pictures.
    pub(crate) fitting: Option<Rate>,
    /// Rate of the publication when they were measured: a plane gets only the tracks that
    /// have players there.
    pub(crate) published: Rate,
}

impl Usable {
    /// Combines the rates of two groups of viewers. `self` sees everything that is
    /// published; viewers can use the unseen part in addition to what they play.
    pub(crate) fn and(self, other: Usable) -> Usable {
        let unseen = self.published.saturating_sub(other.published);
        let [most, fitting] = [other.most, other.fitting].map(|rate| Some(rate? + unseen));
        Usable {
            most: self.most.max(most),
            fitting: [self.fitting, fitting].into_iter().flatten().min(),
            published: self.published,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_is_found_by_the_user_names_that_it_gives() {
        for number in 0..MAX_PLANES {
            let plane = PlaneId::new(number).expect("there are as many");
            let name = format!("{}rest", plane.name());
            assert_eq!(PlaneId::of_user_name(&name), Some(plane));
        }
        assert_eq!(PlaneId::new(MAX_PLANES), None);
        assert_eq!(PlaneId::of_user_name(""), None);
        assert_eq!(PlaneId::of_user_name("-rest"), None);
    }

    #[test]
    fn the_strongest_and_the_weakest_viewer_of_all_count() {
        let kbps = Rate::from_kbps;
        let one = Usable {
            most: Some(kbps(500)),
            fitting: None,
            published: kbps(1_000),
        };
        let other = Usable {
            most: Some(kbps(300)),
            fitting: Some(kbps(200)),
            published: kbps(900),
        };
        let both = Usable {
            fitting: Some(kbps(300)),
            ..one
        };
        assert_eq!(one.and(other), both);
        let stronger = Usable {
            most: Some(kbps(600)),
            ..other
        };
        assert_eq!(one.and(stronger).most, Some(kbps(700)));
        assert_eq!(one.and(Usable::default()), one);
    }
}

//! Kinds of attack.

use std::fmt;

use crate::member::Part;

/// Kind of attack.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Sends media whose numbers jump by a thousand or more from packet to packet.
    Jumps,
    /// Reports arrivals in run lengths of thousands of packets.
    Runs,
    /// Requests hundreds of packets again and again.
    Nacks,
    /// Sends small RTCP messages, as many as fit into each datagram.
    Messages,
    /// Requests keyframes all the time.
    Keyframes,
    /// Says goodbye on streams that continue.
    Goodbyes,
    /// Sends media with a new source in each packet.
    Sources,
    /// Sends nonsense with a valid key.
    Garbage,
    /// Repeats packets that it has sent before.
    Replays,
    /// Sends as much as its link carries.
    Floods,
    /// Sends the smallest possible packets.
    Crumbs,
    /// Claims the server's role in ICE, and then gives it up.
    Roles,
    /// Sends its own signed checks from others' addresses.
    Forges,
    /// Sends nonsense from everybody's addresses.
    Noise,
    /// Requests connections to others' addresses, 32 at a time.
    Reflects,
    /// Requests connections and is not heard again.
    Vanishes,
    /// Requests statistics.
    Figures,
    /// Joins the room and connects, leaves, and joins again.
    Joins,
    /// Receives almost nothing: its link is far too slow for the media that it plays.
    Sips,
}

impl Kind {
    pub const ALL: [Kind; 19] = [
        Kind::Jumps,
        Kind::Runs,
        Kind::Nacks,
        Kind::Messages,
        Kind::Keyframes,
        Kind::Goodbyes,
        Kind::Sources,
        Kind::Garbage,
        Kind::Replays,
        Kind::Floods,
        Kind::Crumbs,
        Kind::Roles,
        Kind::Forges,
        Kind::Noise,
        Kind::Reflects,
        Kind::Vanishes,
        Kind::Figures,
        Kind::Joins,
        Kind::Sips,
    ];

    /// Returns the parts for which it needs a connection; empty for attacks without one.
    pub fn parts(self, whom: &str) -> Vec<Part> {
        let plays = || Part::Plays(whom.to_owned());
        match self {
            Kind::Jumps
            | Kind::Sources
            | Kind::Garbage
            | Kind::Replays
            | Kind::Messages
            | Kind::Roles
            | Kind::Joins
            | Kind::Forges => vec![Part::Publishes, plays()],
            Kind::Floods | Kind::Crumbs | Kind::Goodbyes => vec![Part::Publishes],
            Kind::Runs | Kind::Nacks | Kind::Keyframes | Kind::Sips => vec![plays()],
            Kind::Noise | Kind::Reflects | Kind::Vanishes | Kind::Figures => Vec::new(),
        }
    }

    /// Whether the attack is in published media, which others play.
    pub fn is_published(self) -> bool {
        use Kind::{Crumbs, Floods, Garbage, Goodbyes, Jumps, Replays, Sources};
        matches!(
            self,
            Jumps | Sources | Garbage | Replays | Floods | Crumbs | Goodbyes
        )
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

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
    /// Asks for hundreds of packets again and again.
    Nacks,
    /// Sends small RTCP messages, as many as fit each datagram.
    Messages,
    /// Asks for keyframes all the time.
    Keyframes,
    /// Says goodbye on streams that go on.
    Goodbyes,
    /// Sends media under a new source with each packet.
    Sources,
    /// Sends nonsense under a valid key.
    Garbage,
    /// Sends packets again that it has sent before.
    Replays,
    /// Sends as much as its link carries.
    Floods,
    /// Sends the smallest packets that there are.
    Crumbs,
    /// Claims the server's role in ICE, and gives it back.
    Roles,
    /// Sends its own signed checks from others' addresses.
    Forges,
    /// Sends nonsense from everybody's addresses.
    Noise,
    /// Asks for connections to others' addresses, 32 at a time.
    Reflects,
    /// Asks for connections and is not heard of again.
    Vanishes,
    /// Asks for figures.
    Figures,
    /// Joins with all that belongs to it, leaves, and joins again.
    Joins,
    /// Receives almost nothing: its link is far too slow for what it plays.
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

    /// Returns the parts that it needs a connection for; none for attacks without one.
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

    /// Whether the attack is in published media, for others to play.
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

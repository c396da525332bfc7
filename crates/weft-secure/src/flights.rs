#[cfg(test)]
mod tests;

use crate::record::{self, Position};
use weft_units::FiveTuple;

/// Choice of the path of each DTLS flight, among those where checks are answered.
///
/// Some paths pass checks and media but drop DTLS. So a reply takes the path on which the peer's
/// record has just arrived. A flight that is sent again, after a timeout or a repetition by the
/// peer, takes the path that no flight has used for longest. If both ends do so, they meet on any
/// pair of paths, even if each passes DTLS in one direction only.
#[derive(Default)]
pub(crate) struct Flights {
    /// Paths of the flights so far, the latest last.
    used: Vec<FiveTuple>,
    next: Next,
    /// Newest position in the peer's side of the handshake.
    newest: Option<Position>,
}

/// Choice of path for the next datagram.
#[derive(Default)]
enum Next {
    /// The first of the handshake: the preferred path.
    #[default]
    First,
    /// Reply to a record that arrived on this path.
    Reply(FiveTuple),
    /// The last flight did not arrive: another path.
    Another,
    /// Part of the same flight: the same path.
    Same,
}

impl Flights {
    /// Notes a datagram from the peer before it is handled.
    pub fn on_datagram(&mut self, path: FiveTuple, datagram: &[u8]) {
        let position = record::position(datagram);
        let repeats = position.is_some() && position <= self.newest;
        self.newest = self.newest.max(position);
        self.next = match repeats {
            true => Next::Another,
            false => Next::Reply(path),
        };
    }

    /// Notes that no answer arrived in time.
    pub fn on_timeout(&mut self) {
        self.next = Next::Another;
    }

    /// Returns the path of the next datagram; `None` if no path is valid. `valid` starts
    /// with the preferred path.
    pub fn route(&mut self, valid: &[FiveTuple]) -> Option<FiveTuple> {
        let is_valid = |path: &FiveTuple| valid.contains(path);
        let last = self.used.last().copied();
        let chosen = match self.next {
            Next::First => None,
            Next::Reply(path) => Some(path),
            Next::Same => last,
            Next::Another => self.least_used(valid),
        };
        let chosen = chosen.filter(is_valid).or(valid.first().copied())?;
        self.used.retain(|path| is_valid(path) && *path != chosen);
        self.used.push(chosen);
        self.next = Next::Same;
        Some(chosen)
    }

    /// Returns the path that has not been used for longest; unused paths come before all others.
    fn least_used(&self, valid: &[FiveTuple]) -> Option<FiveTuple> {
        let turn = |path: &&FiveTuple| self.used.iter().position(|used| used == *path);
        valid.iter().min_by_key(turn).copied()
    }
}

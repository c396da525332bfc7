#[cfg(test)]
mod tests;

use crate::record::{self, Position};
use weft_units::FiveTuple;

/// Chooses the path of each DTLS flight among those where checks are answered.
///
/// There are paths that pass checks and media and drop DTLS. So a reply goes
/// where the peer's record arrived, which that path has just let pass; and a flight that is
/// sent again, because time ran out or the peer repeats itself, goes to the path that
/// no flight has used for longest. Two ends that do so meet on any pair of paths,
/// also if each passes DTLS in one direction only.
#[derive(Default)]
pub(crate) struct Flights {
    /// Paths that flights went to, the latest last.
    used: Vec<FiveTuple>,
    next: Next,
    /// Newest piece of the peer's side of the handshake.
    newest: Option<Position>,
}

/// Where the next datagram goes.
#[derive(Default)]
enum Next {
    /// The handshake's first: the preferred path.
    #[default]
    First,
    /// It answers a record that arrived here.
    Reply(FiveTuple),
    /// The last flight did not arrive.
    Another,
    /// It belongs to the last one's flight.
    Same,
}

impl Flights {
    /// Takes a datagram of the peer's, before it is handled.
    pub fn on_datagram(&mut self, path: FiveTuple, datagram: &[u8]) {
        let position = record::position(datagram);
        let repeats = position.is_some() && position <= self.newest;
        self.newest = self.newest.max(position);
        self.next = match repeats {
            true => Next::Another,
            false => Next::Reply(path),
        };
    }

    /// The time for an answer has run out.
    pub fn on_timeout(&mut self) {
        self.next = Next::Another;
    }

    /// Returns the path of the next datagram; none if none is valid. `valid` has the
    /// preferred path first.
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

    /// Returns the path whose last flight was earliest, one without any before all others.
    fn least_used(&self, valid: &[FiveTuple]) -> Option<FiveTuple> {
        let turn = |path: &&FiveTuple| self.used.iter().position(|used| used == *path);
        valid.iter().min_by_key(turn).copied()
    }
}

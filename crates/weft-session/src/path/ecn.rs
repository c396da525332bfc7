//! Tests whether a path preserves the ECN field: a simplified form of RFC 6679 section
//! 7.2 and RFC 9000 section 13.4.2.

use std::fmt;

use weft_units::Ecn;

/// Use of the ECN field on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EcnState {
    /// The controller ignores marks, or feedback does not report them: packets leave
    /// Not-ECT.
    #[default]
    Off,
    /// The first packets leave ECN-capable, the others Not-ECT until one of the first has
    /// arrived with its field unchanged.
    Tested,
    /// All packets leave ECN-capable.
    On,
    /// The path changes the field: packets leave Not-ECT until the path has died and
    /// returned.
    Refused,
}

impl fmt::Display for EcnState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EcnState::Off => "off",
            EcnState::Tested => "tested",
            EcnState::On => "on",
            EcnState::Refused => "refused",
        })
    }
}

/// Packets of a test: a path that drops ECN-capable packets loses at most this many (RFC
/// 9000 appendix A.4).
const TESTED: u32 = 10;

/// ECN field of one path's packets.
#[derive(Debug)]
pub(crate) struct Marking {
    wanted: Ecn,
    state: EcnState,
    tested: u32,
    /// Packets that arrived with a mark.
    pub marked: u64,
}

impl Marking {
    pub fn new(wanted: Ecn) -> Marking {
        let state = match wanted.is_capable() {
            true => EcnState::Tested,
            false => EcnState::Off,
        };
        Marking {
            wanted,
            state,
            tested: 0,
            marked: 0,
        }
    }

    /// Sets the field for packets from now on.
    pub fn want(&mut self, wanted: Ecn) {
        *self = Marking {
            marked: self.marked,
            ..Marking::new(wanted)
        };
    }

    pub fn state(&self) -> EcnState {
        self.state
    }

    /// Returns the field of the next packet.
    pub fn next(&mut self) -> Ecn {
        match self.state {
            EcnState::On => self.wanted,
            EcnState::Tested if self.tested < TESTED => {
                self.tested += 1;
                self.wanted
            }
            EcnState::Off | EcnState::Tested | EcnState::Refused => Ecn::NotEct,
        }
    }

    /// Records the field with which a packet left and the one with which it arrived.
    pub fn on_arrival(&mut self, left: Ecn, arrived: Ecn) {
        if !left.is_capable() || left != self.wanted || self.state == EcnState::Refused {
            return;
        }
        if arrived == Ecn::Ce {
            // A mark proves nothing: the path may mark everything.
            self.marked += 1;
        } else if arrived == left {
            self.state = EcnState::On;
        } else {
            self.state = EcnState::Refused;
        }
    }

    /// Tests again after a silence on a living path: the path may have begun to drop
    /// ECN-capable packets.
    pub fn doubt(&mut self) {
        if self.state == EcnState::On {
            self.test();
        }
    }

    /// Tests again after the path died and returned, perhaps over another route.
    pub fn restart(&mut self) {
        if self.state != EcnState::Off {
            self.test();
        }
    }

    fn test(&mut self) {
        self.state = EcnState::Tested;
        self.tested = 0;
    }
}

#[cfg(test)]
mod tests;

//! Whether a path lets the ECN field pass: a simple form of what RFC 6679
//! section 7.2 and RFC 9000 section 13.4.2 do.

use std::fmt;

use weft_units::Ecn;

/// Use of the ECN field on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EcnState {
    /// The controller takes no notice of marks, or feedback does not tell of
    /// them: packets leave Not-ECT.
    #[default]
    Off,
    /// The first packets leave ECN-capable, the others Not-ECT until one of
    /// the first has arrived as it left.
    Tested,
    /// All packets leave ECN-capable.
    On,
    /// The path changes the field: packets leave Not-ECT until it was dead and
    /// is back.
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

/// Packets of a test: where a path drops what is ECN-capable, so many are lost
/// and no more. RFC 9000 appendix A.4.
const TESTED: u32 = 10;

/// The ECN field of one path's packets.
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

    /// Packets are to bear this from now on.
    pub fn want(&mut self, wanted: Ecn) {
        *self = Marking {
            marked: self.marked,
            ..Marking::new(wanted)
        };
    }

    pub fn state(&self) -> EcnState {
        self.state
    }

    /// The field of the next packet.
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

    /// A packet that left so has arrived so.
    pub fn on_arrival(&mut self, left: Ecn, arrived: Ecn) {
        if !left.is_capable() || left != self.wanted || self.state == EcnState::Refused {
            return;
        }
        if arrived == Ecn::Ce {
            // A mark, or a path that marks everything: it proves nothing.
            self.marked += 1;
        } else if arrived == left {
            self.state = EcnState::On;
        } else {
            self.state = EcnState::Refused;
        }
    }

    /// Nothing was heard for a while though the path lives: it may be that it
    /// drops now what is ECN-capable.
    pub fn doubt(&mut self) {
        if self.state == EcnState::On {
            self.test();
        }
    }

    /// The path was dead and is back, perhaps by another route.
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

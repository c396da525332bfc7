/// Audio level of a packet, in wire format (RFC 6464 section 3): the high bit
/// says whether it may be voice, the other bits are the level in -dBov, from 0
/// (loudest) to 127 (silence).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AudioLevel(pub u8);

impl AudioLevel {
    /// Returns the level in decibels over full scale, from -127 (silence) to 0.
    #[must_use]
    pub fn decibels(self) -> f64 {
        -f64::from(self.0 & 0x7f)
    }
}

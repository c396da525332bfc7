/// How loud a packet of sound is, as on the wire (RFC 6464 section 3): in the
/// high bit whether it may be voice, below it the level in -dBov, 0 (as loud as
/// can be) to 127 (silence).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AudioLevel(pub u8);

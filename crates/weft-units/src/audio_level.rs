/// Audio level of a packet, in wire format (RFC 6464 section 3): the high bit
/// says whether it may be voice, the other bits are the level in -dBov, from 0
/// (loudest) to 127 (silence).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AudioLevel(pub u8);

/// ECN field of an IP header (RFC 3168 section 5, RFC 9331 section 2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Ecn {
    /// 00: the transport does not support ECN; congestion drops the packet.
    #[default]
    NotEct,
    /// 01: ECN-capable, with a scalable reaction to marks (L4S).
    Ect1,
    /// 10: ECN-capable; a mark counts like a loss.
    Ect0,
    /// 11: congestion experienced, the mark.
    Ce,
}

impl Ecn {
    /// Returns the field with these two bits, the lower two bits of the traffic class.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Ecn {
        match bits & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// Two bits of the field.
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self {
            Ecn::NotEct => 0b00,
            Ecn::Ect1 => 0b01,
            Ecn::Ect0 => 0b10,
            Ecn::Ce => 0b11,
        }
    }

    /// Whether a mark can replace a drop.
    #[must_use]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }
}

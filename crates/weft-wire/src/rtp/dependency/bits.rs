use crate::ParseError;

/// Cursor over bits, starting with the highest of each octet.
pub(super) struct Bits<'a> {
    octets: &'a [u8],
    /// Number of bits read.
    at: usize,
}

impl<'a> Bits<'a> {
    pub(super) const fn new(octets: &'a [u8]) -> Bits<'a> {
        Bits { octets, at: 0 }
    }

    pub(super) const fn at(&self) -> usize {
        self.at
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.at >= 8 * self.octets.len()
    }

    /// Reads a number of at most 32 bits: `f(n)` of the specification.
    pub(super) fn take(&mut self, count: u32) -> Result<u32, ParseError> {
        let mut value = 0;
        for _ in 0..count {
            value = value << 1 | u32::from(self.flag()?);
        }
        Ok(value)
    }

    pub(super) fn flag(&mut self) -> Result<bool, ParseError> {
        let octet = self.octets.get(self.at / 8);
        let octet = octet.ok_or(ParseError::Truncated {
            what: "dependency descriptor",
        })?;
        let bit = octet >> (7 - self.at % 8) & 1;
        self.at += 1;
        Ok(bit == 1)
    }

    /// Reads a number below `bound`, which is not zero: `ns(n)` of the specification.
    pub(super) fn below(&mut self, bound: u32) -> Result<u32, ParseError> {
        let width = u32::BITS - bound.leading_zeros();
        let short = (1 << width) - bound;
        let value = self.take(width - 1)?;
        match value < short {
            true => Ok(value),
            false => Ok((value << 1) - short + self.take(1)?),
        }
    }

    pub(super) fn skip(&mut self, count: usize) -> Result<(), ParseError> {
        self.at += count;
        match self.at <= 8 * self.octets.len() {
            true => Ok(()),
            false => Err(ParseError::Truncated {
                what: "dependency descriptor",
            }),
        }
    }
}

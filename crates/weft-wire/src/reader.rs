use crate::ParseError;

/// Cursor over bytes in network order; reading beyond the end is an error that
/// names the structure.
pub(crate) struct Reader<'a> {
    data: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(data: &'a [u8], what: &'static str) -> Reader<'a> {
        Reader { data, what }
    }

    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.data
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], ParseError> {
        let what = self.what;
        let (head, rest) = self
            .data
            .split_at_checked(len)
            .ok_or(ParseError::Truncated { what })?;
        self.data = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ParseError> {
        let what = self.what;
        let (head, rest) = self
            .data
            .split_first_chunk::<N>()
            .ok_or(ParseError::Truncated { what })?;
        self.data = rest;
        Ok(*head)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, ParseError> {
        self.array().map(u8::from_be_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, ParseError> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u24(&mut self) -> Result<u32, ParseError> {
        let [a, b, c] = self.array()?;
        Ok(u32::from_be_bytes([0, a, b, c]))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, ParseError> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, ParseError> {
        self.array().map(u64::from_be_bytes)
    }
}

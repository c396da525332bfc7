//! TCP segments in flight.

/// Payload of a full segment: 1500 bytes minus IPv4, TCP and its timestamps option (RFC
/// 7323), 20 + 20 + 12.
pub(crate) const PAYLOAD: u16 = 1448;
/// Headers of a segment.
pub(crate) const HEADERS: u16 = 52;
/// Size of SYN and SYN-ACK on the link: 20 + 20 + 20 of options (MSS, window scale, SACK
/// permitted, timestamps), as Linux sends them.
pub(crate) const SYN_SIZE: u16 = 60;
/// Size of the first selective acknowledgement block in a pure ACK (kind, length, padding
/// and 8 bytes), and of each further one (RFC 2018 section 3).
pub(crate) const FIRST_BLOCK: u16 = 12;
pub(crate) const NEXT_BLOCK: u16 = 8;
/// Number of blocks that fit next to the timestamps option (RFC 2018 section 3).
pub(crate) const BLOCKS: usize = 3;

/// Data segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// Number, counted from the start of the connection.
    pub number: u32,
    /// Whether the sender has reduced its window (CWR, RFC 3168 section 6.1.2).
    pub reduced: bool,
}

/// Pure acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Acknowledgement {
    /// Number below which every segment has arrived.
    pub next: u32,
    /// Ranges `[from, to)` above `next` that have arrived, the newest first; empty ones
    /// are absent.
    pub blocks: [(u32, u32); BLOCKS],
    /// Whether the acknowledged segment had arrived before (D-SACK, RFC 2883).
    pub duplicate: bool,
    /// Whether a mark was received without a CWR after it (ECE, RFC 3168 section 6.1.3).
    pub echo: bool,
}

impl Acknowledgement {
    /// Returns the size on the link.
    pub fn size(&self) -> u16 {
        // A D-SACK is an additional block, which replaces the oldest if necessary.
        let filled = self.blocks.iter().filter(|b| b.0 < b.1).count();
        let blocks = (filled + usize::from(self.duplicate)).min(BLOCKS) as u16;
        match blocks {
            0 => HEADERS,
            n => HEADERS + FIRST_BLOCK + (n - 1) * NEXT_BLOCK,
        }
    }
}

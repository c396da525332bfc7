use super::body::{HEADER_LEN, MAX_RUN, TWO_BIT_CAPACITY, delta_fits, tick_of};
use super::{MAX_ENTRIES, PathFeedback, TransportFeedback, body};
use weft_units::{Instant, PathId, Ssrc};

/// RTCP header, and the two words before the body.
const PACKET_OVERHEAD: usize = 12;

/// List of arrivals that fits into one feedback packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrivalBlock {
    /// Extended sequence number of the first entry.
    pub base_sequence: u64,
    /// See [`TransportFeedback`].
    pub arrivals: Vec<Option<Instant>>,
}

/// Remaining budget of reports, for any numbering of the peer's packets; writing reduces
/// it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allowance {
    /// Packets reported as not received.
    pub missing: usize,
    /// Blocks; each becomes a packet with headers.
    pub blocks: usize,
}

/// Splits arrivals into blocks; each becomes a feedback packet of at most `max_len`
/// octets.
///
/// `received` ascends strictly by sequence number. The blocks report all packets from
/// `first` to the last received one. Missing packets are reported as not received, except
/// in gaps that are too wide for one status chunk (8,191 packets) or exceed `left`; these
/// are omitted. When no blocks are left, the rest is omitted. A `max_len` too small for a
/// single packet (less than about 32) is exceeded.
#[must_use]
pub fn split_arrivals(
    first: u64,
    received: &[(u64, Instant)],
    max_len: usize,
    left: &mut Allowance,
) -> Vec<ArrivalBlock> {
    let mut blocks = Vec::new();
    let mut next = first;
    let mut rest = received;
    while let Some(&(sequence, _)) = rest.first() {
        let Some(blocks_left) = left.blocks.checked_sub(1) else {
            break;
        };
        left.blocks = blocks_left;
        let gap = sequence.saturating_sub(next);
        if gap >= MAX_RUN as u64 || gap > left.missing as u64 {
            next = sequence;
        }
        let next_base = next.min(sequence);
        // Each takes at least one octet.
        let candidates = &rest[..rest.len().min(max_len.max(1))];
        let mut take = span(next_base, candidates, left.missing);
        let mut block = fill(next_base, &rest[..take]);
        while take > 1 && block.exceeds(max_len) {
            take = take.div_ceil(2);
            block = fill(next_base, &rest[..take]);
        }
        next = next_base + block.arrivals.len() as u64;
        left.missing -= block.arrivals.len() - take;
        rest = &rest[take..];
        blocks.push(block);
    }
    blocks
}

/// Returns the number of `received` packets, at least one, that can share a block
/// starting at `base` with at most this many `missing`, regardless of its size in octets.
fn span(base: u64, received: &[(u64, Instant)], missing: usize) -> usize {
    let fits = |(before, pair): &(usize, &[(u64, Instant)])| {
        let ((s0, a0), (s1, a1)) = (pair[0], pair[1]);
        s0 < s1
            && s1 - s0 <= MAX_RUN as u64
            && s1 - base < MAX_ENTRIES as u64
            && s1 - base <= missing.saturating_add(before + 1) as u64
            && delta_fits(tick_of(a1) - tick_of(a0))
    };
    let pairs = received.windows(2).enumerate();
    1 + pairs.take_while(fits).count()
}

fn fill(base_sequence: u64, received: &[(u64, Instant)]) -> ArrivalBlock {
    let end = received.last().map_or(base_sequence, |(last, _)| last + 1);
    let mut arrivals = Vec::with_capacity((end - base_sequence) as usize);
    for &(sequence, arrival) in received {
        arrivals.resize((sequence - base_sequence) as usize, None);
        arrivals.push(Some(arrival));
    }
    ArrivalBlock {
        base_sequence,
        arrivals,
    }
}

impl ArrivalBlock {
    /// Returns the size in octets of the feedback packet of either kind.
    #[must_use]
    pub fn packet_len(&self) -> usize {
        let mut body = Vec::with_capacity(HEADER_LEN + 2 * self.arrivals.len());
        body::write(0, &self.arrivals, 0, &mut body);
        (PACKET_OVERHEAD + body.len()).next_multiple_of(4)
    }

    /// Whether the feedback packet is longer than this; measured exactly only if the
    /// worst-case encoding of the arrivals would be longer.
    fn exceeds(&self, max_len: usize) -> bool {
        let chunks = self.arrivals.len().div_ceil(TWO_BIT_CAPACITY);
        let body = HEADER_LEN + 2 * chunks + 2 * self.arrivals.len();
        let worst = (PACKET_OVERHEAD + body).next_multiple_of(4);
        worst > max_len && self.packet_len() > max_len
    }

    /// Converts it to feedback over all paths.
    #[must_use]
    pub fn into_transport_feedback(
        self,
        sender: Ssrc,
        media: Ssrc,
        feedback_count: u8,
    ) -> TransportFeedback {
        TransportFeedback {
            sender,
            media,
            feedback_count,
            base_sequence: self.base_sequence as u16,
            arrivals: self.arrivals,
        }
    }

    /// Converts it to feedback on one path, without marks.
    #[must_use]
    pub fn into_path_feedback(self, sender: Ssrc, path: PathId) -> PathFeedback {
        PathFeedback {
            sender,
            path,
            base_sequence: self.base_sequence as u16,
            arrivals: self.arrivals,
            marks: Vec::new(),
        }
    }
}

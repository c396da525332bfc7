use std::fmt;

/// Reason why a STUN message was dropped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DropReason {
    /// Not a STUN message, or one whose attributes do not parse.
    Malformed,
    /// MESSAGE-INTEGRITY missing or wrong.
    Integrity,
    /// USERNAME missing or for another agent.
    Username,
    /// An answer to an unknown or forgotten check.
    Unexpected,
    /// A check on an address that is not ours.
    UnknownLocal,
    /// A check from an address that the local address's filter excludes.
    Filtered,
    /// A check from an unanswerable address, for example with port 0.
    Unanswerable,
    /// A check that would exceed the limit on pairs.
    TooManyPairs,
    /// A keep-alive (RFC 8445 section 11): it has no signature and needs no
    /// action.
    Indication,
}

impl DropReason {
    /// Every reason, in the order of the counters.
    pub const ALL: &'static [DropReason] = &[
        DropReason::Malformed,
        DropReason::Integrity,
        DropReason::Username,
        DropReason::Unexpected,
        DropReason::UnknownLocal,
        DropReason::Filtered,
        DropReason::Unanswerable,
        DropReason::TooManyPairs,
        DropReason::Indication,
    ];

    /// Short name in snake case, for metrics and traces.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            DropReason::Malformed => "stun_malformed",
            DropReason::Integrity => "stun_integrity",
            DropReason::Username => "stun_username",
            DropReason::Unexpected => "stun_unexpected",
            DropReason::UnknownLocal => "stun_unknown_local",
            DropReason::Filtered => "stun_filtered",
            DropReason::Unanswerable => "stun_unanswerable",
            DropReason::TooManyPairs => "too_many_pairs",
            DropReason::Indication => "stun_indication",
        }
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Counters of an agent.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    drops: [u64; DropReason::ALL.len()],
    /// Connectivity checks sent.
    pub checks_sent: u64,
    /// Answers to these checks.
    pub checks_answered: u64,
    /// Addresses and pairs refused: beyond the limit, or unanswerable.
    pub pairs_refused: u64,
}

impl Counters {
    /// Messages dropped for this reason.
    #[must_use]
    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.drops[reason as usize]
    }

    /// Every reason with its count, zeros included.
    pub fn drops(&self) -> impl Iterator<Item = (DropReason, u64)> + '_ {
        DropReason::ALL.iter().map(|&r| (r, self.dropped(r)))
    }

    pub(crate) fn count_drop(&mut self, reason: DropReason) {
        self.drops[reason as usize] += 1;
    }
}

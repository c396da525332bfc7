use std::fmt;

macro_rules! drop_reasons {
    ($($(#[$doc:meta])* $name:ident => $text:literal,)*) => {
        /// Why a datagram was dropped.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum DropReason { $($(#[$doc])* $name,)* }

        impl DropReason {
            /// Every reason, in the order of the counters.
            pub const ALL: &'static [DropReason] = &[$(DropReason::$name,)*];

            /// Short name in snake case, for metrics and traces.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(DropReason::$name => $text,)* }
            }
        }
    };
}

drop_reasons! {
    /// The first byte belongs to no protocol of RFC 7983.
    Unrecognised => "unrecognised",
    /// Media from a pair of addresses on which nobody proved anything.
    UnknownPath => "unknown_path",
    /// Not a STUN message, or one whose attributes do not parse.
    StunMalformed => "stun_malformed",
    /// MESSAGE-INTEGRITY missing or wrong.
    StunIntegrity => "stun_integrity",
    /// USERNAME missing or for somebody else.
    StunUsername => "stun_username",
    /// An answer to a check that was not sent or was forgotten.
    StunUnexpected => "stun_unexpected",
    /// A check from an address that the local address's filter excludes.
    StunFiltered => "stun_filtered",
    /// A check that would need one pair more than the limit.
    TooManyPairs => "too_many_pairs",
    /// A DTLS record before the remote description, or one that DTLS refused.
    DtlsRefused => "dtls_refused",
    /// Media before the keys.
    NoKeys => "no_keys",
    /// Too short for its header, tag or index.
    Truncated => "truncated",
    /// The authentication tag is wrong.
    Authentication => "authentication",
    /// This RTCP packet was received before.
    Replayed => "replayed",
    /// Older than the replay window reaches.
    TooOld => "too_old",
    /// One SSRC more than the limit.
    TooManyStreams => "too_many_streams",
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What an association has counted so far.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    drops: [u64; DropReason::ALL.len()],
    /// RTP packets received and authenticated, each for the first time.
    pub rtp_received: u64,
    /// RTP packets received again and authenticated.
    pub rtp_again: u64,
    /// RTCP packets received and authenticated.
    pub rtcp_received: u64,
    /// Connectivity checks sent.
    pub checks_sent: u64,
    /// Answers received to checks sent.
    pub checks_answered: u64,
    /// Pairs of addresses not made because of the limit.
    pub pairs_refused: u64,
}

impl Counters {
    /// Datagrams dropped for this reason.
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

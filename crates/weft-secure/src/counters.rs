use std::fmt;

macro_rules! drop_reasons {
    ($($(#[$doc:meta])* $name:ident => $text:literal,)*) => {
        /// Reason why a datagram was dropped.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum DropReason {
            $($(#[$doc])* $name,)*
            /// A STUN message that the ICE agent refused.
            Ice(weft_ice::DropReason),
        }

        impl DropReason {
            /// Reasons other than the ICE agent's, in the order of the counters.
            const OWN: &'static [DropReason] = &[$(DropReason::$name,)*];

            /// Short name in snake case, for metrics and traces.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(DropReason::$name => $text,)*
                    DropReason::Ice(reason) => reason.as_str(),
                }
            }
        }
    };
}

drop_reasons! {
    /// The first byte belongs to no protocol of RFC 7983.
    Unrecognised => "unrecognised",
    /// Media or DTLS between two addresses that are not a pair.
    UnknownPath => "unknown_path",
    /// DTLS record before the remote description, or one that DTLS refused.
    DtlsRefused => "dtls_refused",
    /// Media before the keys are known.
    NoKeys => "no_keys",
    /// Too short for its header, tag or index.
    Truncated => "truncated",
    /// The authentication tag is wrong.
    Authentication => "authentication",
    /// This RTCP packet was received before.
    Replayed => "replayed",
    /// Older than the replay window.
    TooOld => "too_old",
    /// SSRC beyond the limit.
    TooManyStreams => "too_many_streams",
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Counters of an association.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    drops: [u64; DropReason::OWN.len()],
    /// RTP packets received and authenticated, each for the first time.
    pub rtp_received: u64,
    /// RTP packets received again and authenticated.
    pub rtp_again: u64,
    /// RTCP packets received and authenticated.
    pub rtcp_received: u64,
    /// Counters of the ICE agent.
    pub ice: weft_ice::Counters,
}

impl Counters {
    /// Datagrams dropped for this reason.
    #[must_use]
    pub fn dropped(&self, reason: DropReason) -> u64 {
        match reason {
            DropReason::Ice(reason) => self.ice.dropped(reason),
            own => place(own).map_or(0, |at| self.drops[at]),
        }
    }

    /// Every reason with its count, zeros included.
    pub fn drops(&self) -> impl Iterator<Item = (DropReason, u64)> + '_ {
        let own = DropReason::OWN.iter().copied().zip(self.drops);
        own.chain(self.ice.drops().map(|(r, n)| (DropReason::Ice(r), n)))
    }

    /// Counts a drop, unless the ICE agent has counted it.
    pub(crate) fn count_drop(&mut self, reason: DropReason) {
        if let Some(at) = place(reason) {
            self.drops[at] += 1;
        }
    }
}

fn place(reason: DropReason) -> Option<usize> {
    DropReason::OWN.iter().position(|own| *own == reason)
}

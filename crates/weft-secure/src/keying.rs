/// Source of an association's keys. Both ends have the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keying {
    /// DTLS handshake.
    Dtls {
        /// Seed of what the DTLS library draws besides its keys (random fields,
        /// jitter of timers), for runs that are to repeat byte by byte. `None` where
        /// the network is real: the library draws from the system then.
        seed: Option<u64>,
    },
    /// No handshake and no encryption, from the first path on: packets have the size that
    /// encryption gives them. For simulated networks, whose results must not depend on the
    /// system's randomness.
    #[cfg(feature = "simulation")]
    Plain,
}

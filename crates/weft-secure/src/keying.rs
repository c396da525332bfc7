/// Source of an association's keys. Both ends must use the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keying {
    /// DTLS handshake.
    Dtls {
        /// Seed of the DTLS library's random values other than keys (random fields,
        /// jitter of timers), for runs that must be identical byte by byte. `None` in a
        /// real network: the library uses the system's generator.
        seed: Option<u64>,
    },
    /// No handshake and no encryption, from the first path on; packets have the size of encrypted
    /// ones. For simulated networks, whose results must not depend on the system's randomness.
    #[cfg(feature = "simulation")]
    Plain,
}

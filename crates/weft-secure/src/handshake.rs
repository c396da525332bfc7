//! How handshakes are made.

use crate::role::DtlsRole;
use crate::rsa;

/// Largest datagram of a flight: fits every link that carries 1,280 bytes of
/// IPv6 (RFC 8200 section 5) with its headers and a tunnel's.
const MTU: usize = 1200;

/// First retransmission of a flight. libwebrtc starts at 50 ms
/// (p2p/dtls/dtls_transport.cc, kMinHandshakeTimeoutMs); this spares most
/// paths a needless repetition, and a flight lost with its path moves soon.
const FIRST_RETRANSMISSION: std::time::Duration = std::time::Duration::from_millis(200);
/// Doubled from there, so that a handshake lasts for [`HANDSHAKE_TIMEOUT`].
const RETRANSMISSIONS: usize = 8;
const HANDSHAKE_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(40);

/// Configuration of every handshake in one role. Making it takes more than a
/// millisecond: the library tries its cryptography.
pub(crate) fn config(role: DtlsRole, seed: Option<u64>) -> dimpl::Config {
    let mut config = dimpl::Config::builder()
        .mtu(MTU)
        // Flights go only where ICE has proved the peer's address.
        .use_server_cookie(false)
        .flight_start_rto(FIRST_RETRANSMISSION)
        .flight_retries(RETRANSMISSIONS)
        .handshake_timeout(HANDSHAKE_TIMEOUT);
    if role == DtlsRole::Server {
        config = config.with_crypto_provider(rsa::provider());
    }
    if let Some(seed) = seed {
        config = config.dangerously_set_rng_seed(seed);
    }
    config
        .build()
        .expect("the configuration is constant and valid")
}

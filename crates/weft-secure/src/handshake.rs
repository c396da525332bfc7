//! Settings of DTLS handshakes.

use crate::role::DtlsRole;
use crate::rsa;

/// Maximum size of a flight's datagram in bytes: it fits every link that carries 1,280
/// bytes of IPv6 (RFC 8200 section 5), with its headers and those of a tunnel.
const MTU: usize = 1200;

/// Timeout of the first retransmission of a flight. libwebrtc starts at 50 ms
/// (p2p/dtls/dtls_transport.cc, kMinHandshakeTimeoutMs); ours saves most paths a needless
/// repetition, and a flight lost with its path still moves soon.
const FIRST_RETRANSMISSION: std::time::Duration = std::time::Duration::from_millis(200);
/// Number of retransmissions; the timeout doubles each time, so that a handshake lasts
/// for [`HANDSHAKE_TIMEOUT`].
const RETRANSMISSIONS: usize = 8;
const HANDSHAKE_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(40);

/// Configuration of every handshake in one role. Creating it takes more than a
/// millisecond, because the library tests its cryptography.
pub(crate) fn config(role: DtlsRole, seed: Option<u64>) -> dimpl::Config {
    let mut config = dimpl::Config::builder()
        .mtu(MTU)
        // Flights are sent only where ICE has verified the peer's address.
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

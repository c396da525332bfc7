//! DTLS clients with RSA certificates, which dimpl refuses: GStreamer's
//! `webrtcbin` makes one by default.
//!
//! In DTLS 1.2, a server with an ECDSA certificate may accept an RSA certificate of its
//! client: the cipher suite decides how the server signs, and only the CertificateRequest
//! decides how the client may sign (RFC 5246 section 7.4.4). dimpl 0.9 requests only
//! ECDSA, and both lists in its request are fixed. So
//!
//! - [`widen_request`] adds RSA to the CertificateRequest of an outgoing flight,
//! - the hashes of [`provider`] cover the transcript with the widened request, as the
//!   client saw it, and
//! - its verifier checks RSA signatures (PKCS #1 with SHA-256 or SHA-384).
//!
//! This works for the server role in DTLS 1.2. In DTLS 1.3 the request is encrypted, and
//! as a client we offer only ECDSA suites. It requires that dimpl hashes the transcript
//! in one piece. A version that does not would fail every handshake of DTLS 1.2, and the
//! tests here, but would not wrongly accept any peer. Therefore the version is pinned.

mod library;
mod request;
#[cfg(test)]
mod tests;
mod verify;

pub(crate) use request::widen_request;

use dimpl::crypto::{Buf, CryptoProvider, HashAlgorithm, HashContext, HashProvider};
use request::widen_transcript;
use verify::Verifier;

/// Cryptography of a DTLS server that accepts RSA certificates, too. Only for
/// servers whose flights pass through [`widen_request`].
pub(crate) fn provider() -> CryptoProvider {
    CryptoProvider {
        hash_provider: &TranscriptHashes,
        signature_verification: &Verifier,
        ..library::provider()
    }
}

#[derive(Debug)]
struct TranscriptHashes;

#[derive(Debug)]
struct TranscriptHash(Box<dyn HashContext>);

impl HashProvider for TranscriptHashes {
    fn create_hash(&self, algorithm: HashAlgorithm) -> Box<dyn HashContext> {
        Box::new(TranscriptHash(
            library::provider().hash_provider.create_hash(algorithm),
        ))
    }
}

impl HashContext for TranscriptHash {
    fn update(&mut self, data: &[u8]) {
        self.0.update(&widen_transcript(data));
    }

    fn clone_and_finalize(&self, out: &mut Buf) {
        self.0.clone_and_finalize(out);
    }
}

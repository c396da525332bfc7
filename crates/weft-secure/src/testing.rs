//! Deterministic DTLS: neither keys nor signatures use the system's randomness. It has no
//! security and is for tests only; the layers behind the handshake (SRTP, ICE) are the
//! real ones. Only builds with the feature `testing` have it.

use std::cell::Cell;
use std::sync::Once;

use dimpl::CryptoError;
use dimpl::crypto::{
    ActiveKeyExchange, Buf, CryptoProvider, HashAlgorithm, KeyProvider, NamedGroup, SecureRandom,
    SignatureAlgorithm, SignatureVerifier, SigningKey, SupportedKxGroup, aws_lc_rs,
};
use weft_units::Rng;

use crate::certificate::Certificate;

thread_local! {
    /// A run uses one thread; concurrent tests have their own threads.
    static DRAWS: Cell<u64> = const { Cell::new(0) };
    static LEFT_OUT: Cell<bool> = const { Cell::new(false) };
}

/// Makes the handshakes of this thread deterministic, and restarts their randomness. The
/// first call in a process must come before any handshake.
pub fn repeat() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        CryptoProvider::install_default(CryptoProvider {
            kx_groups: &[&Exchanges],
            signature_verification: &Signatures,
            key_provider: &Signatures,
            secure_random: &Draws,
            ..aws_lc_rs::default_provider()
        });
    });
    DRAWS.set(0);
}

/// Skips the handshakes of this thread from now on: both ends have keys once they have a
/// path. A handshake takes most of the time of a short run.
pub fn leave_out_handshakes() {
    LEFT_OUT.set(true);
}

pub(crate) fn leaves_out_handshakes() -> bool {
    LEFT_OUT.get()
}

/// Returns the same certificate each time. It has no security, because nobody has its key.
#[must_use]
pub fn certificate() -> Certificate {
    Certificate::fixed(include_bytes!("testing/certificate.der"))
}

/// Private key that no handshake accepts.
#[must_use]
pub fn unreadable_certificate() -> Certificate {
    Certificate::fixed(&[0x30; 300])
}

fn draw(bytes: &mut [u8]) {
    DRAWS.set(DRAWS.get() + 1);
    Rng::new(DRAWS.get()).fill(bytes);
}

#[derive(Debug)]
struct Draws;

impl SecureRandom for Draws {
    fn fill(&self, buf: &mut [u8]) -> Result<(), CryptoError> {
        draw(buf);
        Ok(())
    }
}

/// Key exchange whose secret is the sum of both public values, with the name of X25519.
#[derive(Debug)]
struct Exchanges;

#[derive(Debug)]
struct Exchange([u8; 32]);

impl SupportedKxGroup for Exchanges {
    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }

    fn start_exchange(&self, _buf: Buf) -> Result<Box<dyn ActiveKeyExchange>, CryptoError> {
        let mut shown = [0; 32];
        draw(&mut shown);
        Ok(Box::new(Exchange(shown)))
    }
}

impl ActiveKeyExchange for Exchange {
    fn pub_key(&self) -> &[u8] {
        &self.0
    }

    fn complete(self: Box<Self>, peer: &[u8], out: &mut Buf) -> Result<(), CryptoError> {
        let sum: Vec<u8> = self.0.iter().zip(peer).map(|(a, b)| a ^ b).collect();
        out.clear();
        out.extend_from_slice(&sum);
        Ok(())
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

/// Signature with the usual length of ECDSA on P-256, which every verification accepts.
#[derive(Debug)]
struct Signatures;

impl SigningKey for Signatures {
    fn sign(
        &mut self,
        _data: &[u8],
        _hash: HashAlgorithm,
        out: &mut Buf,
    ) -> Result<(), CryptoError> {
        out.clear();
        out.extend_from_slice(&[0x30; 71]);
        Ok(())
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ECDSA
    }

    fn hash_algorithm(&self) -> HashAlgorithm {
        HashAlgorithm::SHA256
    }

    fn supported_hash_algorithms(&self) -> &[HashAlgorithm] {
        &[HashAlgorithm::SHA256]
    }
}

impl KeyProvider for Signatures {
    fn load_private_key(&self, _key: &[u8]) -> Result<Box<dyn SigningKey>, CryptoError> {
        Ok(Box::new(Signatures))
    }
}

impl SignatureVerifier for Signatures {
    fn verify_signature(
        &self,
        _certificate: &[u8],
        _data: &[u8],
        _signature: &[u8],
        _hash: HashAlgorithm,
        _algorithm: SignatureAlgorithm,
    ) -> Result<(), CryptoError> {
        Ok(())
    }
}

use weft_ice::{IceRole, LocalAddress};
use weft_peer::{Entropy, PeerConfig};
use weft_secure::{Certificate, Keying};
use weft_units::Rng;

use crate::Clock;

/// Failure of the system's secure random generator.
#[derive(Debug, thiserror::Error)]
#[error("the system's random generator failed: {0}; is /dev/urandom available?")]
pub struct EntropyError(getrandom::Error);

/// Configuration of a peer on this machine, with fresh secrets and randomness.
///
/// # Errors
/// If the system provides no randomness.
pub fn peer_config(
    role: IceRole,
    clock: Clock,
    certificate: Certificate,
    locals: Vec<LocalAddress>,
) -> Result<PeerConfig, EntropyError> {
    let (origin, entropy) = (clock.origin(), entropy()?);
    Ok(PeerConfig::new(role, origin, certificate, locals, &entropy))
}

/// Random generator seeded from the system, for everything that is not secret.
///
/// # Errors
/// If the system provides no randomness.
pub fn rng() -> Result<Rng, EntropyError> {
    Ok(Rng::new(word()?))
}

/// Secrets for one peer, from the system's secure generator.
///
/// # Errors
/// If the system provides no randomness.
pub fn entropy() -> Result<Entropy, EntropyError> {
    let mut credentials = [0; 32];
    getrandom::fill(&mut credentials).map_err(EntropyError)?;
    Ok(Entropy {
        credentials,
        tie_breaker: word()?,
        seed: word()?,
        keying: Keying::Dtls { seed: None },
    })
}

fn word() -> Result<u64, EntropyError> {
    getrandom::u64().map_err(EntropyError)
}

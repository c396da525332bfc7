use weft_secure::Credentials;
use weft_units::Rng;

/// The system's secure random generator gave nothing.
#[derive(Debug, thiserror::Error)]
#[error("the system's random generator failed: {0}; is /dev/urandom available?")]
pub struct EntropyError(getrandom::Error);

/// A generator seeded from the system, for everything that is not secret.
///
/// # Errors
/// If the system has no randomness.
pub fn rng() -> Result<Rng, EntropyError> {
    Ok(Rng::new(getrandom::u64().map_err(EntropyError)?))
}

/// ICE credentials and tie-breaker from the system's secure generator.
///
/// # Errors
/// If the system has no randomness.
pub fn association_secrets() -> Result<(Credentials, u64), EntropyError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(EntropyError)?;
    let tie_breaker = getrandom::u64().map_err(EntropyError)?;
    Ok((Credentials::from_entropy(&bytes), tie_breaker))
}

use weft_peer::PeerConfig;
use weft_secure::{Certificate, Config as AssociationConfig, Credentials, IceRole, LocalAddress};
use weft_units::{Rng, Ssrc, VideoCodec};

use crate::Clock;

/// The system's secure random generator gave nothing.
#[derive(Debug, thiserror::Error)]
#[error("the system's random generator failed: {0}; is /dev/urandom available?")]
pub struct EntropyError(getrandom::Error);

/// The makings of a peer on this machine, with secrets and randomness of its
/// own and the session's defaults for a video call.
///
/// # Errors
/// If the system has no randomness.
pub fn peer_config(
    role: IceRole,
    clock: Clock,
    certificate: Certificate,
    locals: Vec<LocalAddress>,
) -> Result<PeerConfig, EntropyError> {
    let (credentials, tie_breaker) = association_secrets()?;
    let rng = rng()?;
    let feedback_ssrc = Ssrc(rng.stream("feedback").next_u32() | 1);
    let mut session = weft_session::Config::new(Default::default(), feedback_ssrc);
    session.ntp_at_zero = clock.ntp_at_zero();
    Ok(PeerConfig {
        association: AssociationConfig {
            role,
            credentials,
            tie_breaker,
            certificate,
            epoch: clock.epoch(),
            rng: rng.stream("association"),
        },
        session,
        locals,
        video: VideoCodec::ALL.to_vec(),
        rng,
    })
}

/// A generator seeded from the system, for everything that is not secret.
///
/// # Errors
/// If the system has no randomness.
pub fn rng() -> Result<Rng, EntropyError> {
    Ok(Rng::new(getrandom::u64().map_err(EntropyError)?))
}

/// ICE credentials and tie-breaker from the system's secure generator.
fn association_secrets() -> Result<(Credentials, u64), EntropyError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(EntropyError)?;
    let tie_breaker = getrandom::u64().map_err(EntropyError)?;
    Ok((Credentials::from_entropy(&bytes), tie_breaker))
}

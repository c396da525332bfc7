use crate::media_plane::MediaError;
use std::net::SocketAddr;
use weft_net::{Clock, EntropyError};
use weft_peer::PeerConfig;
use weft_secure::{
    Certificate, CertificateError, Config as AssociationConfig, IceRole, LinkId, LocalAddress,
    RemoteFilter,
};
use weft_units::{Rate, Rng, Ssrc};
use weft_wire::rtp::ExtensionMap;

/// What a path to a player may carry when nothing is known of it: a sharp
/// picture whole, since thinning it out on a guess shows, and a link that is
/// slower says so within a few round trips. Chosen by us.
const START_RATE: Rate = Rate::from_kbps(2_500);
/// Most that one path carries. Chosen by us: ten sharp pictures.
const MAX_PATH_RATE: Rate = Rate::from_mbps(20);

/// What all peers of the server have in common.
pub(super) struct Settings {
    clock: Clock,
    certificate: Certificate,
    locals: Vec<LocalAddress>,
    rng: Rng,
}

/// The system refuses what every peer needs.
#[derive(Debug, thiserror::Error)]
pub(super) enum SettingsError {
    #[error("{0}")]
    Entropy(#[from] EntropyError),
    #[error("{0}")]
    Certificate(#[from] CertificateError),
}

impl Settings {
    pub(super) fn new(clock: Clock, addresses: &[SocketAddr]) -> Result<Settings, SettingsError> {
        let locals = addresses.iter().zip(0..).map(|(addr, link)| LocalAddress {
            addr: *addr,
            link: LinkId(link),
            cost: 0,
            remotes: RemoteFilter::Any,
        });
        Ok(Settings {
            clock,
            certificate: Certificate::generate()?,
            locals: locals.collect(),
            rng: weft_net::rng()?,
        })
    }

    /// The makings of a new peer, with secrets of its own.
    pub(super) fn peer(&mut self, role: IceRole, max_rate: Rate) -> Result<PeerConfig, MediaError> {
        // Without randomness nothing can be kept secret: as good as ended.
        let (credentials, tie_breaker) =
            weft_net::association_secrets().map_err(|_| MediaError::Gone)?;
        let rng = Rng::new(self.rng.next_u64());
        let feedback_ssrc = Ssrc(self.rng.next_u32() | 1);
        let mut session = weft_session::Config::new(ExtensionMap::default(), feedback_ssrc);
        session.path_limits.start = START_RATE;
        session.path_limits.max = MAX_PATH_RATE;
        session.max_rate = max_rate;
        session.ntp_at_zero = self.clock.ntp_at_zero();
        Ok(PeerConfig {
            association: AssociationConfig {
                role,
                credentials,
                tie_breaker,
                certificate: self.certificate.clone(),
                epoch: self.clock.epoch(),
                rng: rng.stream("association"),
            },
            session,
            locals: self.locals.clone(),
            rng,
        })
    }
}

use crate::media_plane::MediaError;
use std::net::SocketAddr;
use weft_net::Clock;
use weft_peer::PeerConfig;
use weft_secure::{Certificate, CertificateError, IceRole, LinkId, LocalAddress, RemoteFilter};
use weft_units::Rate;

/// What a path to a player may carry when nothing is known of it: a sharp
/// picture whole, since thinning it out on a guess shows, and a link that is
/// slower says so within a few round trips. Chosen by us.
const START_RATE: Rate = Rate::from_kbps(2_500);
/// Most that one path carries. Chosen by us: four cameras at the 10 Mbps that
/// are the most of one, and a quarter for repair.
const MAX_PATH_RATE: Rate = Rate::from_mbps(50);

/// What all peers of the server have in common.
pub(super) struct Settings {
    clock: Clock,
    certificate: Certificate,
    locals: Vec<LocalAddress>,
}

impl Settings {
    pub(super) fn new(
        clock: Clock,
        addresses: &[SocketAddr],
    ) -> Result<Settings, CertificateError> {
        // One link: what is short is the peer's, and a second way over that to
        // another address of ours would be a second congestion controller.
        let locals = addresses.iter().map(|addr| LocalAddress {
            addr: *addr,
            link: LinkId(0),
            cost: 0,
            remotes: RemoteFilter::Any,
        });
        Ok(Settings {
            clock,
            certificate: Certificate::generate()?,
            locals: locals.collect(),
        })
    }

    /// The makings of a new peer, with secrets of its own.
    pub(super) fn peer(&self, role: IceRole, max_rate: Rate) -> Result<PeerConfig, MediaError> {
        let (certificate, locals) = (self.certificate.clone(), self.locals.clone());
        // Without randomness nothing can be kept secret: as good as ended.
        let mut config = weft_net::peer_config(role, self.clock, certificate, locals)
            .map_err(|_| MediaError::Gone)?;
        config.session.path_limits.start = START_RATE;
        config.session.path_limits.max = MAX_PATH_RATE;
        config.session.max_rate = max_rate;
        Ok(config)
    }
}

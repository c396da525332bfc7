//! Fragments of descriptions for trickle ICE and ICE restarts (RFC 8840 section
//! 9, RFC 9725 section 4.3).

use weft_ice::{Credentials, RemoteCandidate};
use weft_wire::rtp::Mid;
use weft_wire::sdp::{Media, SessionDescription, Setup};

use super::describe::Transported;
use super::{NegotiationError, remote_candidate};
use crate::config::PeerConfig;

/// Fragment from the peer.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// The peer's credentials; `None` if the fragment leaves them out.
    pub credentials: Option<Credentials>,
    /// The peer's addresses.
    pub candidates: Vec<RemoteCandidate>,
    /// Section that the candidates belong to.
    mid: Option<Mid>,
}

impl Fragment {
    /// Reads a fragment.
    ///
    /// # Errors
    /// If it cannot be read, or has a user name without a password.
    pub fn parse(text: &str) -> Result<Fragment, NegotiationError> {
        let fragment = SessionDescription::parse_fragment(text)?;
        let all = fragment.media.iter();
        let named = |m: &&Media| m.ice_ufrag.is_some() || m.ice_pwd.is_some();
        let credentials = match all.clone().find(named) {
            None => None,
            Some(media) => {
                let missing = NegotiationError::MissingTransport;
                let ufrag = media.ice_ufrag.clone().ok_or(missing("a=ice-ufrag"))?;
                let pwd = media.ice_pwd.clone().ok_or(missing("a=ice-pwd"))?;
                Some(Credentials { ufrag, pwd })
            }
        };
        let candidates = all.clone().flat_map(|m| &m.candidates);
        Ok(Fragment {
            credentials,
            candidates: candidates.filter_map(remote_candidate).collect(),
            mid: all.clone().find_map(|m| m.mid),
        })
    }

    /// Returns the answer to a fragment that restarts ICE, with our side from `config`.
    #[must_use]
    pub fn answer(&self, config: &PeerConfig) -> String {
        let transported = Transported {
            config,
            setup: Setup::ActPass,
        };
        let mut text = "a=ice-options:trickle\r\n".to_owned();
        // The kind and the formats of the section have no meaning here (RFC 8840 section
        // 9), only its identification has.
        text += "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\n";
        if let Some(mid) = self.mid {
            text += &format!("a=mid:{mid}\r\n");
        }
        let credentials = &config.association.ice.credentials;
        text += &format!("a=ice-ufrag:{}\r\n", credentials.ufrag);
        text += &format!("a=ice-pwd:{}\r\n", credentials.pwd);
        for candidate in transported.candidates() {
            text += &format!("a={candidate}\r\n");
        }
        text + "a=end-of-candidates\r\n"
    }
}

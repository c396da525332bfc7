//! Requests to a WHIP or WHEP endpoint of any server (RFC 9725, draft-ietf-wish-whep-03).

use std::collections::BTreeMap;
use std::sync::Arc;

use ureq::http::Uri;
use weft_net::LinkChoice;

use super::error::SignallingError;
use super::exchange::{Exchange, PLAY, ServerKind};
use super::links::{LinkConnector, LinkFault, LinkTurnConnector};
use super::resource::Resources;
use super::{Created, Server};
use crate::links::LinkTrouble;
use crate::turn::TurnConnector;

/// Redirects that are followed. Chosen by us: a load balancer needs one.
const MAX_REDIRECTS: usize = 3;

/// Statuses of a refused offer after which a player asks for the server's own offer:
/// servers that always offer take an offer for a bad request.
const WANTS_TO_OFFER: [u16; 4] = [400, 406, 415, 422];

/// Request to publish, as part of an error.
const PUBLISH: &str = "to publish";

/// A WHIP or WHEP endpoint: an address that takes offers.
#[derive(Clone)]
pub struct MediaEndpoint {
    resources: Resources,
    url: String,
}

impl MediaEndpoint {
    /// The endpoint at the server's `url`, which is its whole address, asked over these
    /// links in turn; over none of them: wherever the routes lead. No request is made yet.
    ///
    /// # Errors
    /// If the address is not one of HTTP, or the certificate to trust cannot be read.
    pub fn new(server: &Server, links: Vec<LinkChoice>) -> Result<MediaEndpoint, SignallingError> {
        let url = server.url.clone();
        let uri: Option<Uri> = url.parse().ok();
        let is_http = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https"));
        if !uri.is_some_and(|uri| is_http(&uri) && uri.host().is_some()) {
            return Err(SignallingError::Url(url));
        }
        let links = LinkConnector::new(links, server.trust.config()?);
        // A query may hold a key, which messages must not show.
        let shown = url.split(['?', '#']).next().unwrap_or_default().to_owned();
        let exchange = Exchange::new(links, shown, ServerKind::Any);
        let resources = Resources::new(exchange, server.token.clone());
        Ok(MediaEndpoint { resources, url })
    }

    /// Address without its query, for messages.
    #[must_use]
    pub fn shown_url(&self) -> String {
        self.resources.exchange.base.url()
    }

    /// Connector to TURN servers, which trusts the same certificates.
    #[must_use]
    pub fn turn_connector(&self) -> Arc<dyn TurnConnector> {
        Arc::new(LinkTurnConnector(self.resources.exchange.links.tls()))
    }

    /// Publishes an offer. Redirects are followed on the same server, and one to another
    /// server of a weft cluster: the token is for no others.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn publish(&self, offer: &str) -> Result<Created, SignallingError> {
        self.create(PUBLISH, offer)
    }

    /// Plays with this offer. A server that makes the offers itself answers with its own
    /// one, at once (406 or 409) or when it is asked for it with an empty body.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn play(&self, offer: &str) -> Result<Created, SignallingError> {
        let refused = match self.create(PLAY, offer) {
            Err(error) if error.has_status(&WANTS_TO_OFFER) => error,
            done => return done,
        };
        // If the server refuses this, too, its reason against our offer is the better one.
        self.create(PLAY, "").map_err(|_| refused)
    }

    /// Answers the server's offer.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn answer(&self, location: &str, answer: &str) -> Result<(), SignallingError> {
        self.resources.answer(location, answer)
    }

    fn create(&self, what: &'static str, offer: &str) -> Result<Created, SignallingError> {
        let mut url = self.url.clone();
        let base = &self.resources.exchange.base;
        base.reset();
        for _ in 0..MAX_REDIRECTS {
            match self.resources.create(what, &url, None, offer) {
                Err(SignallingError::Redirected { url: from, to }) => {
                    let own = self.resources.resolve(&url, &to).ok();
                    url = own.ok_or(SignallingError::Redirected { url: from, to })?;
                }
                Err(SignallingError::OtherServer { to, .. }) => {
                    base.follow(&to)?;
                    return self.resources.create(what, &to, None, offer);
                }
                done => return done,
            }
        }
        self.resources.create(what, &url, None, offer)
    }

    /// Ends a publication or a playback.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn delete(&self, location: &str) -> Result<(), SignallingError> {
        self.resources.delete(location)
    }

    /// Tells requests the state of a link by its media: they leave a dead one.
    pub fn on_link(&self, link: &str, up: bool) {
        self.resources.exchange.links.set_up(link, up);
    }

    /// Links over which requests fail, while others carry them.
    #[must_use]
    pub fn link_faults(&self) -> BTreeMap<String, LinkFault> {
        self.resources.exchange.links.faults()
    }

    /// Finds out why a link carries no media. It may take some seconds.
    #[must_use]
    pub fn diagnose(&self, link: &str) -> LinkTrouble {
        self.resources.diagnose(link, &self.url, None)
    }
}

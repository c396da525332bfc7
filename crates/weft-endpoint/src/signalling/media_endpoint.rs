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

/// Maximum number of redirects to follow. Chosen by us: a load balancer needs one.
const MAX_REDIRECTS: usize = 3;

/// Statuses of a refused offer after which a player requests the server's own offer,
/// because servers that always make the offer treat an offer as a bad request.
const WANTS_TO_OFFER: [u16; 4] = [400, 406, 415, 422];

/// Request to publish, as part of an error.
const PUBLISH: &str = "to publish";

/// WHIP or WHEP endpoint: a URL that accepts offers.
#[derive(Clone)]
pub struct MediaEndpoint {
    resources: Resources,
    url: String,
}

impl MediaEndpoint {
    /// Creates a client of the endpoint at the server's `url`, which is its full URL.
    /// Requests try these links in order; without links they use the system's routes.
    /// Sends no request yet.
    ///
    /// # Errors
    /// If the URL is not an HTTP URL, or the trusted certificate cannot be read.
    pub fn new(server: &Server, links: Vec<LinkChoice>) -> Result<MediaEndpoint, SignallingError> {
        let url = server.url.clone();
        let uri: Option<Uri> = url.parse().ok();
        let is_http = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https"));
        if !uri.is_some_and(|uri| is_http(&uri) && uri.host().is_some()) {
            return Err(SignallingError::Url(url));
        }
        let links = LinkConnector::new(links, server.trust.config()?);
        // A query may contain a key, which messages must not show.
        let shown = url.split(['?', '#']).next().unwrap_or_default().to_owned();
        let exchange = Exchange::new(links, shown, ServerKind::Any);
        let resources = Resources::new(exchange, server.token.clone());
        Ok(MediaEndpoint { resources, url })
    }

    /// Returns the URL without its query, for messages.
    #[must_use]
    pub fn shown_url(&self) -> String {
        self.resources.exchange.base.url()
    }

    /// Returns a connector to TURN servers, which trusts the same certificates.
    #[must_use]
    pub fn turn_connector(&self) -> Arc<dyn TurnConnector> {
        Arc::new(LinkTurnConnector(self.resources.exchange.links.tls()))
    }

    /// Publishes an offer. Follows redirects on the same server, and one to another
    /// server of a weft cluster, because the token is for no other servers.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn publish(&self, offer: &str) -> Result<Created, SignallingError> {
        self.create(PUBLISH, offer)
    }

    /// Plays with this offer. A server that makes the offers itself answers with its own
    /// offer, at once (406 or 409) or after a request with an empty body.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn play(&self, offer: &str) -> Result<Created, SignallingError> {
        let refused = match self.create(PLAY, offer) {
            Err(error) if error.has_status(&WANTS_TO_OFFER) => error,
            done => return done,
        };
        // If the server refuses this too, its reason for refusing our offer is more
        // useful.
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

    /// Reports the state of a link as observed by media; requests leave a dead link.
    pub fn on_link(&self, link: &str, up: bool) {
        self.resources.exchange.links.set_up(link, up);
    }

    /// Returns the links over which requests fail while others work.
    #[must_use]
    pub fn link_faults(&self) -> BTreeMap<String, LinkFault> {
        self.resources.exchange.links.faults()
    }

    /// Diagnoses why a link carries no media. May take some seconds.
    #[must_use]
    pub fn diagnose(&self, link: &str) -> LinkTrouble {
        self.resources.diagnose(link, &self.url, None)
    }
}

//! WHIP and WHEP resources (RFC 9725), created by posting an offer and ended by DELETE.

use ureq::http::header::{LINK, LOCATION};
use ureq::http::{Response, Uri};
use ureq::{Body, RequestBuilder};

use super::base::origin;
use super::error::SignallingError;
use super::exchange::{AttemptTimeouts, Exchange, MAX_DESCRIPTION, SDP, shortened};
use super::links::{LinkFault, Used};
use super::{Created, SECRET, SdpRole};
use crate::links::LinkTrouble;
use crate::turn::{MAX_SERVERS, TurnServer};

/// Resources of one server, and the token for requests.
#[derive(Clone)]
pub(super) struct Resources {
    pub exchange: Exchange,
    token: Option<String>,
}

impl Resources {
    pub fn new(exchange: Exchange, token: Option<String>) -> Resources {
        Resources { exchange, token }
    }

    /// Returns the resources of another server of the cluster, which accepts the same
    /// token.
    ///
    /// # Errors
    /// [`SignallingError::OtherServer`] if the token may not go there.
    pub fn elsewhere(&self, url: &str) -> Result<Resources, SignallingError> {
        Ok(Resources {
            exchange: self.exchange.elsewhere(url)?,
            token: self.token.clone(),
        })
    }

    fn base(&self) -> String {
        self.exchange.base.url()
    }

    /// Adds the bearer token, if there is one.
    pub fn authorized<B>(&self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        match &self.token {
            Some(token) => request.header("Authorization", format!("Bearer {token}")),
            None => request,
        }
    }

    /// Posts an offer to `url`, or requests one with an empty `sdp`. The server returns a
    /// description and the URL of a resource. `secret` proves our identity to a room.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn create(
        &self,
        what: &'static str,
        url: &str,
        secret: Option<&str>,
        sdp: &str,
    ) -> Result<Created, SignallingError> {
        let send = |timeouts: AttemptTimeouts| {
            let request = timeouts
                .apply(self.exchange.agent.post(url))
                .header("Content-Type", SDP);
            let request = match secret {
                Some(secret) => request.header(SECRET, secret),
                None => request,
            };
            self.authorized(request).send(sdp)
        };
        let take = |mut response: Response<Body>, _: Option<&Used>| {
            let status = response.status();
            let links = response.headers().get_all(LINK).iter();
            let links = links.filter_map(|link| link.to_str().ok());
            let mut turn_servers: Vec<TurnServer> =
                links.flat_map(TurnServer::of_link_header).collect();
            turn_servers.truncate(MAX_SERVERS);
            let location = response.headers().get(LOCATION);
            let location = location.and_then(|l| l.to_str().ok()).map(str::to_owned);
            let body = response.body_mut().with_config().limit(MAX_DESCRIPTION);
            Ok((status, location, body.read_to_string()?, turn_servers))
        };
        let (status, location, answered, turn_servers) =
            self.exchange.ask(what, Some(SDP), send, take)?;
        let location = location.ok_or_else(|| SignallingError::NoLocation {
            what,
            status: status.as_u16(),
            url: self.base(),
        })?;
        let role = match status.is_success() && !sdp.is_empty() {
            true => SdpRole::Answer,
            false => SdpRole::Offer,
        };
        Ok(Created {
            role,
            sdp: answered,
            location: self.resolve(url, &location)?,
            reached: self.exchange.links.reached(),
            turn_servers,
        })
    }

    /// Answers an offer of the server.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn answer(&self, location: &str, answer: &str) -> Result<(), SignallingError> {
        let url = self.resolve(&self.base(), location)?;
        let send = |timeouts: AttemptTimeouts| {
            let request = timeouts.apply(self.exchange.agent.patch(&url));
            let request = request.header("Content-Type", SDP);
            self.authorized(request).send(answer)
        };
        self.exchange
            .ask("the answer to its offer", None, send, |_, _| Ok(()))
    }

    /// Deletes a resource, which ends its publication or playback.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn delete(&self, location: &str) -> Result<(), SignallingError> {
        let url = self.resolve(&self.base(), location)?;
        let send = |timeouts: AttemptTimeouts| {
            self.authorized(timeouts.apply(self.exchange.agent.delete(&url)))
                .call()
        };
        self.exchange.ask("to end", None, send, |_, _| Ok(()))
    }

    /// Diagnoses why a link carries no media: checks its routes, then requests `url` over
    /// this link only; a valid answer has the media type `kind`. May take some seconds.
    pub fn diagnose(&self, link: &str, url: &str, kind: Option<&'static str>) -> LinkTrouble {
        let links = &self.exchange.links;
        if let Some(LinkFault::Portal { answer }) = links.faults().remove(link) {
            return LinkTrouble::CaptivePortal { answer };
        }
        let (Some(alone), Some(choice)) = (links.alone(link), links.choice(link)) else {
            return LinkTrouble::Silent;
        };
        let fault = links.server();
        let fault = fault.and_then(|server| weft_net::route_fault(choice, server));
        if let Some(fault) = fault {
            return LinkTrouble::Route(fault);
        }
        let alone = Exchange::new(alone, self.base(), self.exchange.kind);
        let send = |timeouts: AttemptTimeouts| {
            self.authorized(timeouts.apply(alone.agent.get(url))).call()
        };
        let asked = alone.ask("to ask", kind, send, |_, _| Ok(()));
        if let Some(LinkFault::Portal { answer }) = alone.links.faults().remove(link) {
            return LinkTrouble::CaptivePortal { answer };
        }
        match asked {
            // Any answer, even a refusal, comes from the server.
            Ok(()) | Err(SignallingError::Refused { .. }) => LinkTrouble::UdpBlocked,
            Err(SignallingError::Certificate { .. }) => LinkTrouble::CaptivePortal {
                answer: "with a certificate that is not the server's".to_owned(),
            },
            Err(_) => LinkTrouble::Silent,
        }
    }

    /// Returns the URL of a resource named in the server's answer to `url`. Requests for
    /// it carry the token, so it must be on the same server.
    pub fn resolve(&self, url: &str, location: &str) -> Result<String, SignallingError> {
        let foreign = || SignallingError::ForeignLocation {
            url: self.base(),
            location: shortened(location),
        };
        let own = origin(url);
        let before_path = location.split(['/', '?', '#']).next().unwrap_or_default();
        if before_path.contains(':') || location.starts_with("//") {
            let absolute = match location.strip_prefix("//") {
                Some(rest) => format!("{}//{rest}", &own[..own.find("//").unwrap_or(0)]),
                None => location.to_owned(),
            };
            let named: Uri = absolute.parse().map_err(|_| foreign())?;
            let asked: Uri = own.parse().map_err(|_| foreign())?;
            if place(&named).is_none() || place(&named) != place(&asked) {
                return Err(foreign());
            }
            let path = named.path_and_query().map_or("/", |path| path.as_str());
            return Ok(format!("{own}{path}"));
        }
        if location.starts_with('/') {
            return Ok(format!("{own}{location}"));
        }
        // Relative to the requested path (RFC 3986 section 5.2.3).
        let path = &url[own.len()..];
        let path = &path[..path.find(['?', '#']).unwrap_or(path.len())];
        let folder = &path[..path.rfind('/').map_or(0, |slash| slash + 1)];
        let folder = if folder.is_empty() { "/" } else { folder };
        Ok(format!("{own}{folder}{location}"))
    }
}

/// Returns scheme, host and port for comparison (RFC 6454 section 4); `None` if missing.
fn place(uri: &Uri) -> Option<(&str, String, u16)> {
    let scheme = uri.scheme_str()?;
    let usual = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let host = uri.host()?.to_ascii_lowercase();
    Some((scheme, host, uri.port_u16().unwrap_or(usual)))
}

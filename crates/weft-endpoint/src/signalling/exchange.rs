//! Requests that fail over to the next link.

use std::io::ErrorKind;
use std::time::{Duration, Instant, SystemTime};

use serde::Deserialize;
use ureq::http::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use ureq::http::{Response, Uri};
use ureq::{Agent, Body, RequestBuilder};
use weft_units::printable;

use super::base::Base;
use super::error::{CertificateFault, SignallingError, Stall};
use super::links::{LinkConnector, LinkFault, OpenError, Unresolved, Used, take_used};

/// Time limit for a request with all its attempts: the server answers within 5 s. Chosen
/// by us.
const REQUEST: Duration = Duration::from_secs(10);

/// Media type of session descriptions.
pub(super) const SDP: &str = "application/sdp";

/// Request to play, as part of an error.
pub(super) const PLAY: &str = "to play";

/// Header of a redirect to another server of the cluster, with the name of that server.
const NODE: &str = "weft-node";

/// Maximum size of an answer other than a session description: refusals of weft's server
/// are far shorter. Chosen by us.
const MAX_ANSWER: u64 = 64 << 10;

/// Maximum size of an answer with a session description: the limit of `weft-wire`. The
/// server's offer for receiving 25 others has 60 KiB with one candidate. Chosen by us.
pub(super) const MAX_DESCRIPTION: u64 = 256 << 10;

/// Maximum size of an answer's headers in octets. The server sends a few
/// hundred. Chosen by us.
const MAX_HEADERS: usize = 16 << 10;

/// Maximum number of characters of a server's message to display. Chosen by us.
const MAX_WORDS: usize = 300;

/// Time for an answer on an open connection before the request moves to the
/// next link. Chosen by us: several round trips of the slowest networks, and
/// short enough that a call connects within 5 s if the second link works.
pub(super) const ANSWER: Duration = Duration::from_secs(2);

/// Minimum time for another attempt. A shorter one would always fail, so its error would
/// say nothing about the server. Chosen by us.
const ATTEMPT: Duration = Duration::from_millis(500);

/// Timeouts of one attempt at a request.
#[derive(Clone, Copy)]
pub(super) struct AttemptTimeouts {
    /// For each part of the answer, on an open connection.
    answer: Duration,
    /// For the whole attempt.
    left: Duration,
}

impl AttemptTimeouts {
    /// Applies the timeouts to a request.
    pub fn apply<B>(self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        request
            .config()
            .timeout_global(Some(self.left))
            .timeout_connect(Some(self.left))
            .timeout_send_request(Some(self.answer))
            .timeout_send_body(Some(self.answer))
            .timeout_recv_response(Some(self.answer))
            .timeout_recv_body(Some(self.answer))
            .build()
    }
}

/// Kind of server, which determines how answers are interpreted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerKind {
    /// A weft server redirects only to servers of its cluster, and marks these redirects;
    /// any other redirect comes from a captive portal.
    Weft,
    /// A WHIP or WHEP endpoint may redirect to another server (RFC 9725 section 4.5), and
    /// a WHEP endpoint may refuse an offer by making its own.
    Any,
}

/// HTTP with one server over several links.
#[derive(Clone)]
pub(super) struct Exchange {
    pub agent: Agent,
    pub links: LinkConnector,
    /// URL of the server.
    pub base: Base,
    pub kind: ServerKind,
}

/// Reason why an attempt over one link failed.
enum Failure {
    /// No answer; another attempt may succeed.
    Broken(LinkFault, Box<SignallingError>),
    /// An answer from something other than a weft server.
    Foreign(LinkFault, Box<SignallingError>),
    /// A refusal of the server, or an error that no other link can avoid.
    Final(Box<SignallingError>),
}

impl Exchange {
    pub fn new(links: LinkConnector, base: String, kind: ServerKind) -> Exchange {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect would send the token and the secret to another server.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_response_header_size(MAX_HEADERS)
            .build();
        Exchange {
            agent: Agent::with_parts(config, links.clone(), Unresolved),
            links,
            base: Base::new(base),
            kind,
        }
    }

    /// HTTP with another server of the cluster over the same links.
    ///
    /// # Errors
    /// Errors of [`Base::follow`].
    pub fn elsewhere(&self, url: &str) -> Result<Exchange, SignallingError> {
        Ok(Exchange {
            base: self.base.elsewhere(url)?,
            ..self.clone()
        })
    }

    /// Sends a request, and retries it over the next link after a timeout, a broken
    /// connection or a foreign answer. A valid answer with a body has the media type
    /// `kind` and is read by `take`.
    ///
    /// If the server had already accepted an offer, the retry creates a second
    /// connection, which replaces the first (docs/protocol/http.md); the first
    /// one times out.
    pub fn ask<T>(
        &self,
        what: &'static str,
        kind: Option<&'static str>,
        send: impl Fn(AttemptTimeouts) -> Result<Response<Body>, ureq::Error>,
        take: impl Fn(Response<Body>, Option<&Used>) -> Result<T, ureq::Error>,
    ) -> Result<T, SignallingError> {
        let begun = Instant::now();
        let attempts = self.links.count().max(2);
        let mut tried = Vec::new();
        let mut told: Option<Box<SignallingError>> = None;
        for attempt in 1..=attempts {
            let left = REQUEST.saturating_sub(begun.elapsed());
            if attempt > 1 && left < ATTEMPT {
                break;
            }
            // The last attempt gets all the remaining time.
            let answer = match attempt < self.links.count() {
                true => ANSWER.min(left),
                false => left,
            };
            let timeouts = AttemptTimeouts { answer, left };
            take_used();
            let response = send(timeouts);
            let used = take_used();
            let taken = match response {
                Ok(response) => match self.judge(what, kind, used.as_ref(), response) {
                    Ok(response) => take(response, used.as_ref())
                        .map_err(|error| self.broken(&error, used.as_ref())),
                    Err(failure) => Err(failure),
                },
                Err(error) => Err(self.broken(&error, used.as_ref())),
            };
            let link = used.as_ref().map(|used| used.link);
            let (is_foreign, fault, error) = match taken {
                Ok(taken) => {
                    if let Some(used) = &used {
                        self.links.succeed(used.link, used.server);
                    }
                    return Ok(taken);
                }
                Err(Failure::Final(error)) => return Err(*error),
                Err(Failure::Broken(fault, error)) => (false, fault, error),
                Err(Failure::Foreign(fault, error)) => (true, fault, error),
            };
            if let Some(link) = link {
                self.links.fail(link, fault);
            }
            // The first failure is reported, unless a later foreign answer is more
            // specific.
            told = Some(match told {
                Some(before) if !is_foreign => Box::new(before.and(*error)),
                _ => error,
            });
            let again = link.is_some() && tried.contains(&link);
            if is_foreign && (again || self.links.count() < 2) {
                break;
            }
            tried.push(link);
        }
        Err(*told.expect("there was an attempt"))
    }

    /// Whether an answer comes from a weft server and is successful.
    fn judge(
        &self,
        what: &'static str,
        expected: Option<&'static str>,
        used: Option<&Used>,
        mut response: Response<Body>,
    ) -> Result<Response<Body>, Failure> {
        let status = response.status().as_u16();
        let header = |name| response.headers().get(name)?.to_str().ok();
        let kind = header(CONTENT_TYPE).unwrap_or_default().to_owned();
        let is_page = kind.starts_with("text/html");
        let link = used.and_then(|used| self.links.name(used.link));
        let portal = |answer: String| {
            let fault = LinkFault::Portal {
                answer: answer.clone(),
            };
            let (url, link) = (self.base.url(), link.map(str::to_owned));
            let error = SignallingError::CaptivePortal { url, link, answer };
            Failure::Foreign(fault, Box::new(error))
        };
        if status == 307
            && let Some(to) = header(LOCATION)
            && response.headers().contains_key(NODE)
        {
            let (url, to) = (self.base.url(), to.to_owned());
            let error = SignallingError::OtherServer { url, to };
            return Err(Failure::Final(Box::new(error)));
        }
        if response.status().is_redirection() {
            let to = shortened(header(LOCATION).unwrap_or("nowhere"));
            let url = self.base.url();
            let is_same = host(&to) == host(&url);
            let redirects = matches!(status, 307 | 308) && self.kind == ServerKind::Any;
            if !is_same && !redirects {
                return Err(portal(format!("with a redirect to {to}")));
            }
            let fault = LinkFault::Broken(format!("a redirect to {to}"));
            let stays = is_same || host(&to).is_none();
            let error = Box::new(SignallingError::Redirected { url, to });
            return Err(match redirects && stays {
                true => Failure::Final(error),
                // It may come from a captive portal, so the other links are tried too.
                false => Failure::Foreign(fault, error),
            });
        }
        // Status of captive portals (RFC 6585 section 6).
        let may_lack = status == 204 || self.kind == ServerKind::Any;
        let is_missing = kind.is_empty() && may_lack;
        let strange = expected.is_some_and(|e| !is_missing && !kind.starts_with(e));
        if status == 511 || (response.status().is_success() && (is_page || strange)) {
            return Err(portal(format!("with its own page (HTTP status {status})")));
        }
        let is_offer = matches!(status, 406 | 409) && kind.starts_with(SDP);
        if response.status().is_success() || (is_offer && self.kind == ServerKind::Any) {
            return Ok(response);
        }
        let retry_after = header(RETRY_AFTER).and_then(|seconds| seconds.parse().ok());
        let retry_after = retry_after.map(Duration::from_secs);
        let body = response.body_mut().with_config().limit(MAX_ANSWER);
        let body = body.read_to_string().unwrap_or_default();
        let refused = Box::new(refusal(what, (status, retry_after), &body));
        // weft sends its reasons as JSON.
        let is_foreign = self.kind == ServerKind::Weft && !kind.starts_with("application/json");
        let fault = match (is_page || is_foreign, status) {
            (false, _) => return Err(Failure::Final(refused)),
            // Filters and captive portals forbid requests.
            (true, 403) => LinkFault::Portal {
                answer: format!("with its own page (HTTP status {status})"),
            },
            // A proxy in front of the server, or another program at its address.
            (true, _) => LinkFault::Broken(format!("an error page, HTTP status {status}")),
        };
        Err(Failure::Foreign(fault, refused))
    }

    /// Handles a missing answer, or one that is not HTTP.
    fn broken(&self, error: &ureq::Error, used: Option<&Used>) -> Failure {
        let told = self.unreachable(error);
        let fault = match error {
            ureq::Error::Timeout(_) => LinkFault::Stalled,
            ureq::Error::Io(error) if error.kind() == ErrorKind::TimedOut => LinkFault::Stalled,
            _ => LinkFault::Broken(words(error)),
        };
        match (told, used) {
            (SignallingError::Unreachable { url, .. }, Some(used))
                if fault == LinkFault::Stalled =>
            {
                let link = self.links.name(used.link).map(str::to_owned);
                let stall = match error {
                    // The system's error after TCP_USER_TIMEOUT.
                    ureq::Error::Io(_) => Stall::Unacknowledged,
                    _ => Stall::Unanswered,
                };
                let links = link.into_iter().collect();
                let stalled = SignallingError::Stalled { url, links, stall };
                Failure::Broken(fault, Box::new(stalled))
            }
            (told @ (SignallingError::Unreachable { .. } | SignallingError::Stalled { .. }), _) => {
                Failure::Broken(fault, Box::new(told))
            }
            // The connector has tried every link.
            (told, _) => Failure::Final(Box::new(told)),
        }
    }

    pub fn unreachable(&self, error: &ureq::Error) -> SignallingError {
        let (url, words) = (self.base.url(), words(error));
        let opening = match error {
            ureq::Error::Other(error) => error.downcast_ref::<OpenError>(),
            _ => None,
        };
        match opening {
            Some(OpenError::UnknownHost(error)) => SignallingError::UnknownHost {
                url,
                error: error.clone(),
            },
            Some(OpenError::Stalled { links, stall }) => {
                let names = links.iter().filter_map(|link| self.links.name(Some(*link)));
                SignallingError::Stalled {
                    url,
                    links: names.map(str::to_owned).collect(),
                    stall: *stall,
                }
            }
            Some(OpenError::Tls(rustls::Error::InvalidMessage(_))) => {
                let error = "it does not use TLS; try http://".to_owned();
                SignallingError::Unreachable { url, error }
            }
            Some(OpenError::Tls(error)) => SignallingError::Certificate {
                url,
                fault: CertificateFault::of(error, SystemTime::now()),
                error: words,
            },
            _ => SignallingError::Unreachable { url, error: words },
        }
    }
}

fn words(error: &ureq::Error) -> String {
    shortened(&match error {
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::Other(error) => error.to_string(),
        other => other.to_string(),
    })
}

/// Returns a server's message for display: on one line, and of limited length.
pub(super) fn shortened(words: &str) -> String {
    let words: String = words.chars().take(MAX_WORDS).collect();
    printable(&words).to_string()
}

/// Returns the host of a URL, if it has one.
fn host(url: &str) -> Option<String> {
    let url: Uri = url.parse().ok()?;
    url.host().map(str::to_owned)
}

#[derive(Deserialize)]
struct Problem {
    error: String,
    #[serde(default)]
    remedy: String,
    #[serde(default)]
    kind: Option<String>,
}

/// Returns the refusal in the server's own words.
fn refusal(
    what: &'static str,
    (status, retry_after): (u16, Option<Duration>),
    body: &str,
) -> SignallingError {
    let problem = serde_json::from_str(body).unwrap_or_else(|_| Problem {
        error: format!("HTTP status {status}"),
        remedy: match (what, status) {
            (PLAY, 404 | 409) => "is the address right, and does anybody publish there?",
            (_, 403) => "does the token allow it?",
            (_, 429) => "the server limits the number of requests",
            (_, 500..) => "the fault is at the server, whose log may say more",
            _ => "is the address right?",
        }
        .to_owned(),
        kind: None,
    });
    // The server's remedy for a missing token addresses users of the page.
    let remedy = match (status, problem.kind.as_deref()) {
        (401, None | Some("token_missing")) => "give the server's token".to_owned(),
        _ => shortened(&problem.remedy),
    };
    SignallingError::Refused {
        what,
        status,
        error: shortened(&problem.error),
        remedy,
        kind: problem.kind.as_deref().map(shortened),
        retry_after,
    }
}

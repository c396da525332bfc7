//! Errors of requests to a server, with the remedy.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use weft_units::printable;

/// Request that the server refused or did not answer.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignallingError {
    /// Invalid URL.
    #[error(
        "`{0}` is not a server address; write it like http://127.0.0.1:8080 or https://HOST:PORT"
    )]
    Url(String),
    /// URL copied from a browser, with superfluous parts.
    #[error("`{url}` has more than the server's address: {}", .part.remedy())]
    UrlParts {
        /// URL as given.
        url: String,
        /// Superfluous part.
        part: UrlPart,
    },
    /// No answer, or an answer that is not HTTP.
    #[error("cannot reach {url}: {error}; check that the server is running there")]
    Unreachable {
        /// Root URL of the server.
        url: String,
        /// Message of the system.
        error: String,
    },
    /// Connections to the server open, but data or answers do not arrive.
    #[error("connections to {url}{} open, but {}", over_all(.links), .stall.words(.links))]
    Stalled {
        /// Root URL of the server.
        url: String,
        /// Names of the links that were tried; empty for the system's routes.
        links: Vec<String>,
        /// Evidence of the loss.
        stall: Stall,
    },
    /// Requests fail while media flows, so the server is running.
    #[error("requests to {url} fail: {error}; pictures and sound still flow")]
    OnlyMedia {
        /// Root URL of the server.
        url: String,
        /// Message of the system.
        error: String,
    },
    /// The host is unknown, or no network is available to resolve it.
    #[error(
        "cannot find the host of {url}: {error}; check the spelling of its name and your network connection"
    )]
    UnknownHost {
        /// Root URL of the server.
        url: String,
        /// Message of the system.
        error: String,
    },
    /// The certificate does not prove the server's identity.
    #[error("{url} does not prove who it is: {error}; {}", .fault.remedy())]
    Certificate {
        /// Root URL of the server.
        url: String,
        /// Message of TLS.
        error: String,
        /// Problem of the certificate.
        fault: CertificateFault,
    },
    /// A captive portal answers instead of the server.
    #[error(
        "{}a captive portal seems to answer instead of the server at {url}, {answer}; log in to \
         this network, for example with a browser, or correct the address if it is that of a web \
         page",
        over(.link.as_deref())
    )]
    CaptivePortal {
        /// Root URL of the server.
        url: String,
        /// Name of the link, if the request used a configured one.
        link: Option<String>,
        /// Its answer, as the continuation of "it answers".
        answer: String,
    },
    /// The file of [`Trust::File`](super::Trust::File) is invalid.
    #[error("{path}: {error}; name a PEM file with a certificate")]
    Authority {
        /// Path as given.
        path: String,
        /// Problem of the file.
        error: String,
    },
    /// The server refused the request.
    #[error("the server refuses {what}: {}", with_remedy(.error, .remedy))]
    Refused {
        /// Request that was refused.
        what: &'static str,
        /// HTTP status.
        status: u16,
        /// Problem, a sentence.
        error: String,
        /// Remedy, a sentence; may be empty.
        remedy: String,
        /// Kind of refusal in one word, if the server gives one: a token that does not
        /// allow the request.
        kind: Option<String>,
        /// Time after which the server accepts another request, if it says so.
        retry_after: Option<Duration>,
    },
    /// The server supports HTTP, but not WHIP or WHEP (RFC 9725 section 4.2).
    #[error(
        "the server accepts the request {what} (HTTP status {status}), but its answer has no \
         Location; is {url} the address of a WHIP or WHEP endpoint?"
    )]
    NoLocation {
        /// Request that was accepted.
        what: &'static str,
        /// HTTP status.
        status: u16,
        /// URL of the request.
        url: String,
    },
    /// The room's event stream is invalid or exceeds a limit.
    #[error("the room's events at {url} cannot be read: {error}; is it a weft server?")]
    Events {
        /// Root URL of the server.
        url: String,
        /// Problem in words.
        error: String,
    },
    /// The resource is on another server, which must not receive the token and the
    /// participant's secret.
    #[error(
        "{url} names a resource on another server, `{location}`; weft sends the token only to \
         the server that you named: name the other one if you trust it"
    )]
    ForeignLocation {
        /// URL of the request.
        url: String,
        /// URL of the resource.
        location: String,
    },
    /// The server redirects the request to another server of its cluster, and weft does
    /// not follow.
    #[error(
        "{url} redirects to `{}`, another server of its cluster; weft follows only one such \
         redirect, and none from https to http", printable(to.get(..300).unwrap_or(to))
    )]
    OtherServer {
        /// URL of the request.
        url: String,
        /// Target of the redirect.
        to: String,
    },
    /// The server redirects the request.
    #[error(
        "{url} redirects to `{to}`; weft does not follow this redirect: name that server if you trust it"
    )]
    Redirected {
        /// URL of the request.
        url: String,
        /// Target of the redirect.
        to: String,
    },
}

/// Returns the link as a prefix of a sentence.
fn over(link: Option<&str>) -> String {
    link.map_or_else(String::new, |link| format!("link `{link}`: "))
}

/// Returns the links as part of a sentence.
fn over_all(links: &[String]) -> String {
    match links {
        [] => String::new(),
        [link] => format!(" over {link}"),
        [first @ .., last] => format!(" over {} and {last}", first.join(", ")),
    }
}

/// Evidence about an open connection that carries no data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stall {
    /// The other end does not acknowledge the request, although it acknowledged the
    /// connection: large packets to the server are lost (a path MTU black hole).
    Unacknowledged,
    /// No answer arrives: the server hangs, or large packets from it are lost.
    Unanswered,
}

impl Stall {
    fn words(self, links: &[String]) -> String {
        let device = links.first().map_or("DEVICE", String::as_str);
        let lower =
            format!("lower the MTU of each link, for example `ip link set dev {device} mtu 1280`");
        match self {
            Stall::Unacknowledged => format!("large packets do not arrive; {lower}"),
            Stall::Unanswered => format!(
                "no answer arrives; if the server works for others, large packets are lost on \
                 the way: {lower}"
            ),
        }
    }
}

/// Part of a URL beyond the server's root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlPart {
    /// Query or fragment, as in the page's URL with a token.
    Query,
    /// Room, as in its page's URL.
    Room,
}

impl UrlPart {
    fn remedy(self) -> &'static str {
        match self {
            UrlPart::Query => "remove the part from `?` or `#` on; pass a token separately",
            UrlPart::Room => "remove the part from `/r/` on; pass the room separately",
        }
    }
}

/// Reason why a certificate is not valid for the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateFault {
    /// No trusted authority signed it.
    Unknown,
    /// It has other names.
    OtherNames,
    /// It is not valid yet, according to this machine's clock.
    NotValidYet {
        /// Year of the clock.
        year: u64,
    },
    /// It has expired, according to this machine's clock.
    Expired {
        /// Year of the clock.
        year: u64,
    },
}

impl CertificateFault {
    pub(super) fn of(error: &rustls::Error, now: SystemTime) -> CertificateFault {
        use rustls::CertificateError as Fault;
        /// Mean length of a Gregorian year in seconds.
        const YEAR: u64 = 31_556_952;
        let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let year = 1970 + seconds / YEAR;
        let rustls::Error::InvalidCertificate(fault) = error else {
            return CertificateFault::Unknown;
        };
        match fault {
            Fault::NotValidForName | Fault::NotValidForNameContext { .. } => {
                CertificateFault::OtherNames
            }
            Fault::NotValidYet | Fault::NotValidYetContext { .. } => {
                CertificateFault::NotValidYet { year }
            }
            Fault::Expired | Fault::ExpiredContext { .. } => CertificateFault::Expired { year },
            _ => CertificateFault::Unknown,
        }
    }

    fn remedy(self) -> String {
        let words = match self {
            CertificateFault::NotValidYet { year } => {
                return format!(
                    "this machine's clock is in the year {year}; set it, for example with \
                     `timedatectl set-ntp true`"
                );
            }
            CertificateFault::Expired { year } => {
                return format!(
                    "this machine's clock is in the year {year}; if that is wrong, set it; otherwise \
                     the server needs a new certificate"
                );
            }
            CertificateFault::OtherNames => {
                "log in to this network if it has a captive portal, which may have answered; \
                 otherwise use a name or address from the certificate. A self-signed certificate \
                 gets the server's present names if you delete certificate.pem and key.pem in its \
                 ~/.local/state/weft"
            }
            CertificateFault::Unknown => {
                "if the server's certificate is self-signed, copy the certificate file from the \
                 server and trust it, or accept any certificate"
            }
        };
        words.to_owned()
    }
}

impl SignallingError {
    /// Whether a retry may succeed, because the network or the server may
    /// recover.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            SignallingError::Unreachable { .. }
            | SignallingError::Stalled { .. }
            | SignallingError::UnknownHost { .. }
            | SignallingError::OnlyMedia { .. }
            | SignallingError::CaptivePortal { .. }
            | SignallingError::Certificate {
                fault: CertificateFault::OtherNames,
                ..
            }
            | SignallingError::Events { .. } => true,
            SignallingError::Refused { status, kind, .. } => {
                // 403: a restarted server has not admitted us yet. With a kind, the token
                // is the reason, and a retry cannot help.
                (*status == 403 && kind.is_none())
                    || matches!(status, 404 | 409 | 429)
                    || *status >= 500
            }
            _ => false,
        }
    }

    /// Whether the server refused the request with one of these HTTP statuses.
    #[must_use]
    pub fn has_status(&self, statuses: &[u16]) -> bool {
        matches!(self, SignallingError::Refused { status, .. } if statuses.contains(status))
    }

    /// Returns the time after which the server accepts another request, if it says so.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            SignallingError::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Adjusts the error for a server that media still reaches, so only requests fail.
    #[must_use]
    pub fn while_media_flows(self) -> SignallingError {
        match self {
            SignallingError::Unreachable { url, error }
            | SignallingError::UnknownHost { url, error } => {
                SignallingError::OnlyMedia { url, error }
            }
            other => other,
        }
    }

    /// Adds the failure of a later attempt. Reports the first failure, but a stall only if
    /// all attempts stalled, because a connection opened before an outage stalls too.
    pub(super) fn and(self, later: SignallingError) -> SignallingError {
        match (self, later) {
            (
                SignallingError::Stalled {
                    url,
                    mut links,
                    stall,
                },
                SignallingError::Stalled {
                    links: more,
                    stall: last,
                    ..
                },
            ) => {
                for link in more {
                    if !links.contains(&link) {
                        links.push(link);
                    }
                }
                // A later attempt waits longer, long enough for this evidence.
                let stall = match last {
                    Stall::Unacknowledged => last,
                    Stall::Unanswered => stall,
                };
                SignallingError::Stalled { url, links, stall }
            }
            (SignallingError::Stalled { .. }, later) => later,
            (first, _) => first,
        }
    }

    /// Returns a key for comparing errors, because the system's messages about a dead
    /// network change from second to second.
    #[must_use]
    pub fn kind(&self) -> String {
        match self {
            SignallingError::Unreachable { .. } => "unreachable".to_owned(),
            SignallingError::Stalled { .. } => "stalled".to_owned(),
            SignallingError::UnknownHost { .. } => "unknown host".to_owned(),
            SignallingError::OnlyMedia { .. } => "only media".to_owned(),
            other => other.to_string(),
        }
    }

    /// Whether the request itself is wrong, not the server or the network.
    #[must_use]
    pub fn is_of_asker(&self) -> bool {
        matches!(
            self,
            SignallingError::Url(_)
                | SignallingError::UrlParts { .. }
                | SignallingError::Authority { .. }
                | SignallingError::Refused {
                    status: 400..=403,
                    ..
                }
        )
    }
}

/// Joins a server's problem and remedy into one sentence.
#[must_use]
pub fn with_remedy(error: &str, remedy: &str) -> String {
    let error = error.trim_end_matches('.');
    let remedy = remedy.trim_end_matches('.');
    let mut letters = remedy.chars();
    match letters.next() {
        None => error.to_owned(),
        Some(first) => format!("{error}; {}{}", first.to_lowercase(), letters.as_str()),
    }
}

//! What a server says no with, and what to do.

use std::time::{SystemTime, UNIX_EPOCH};

/// The server said no, or nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignallingError {
    /// This is no address.
    #[error("`{0}` is no server address; write it like http://127.0.0.1:8080 or https://HOST:PORT")]
    Url(String),
    /// This is what people copy from a browser.
    #[error("`{url}` is more than the server's address: {}", .part.remedy())]
    UrlParts {
        /// All of what was given.
        url: String,
        /// What it has too much.
        part: UrlPart,
    },
    /// Nobody answers, or not with HTTP.
    #[error("cannot reach {url}: {error}; is the server running there?")]
    Unreachable {
        /// The root that was asked.
        url: String,
        /// What the system says.
        error: String,
    },
    /// Requests fail while media flows: the server is running.
    #[error("requests to {url} fail: {error}; pictures and sound still flow")]
    OnlyMedia {
        /// The root that was asked.
        url: String,
        /// Message of the system.
        error: String,
    },
    /// No such host is known here, or there is no network to ask.
    #[error(
        "cannot find the host of {url}: {error}; is its name spelt right, and is there a network?"
    )]
    UnknownHost {
        /// The root that was asked.
        url: String,
        /// What the system says.
        error: String,
    },
    /// Somebody answers who is not the server for all that is known.
    #[error("{url} does not prove who it is: {error}; {}", .fault.remedy())]
    Certificate {
        /// The root that was asked.
        url: String,
        /// What TLS says.
        error: String,
        /// What is wrong.
        fault: CertificateFault,
    },
    /// Something else answers in the server's place.
    #[error(
        "{}instead of the server at {url} a captive portal seems to answer, {answer}; log in to \
         this network, for example with a browser",
        over(.link.as_deref())
    )]
    CaptivePortal {
        /// The root that was asked.
        url: String,
        /// The link, where the request went over one that was named.
        link: Option<String>,
        /// How it answers, as the continuation of "it answers".
        answer: String,
    },
    /// The file of [`Trust::File`](super::Trust::File) is none.
    #[error("{path}: {error}; name a file with a certificate in PEM")]
    Authority {
        /// As it was named.
        path: String,
        /// What is wrong.
        error: String,
    },
    /// The server's own words.
    #[error("the server refuses {what}: {}", with_remedy(.error, .remedy))]
    Refused {
        /// What was asked for.
        what: &'static str,
        /// The status of HTTP.
        status: u16,
        /// What is wrong, a sentence.
        error: String,
        /// What to do, a sentence; may be empty.
        remedy: String,
        /// What kind of refusal, in a word, where the server says it: of a token
        /// that is not for this.
        kind: Option<String>,
    },
    /// It speaks HTTP, but not WHIP (RFC 9725 section 4.2).
    #[error("the server's answer to {0} has no Location; is {1} a WHIP server?")]
    NoLocation(&'static str, String),
    /// The room's events are none, or too long.
    #[error("the room's events at {url} cannot be read: {error}; is it a weft server?")]
    Events {
        /// The root that was asked.
        url: String,
        /// Reason in words.
        error: String,
    },
    /// The resource would be on another server, which the token and the
    /// participant's secret were not given for.
    #[error(
        "{url} names a resource on another server, `{location}`; the token stays with the server \
         that it was given for: name that server if you trust it"
    )]
    ForeignLocation {
        /// The root that was asked.
        url: String,
        /// The address of the resource.
        location: String,
    },
    /// The server sends us elsewhere.
    #[error(
        "{url} redirects to `{to}`; redirects are not followed: name that server if you trust it"
    )]
    Redirected {
        /// The root that was asked.
        url: String,
        /// The address that it redirects to.
        to: String,
    },
}

/// The link at the beginning of a sentence.
fn over(link: Option<&str>) -> String {
    link.map_or_else(String::new, |link| format!("link `{link}`: "))
}

/// What an address has beside the server's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlPart {
    /// A query or fragment, as in the page's address with a token.
    Query,
    /// A room, as in its page's address.
    Room,
}

impl UrlPart {
    fn remedy(self) -> &'static str {
        match self {
            UrlPart::Query => {
                "leave out what begins with `?` or `#`; a token is given beside the address"
            }
            UrlPart::Room => {
                "leave out the `/r/` and what follows; the room is named beside the address"
            }
        }
    }
}

/// Why a certificate proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateFault {
    /// Nobody who is trusted vouches for it.
    Unknown,
    /// It is for other names.
    OtherNames,
    /// It is not valid yet by the clock of this machine.
    NotValidYet {
        /// Year that the clock says.
        year: u64,
    },
    /// Its time is over by the clock of this machine.
    Expired {
        /// Year that the clock says.
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
                    "look at this machine's clock, which says that it is {year}, and set it, for \
                     example with `timedatectl set-ntp true`"
                );
            }
            CertificateFault::Expired { year } => {
                return format!(
                    "look at this machine's clock, which says that it is {year}: if that is wrong, \
                     set it; otherwise the server needs a new certificate"
                );
            }
            CertificateFault::OtherNames => {
                "log in to this network if it has a captive portal, which may have answered; else \
                 use one of the names or addresses that the certificate has: a server that has \
                 made it itself makes another for those that it has now when certificate.pem and \
                 key.pem in its ~/.local/state/weft are deleted"
            }
            CertificateFault::Unknown => {
                "where the server has made its certificate itself, copy that file from there and \
                 trust it, or trust whoever answers"
            }
        };
        words.to_owned()
    }
}

impl SignallingError {
    /// Worth trying again: the network or the server may come back.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            SignallingError::Unreachable { .. }
            | SignallingError::UnknownHost { .. }
            | SignallingError::OnlyMedia { .. }
            | SignallingError::CaptivePortal { .. }
            | SignallingError::Certificate {
                fault: CertificateFault::OtherNames,
                ..
            }
            | SignallingError::Events { .. } => true,
            SignallingError::Refused { status, kind, .. } => {
                // 403: not yet welcomed again by a server that was started anew. One
                // of a kind is of a token, which will never do.
                (*status == 403 && kind.is_none()) || matches!(status, 404 | 409) || *status >= 500
            }
            _ => false,
        }
    }

    /// Says of a server that media reaches only that requests fail.
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

    /// What to compare to know whether it is the same trouble as before: what
    /// the system says of a dead network changes from one second to the next.
    #[must_use]
    pub fn kind(&self) -> String {
        match self {
            SignallingError::Unreachable { .. } => "unreachable".to_owned(),
            SignallingError::UnknownHost { .. } => "unknown host".to_owned(),
            SignallingError::OnlyMedia { .. } => "only media".to_owned(),
            other => other.to_string(),
        }
    }

    /// Whether what was asked for is at fault, not the server or the way to it.
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

/// A server's two sentences in one: what is wrong, then what to do.
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

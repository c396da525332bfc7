use aws_lc_rs::hmac;
use axum::http::Uri;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Prefix of a secret (Standard Webhooks 1.0, "Signature scheme").
const PREFIX: &str = "whsec_";
/// Length of a secret in bytes (also "Signature scheme").
const LENGTH: std::ops::RangeInclusive<usize> = 24..=64;

/// Target of a server's events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookTarget {
    /// URL that gets the requests.
    pub url: WebhookUrl,
    /// Secret that it shares with the server.
    pub secret: WebhookSecret,
}

/// URL with `https`, or with `http` for a target on a trusted network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookUrl(String);

/// Secret that signs requests.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret(Vec<u8>);

/// Reason why a target cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WebhookError {
    /// The text is not a URL of HTTP.
    #[error("`{0}` is not the URL of a webhook: write it like https://host.example/weft")]
    Url(String),
    /// The text is not a secret.
    #[error(
        "a webhook's secret is whsec_ and 24 to 64 bytes in base64: \
         `echo whsec_$(openssl rand -base64 32)` makes one"
    )]
    Secret,
}

impl WebhookUrl {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for WebhookUrl {
    type Err = WebhookError;

    fn from_str(text: &str) -> Result<WebhookUrl, WebhookError> {
        let wrong = || WebhookError::Url(text.to_owned());
        let url: Uri = text.parse().map_err(|_| wrong())?;
        let is_http = matches!(url.scheme_str(), Some("http" | "https"));
        let has_login = url.authority().is_some_and(|a| a.as_str().contains('@'));
        let has_host = url.host().is_some_and(|host| !host.is_empty());
        match is_http && has_host && !has_login {
            true => Ok(WebhookUrl(text.to_owned())),
            false => Err(wrong()),
        }
    }
}

impl FromStr for WebhookSecret {
    type Err = WebhookError;

    fn from_str(text: &str) -> Result<WebhookSecret, WebhookError> {
        let encoded = text.strip_prefix(PREFIX).ok_or(WebhookError::Secret)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| WebhookError::Secret)?;
        match LENGTH.contains(&bytes.len()) {
            true => Ok(WebhookSecret(bytes)),
            false => Err(WebhookError::Secret),
        }
    }
}

/// Hides the secret.
impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret")
    }
}

impl WebhookSecret {
    /// Signature of an attempt at `timestamp`, in seconds since 1970: the value
    /// of `webhook-signature`.
    pub(super) fn sign(&self, id: &str, timestamp: u64, body: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        let signed = format!("{id}.{timestamp}.{body}");
        let signature = hmac::sign(&key, signed.as_bytes());
        format!("v1,{}", STANDARD.encode(signature))
    }
}

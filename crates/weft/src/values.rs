//! What several options are written as.

use std::net::SocketAddr;

use weft_units::{Rate, quantity};

/// An address with its port.
pub fn listen(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        format!(
            "`{text}` is no address with a port; write it like 127.0.0.1:8080, 0.0.0.0:8443 for \
             every address of this machine, or [::1]:8080"
        )
    })
}

/// What fits into a header and into the page's cookie (RFC 6265 section 4.1.1):
/// with another token nobody could come in.
pub fn token(text: &str) -> Result<String, String> {
    let fits = |b: u8| b.is_ascii_graphic() && !b";,\"\\".contains(&b);
    let remedy = "a token has at least one letter, digit or sign of ASCII, without spaces, quotes, \
                  commas, semicolons and backslashes; `openssl rand -hex 16` makes one";
    (!text.is_empty() && text.bytes().all(fits))
        .then(|| text.to_owned())
        .ok_or_else(|| remedy.to_owned())
}

/// A rate as in link specifications: `4mbit`, `800kbit`.
pub fn rate(text: &str) -> Result<Rate, String> {
    let parsed = quantity::rate(&text.to_ascii_lowercase());
    let parsed = parsed.filter(|rate| *rate > Rate::ZERO);
    parsed.ok_or_else(|| format!("`{text}` is no rate; write it like 4mbit or 800kbit"))
}

/// Whole seconds, one at least.
pub fn seconds(text: &str) -> Result<u64, String> {
    let remedy = "write whole seconds, such as 60";
    let whole: Option<u64> = text.parse().ok();
    whole.filter(|s| *s > 0).ok_or_else(|| remedy.to_owned())
}

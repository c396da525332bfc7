//! Parsers for values of options.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::str::FromStr;

use weft_units::{Rate, quantity};

use crate::exit::Failure;

/// Parses an address with a port.
pub fn listen(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        format!(
            "`{text}` is not an address with a port; write it like 127.0.0.1:8080, 0.0.0.0:8443 for \
             every address of this machine, or [::1]:8080"
        )
    })
}

/// Parses the address and port of the metrics.
pub fn metrics(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        format!(
            "`{text}` is not an address with a port; write for example --metrics 127.0.0.1:9100, or \
             0.0.0.0:9100 for every address of this machine"
        )
    })
}

/// Parses an address that external callers can reach.
pub fn public_address(text: &str) -> Result<IpAddr, String> {
    let parsed = text.parse::<IpAddr>().ok();
    let reachable = parsed.filter(|address| !address.is_unspecified() && !address.is_loopback());
    reachable.ok_or_else(|| {
        format!(
            "`{text}` is not an address that others can reach; write the router's address without a \
             port, for example --public-address 203.0.113.7 or --public-address 2001:db8::7"
        )
    })
}

/// Parses a token that fits into a header and the page's cookie (RFC 6265 section 4.1.1);
/// others would be unusable.
pub fn token(text: &str) -> Result<String, String> {
    let fits = |b: u8| b.is_ascii_graphic() && !b";,\"\\".contains(&b);
    let remedy = "a token has at least one letter, digit or sign of ASCII, without spaces, quotes, \
                  commas, semicolons and backslashes; `openssl rand -hex 16` makes one";
    (!text.is_empty() && text.bytes().all(fits))
        .then(|| text.to_owned())
        .ok_or_else(|| remedy.to_owned())
}

/// Parses the token of the admin interface.
pub fn admin_token(text: &str) -> Result<String, String> {
    let long = token(text)?;
    (long.len() >= 16).then_some(long).ok_or_else(|| {
        "an admin token has at least 16 characters; `openssl rand -hex 16` makes one".to_owned()
    })
}

/// Reads a secret from the file of an option: one line in the form that `read` accepts.
pub fn secret_file<T>(
    option: &str,
    path: &Path,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, Failure> {
    let wrong = |error: &dyn std::fmt::Display| {
        Failure::usage(format!("{option} {}: {error}", path.display()))
    };
    let content = std::fs::read_to_string(path);
    let content = content.map_err(|error| {
        wrong(&format_args!(
            "{error}; name a file that this user may read"
        ))
    })?;
    read(content.trim()).map_err(|error| wrong(&error))
}

/// Parses a rate in the form of link specifications: `4mbit`, `800kbit`.
pub fn rate(text: &str) -> Result<Rate, String> {
    let parsed = quantity::rate(&text.to_ascii_lowercase());
    let parsed = parsed.filter(|rate| *rate > Rate::ZERO);
    parsed.ok_or_else(|| format!("`{text}` is not a rate: write it like 4mbit or 800kbit"))
}

/// Parses whole seconds, at least one.
pub fn seconds(text: &str) -> Result<u64, String> {
    let remedy = "write whole seconds, at least 1, such as 60";
    let whole: Option<u64> = text.parse().ok();
    whole.filter(|s| *s > 0).ok_or_else(|| remedy.to_owned())
}

/// Parses a whole number.
pub fn number<T: FromStr>(text: &str) -> Result<T, String> {
    let parsed = text.parse();
    parsed.map_err(|_| "write a whole number, such as 20".to_owned())
}

/// Parses a limit of a server; with zero it would serve nobody.
pub fn limit(text: &str) -> Result<usize, String> {
    let limit = number(text)?;
    let is_useful = |limit: &usize| *limit > 0;
    let remedy = "write a whole number, at least 1, such as 20";
    Some(limit)
        .filter(is_useful)
        .ok_or_else(|| remedy.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_cannot_be_meant_come_with_an_example() {
        for text in ["host.example", "203.0.113.7:80", "0.0.0.0", "127.0.0.1", ""] {
            let error = public_address(text).unwrap_err();
            assert!(error.contains("--public-address 203.0.113.7"), "{error}");
        }
        for text in ["9100", "localhost:9100", "127.0.0.1", ""] {
            let error = metrics(text).unwrap_err();
            assert!(error.contains("--metrics 127.0.0.1:9100"), "{error}");
        }
        assert_eq!(public_address("::ffff:1"), Ok("::ffff:1".parse().unwrap()));
        assert_eq!(metrics("[::1]:9100").map(|a| a.port()), Ok(9100));
    }

    #[test]
    fn numbers_that_cannot_be_meant_come_with_an_example() {
        assert_eq!(number::<u32>("20"), Ok(20));
        assert_eq!(limit("1"), Ok(1));
        for text in ["", "x", "-1", "1.5"] {
            let error = number::<u32>(text).unwrap_err();
            assert!(error.contains("such as 20"), "{error}");
        }
        assert!(limit("0").unwrap_err().contains("at least 1"));
        assert!(seconds("0").unwrap_err().contains("at least 1"));
    }

    #[test]
    fn an_unreadable_secret_file_is_named_with_its_option() {
        let folder = tempfile::tempdir().expect("there is space");
        let path = folder.path().join("token");
        let told = |path: &Path| {
            let refused = secret_file("--token-file", path, token);
            refused.expect_err("it is refused").to_string()
        };
        let missing = told(&path);
        assert!(
            missing.starts_with(&format!("--token-file {}: ", path.display())),
            "{missing}"
        );
        assert!(
            missing.ends_with("name a file that this user may read"),
            "{missing}"
        );
        std::fs::write(&path, "two words").expect("there is space");
        assert!(told(&path).contains("without spaces"));
    }
}

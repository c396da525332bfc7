//! Selection of a call's links.

use std::net::{IpAddr, Ipv4Addr};

use weft_net::{LinkChoice, LinkError, Target};

/// Links that a call may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Configured links only.
    Named,
    /// Every interface, now or later.
    Every,
}

/// Returns the configured links. Without any, returns the loopback address for a peer on
/// this machine, or else every interface that has an address, now or later.
///
/// # Errors
/// If a link is configured twice, or there is none.
pub fn links_or_all(
    named: &[LinkChoice],
    loopback: Option<IpAddr>,
) -> Result<(Vec<LinkChoice>, Scope), ChoiceError> {
    if !named.is_empty() {
        for (index, link) in named.iter().enumerate() {
            let same = |other: &&LinkChoice| other.name == link.name || other.target == link.target;
            if let Some(other) = named[..index].iter().find(same) {
                return Err(same_link(other, link));
            }
        }
        return Ok((named.to_vec(), Scope::Named));
    }
    if let Some(address) = loopback {
        let name = address.to_string();
        let link = LinkChoice::new(name, Target::Address(address));
        return Ok((vec![link], Scope::Named));
    }
    let names = weft_net::interface_names().map_err(ChoiceError::System)?;
    if names.is_empty() {
        return Err(ChoiceError::NoInterface);
    }
    let spec = |name: String| LinkChoice::new(name.clone(), Target::Interface(name));
    Ok((names.into_iter().map(spec).collect(), Scope::Every))
}

/// Returns the loopback address in a server's URL, if it has one.
#[must_use]
pub fn loopback(url: &str) -> Option<IpAddr> {
    let host = url.split_once("://")?.1;
    let host = host.split(['/', '?', '#']).next()?;
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => host.split(':').next()?,
    };
    match host {
        "localhost" => Some(Ipv4Addr::LOCALHOST.into()),
        _ => host.parse().ok().filter(IpAddr::is_loopback),
    }
}

/// Two entries for one link do not make two links, and statistics are keyed by name.
fn same_link(one: &LinkChoice, other: &LinkChoice) -> ChoiceError {
    let name = other.name.clone();
    if one.target == other.target {
        let first = one.name.clone();
        ChoiceError::Twice { name, first }
    } else {
        ChoiceError::SameName(name)
    }
}

/// Error: links conflict, or there are none.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// Two links are the same interface or address.
    #[error("link `{name}` is the same as link `{first}`; name it only once")]
    Twice {
        /// Name of the second link.
        name: String,
        /// Name of the first link.
        first: String,
    },
    /// Two links have the same name.
    #[error("two links have the name `{0}`; give one of them another name: NAME=INTERFACE")]
    SameName(String),
    /// No link is configured, and no interface has an address.
    #[error("no network interface has an address; connect one, or name a link")]
    NoInterface,
    /// The system does not list its interfaces.
    #[error(transparent)]
    System(LinkError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_named_once() {
        let all = |texts: [&str; 2]| {
            let links = texts.map(|text| text.parse().expect("a link"));
            links_or_all(&links, None).map_err(|e| e.to_string())
        };
        let twice = all(["127.0.0.1", "127.0.0.1"]).unwrap_err();
        assert!(twice.contains("only once"), "{twice}");
        let renamed = all(["a=127.0.0.1", "b=127.0.0.1"]).unwrap_err();
        assert!(renamed.contains("`b` is the same as link `a`"), "{renamed}");
        let namesakes = all(["a=127.0.0.1", "a=127.0.0.2"]).unwrap_err();
        assert!(
            namesakes.contains("two links have the name `a`"),
            "{namesakes}"
        );
        assert!(all(["127.0.0.1", "127.0.0.2"]).is_ok());
    }

    #[test]
    fn a_server_on_this_machine_is_reached_at_the_address_that_its_url_has() {
        let of = |url| loopback(url).map(|ip| ip.to_string());
        assert_eq!(of("http://127.0.0.1:8080").as_deref(), Some("127.0.0.1"));
        assert_eq!(of("http://127.0.0.2").as_deref(), Some("127.0.0.2"));
        assert_eq!(of("https://[::1]:8443/").as_deref(), Some("::1"));
        assert_eq!(of("http://localhost:8080/x").as_deref(), Some("127.0.0.1"));
        for elsewhere in [
            "https://localhost.example.com",
            "https://192.0.2.1:8443",
            "https://[2001:db8::1]",
            "https://example.com/?next=//127.0.0.1",
            "nonsense",
        ] {
            assert_eq!(of(elsewhere), None, "{elsewhere}");
        }
    }
}

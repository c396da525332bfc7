//! Invitation link for a guest's browser.

use percent_encoding::percent_decode_str;

/// Server, room and optional token: `https://HOST:PORT/r/ROOM?token=TOKEN`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// Root URL of the server, such as `https://HOST:PORT`.
    pub server: String,
    /// Room.
    pub room: String,
    /// Access token.
    pub token: Option<String>,
}

impl Invitation {
    /// Parses a URL; `None` if it has no room.
    #[must_use]
    pub fn parse(address: &str) -> Option<Invitation> {
        let (server, rest) = address.split_once("/r/")?;
        let (rest, _) = rest.split_once('#').unwrap_or((rest, ""));
        let (room, query) = rest.split_once('?').unwrap_or((rest, ""));
        let room = decoded(room.trim_end_matches('/'))?;
        let token = query.split('&').find_map(|p| p.strip_prefix("token="));
        let token = token.map_or(Some(None), |token| decoded(token).map(Some))?;
        (!room.is_empty()).then(|| Invitation {
            server: server.to_owned(),
            room,
            token: token.filter(|token| !token.is_empty()),
        })
    }
}

fn decoded(text: &str) -> Option<String> {
    let text = percent_decode_str(text).decode_utf8().ok()?;
    Some(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::Invitation;

    #[test]
    fn an_invitation_is_read_as_a_browser_reads_it() {
        for (address, server, room, token) in [
            (
                "https://host:8443/r/ride?token=a.b-c_d",
                "https://host:8443",
                "ride",
                Some("a.b-c_d"),
            ),
            (
                "http://[::1]:8080/r/ride",
                "http://[::1]:8080",
                "ride",
                None,
            ),
            (
                "https://host/r/ride/?name=Kim&token=a%20b#x",
                "https://host",
                "ride",
                Some("a b"),
            ),
            (
                "https://host/r/our%20room?token=",
                "https://host",
                "our room",
                None,
            ),
        ] {
            let read = Invitation::parse(address);
            let expected = Invitation {
                server: server.to_owned(),
                room: room.to_owned(),
                token: token.map(str::to_owned),
            };
            assert_eq!(read, Some(expected), "{address}");
        }
    }

    #[test]
    fn an_address_without_a_room_is_not_an_invitation() {
        for address in [
            "https://host:8443",
            "https://host/?token=abc",
            "https://host/r/",
            "https://host/r/?token=abc",
            "https://host/r/%ff",
            "",
        ] {
            assert_eq!(Invitation::parse(address), None, "{address}");
        }
    }
}

//! Connection to a server: our offer and its answer.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use weft_net::Remote;
use weft_peer::{NegotiationError, PeerKey, Section};

use super::caller::{Answered, CallError, Command, Listener, OfferId, ask};
use crate::signalling::{Created, MAX_REACHED, MediaEndpoint, SdpRole, SignallingError};

/// Maximum number of ports of a server's description that are also tried at other
/// addresses. Chosen by us: a weft server has one.
const MAX_PORTS: usize = 2;

/// Connection in progress; its news report when it is established.
pub struct Connection {
    /// Local peer.
    pub peer: PeerKey,
    /// URL of the connection's resource on the server, for
    /// [`Room::delete`](crate::signalling::Room::delete).
    pub location: String,
}

impl Connection {
    /// Whether the server's name of the connection is this one.
    pub fn is_resource(&self, name: &str) -> bool {
        self.location.rsplit('/').next() == Some(name)
    }
}

/// Reason why a connection failed.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The server refused the request, or did not answer.
    #[error(transparent)]
    Signalling(#[from] SignallingError),
    /// The answer is invalid, or the endpoint has ended.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The server answered a player without a stream.
    #[error(
        "the server's answer has nothing to play: {0}; does anybody publish there, in one of these \
         codecs?"
    )]
    NothingToPlay(NegotiationError),
    /// A connection ended before it was established.
    #[error("the connection was not established: {0}")]
    Failed(String),
    /// The connection was ended before the server's first answer.
    #[error("the server did not answer in this time")]
    Early,
    /// A call ended without ever being established: the server answered requests, but no
    /// UDP packets returned.
    #[error("the call was not established: nothing came back over UDP on any link")]
    Unanswered,
}

/// Offers these sections through `exchange` and accepts the answer; withdraws the offer
/// if there is no answer.
///
/// # Errors
/// If there is no answer, or it is not acceptable.
pub fn connect(
    remote: &Remote<Command>,
    sections: Vec<Section>,
    news: impl Into<Listener>,
    exchange: impl FnOnce(&str) -> Result<Created, SignallingError>,
) -> Result<Connection, ConnectError> {
    let (offer, sdp): (OfferId, String) = ask(remote, |reply| Command::Offer { sections, reply })??;
    let created = exchange(&sdp).inspect_err(|_| {
        remote.send(Command::Withdraw(offer));
    })?;
    accept(remote, news, offer, created)
}

fn accept(
    remote: &Remote<Command>,
    news: impl Into<Listener>,
    offer: OfferId,
    created: Created,
) -> Result<Connection, ConnectError> {
    let Created {
        sdp,
        location,
        reached,
        turn_servers,
        ..
    } = created;
    if !turn_servers.is_empty() {
        remote.send(Command::NameTurnServers(turn_servers));
    }
    let more = more_candidates(&sdp, &reached);
    let peer = ask(remote, |reply| Command::Accept {
        offer,
        answer: sdp,
        more,
        news: news.into(),
        reply,
    })??;
    Ok(Connection { peer, location })
}

/// Publishes these sections at an endpoint. If its answer is unusable, ends the publication
/// at the server.
///
/// # Errors
/// If the server does not answer, or its answer is unusable.
pub fn publish(
    remote: &Remote<Command>,
    sections: Vec<Section>,
    news: impl Into<Listener>,
    endpoint: &MediaEndpoint,
) -> Result<Connection, ConnectError> {
    let mut location = None;
    let made = connect(remote, sections, news, |offer| {
        let created = endpoint.publish(offer)?;
        location = Some(created.location.clone());
        Ok(created)
    });
    made.inspect_err(|_| {
        if let Some(location) = location {
            let _ = endpoint.delete(&location);
        }
    })
}

/// Plays the stream of an endpoint, with an offer for these sections or with the server's
/// own offer. If its description is unusable, ends the playback at the server.
///
/// # Errors
/// If the server does not answer, or its description is unusable.
pub fn play(
    remote: &Remote<Command>,
    sections: Vec<Section>,
    news: impl Into<Listener>,
    endpoint: &MediaEndpoint,
) -> Result<Connection, ConnectError> {
    let (offer, sdp): (OfferId, String) = ask(remote, |reply| Command::Offer { sections, reply })??;
    let withdraw = || remote.send(Command::Withdraw(offer));
    let created = endpoint.play(&sdp).inspect_err(|_| {
        withdraw();
    })?;
    let location = created.location.clone();
    let made = match created.role {
        SdpRole::Answer => accept(remote, news, offer, created).map_err(|error| match error {
            ConnectError::Call(CallError::Negotiation(
                none @ NegotiationError::NothingAccepted(_),
            )) => ConnectError::NothingToPlay(none),
            error => error,
        }),
        SdpRole::Offer => {
            withdraw();
            receive(remote, news, created, |location, answer| {
                endpoint.answer(location, answer)
            })
        }
    };
    made.inspect_err(|_| {
        let _ = endpoint.delete(&location);
    })
}

/// Receives the tracks of the server's offer, and sends the answer through `exchange`.
///
/// # Errors
/// If the offer is not acceptable, or the server rejects the answer.
pub fn receive(
    remote: &Remote<Command>,
    news: impl Into<Listener>,
    created: Created,
    exchange: impl FnOnce(&str, &str) -> Result<(), SignallingError>,
) -> Result<Connection, ConnectError> {
    let Created {
        sdp,
        location,
        reached,
        turn_servers,
        ..
    } = created;
    if !turn_servers.is_empty() {
        remote.send(Command::NameTurnServers(turn_servers));
    }
    let more = more_candidates(&sdp, &reached);
    let Answered {
        peer, sdp: answer, ..
    } = ask(remote, |reply| Command::Answer {
        offer: sdp,
        more,
        news: news.into(),
        reply,
    })??;
    exchange(&location, &answer).inspect_err(|_| {
        remote.send(Command::Close(peer));
    })?;
    Ok(Connection { peer, location })
}

/// Returns candidates missing in a description: its media ports at the addresses that
/// answered HTTP. They work if the server does not know its public address, and through
/// NAT64, which translates the addresses of requests but not those in a description. If
/// HTTP ends at a proxy on another machine, the checks get no answer.
pub fn more_candidates(description: &str, reached: &[IpAddr]) -> Vec<SocketAddr> {
    let named: BTreeSet<SocketAddr> = description.lines().filter_map(udp_candidate).collect();
    let mut ports: Vec<u16> = Vec::new();
    for port in named.iter().map(SocketAddr::port) {
        if !ports.contains(&port) {
            ports.push(port);
        }
    }
    ports.truncate(MAX_PORTS);
    let pairs = reached.iter().take(MAX_REACHED);
    let pairs = pairs.flat_map(|ip| ports.iter().map(|port| SocketAddr::new(*ip, *port)));
    pairs.filter(|address| !named.contains(address)).collect()
}

/// Returns the address in a description line with a UDP candidate (RFC 8839 section 5.1).
fn udp_candidate(line: &str) -> Option<SocketAddr> {
    let mut words = line.strip_prefix("a=candidate:")?.split_whitespace();
    let protocol = words.nth(2)?;
    let (address, port) = (words.nth(1)?, words.next()?);
    let address = SocketAddr::new(address.parse().ok()?, port.parse().ok()?);
    protocol.eq_ignore_ascii_case("udp").then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_ports_are_tried_where_http_reached_the_server() {
        let answer = "v=0\r\na=candidate:1 1 UDP 2130706431 10.0.0.5 8443 typ host\r\n\
            a=candidate:2 1 udp 2130706430 192.0.2.10 8443 typ host\r\n\
            a=candidate:3 1 tcp 1 10.0.0.5 9 typ host tcptype active\r\n\
            a=candidate:4 1 udp 1 some-name.local 5000 typ host\r\n";
        let reached = ["64:ff9b::c000:20a", "192.0.2.10"].map(|ip| ip.parse().expect("an address"));
        let more = more_candidates(answer, &reached);
        let expected: SocketAddr = "[64:ff9b::c000:20a]:8443".parse().expect("an address");
        assert_eq!(more, [expected]);
        assert!(more_candidates(answer, &[]).is_empty());
        assert!(more_candidates("", &reached).is_empty());
    }

    #[test]
    fn a_server_of_many_ports_and_addresses_makes_few_candidates_more() {
        let ports = (1..1000).map(|n| format!("a=candidate:{n} 1 udp 1 10.0.0.5 {n} typ host\n"));
        let answer: String = ports.collect();
        let reached: Vec<IpAddr> = (1..100).map(|n| IpAddr::from([192, 0, 2, n])).collect();
        let more = more_candidates(&answer, &reached);
        assert_eq!(more.len(), MAX_PORTS * MAX_REACHED);
    }
}

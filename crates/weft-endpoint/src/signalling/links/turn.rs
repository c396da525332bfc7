//! Connections to TURN servers, each restricted to one link.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use rustls::ClientConfig;
use weft_net::LinkChoice;

use super::names::Names;
use super::race::{Connection, Race, Target};
use super::source::{LinkRoute, Source};
use crate::turn::{TurnConnector, TurnServer, TurnStream, TurnTransport};

/// Connector with the trusted certificates.
pub(crate) struct LinkTurnConnector(pub Arc<ClientConfig>);

impl TurnConnector for LinkTurnConnector {
    fn stream(
        &self,
        link: &LinkChoice,
        to: &TurnServer,
        limit: Duration,
    ) -> Result<TurnStream, String> {
        let routes = [route_over(link).map_err(|error| error.to_string())?];
        let target = Target {
            host: to.host.clone(),
            port: to.port,
            tls: (to.transport == TurnTransport::Tls).then(|| Arc::clone(&self.0)),
        };
        let (won, _) = Race::new(&routes, &target, limit).run(&Names::default());
        let Connection { stream, tls, .. } = won.map_err(|error| error.to_string())?;
        let stream = stream.try_clone().map_err(|error| error.to_string())?;
        Ok((stream, tls))
    }

    fn datagrams(
        &self,
        link: &LinkChoice,
        to: &TurnServer,
        limit: Duration,
    ) -> io::Result<UdpSocket> {
        let route = route_over(link)?;
        let address = resolve(&route, &to.host, limit)?;
        let source = route.source(&address);
        let source = source.ok_or(io::ErrorKind::NetworkUnreachable)?;
        let server = SocketAddr::new(address, to.port);
        let socket = source.datagrams(server)?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    }
}

fn route_over(link: &LinkChoice) -> io::Result<LinkRoute> {
    let sources = Source::all_of(link);
    if sources.is_empty() {
        return Err(io::Error::other("the link has no address"));
    }
    Ok(LinkRoute {
        link: Some(0),
        sources,
        avoided: false,
    })
}

/// Returns an address of the host that the route can reach.
fn resolve(route: &LinkRoute, host: &str, limit: Duration) -> io::Result<IpAddr> {
    if let Ok(address) = host.parse() {
        return Ok(address);
    }
    let deadline = Instant::now() + limit;
    let (found, answers) = channel();
    Names::default().look_up(host, std::slice::from_ref(route), deadline, move |answer| {
        // The first usable answer counts.
        let _ = found.send(answer.addresses);
    });
    let mut reason = "no DNS server answers".to_owned();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match answers.recv_timeout(left) {
            Ok(Ok(addresses)) => {
                if let Some(address) = addresses.iter().find(|ip| route.reaches(ip)) {
                    return Ok(*address);
                }
                reason = "its host has no address that the link reaches".to_owned();
            }
            Ok(Err(error)) => reason = error,
            Err(_) => return Err(io::Error::other(reason)),
        }
    }
}

//! HTTP over the call's own links. A connection uses the first link that reaches the
//! server, and ends when that link goes down.

mod dns;
mod health;
mod names;
mod race;
mod resolver;
mod source;
#[cfg(test)]
mod tests;
mod transport;
mod turn;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use rustls::ClientConfig;
use weft_net::LinkChoice;

use super::MAX_REACHED;
use health::Health;
pub use health::LinkFault;
use names::Names;
pub(super) use race::OpenError;
use race::{Connection, Failures, Race, Target};
use source::{LinkRoute, Source};
pub(super) use transport::{Unresolved, Used, take_used};
pub(super) use turn::LinkTurnConnector;

/// Time limit for opening a connection. Chosen by us.
const CONNECT: Duration = Duration::from_secs(5);

/// Opens HTTP connections over the links. Clones share the state of the links.
#[derive(Clone)]
pub struct LinkConnector(Arc<Shared>);

struct Shared {
    /// Configured links; empty for the system's routes.
    links: Vec<LinkChoice>,
    /// Fallback if no link reaches the server.
    otherwise: Otherwise,
    tls: Arc<ClientConfig>,
    names: Names,
    state: Mutex<State>,
}

/// Fallback if no link reaches the server.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Otherwise {
    Routes,
    Nothing,
}

#[derive(Default)]
struct State {
    /// State of each link by index; the state of the system's routes is under `None`.
    health: BTreeMap<Option<usize>, Health>,
    /// Connection of the room's events.
    listening: Option<Used>,
    /// Addresses from which the server has answered.
    reached: Vec<IpAddr>,
    /// Connections, with the link of each.
    open: Vec<(usize, Weak<TcpStream>)>,
}

impl LinkConnector {
    pub fn new(links: Vec<LinkChoice>, tls: Arc<ClientConfig>) -> LinkConnector {
        LinkConnector(Arc::new(Shared {
            links,
            otherwise: Otherwise::Routes,
            tls,
            names: Names::default(),
            state: Mutex::default(),
        }))
    }

    /// Restricts connections to one link.
    pub fn alone(&self, link: &str) -> Option<LinkConnector> {
        Some(LinkConnector(Arc::new(Shared {
            links: vec![self.choice(link)?.clone()],
            otherwise: Otherwise::Nothing,
            tls: self.tls(),
            names: self.0.names.clone(),
            state: Mutex::default(),
        })))
    }

    /// Returns the configured link with this name; `None` for a link that appeared during
    /// the call.
    pub fn choice(&self, link: &str) -> Option<&LinkChoice> {
        self.0.links.iter().find(|choice| choice.name == link)
    }

    /// Returns the address of the server after a successful connection.
    pub fn server(&self) -> Option<IpAddr> {
        self.0.names.last()
    }

    /// Records the state of a link as observed by media. Closes connections over a link
    /// that is down at once, so that their readers continue over another link.
    pub fn set_up(&self, link: &str, up: bool) {
        let Some(index) = self.0.links.iter().position(|l| l.name == link) else {
            return;
        };
        let mut state = self.state();
        state.health.entry(Some(index)).or_default().down = !up;
        state.open.retain(|(_, stream)| stream.strong_count() > 0);
        if up {
            return;
        }
        for (_, stream) in state.open.iter().filter(|(link, _)| *link == index) {
            if let Some(stream) = stream.upgrade() {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
    }

    /// Records a successful request over this link to this address.
    pub fn succeed(&self, link: Option<usize>, server: Option<IpAddr>) {
        let mut state = self.state();
        state.health.entry(link).or_default().succeed();
        if let Some(server) = server.filter(|server| !state.reached.contains(server)) {
            state.reached.insert(0, server);
            state.reached.truncate(MAX_REACHED);
        }
    }

    /// Returns the addresses that have answered, the newest first.
    pub fn reached(&self) -> Vec<IpAddr> {
        self.state().reached.clone()
    }

    /// Records a failed request over this link; other links are tried first for a while.
    pub fn fail(&self, link: Option<usize>, fault: LinkFault) {
        let now = Instant::now();
        self.state()
            .health
            .entry(link)
            .or_default()
            .fail(now, fault);
    }

    /// Marks this connection as the room's event stream.
    pub fn listen(&self, used: Used) {
        self.state().listening = Some(used);
    }

    /// Closes a silent event stream and avoids its link from now on.
    pub fn distrust_listening(&self) {
        let Some(used) = self.state().listening.take() else {
            return;
        };
        self.fail(used.link, LinkFault::Stalled);
        if let Some(stream) = used.stream.upgrade() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Returns the number of configured links.
    pub fn count(&self) -> usize {
        self.0.links.len()
    }

    /// Returns the name of the link; `None` for the system's routes.
    pub fn name(&self, link: Option<usize>) -> Option<&str> {
        Some(&self.0.links.get(link?)?.name)
    }

    /// Returns the links over which requests fail, by name.
    pub fn faults(&self) -> BTreeMap<String, LinkFault> {
        let state = self.state();
        let faults = state.health.iter().filter_map(|(link, health)| {
            let name = self.name(*link)?.to_owned();
            Some((name, health.fault.clone()?))
        });
        faults.collect()
    }

    fn is_avoided(&self, link: Option<usize>) -> bool {
        let now = Instant::now();
        let state = self.state();
        state.health.get(&link).is_some_and(|h| h.is_avoided(now))
    }

    /// Returns the TLS configuration with the trusted certificates.
    pub fn tls(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.0.tls)
    }

    /// Connects over the links, first those without recent faults, and finally over the
    /// system's routes.
    fn open(&self, target: &Target, limit: Duration) -> Result<Connection, OpenError> {
        let routes = self.routes();
        let (won, failures) = match routes.is_empty() {
            true => (
                Err(io::Error::from(io::ErrorKind::NetworkUnreachable).into()),
                Failures::new(),
            ),
            false => Race::new(&routes, target, limit).run(&self.0.names),
        };
        self.blame(failures, won.is_ok());
        let connection = match (won, routes.is_empty()) {
            (Ok(connection), _) => connection,
            (Err(told), _) if self.0.otherwise == Otherwise::Nothing => return Err(told),
            (Err(told), without_links) => {
                let routes = [LinkRoute::by_routes()];
                let (won, _) = Race::new(&routes, target, limit).run(&self.0.names);
                won.map_err(|error| if without_links { error } else { told })?
            }
        };
        if let Ok(server) = connection.stream.peer_addr() {
            self.0.names.remember(&target.host, server.ip());
        }
        if let Some(link) = connection.link {
            let weak = Arc::downgrade(&connection.stream);
            self.state().open.push((link, weak));
        }
        Ok(connection)
    }

    /// Records the failures of links. A foreign certificate is attributed to a captive
    /// portal if another link reaches the server.
    fn blame(&self, failures: Failures, is_connected: bool) {
        for (link, error) in failures {
            let fault = match error {
                OpenError::Tls(_) if is_connected => LinkFault::Portal {
                    answer: "with a certificate that is not the server's".to_owned(),
                },
                OpenError::Stalled { .. } => LinkFault::Stalled,
                error => LinkFault::Broken(error.to_string()),
            };
            self.fail(link, fault);
        }
    }

    /// Returns the available links, first those without recent faults.
    fn routes(&self) -> Vec<LinkRoute> {
        let links = self.0.links.iter().enumerate();
        let routes = links.map(|(index, spec)| LinkRoute {
            link: Some(index),
            sources: Source::all_of(spec),
            avoided: self.is_avoided(Some(index)),
        });
        let mut routes: Vec<LinkRoute> = routes.filter(|route| !route.sources.is_empty()).collect();
        routes.sort_by_key(|route| route.avoided);
        if routes.iter().all(|route| route.avoided) {
            routes.iter_mut().for_each(|route| route.avoided = false);
        }
        routes
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for LinkConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.0.links).finish()
    }
}

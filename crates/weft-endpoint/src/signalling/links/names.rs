//! Addresses of the server's name.

use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use super::resolver::{self, Resolv};
use super::source::LinkRoute;

/// Addresses found for a name, and the link that found them; `None` if they are valid for
/// every link.
pub(super) struct Answer {
    pub link: Option<usize>,
    pub addresses: Result<Vec<IpAddr>, String>,
}

/// Addresses of the server's name. Remembers the last address that worked, because it
/// belongs to the server with our room and remains valid during DNS outages.
#[derive(Clone, Default)]
pub(super) struct Names(Arc<Mutex<Option<(String, IpAddr)>>>);

impl Names {
    /// Last working address of this host.
    pub fn remembered(&self, host: &str) -> Option<IpAddr> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.as_ref().filter(|(name, _)| name == host);
        known.map(|(_, address)| *address)
    }

    /// Last working address of the server.
    pub fn last(&self) -> Option<IpAddr> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().map(|(_, address)| *address)
    }

    /// Remembers a working address of the host.
    pub fn remember(&self, host: &str, address: IpAddr) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some((host.to_owned(), address));
    }

    /// Queries all sources of the host's addresses, each on its own thread: each link's
    /// DNS servers over that link, and the system. Returns the number of answers to
    /// expect.
    pub fn look_up(
        &self,
        host: &str,
        routes: &[LinkRoute],
        deadline: Instant,
        tell: impl Fn(Answer) + Clone + Send + 'static,
    ) -> usize {
        let hosts = resolver::in_hosts_file(host);
        if !hosts.is_empty() {
            tell(Answer {
                link: None,
                addresses: Ok(hosts),
            });
            return 1;
        }
        let links = routes.iter().filter(|route| route.link.is_some());
        let links = links.filter(|route| route.sources.iter().any(|s| !s.address.is_loopback()));
        let links: Vec<&LinkRoute> = links.filter(|_| resolver::is_for_dns(host)).collect();
        let resolv = Arc::new(Resolv::read());
        for route in &links {
            let (link, sources) = (route.link, route.sources.clone());
            let (host, resolv) = (host.to_owned(), Arc::clone(&resolv));
            let tell = tell.clone();
            thread::spawn(move || {
                let found = resolver::look_up(&sources, &resolv, &host, deadline);
                let addresses = found.map_err(|error| error.to_string());
                tell(Answer { link, addresses });
            });
        }
        let host = host.to_owned();
        thread::spawn(move || {
            let addresses = by_system(&host);
            tell(Answer {
                link: None,
                addresses,
            });
        });
        links.len() + 1
    }
}

/// Resolves through the system, with its cache and its services
/// (nsswitch.conf(5)).
fn by_system(host: &str) -> Result<Vec<IpAddr>, String> {
    let found = (host, 0).to_socket_addrs().map_err(|e| e.to_string())?;
    Ok(found.map(|address| address.ip()).collect())
}

//! Addresses of the server's name.

use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use super::resolver::{self, Resolv};
use super::source::Way;

/// Addresses found for a name, and for which link: none: for every link.
pub(super) struct Answer {
    pub link: Option<usize>,
    pub addresses: Result<Vec<IpAddr>, String>,
}

/// Addresses of the server's name. The one that led there last is
/// kept: it is the server that has our room, and it is there when nobody
/// answers for its name any more.
#[derive(Clone, Default)]
pub(super) struct Names(Arc<Mutex<Option<(String, IpAddr)>>>);

impl Names {
    /// The address that led to this host last.
    pub fn remembered(&self, host: &str) -> Option<IpAddr> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.as_ref().filter(|(name, _)| name == host);
        known.map(|(_, address)| *address)
    }

    /// The address that led to the server last.
    pub fn last(&self) -> Option<IpAddr> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().map(|(_, address)| *address)
    }

    /// This address led to the host.
    pub fn remember(&self, host: &str, address: IpAddr) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some((host.to_owned(), address));
    }

    /// Asks everybody who may know the host, each on a thread of its own: the
    /// DNS servers of each link over that link, and the system. Returns how
    /// many answers will come.
    pub fn look_up(
        &self,
        host: &str,
        ways: &[Way],
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
        let links = ways.iter().filter(|way| way.link.is_some());
        let links = links.filter(|way| way.sources.iter().any(|s| !s.address.is_loopback()));
        let links: Vec<&Way> = links.filter(|_| resolver::is_for_dns(host)).collect();
        let resolv = Arc::new(Resolv::read());
        for way in &links {
            let (link, sources) = (way.link, way.sources.clone());
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

/// The system's way, with its cache and its services (nsswitch.conf(5)).
fn by_system(host: &str) -> Result<Vec<IpAddr>, String> {
    let found = (host, 0).to_socket_addrs().map_err(|e| e.to_string())?;
    Ok(found.map(|address| address.ip()).collect())
}

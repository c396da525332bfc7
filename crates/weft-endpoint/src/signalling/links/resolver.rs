//! DNS servers of each link, and the configuration files of name resolution.

use std::fs;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use domain::base::{Name, Rtype};

use super::dns::{self, DnsError};
use super::source::Source;

/// Directory that exists while systemd-resolved runs, which knows the servers of each
/// link.
const RESOLVED: &str = "/run/systemd/resolve";

/// Maximum number of DNS servers, as in the system's resolver (resolv.conf(5),
/// MAXNS).
const MAX_SERVERS: usize = 3;

/// Used settings of resolv.conf(5).
#[derive(Default, Debug, PartialEq, Eq)]
pub(super) struct Resolv {
    pub servers: Vec<SocketAddr>,
    search: Vec<String>,
    ndots: usize,
}

impl Resolv {
    pub fn read() -> Resolv {
        let file = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let mut read = Resolv::parse(&file("/etc/resolv.conf"));
        if read.servers.is_empty() {
            // The file names a stub on this machine, which chooses the link of its
            // queries itself.
            let behind = Resolv::parse(&file(&format!("{RESOLVED}/resolv.conf")));
            read.servers = behind.servers;
        }
        read
    }

    /// Parses the file. Omits servers on this machine, because a socket bound to a link
    /// does not reach them, and they query over any link.
    pub fn parse(text: &str) -> Resolv {
        let mut read = Resolv {
            ndots: 1,
            ..Resolv::default()
        };
        for line in text.lines() {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("nameserver") => read.servers.extend(words.next().and_then(server)),
                // The last line counts.
                Some("search" | "domain") => {
                    read.search = words.map(str::to_owned).collect();
                }
                Some("options") => {
                    let ndots = words.find_map(|w| w.strip_prefix("ndots:")?.parse().ok());
                    read.ndots = ndots.unwrap_or(read.ndots);
                }
                _ => {}
            }
        }
        read.servers.truncate(MAX_SERVERS);
        read
    }

    /// Returns the names to query in order: a host with a dot first unchanged, other
    /// hosts first with the search list.
    pub fn candidates(&self, host: &str) -> Vec<Name<Vec<u8>>> {
        let whole = host.strip_suffix('.');
        let searched = self.search.iter().filter(|_| whole.is_none());
        let searched = searched.map(|domain| format!("{host}.{domain}"));
        let mut names: Vec<String> = searched.collect();
        let own = whole.unwrap_or(host).to_owned();
        match host.matches('.').count() >= self.ndots {
            true => names.insert(0, own),
            false => names.push(own),
        }
        let parsed = names.iter().filter_map(|n| Name::vec_from_str(n).ok());
        parsed.collect()
    }
}

/// Returns a server of a list, unless it is on this machine.
fn server(text: &str) -> Option<SocketAddr> {
    /// DNS port (RFC 1035 section 4.2).
    const DNS: u16 = 53;
    let (address, scope) = text.split_once('%').unwrap_or((text, ""));
    let address: IpAddr = address.parse().ok()?;
    if address.is_loopback() || address.is_unspecified() {
        return None;
    }
    Some(match address {
        IpAddr::V6(address) if !scope.is_empty() => {
            SocketAddrV6::new(address, DNS, 0, scope_id(scope)?).into()
        }
        address => SocketAddr::new(address, DNS),
    })
}

/// Returns the number of an interface from its number or name.
fn scope_id(scope: &str) -> Option<u32> {
    let named = || fs::read_to_string(Path::new("/sys/class/net").join(scope).join("ifindex"));
    scope
        .parse()
        .ok()
        .or_else(|| named().ok()?.trim().parse().ok())
}

/// Returns the servers of the link, if systemd-resolved knows them; otherwise the
/// system's servers.
fn servers(source: &Source, resolv: &Resolv) -> Vec<SocketAddr> {
    let own = source
        .interface
        .as_deref()
        .and_then(|name| std::str::from_utf8(name).ok())
        .map(|name| name.trim_end_matches('\0'))
        .filter(|_| Path::new(RESOLVED).exists())
        .and_then(own_servers)
        .unwrap_or_default();
    match own.is_empty() {
        true => resolv.servers.clone(),
        false => own,
    }
}

fn own_servers(interface: &str) -> Option<Vec<SocketAddr>> {
    let told = Command::new("resolvectl")
        .args(["dns", interface])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    Some(told_servers(&String::from_utf8_lossy(&told.stdout)))
}

/// Returns the servers of a line such as `Link 3 (wlan0): 192.168.1.1 fe80::1%3`; a
/// server may have a `#NAME` or a port.
fn told_servers(text: &str) -> Vec<SocketAddr> {
    let after = text.lines().filter_map(|line| line.split_once("): "));
    let words = after.flat_map(|(_, servers)| servers.split_whitespace());
    let servers = words.filter_map(|word| server(word.split('#').next()?));
    servers.take(MAX_SERVERS).collect()
}

/// Queries the servers of a link in order for addresses that it can reach.
pub(super) fn look_up(
    sources: &[Source],
    resolv: &Resolv,
    host: &str,
    deadline: Instant,
) -> Result<Vec<IpAddr>, DnsError> {
    let mut kinds = Vec::new();
    if sources.iter().any(|s| s.address.is_ipv6()) {
        kinds.push(Rtype::AAAA);
    }
    if sources.iter().any(|s| s.address.is_ipv4()) {
        kinds.push(Rtype::A);
    }
    let all = sources.first().map(|source| servers(source, resolv));
    let all = all.unwrap_or_default();
    let reachable = all.iter().filter_map(|server| {
        let same = |s: &&Source| s.address.is_ipv4() == server.is_ipv4();
        Some((sources.iter().find(same)?, *server))
    });
    let reachable: Vec<(&Source, SocketAddr)> = reachable.collect();
    let mut reason = DnsError::NoSuchHost;
    for (number, (source, server)) in reachable.iter().enumerate() {
        // Each server gets its share of the remaining time.
        let left = deadline.saturating_duration_since(Instant::now());
        let share = left / (reachable.len() - number) as u32;
        let until = Instant::now() + share;
        for name in resolv.candidates(host) {
            match dns::ask(source, *server, &name, &kinds, until) {
                Ok(found) => return Ok(found),
                Err(error @ DnsError::NoSuchHost) => reason = error,
                Err(error) => {
                    reason = error;
                    break;
                }
            }
        }
    }
    Err(reason)
}

/// Whether to query the name in DNS. The system resolves names of this machine (RFC 6761
/// section 6.3) and of multicast DNS (RFC 6762 section 3).
pub(super) fn is_for_dns(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let of = |domain: &str| host == domain || host.ends_with(&format!(".{domain}"));
    !of("localhost") && !of("local") && !host.is_empty()
}

/// Returns the addresses of a name in the hosts file (hosts(5)), which has priority.
pub(super) fn in_hosts_file(host: &str) -> Vec<IpAddr> {
    listed(&fs::read_to_string("/etc/hosts").unwrap_or_default(), host)
}

fn listed(text: &str, host: &str) -> Vec<IpAddr> {
    let lines = text.lines().filter_map(|line| line.split('#').next());
    let found = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        let address: IpAddr = words.next()?.parse().ok()?;
        let named = words.any(|name| name.eq_ignore_ascii_case(host.trim_end_matches('.')));
        let usable = !matches!(address, IpAddr::V6(ip) if ip == Ipv6Addr::UNSPECIFIED);
        (named && usable).then_some(address)
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resolv_conf_gives_servers_search_list_and_dots() {
        let read = Resolv::parse(
            "# made by hand\nnameserver 127.0.0.53\nnameserver 192.168.8.1\nnameserver ::1\n\
             nameserver 2001:db8::1\nsearch lan example.org\noptions edns0 ndots:2\n",
        );
        let servers: Vec<String> = read.servers.iter().map(ToString::to_string).collect();
        assert_eq!(servers, ["192.168.8.1:53", "[2001:db8::1]:53"]);
        let names = |host| {
            let names = read.candidates(host).into_iter();
            names.map(|n| n.to_string()).collect::<Vec<String>>()
        };
        let searched = ["weft.test.lan", "weft.test.example.org", "weft.test"];
        assert_eq!(names("weft.test"), searched);
        let absolute = ["a.weft.test", "a.weft.test.lan", "a.weft.test.example.org"];
        assert_eq!(names("a.weft.test"), absolute);
        assert_eq!(names("weft.test."), ["weft.test"]);
    }

    #[test]
    fn servers_of_a_link_are_read_as_resolved_tells_them() {
        let told = told_servers("Link 3 (wlan0): 192.168.1.1 fe80::1%3 9.9.9.9#dns.quad9.net\n");
        let told: Vec<String> = told.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["192.168.1.1:53", "[fe80::1%3]:53", "9.9.9.9:53"]);
        assert!(told_servers("Link 3 (wlan0):\n").is_empty());
    }

    #[test]
    fn names_of_the_hosts_file_and_of_this_machine_need_no_dns() {
        let file = "127.0.0.1 localhost\n203.0.113.10 a weft.test # b\n::2 Weft.Test\n";
        let found = listed(file, "weft.test");
        let expected: [IpAddr; 2] = ["203.0.113.10".parse().unwrap(), "::2".parse().unwrap()];
        assert_eq!(found, expected);
        assert!(listed(file, "b").is_empty());
        for (host, dns) in [
            ("weft.test", true),
            ("a.localhost", false),
            ("van.local.", false),
        ] {
            assert_eq!(is_for_dns(host), dns, "{host}");
        }
    }
}

mod choice;

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};

use socket2::{Domain, Protocol, SockRef, Socket, Type};

pub use choice::{LinkChoice, LinkChoiceError, Target};

/// Link that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// Unknown interface.
    #[error("there is no interface `{name}`; this machine has: {present}")]
    UnknownInterface {
        /// Requested name.
        name: String,
        /// Existing interfaces.
        present: String,
    },
    /// The interface has no usable address.
    #[error(
        "interface `{0}` has no IP address; bring it up (`ip link set {0} up`) and wait for an address"
    )]
    NoAddress(String),
    /// Binding a socket failed.
    #[error("link `{link}`: cannot use {}: {error}; {}", place(.address), bind_remedy(.address, .error))]
    Bind {
        /// Name given by the user.
        link: String,
        /// Address to bind; port 0 means any free one.
        address: SocketAddr,
        /// Error of the system.
        error: io::Error,
    },
    /// The system does not list its interfaces.
    #[error("cannot list the network interfaces: {0}")]
    List(io::Error),
}

impl LinkError {
    /// Whether the link may become usable: its interface or address is missing
    /// at the moment.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            LinkError::UnknownInterface { .. } | LinkError::NoAddress(_) => true,
            LinkError::Bind { error, .. } => error.kind() == io::ErrorKind::AddrNotAvailable,
            LinkError::List(_) => false,
        }
    }
}

/// Address, with its port if one was requested.
fn place(address: &SocketAddr) -> String {
    match address.port() {
        0 => address.ip().to_string(),
        _ => address.to_string(),
    }
}

/// Remedy for an address that cannot be bound.
fn bind_remedy(address: &SocketAddr, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrNotAvailable => {
            "name an interface, or an address that `ip address` shows".to_owned()
        }
        io::ErrorKind::AddrInUse => format!(
            "end the program that has the port; `ss -lunp 'sport = :{}'` shows it",
            address.port()
        ),
        io::ErrorKind::PermissionDenied => {
            "a rule of this system forbids it: ask its administrator, or name another link"
                .to_owned()
        }
        _ => "`weft doctor` shows the links that can be used".to_owned(),
    }
}

/// Binding of a link's sockets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binding {
    /// Packets leave through this interface, regardless of the routes.
    Interface,
    /// Only the source address is fixed: the routes must select the link by it
    /// (`ip rule add from ADDRESS`).
    SourceAddress,
}

/// Open link with its sockets, one per address.
#[derive(Debug)]
pub struct Link {
    /// Specification given by the user.
    pub spec: LinkChoice,
    /// Binding of its sockets.
    pub binding: Binding,
    /// Non-blocking sockets, each bound to one address.
    pub sockets: Vec<UdpSocket>,
}

impl Link {
    /// Opens a socket on every address of the link, on `port` or any.
    ///
    /// # Errors
    /// If the interface or address is missing or cannot be bound; see
    /// [`LinkError::is_passing`].
    pub fn open(spec: &LinkChoice, port: u16) -> Result<Link, LinkError> {
        let (interface, addresses) = resolve(spec)?;
        let mut binding = Binding::Interface;
        let mut sockets = Vec::new();
        for address in addresses {
            let address = SocketAddr::new(address, port);
            let (socket, bound) =
                bind(address, interface.as_deref()).map_err(|error| LinkError::Bind {
                    link: spec.name.clone(),
                    address,
                    error,
                })?;
            if bound == Binding::SourceAddress {
                binding = bound;
            }
            sockets.push(socket);
        }
        Ok(Link {
            spec: spec.clone(),
            binding,
            sockets,
        })
    }

    /// Opens a socket at one attachment of the link, on any port.
    ///
    /// # Errors
    /// If it has disappeared or cannot be bound.
    pub fn open_at(spec: &LinkChoice, place: Attachment) -> Result<UdpSocket, LinkError> {
        let (interface, _) = resolve(spec)?;
        let address = SocketAddr::new(place.address, 0);
        let opened = bind(address, interface.as_deref());
        let (socket, _) = opened.map_err(|error| LinkError::Bind {
            link: spec.name.clone(),
            address,
            error,
        })?;
        Ok(socket)
    }

    /// Local addresses with their ports.
    #[must_use]
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.sockets
            .iter()
            .filter_map(|s| s.local_addr().ok())
            .collect()
    }
}

/// Opens a socket on this address without binding it to an interface, for
/// servers that answer requests from everywhere, including this machine.
///
/// # Errors
/// Error of the system.
pub fn open_address(address: SocketAddr) -> io::Result<UdpSocket> {
    bind(address, None).map(|(socket, _)| socket)
}

/// Opens sockets that share this address (`SO_REUSEPORT`): the system distributes
/// datagrams among them by source. The distribution does not change while all of them are
/// open. Port 0 means any free one.
///
/// # Errors
/// Error of the system, for example if another program uses the port.
pub fn open_shared(address: SocketAddr, count: usize) -> io::Result<Vec<UdpSocket>> {
    let first = open_address(address)?;
    // Set after binding, so that the first socket does not share a port with another program.
    SockRef::from(&first).set_reuse_port(true)?;
    let address = first.local_addr()?;
    let others = (1..count).map(|_| open(address, None, true).map(|(socket, _)| socket));
    let all = std::iter::once(Ok(first)).chain(others);
    all.collect()
}

/// Addresses of this machine, without link-local ones.
///
/// # Errors
/// If the system does not list its interfaces.
pub fn machine_addresses() -> io::Result<Vec<IpAddr>> {
    let all = if_addrs::get_if_addrs()?.into_iter().map(|i| i.ip());
    Ok(all.filter(is_usable).collect())
}

/// Addresses of this machine with their interfaces, without link-local ones.
///
/// # Errors
/// If the system does not list its interfaces.
pub fn interface_addresses() -> io::Result<Vec<(String, IpAddr)>> {
    let all = if_addrs::get_if_addrs()?.into_iter();
    let named = all
        .map(|i| (i.ip(), i.name))
        .filter(|(ip, _)| is_usable(ip));
    Ok(named.map(|(ip, name)| (name, ip)).collect())
}

/// Interfaces that have a usable address, without loopback.
///
/// # Errors
/// If the system does not list its interfaces.
pub fn interface_names() -> Result<Vec<String>, LinkError> {
    let interfaces = if_addrs::get_if_addrs().map_err(LinkError::List)?;
    let addresses = interfaces.into_iter().map(|i| (i.ip(), i.name));
    Ok(usable_names(addresses))
}

/// Interfaces with only a link-local address, such as containers', are
/// excluded.
fn usable_names(addresses: impl Iterator<Item = (IpAddr, String)>) -> Vec<String> {
    let usable = addresses.filter(|(ip, _)| !ip.is_loopback() && is_usable(ip));
    let names: BTreeSet<String> = usable.map(|(_, name)| name).collect();
    names.into_iter().collect()
}

/// Present attachment of a link: an address on a running interface. A recreated
/// interface gives a different attachment, even with the same name and address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Attachment {
    /// Source address of outgoing packets.
    pub address: IpAddr,
    /// System number of the interface; `None` on loopback, where every address
    /// works.
    pub interface: Option<u32>,
}

/// Present attachments of a link; empty while its interface is missing, or has
/// no address or carrier.
///
/// # Errors
/// If the system does not list its interfaces.
pub fn attachments(spec: &LinkChoice) -> Result<Vec<Attachment>, LinkError> {
    let interfaces = if_addrs::get_if_addrs().map_err(LinkError::List)?;
    if let Target::Address(address) = spec.target
        && address.is_loopback()
    {
        let interface = None;
        return Ok(vec![Attachment { address, interface }]);
    }
    let is_own = |i: &&if_addrs::Interface| match &spec.target {
        Target::Interface(name) => i.name == *name && is_usable(&i.ip()),
        Target::Address(address) => i.ip() == *address,
    };
    let running = interfaces.iter().filter(|i| i.is_oper_up());
    let attached = running.filter(is_own).map(|i| Attachment {
        address: i.ip(),
        interface: i.index,
    });
    Ok(attached.collect())
}

/// Name of the interface, if known, and the addresses to bind.
fn resolve(spec: &LinkChoice) -> Result<(Option<String>, Vec<IpAddr>), LinkError> {
    let interfaces = if_addrs::get_if_addrs().map_err(LinkError::List)?;
    match &spec.target {
        Target::Address(address) => {
            let owner = interfaces
                .iter()
                .find(|i| i.ip() == *address && !address.is_loopback());
            Ok((owner.map(|i| i.name.clone()), vec![*address]))
        }
        Target::Interface(name) => {
            if !interfaces.iter().any(|i| i.name == *name) && !exists(name) {
                let mut present: Vec<&str> = interfaces.iter().map(|i| i.name.as_str()).collect();
                present.sort_unstable();
                present.dedup();
                let present = present.join(", ");
                return Err(LinkError::UnknownInterface {
                    name: name.clone(),
                    present,
                });
            }
            let addresses: Vec<IpAddr> = interfaces
                .iter()
                .filter(|i| i.name == *name)
                .map(if_addrs::Interface::ip)
                .filter(is_usable)
                .collect();
            if addresses.is_empty() {
                return Err(LinkError::NoAddress(name.clone()));
            }
            Ok((Some(name.clone()), addresses))
        }
    }
}

/// Whether the interface exists; one without addresses is not listed.
fn exists(interface: &str) -> bool {
    std::path::Path::new("/sys/class/net")
        .join(interface)
        .exists()
}

/// Whether the address is usable; a link-local IPv6 address would need its
/// scope.
pub(crate) fn is_usable(ip: &IpAddr) -> bool {
    !matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local())
}

fn bind(address: SocketAddr, interface: Option<&str>) -> io::Result<(UdpSocket, Binding)> {
    open(address, interface, false)
}

fn open(
    address: SocketAddr,
    interface: Option<&str>,
    is_shared: bool,
) -> io::Result<(UdpSocket, Binding)> {
    /// Buffer size: a burst of half a second at 30 Mbps while the loop is busy.
    const BUFFER: usize = 2 << 20;
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    // The system may limit the size; smaller buffers work, too.
    let _ = socket.set_recv_buffer_size(BUFFER);
    let _ = socket.set_send_buffer_size(BUFFER);
    let binding = match interface {
        Some(name) if socket.bind_device(Some(name.as_bytes())).is_ok() => Binding::Interface,
        _ => Binding::SourceAddress,
    };
    socket.set_nonblocking(true)?;
    if is_shared {
        socket.set_reuse_port(true)?;
    }
    socket.bind(&address.into())?;
    Ok((socket.into(), binding))
}

#[cfg(test)]
mod tests;

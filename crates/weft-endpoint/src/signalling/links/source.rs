//! Routes to the server: one for each link, and the system's routes.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use weft_net::{Link, LinkChoice};

/// One link, or the system's routes.
pub(super) struct LinkRoute {
    /// Link number; `None` for the system's routes.
    pub link: Option<usize>,
    /// Addresses to bind its sockets to; empty for the system's routes.
    pub sources: Vec<Source>,
    /// Whether it is tried last, because of recent faults.
    pub avoided: bool,
}

impl LinkRoute {
    pub fn by_routes() -> LinkRoute {
        LinkRoute {
            link: None,
            sources: Vec::new(),
            avoided: false,
        }
    }

    pub fn reaches(&self, server: &IpAddr) -> bool {
        self.link.is_none() || self.source(server).is_some()
    }

    pub fn source(&self, server: &IpAddr) -> Option<&Source> {
        let same = |source: &&Source| source.address.is_ipv4() == server.is_ipv4();
        self.sources.iter().find(same)
    }
}

/// Interface and address to bind a socket to, the same as for the link's media.
#[derive(Clone)]
pub(super) struct Source {
    pub interface: Option<Vec<u8>>,
    pub address: IpAddr,
}

impl Source {
    /// Returns the addresses of the link; empty if it is absent.
    pub fn all_of(spec: &LinkChoice) -> Vec<Source> {
        let Ok(link) = Link::open(spec, 0) else {
            return Vec::new();
        };
        let sources = link.sockets.iter().filter_map(|socket| {
            let address = socket.local_addr().ok()?.ip();
            let interface = SockRef::from(socket).device().ok().flatten();
            Some(Source { interface, address })
        });
        sources.collect()
    }

    /// Binds a socket to it, on any port.
    pub fn bind(&self, socket: &Socket) -> io::Result<()> {
        if let Some(interface) = &self.interface {
            socket.bind_device(Some(interface))?;
        }
        socket.bind(&SocketAddr::new(self.address, 0).into())
    }

    /// Opens a UDP socket at it that receives from this server only: the system drops
    /// packets from other addresses.
    pub fn datagrams(&self, server: SocketAddr) -> io::Result<UdpSocket> {
        let (domain, udp) = (Domain::for_address(server), Some(Protocol::UDP));
        let socket = Socket::new(domain, Type::DGRAM, udp)?;
        self.bind(&socket)?;
        socket.connect(&server.into())?;
        Ok(socket.into())
    }
}

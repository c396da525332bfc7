//! HTTP over the call's own links: a connection to the server goes over the
//! first link that brings it about, and ends when that link dies.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, SockRef, Socket, TcpKeepalive, Type};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};
use weft_net::{Link, LinkChoice};

#[cfg(test)]
mod tests;

/// A connection that takes longer than this does not come about. Chosen by us.
const CONNECT: Duration = Duration::from_secs(5);

/// Before the next link is tried beside the one that does not answer
/// (RFC 8305 section 5, Connection Attempt Delay).
const STAGGER: Duration = Duration::from_millis(250);

/// What was sent and not acknowledged for this long was sent into a dead link:
/// four retransmissions at the least timeout (RFC 6298 section 5.5; Linux begins
/// at 200 ms). Chosen by us.
const UNACKNOWLEDGED: Duration = Duration::from_secs(3);

/// A connection that is silent for this long is asked whether it lives, so that
/// one that only listens notices the end of its link. Chosen by us.
const IDLE: Duration = Duration::from_secs(2);

/// Opens the connections of HTTP. Clones share what is known of the links.
#[derive(Clone)]
pub struct LinkConnector(Arc<Shared>);

struct Shared {
    /// None: wherever the routes lead.
    links: Vec<LinkChoice>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Links whose media paths are down, by index.
    dead: Vec<usize>,
    /// Connections and the link that each goes over.
    open: Vec<(usize, Weak<TcpStream>)>,
}

impl LinkConnector {
    pub fn new(links: Vec<LinkChoice>) -> LinkConnector {
        let state = Mutex::default();
        LinkConnector(Arc::new(Shared { links, state }))
    }

    /// What the call's media says of a link. The connections over a dead one
    /// end at once, so that who reads from them goes on over another.
    pub fn tell(&self, link: &str, up: bool) {
        let Some(index) = self.0.links.iter().position(|l| l.name == link) else {
            return;
        };
        let mut state = self.state();
        state.dead.retain(|dead| *dead != index);
        state.open.retain(|(_, stream)| stream.strong_count() > 0);
        if up {
            return;
        }
        state.dead.push(index);
        for (_, stream) in state.open.iter().filter(|(link, _)| *link == index) {
            if let Some(stream) = stream.upgrade() {
                let _ = stream.shutdown(std::net::Shutdown::Both);
            }
        }
    }

    /// Connects over the links, those believed alive first, and when none of
    /// them leads there, wherever the routes do.
    fn open(&self, servers: &[SocketAddr], limit: Duration) -> io::Result<Arc<TcpStream>> {
        let mut order: Vec<usize> = (0..self.0.links.len()).collect();
        order.sort_by_key(|index| self.state().dead.contains(index));
        let over_links = order.into_iter().flat_map(|index| {
            let spec = &self.0.links[index];
            servers.iter().flat_map(move |server| {
                let bound = Source::all_of(spec, server.ip());
                bound.into_iter().map(move |source| Attempt {
                    link: Some(index),
                    source: Some(source),
                    server: *server,
                })
            })
        });
        let by_routes = servers.iter().map(|server| Attempt {
            link: None,
            source: None,
            server: *server,
        });
        let won = race(over_links.collect(), limit).or_else(|_| race(by_routes.collect(), limit));
        let (link, stream) = won?;
        let stream = Arc::new(stream);
        if let Some(link) = link {
            self.state().open.push((link, Arc::downgrade(&stream)));
        }
        Ok(stream)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a socket is tied to: as the link's sockets for media are.
#[derive(Clone)]
struct Source {
    interface: Option<Vec<u8>>,
    address: IpAddr,
}

impl Source {
    /// The link's addresses that can reach this server; none if it is away.
    fn all_of(spec: &LinkChoice, server: IpAddr) -> Vec<Source> {
        let Ok(link) = Link::open(spec, 0) else {
            return Vec::new();
        };
        let sources = link.sockets.iter().filter_map(|socket| {
            let address = socket.local_addr().ok()?.ip();
            let interface = SockRef::from(socket).device().ok().flatten();
            (address.is_ipv4() == server.is_ipv4()).then_some(Source { interface, address })
        });
        sources.collect()
    }
}

/// One way to the server.
struct Attempt {
    link: Option<usize>,
    source: Option<Source>,
    server: SocketAddr,
}

impl Attempt {
    fn connect(&self, limit: Duration) -> io::Result<TcpStream> {
        let domain = Domain::for_address(self.server);
        let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
        if let Some(source) = &self.source {
            if let Some(interface) = &source.interface {
                socket.bind_device(Some(interface))?;
            }
            socket.bind(&SocketAddr::new(source.address, 0).into())?;
        }
        socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED))?;
        let keepalive = TcpKeepalive::new().with_time(IDLE);
        socket.set_tcp_keepalive(&keepalive.with_interval(Duration::from_secs(1)))?;
        socket.set_tcp_nodelay(true)?;
        socket.connect_timeout(&self.server.into(), limit)?;
        Ok(socket.into())
    }
}

/// The first attempt that succeeds. Each begins a little after the one before
/// it, or when that has failed.
fn race(attempts: Vec<Attempt>, limit: Duration) -> io::Result<(Option<usize>, TcpStream)> {
    let deadline = Instant::now() + limit;
    let (done, results) = channel();
    let mut waiting = attempts.into_iter();
    let mut running = 0;
    let mut failure = io::Error::from(io::ErrorKind::NetworkUnreachable);
    loop {
        let next = waiting.next();
        let patience = match next {
            Some(_) => STAGGER.min(deadline.saturating_duration_since(Instant::now())),
            None => deadline.saturating_duration_since(Instant::now()),
        };
        if let Some(attempt) = next {
            running += 1;
            let done = done.clone();
            thread::spawn(move || {
                // Who lost the race finds nobody waiting, and is closed.
                let _ = done.send((attempt.link, attempt.connect(limit)));
            });
        } else if running == 0 {
            return Err(failure);
        }
        match results.recv_timeout(patience) {
            Ok((link, Ok(stream))) => return Ok((link, stream)),
            Ok((_, Err(error))) => {
                running -= 1;
                failure = error;
            }
            Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
            Err(_) => return Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

impl fmt::Debug for LinkConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.0.links).finish()
    }
}

impl Connector for LinkConnector {
    type Out = LinkTransport;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        _: Option<()>,
    ) -> Result<Option<LinkTransport>, ureq::Error> {
        let limit = details
            .timeout
            .not_zero()
            .map_or(CONNECT, |t| CONNECT.min(*t));
        let stream = self.open(&details.addrs, limit)?;
        let sizes = details.config;
        let buffers = LazyBuffers::new(sizes.input_buffer_size(), sizes.output_buffer_size());
        Ok(Some(LinkTransport { stream, buffers }))
    }
}

/// A connection over one link.
pub struct LinkTransport {
    stream: Arc<TcpStream>,
    buffers: LazyBuffers,
}

impl Transport for LinkTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        let limit = timeout.for_write().not_zero();
        self.stream.set_write_timeout(limit.map(|t| *t))?;
        let sent = (&*self.stream).write_all(&self.buffers.output()[..amount]);
        sent.map_err(|error| in_time(error, &timeout))
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        let limit = timeout.for_read().not_zero();
        self.stream.set_read_timeout(limit.map(|t| *t))?;
        let input = self.buffers.input_append_buf();
        let amount = loop {
            match (&*self.stream).read(input) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read.map_err(|error| in_time(error, &timeout))?,
            }
        };
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    /// Nothing may wait to be read on a connection that nobody uses.
    fn is_open(&mut self) -> bool {
        if self.stream.set_nonblocking(true).is_err() {
            return false;
        }
        let peeked = self.stream.peek(&mut [0]);
        let open = matches!(peeked, Err(e) if e.kind() == io::ErrorKind::WouldBlock);
        open && self.stream.set_nonblocking(false).is_ok()
    }
}

/// A socket says "would block" when its time-out has passed.
fn in_time(error: io::Error, timeout: &NextTimeout) -> ureq::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => ureq::Error::Timeout(timeout.reason),
        _ => error.into(),
    }
}

impl fmt::Debug for LinkTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LinkTransport").field(&self.stream).finish()
    }
}

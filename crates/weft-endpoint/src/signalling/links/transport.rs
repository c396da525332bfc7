//! Transport over links for the HTTP library.

use std::cell::RefCell;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::{Arc, Weak};

use rustls::ClientConnection;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};

use super::race::Target;
use super::{CONNECT, LinkConnector};

/// Connection of a request.
#[derive(Clone)]
pub(in super::super) struct Used {
    /// Link number; `None` for the system's routes.
    pub link: Option<usize>,
    pub stream: Weak<TcpStream>,
    /// Address of the other end.
    pub server: Option<IpAddr>,
}

thread_local! {
    /// Connection of this thread's last request. The library calls the transport on the
    /// thread of the request, and offers no other way to learn which pooled connection it
    /// used.
    static USED: RefCell<Option<Used>> = const { RefCell::new(None) };
}

/// Takes the connection of this thread's last request; `None` if there was
/// none.
pub(in super::super) fn take_used() -> Option<Used> {
    USED.take()
}

/// Resolver for the library that returns unused addresses, because the connector resolves
/// names for each link.
#[derive(Debug)]
pub(in super::super) struct Unresolved;

impl Resolver for Unresolved {
    fn resolve(
        &self,
        _: &Uri,
        _: &Config,
        _: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut none = self.empty();
        none.push(SocketAddr::from(([0, 0, 0, 0], 0)));
        Ok(none)
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
        let tls = details.needs_tls();
        let host = details.uri.host().unwrap_or_default();
        let target = Target {
            host: host
                .trim_start_matches('[')
                .trim_end_matches(']')
                .to_owned(),
            port: details.uri.port_u16().unwrap_or(if tls { 443 } else { 80 }),
            tls: tls.then(|| self.tls()),
        };
        let connection = self.open(&target, limit);
        let connection = connection.map_err(|error| ureq::Error::Other(Box::new(error)))?;
        let sizes = details.config;
        let buffers = LazyBuffers::new(sizes.input_buffer_size(), sizes.output_buffer_size());
        Ok(Some(LinkTransport {
            links: self.clone(),
            link: connection.link,
            stream: connection.stream,
            tls: connection.tls,
            buffers,
        }))
    }
}

/// Connection over one link.
pub struct LinkTransport {
    links: LinkConnector,
    link: Option<usize>,
    stream: Arc<TcpStream>,
    tls: Option<Box<ClientConnection>>,
    buffers: LazyBuffers,
}

impl Transport for LinkTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        USED.set(Some(Used {
            link: self.link,
            stream: Arc::downgrade(&self.stream),
            server: self.stream.peer_addr().ok().map(|address| address.ip()),
        }));
        let limit = timeout.for_write().not_zero();
        self.stream.set_write_timeout(limit.map(|t| *t))?;
        let output = &self.buffers.output()[..amount];
        let mut stream = &*self.stream;
        let sent = match &mut self.tls {
            Some(tls) => rustls::Stream::new(&mut **tls, &mut stream).write_all(output),
            None => stream.write_all(output),
        };
        sent.map_err(|error| in_time(error, &timeout))
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        let limit = timeout.for_read().not_zero();
        self.stream.set_read_timeout(limit.map(|t| *t))?;
        let input = self.buffers.input_append_buf();
        let mut stream = &*self.stream;
        let amount = loop {
            let read = match &mut self.tls {
                Some(tls) => rustls::Stream::new(&mut **tls, &mut stream).read(input),
                None => stream.read(input),
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read.map_err(|error| in_time(error, &timeout))?,
            }
        };
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    /// Whether a pooled connection can be reused: no data waits to be read, and its link
    /// is not avoided.
    fn is_open(&mut self) -> bool {
        if self.links.is_avoided(self.link) || self.stream.set_nonblocking(true).is_err() {
            return false;
        }
        let peeked = self.stream.peek(&mut [0]);
        let open = matches!(peeked, Err(e) if e.kind() == io::ErrorKind::WouldBlock);
        open && self.stream.set_nonblocking(false).is_ok()
    }

    fn is_tls(&self) -> bool {
        self.tls.is_some()
    }
}

/// Converts "would block", the socket's error after its timeout.
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

//! Connection attempts over all links; the first success wins.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use socket2::{Domain, Protocol, Socket, TcpKeepalive, Type};

use super::super::error::Stall;
use super::names::{Answer, Names};
use super::source::{LinkRoute, Source};

/// Delay before the next link is tried in parallel (RFC 8305 section 5,
/// Connection Attempt Delay).
pub(super) const STAGGER: Duration = Duration::from_millis(250);

/// Delay before links with recent faults are tried in parallel. Chosen by us: a
/// captive portal answers at once, while a good link may take a second.
const LAST_RESORT: Duration = Duration::from_secs(2);

/// Time after which unacknowledged data means a dead link: four retransmissions
/// at the shortest timeout (RFC 6298 section 5.5; Linux begins at 200 ms).
/// Chosen by us.
const UNACKNOWLEDGED: Duration = Duration::from_secs(3);

/// Idle time before keep-alive probes, by which a connection that only reads notices a
/// dead link. Chosen by us.
const IDLE: Duration = Duration::from_secs(2);

/// Server to connect to.
#[derive(Clone)]
pub(super) struct Target {
    pub host: String,
    pub port: u16,
    /// TLS configuration; `None` without TLS.
    pub tls: Option<Arc<ClientConfig>>,
}

/// Winning connection, TLS included.
pub(super) struct Connection {
    pub link: Option<usize>,
    pub stream: Arc<TcpStream>,
    pub tls: Option<Box<ClientConnection>>,
}

/// Reason why no connection was opened.
#[derive(Debug, thiserror::Error)]
pub(in super::super) enum OpenError {
    /// Error of the system.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The other end did not prove that it is the server.
    #[error("{0}")]
    Tls(#[from] rustls::Error),
    /// TCP connects, but the TLS handshake gets no answer.
    #[error("TCP connects, but the TLS handshake gets no answer")]
    Stalled {
        /// Numbers of the links; empty for the system's routes.
        links: Vec<usize>,
        /// Evidence of the loss.
        stall: Stall,
    },
    /// The host cannot be resolved.
    #[error("{0}")]
    UnknownHost(String),
}

/// Waiting attempt.
struct Attempt {
    avoided: bool,
    /// Position among the addresses that its link can reach.
    place: usize,
    route: usize,
    server: IpAddr,
}

enum Step {
    Found(Answer),
    /// TCP has connected, and the TLS handshake starts.
    Opened {
        route: usize,
    },
    Tried {
        route: usize,
        outcome: Result<Connection, OpenError>,
    },
}

/// Failures of links, by their number.
pub(super) type Failures = Vec<(Option<usize>, OpenError)>;

/// Race for one connection.
pub(super) struct Race<'a> {
    routes: &'a [LinkRoute],
    target: &'a Target,
    begun: Instant,
    limit: Duration,
    waiting: Vec<Attempt>,
    /// Pairs of route and server address that were started or are waiting.
    known: Vec<(usize, IpAddr)>,
    running: usize,
    /// Routes of the TLS handshakes that are running.
    opened: Vec<usize>,
    lookups: usize,
    unknown: Option<String>,
    /// Failures so far.
    failures: Failures,
    steps: Sender<Step>,
    results: Receiver<Step>,
}

impl<'a> Race<'a> {
    pub fn new(routes: &'a [LinkRoute], target: &'a Target, limit: Duration) -> Race<'a> {
        let (steps, results) = channel();
        Race {
            routes,
            target,
            begun: Instant::now(),
            limit,
            waiting: Vec::new(),
            known: Vec::new(),
            running: 0,
            opened: Vec::new(),
            lookups: 0,
            unknown: None,
            failures: Vec::new(),
            steps,
            results,
        }
    }

    /// Runs the race. Each attempt starts shortly after the previous one, or when that
    /// one fails. Also returns all failures so far.
    pub fn run(mut self, names: &Names) -> (Result<Connection, OpenError>, Failures) {
        let won = self.win(names);
        (won, self.failures)
    }

    fn win(&mut self, names: &Names) -> Result<Connection, OpenError> {
        let deadline = self.begun + self.limit;
        let mut next_start = self.begun;
        self.look_up(names);
        loop {
            let now = Instant::now();
            if now >= deadline {
                for route in std::mem::take(&mut self.opened) {
                    let link = self.routes[route].link;
                    self.failures.push((link, stalled(link, Stall::Unanswered)));
                }
                return Err(self.lost());
            }
            let due = self.next_due(next_start);
            if due.is_some_and(|due| now >= due) {
                let attempt = self.waiting.remove(0);
                self.start(&attempt);
                next_start = now + STAGGER;
                continue;
            }
            if due.is_none() && self.running == 0 && self.lookups == 0 {
                return Err(self.lost());
            }
            let wake = due.map_or(deadline, |due| due.min(deadline));
            match self
                .results
                .recv_timeout(wake.saturating_duration_since(now))
            {
                Ok(Step::Found(answer)) => self.on_answer(answer),
                Ok(Step::Opened { route }) => self.opened.push(route),
                Ok(Step::Tried { route, outcome }) => {
                    self.running -= 1;
                    if let Some(opened) = self.opened.iter().position(|r| *r == route) {
                        self.opened.swap_remove(opened);
                    }
                    match outcome {
                        Ok(connection) => return Ok(connection),
                        Err(error) => self.failures.push((self.routes[route].link, error)),
                    }
                    next_start = Instant::now();
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
    }

    /// Starts to resolve the host. A remembered address is available at once.
    fn look_up(&mut self, names: &Names) {
        let host = self.target.host.as_str();
        if let Ok(address) = host.parse() {
            return self.add(None, &[address]);
        }
        if let Some(address) = names.remembered(host) {
            self.add(None, &[address]);
        }
        let steps = self.steps.clone();
        let deadline = self.begun + self.limit;
        self.lookups = names.look_up(host, self.routes, deadline, move |answer| {
            let _ = steps.send(Step::Found(answer));
        });
    }

    fn on_answer(&mut self, answer: Answer) {
        self.lookups -= 1;
        match answer.addresses {
            Ok(addresses) => self.add(answer.link, &addresses),
            Err(error) => self.unknown = Some(error),
        }
    }

    /// Adds attempts at these addresses over every link, first over the link
    /// that found them.
    pub fn add(&mut self, found_by: Option<usize>, addresses: &[IpAddr]) {
        for (number, route) in self.routes.iter().enumerate() {
            let own = found_by.is_none() || found_by == route.link;
            let reachable = addresses.iter().filter(|server| route.reaches(server));
            // Addresses found by other links come after the link's own.
            let places = if own { 0.. } else { addresses.len().. };
            for (server, place) in reachable.zip(places) {
                if self.known.contains(&(number, *server)) {
                    continue;
                }
                self.known.push((number, *server));
                self.waiting.push(Attempt {
                    avoided: route.avoided,
                    place,
                    route: number,
                    server: *server,
                });
            }
        }
        // Each link with its first address in turn, then each with its second
        // (RFC 8305 section 4).
        self.waiting.sort_by_key(|a| (a.avoided, a.place, a.route));
    }

    /// Earliest start of the first waiting attempt.
    fn next_due(&self, next_start: Instant) -> Option<Instant> {
        let first = self.waiting.first()?;
        let others = self.running > 0 || self.lookups > 0;
        Some(match first.avoided && others {
            true => next_start.max(self.begun + LAST_RESORT),
            false => next_start,
        })
    }

    fn start(&mut self, attempt: &Attempt) {
        let route = &self.routes[attempt.route];
        let (link, source) = (route.link, route.source(&attempt.server).cloned());
        let server = SocketAddr::new(attempt.server, self.target.port);
        let (number, target) = (attempt.route, self.target.clone());
        let (steps, deadline) = (self.steps.clone(), self.begun + self.limit);
        self.running += 1;
        thread::spawn(move || {
            let opened = || {
                let _ = steps.send(Step::Opened { route: number });
            };
            let outcome = connect(link, source.as_ref(), server, &target, deadline, opened);
            // This attempt has lost the race; its connection closes.
            let _ = steps.send(Step::Tried {
                route: number,
                outcome,
            });
        });
    }

    /// Returns the most informative failure: a TLS error, otherwise a stall with all its
    /// links, otherwise the first system error.
    fn lost(&mut self) -> OpenError {
        if self.failures.is_empty() {
            let unreachable = |kind| OpenError::Io(io::Error::from(kind));
            return match (self.known.is_empty(), self.unknown.take()) {
                (false, _) => unreachable(io::ErrorKind::TimedOut),
                (true, Some(error)) => OpenError::UnknownHost(error),
                (true, None) if self.lookups == 0 => unreachable(io::ErrorKind::NetworkUnreachable),
                (true, None) => OpenError::UnknownHost("no DNS server answers".to_owned()),
            };
        }
        let first = |is: fn(&OpenError) -> bool| self.failures.iter().position(|f| is(&f.1));
        let is_stalled = |error: &OpenError| matches!(error, OpenError::Stalled { .. });
        let told = first(|error| matches!(error, OpenError::Tls(_))).or_else(|| first(is_stalled));
        let mut told = self.failures.remove(told.unwrap_or(0)).1;
        if let OpenError::Stalled { links, .. } = &mut told {
            let others = self.failures.iter().filter(|f| is_stalled(&f.1));
            links.extend(others.filter_map(|(link, _)| *link));
            links.sort_unstable();
            links.dedup();
        }
        told
    }
}

fn connect(
    link: Option<usize>,
    source: Option<&Source>,
    server: SocketAddr,
    target: &Target,
    deadline: Instant,
    opened: impl Fn(),
) -> Result<Connection, OpenError> {
    let socket = Socket::new(
        Domain::for_address(server),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    if let Some(source) = source {
        source.bind(&socket)?;
    }
    socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED))?;
    let keepalive = TcpKeepalive::new().with_time(IDLE);
    socket.set_tcp_keepalive(&keepalive.with_interval(Duration::from_secs(1)))?;
    socket.set_tcp_nodelay(true)?;
    socket.connect_timeout(&server.into(), left(deadline)?)?;
    let stream = Arc::new(TcpStream::from(socket));
    let tls = match &target.tls {
        Some(config) => {
            opened();
            let tls = handshake(config, &target.host, &stream, deadline);
            let tls = tls.map_err(|error| match error {
                // The system's error after TCP_USER_TIMEOUT.
                OpenError::Io(io)
                    if io.kind() == io::ErrorKind::TimedOut && io.raw_os_error().is_some() =>
                {
                    stalled(link, Stall::Unacknowledged)
                }
                other => other,
            })?;
            Some(Box::new(tls))
        }
        None => None,
    };
    Ok(Connection { link, stream, tls })
}

fn stalled(link: Option<usize>, stall: Stall) -> OpenError {
    let links = link.into_iter().collect();
    OpenError::Stalled { links, stall }
}

/// Returns the remaining time, if there is any.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    match left.is_zero() {
        true => Err(io::ErrorKind::TimedOut.into()),
        false => Ok(left),
    }
}

fn handshake(
    config: &Arc<ClientConfig>,
    host: &str,
    stream: &TcpStream,
    deadline: Instant,
) -> Result<ClientConnection, OpenError> {
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| OpenError::UnknownHost(format!("`{host}` is not a host name")))?;
    let mut tls = ClientConnection::new(Arc::clone(config), name)?;
    let mut io = stream;
    while tls.is_handshaking() {
        if tls.wants_write() {
            stream.set_write_timeout(Some(left(deadline)?))?;
            tls.write_tls(&mut io)?;
            continue;
        }
        stream.set_read_timeout(Some(left(deadline)?))?;
        if tls.read_tls(&mut io)? == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        if let Err(error) = tls.process_new_packets() {
            // Sends the reason to the other end.
            let _ = tls.write_tls(&mut io);
            return Err(error.into());
        }
    }
    while tls.wants_write() {
        stream.set_write_timeout(Some(left(deadline)?))?;
        tls.write_tls(&mut io)?;
    }
    Ok(tls)
}

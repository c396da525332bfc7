//! Attempts to reach the server over every link: the first that succeeds wins.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use socket2::{Domain, Protocol, Socket, TcpKeepalive, Type};

use super::names::{Answer, Names};
use super::source::{Source, Way};

/// Before the next link is tried beside the one that does not answer
/// (RFC 8305 section 5, Connection Attempt Delay).
pub(super) const STAGGER: Duration = Duration::from_millis(250);

/// Before a link with trouble is tried beside those without. Chosen by us: a
/// captive portal answers at once, a good link may take a second to.
const LAST_RESORT: Duration = Duration::from_secs(2);

/// Octets that are not acknowledged for this long went into a dead link:
/// four retransmissions at the least timeout (RFC 6298 section 5.5; Linux begins
/// at 200 ms). Chosen by us.
const UNACKNOWLEDGED: Duration = Duration::from_secs(3);

/// A connection that is silent for this long is asked whether it lives, so that
/// one that only listens notices the end of its link. Chosen by us.
const IDLE: Duration = Duration::from_secs(2);

/// Server to connect to.
#[derive(Clone)]
pub(super) struct Target {
    pub host: String,
    pub port: u16,
    /// None: without TLS.
    pub tls: Option<Arc<ClientConfig>>,
}

/// Connection that won, TLS included.
pub(super) struct Connection {
    pub link: Option<usize>,
    pub stream: Arc<TcpStream>,
    pub tls: Option<Box<ClientConnection>>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(in super::super) enum OpenError {
    /// The system's words.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The other end is not the server, for all that is known.
    #[error("{0}")]
    Tls(#[from] rustls::Error),
    /// Nobody knows the host.
    #[error("{0}")]
    UnknownHost(String),
}

/// Attempt that waits for its turn.
struct Attempt {
    avoided: bool,
    /// Position among the addresses that its link can reach.
    place: usize,
    way: usize,
    server: IpAddr,
}

enum Step {
    Found(Answer),
    Tried {
        way: usize,
        outcome: Result<Connection, OpenError>,
    },
}

/// Failures of links, by their number.
pub(super) type Failures = Vec<(Option<usize>, OpenError)>;

/// Race for one connection.
pub(super) struct Race<'a> {
    ways: &'a [Way],
    target: &'a Target,
    begun: Instant,
    limit: Duration,
    waiting: Vec<Attempt>,
    /// Pairs of way and server that were begun or wait.
    known: Vec<(usize, IpAddr)>,
    running: usize,
    lookups: usize,
    unknown: Option<String>,
    /// Explicit failures so far.
    failures: Failures,
    steps: Sender<Step>,
    results: Receiver<Step>,
}

impl<'a> Race<'a> {
    pub fn new(ways: &'a [Way], target: &'a Target, limit: Duration) -> Race<'a> {
        let (steps, results) = channel();
        Race {
            ways,
            target,
            begun: Instant::now(),
            limit,
            waiting: Vec::new(),
            known: Vec::new(),
            running: 0,
            lookups: 0,
            unknown: None,
            failures: Vec::new(),
            steps,
            results,
        }
    }

    /// Runs it. Each attempt begins a little after the one before it, or when
    /// that has failed. The failures are those before the end.
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
                Ok(Step::Tried { way, outcome }) => {
                    self.running -= 1;
                    match outcome {
                        Ok(connection) => return Ok(connection),
                        Err(error) => self.failures.push((self.ways[way].link, error)),
                    }
                    next_start = Instant::now();
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
    }

    /// Begins to look the host up. An address that led to it before is good at
    /// once.
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
        self.lookups = names.look_up(host, self.ways, deadline, move |answer| {
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

    /// Attempts at these addresses: over every link, first over the one that
    /// found them.
    pub fn add(&mut self, found_by: Option<usize>, addresses: &[IpAddr]) {
        for (number, way) in self.ways.iter().enumerate() {
            let own = found_by.is_none() || found_by == way.link;
            let reachable = addresses.iter().filter(|server| way.reaches(server));
            // Another link's answers come after this one's.
            let places = if own { 0.. } else { addresses.len().. };
            for (server, place) in reachable.zip(places) {
                if self.known.contains(&(number, *server)) {
                    continue;
                }
                self.known.push((number, *server));
                self.waiting.push(Attempt {
                    avoided: way.avoided,
                    place,
                    way: number,
                    server: *server,
                });
            }
        }
        // Links in turn with their first addresses, then with their second
        // ones (RFC 8305 section 4).
        self.waiting.sort_by_key(|a| (a.avoided, a.place, a.way));
    }

    /// When the first attempt that waits may begin.
    fn next_due(&self, next_start: Instant) -> Option<Instant> {
        let first = self.waiting.first()?;
        let others = self.running > 0 || self.lookups > 0;
        Some(match first.avoided && others {
            true => next_start.max(self.begun + LAST_RESORT),
            false => next_start,
        })
    }

    fn start(&mut self, attempt: &Attempt) {
        let way = &self.ways[attempt.way];
        let (link, source) = (way.link, way.source(&attempt.server).cloned());
        let server = SocketAddr::new(attempt.server, self.target.port);
        let (number, target) = (attempt.way, self.target.clone());
        let (steps, deadline) = (self.steps.clone(), self.begun + self.limit);
        self.running += 1;
        thread::spawn(move || {
            let outcome = connect(link, source.as_ref(), server, &target, deadline);
            // A loser finds nobody waiting, and its connection closes.
            let _ = steps.send(Step::Tried {
                way: number,
                outcome,
            });
        });
    }

    /// The most telling reason: TLS with somebody else, then what the system
    /// said first.
    fn lost(&mut self) -> OpenError {
        let is_tls = |(_, error): &(_, OpenError)| matches!(error, OpenError::Tls(_));
        let told = self.failures.iter().position(is_tls);
        if self.failures.is_empty() {
            let unreachable = |kind| OpenError::Io(io::Error::from(kind));
            return match (self.known.is_empty(), self.unknown.take()) {
                (false, _) => unreachable(io::ErrorKind::TimedOut),
                (true, Some(error)) => OpenError::UnknownHost(error),
                (true, None) if self.lookups == 0 => unreachable(io::ErrorKind::NetworkUnreachable),
                (true, None) => OpenError::UnknownHost("no DNS server answers".to_owned()),
            };
        }
        self.failures.remove(told.unwrap_or(0)).1
    }
}

fn connect(
    link: Option<usize>,
    source: Option<&Source>,
    server: SocketAddr,
    target: &Target,
    deadline: Instant,
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
            let tls = handshake(config, &target.host, &stream, deadline)?;
            Some(Box::new(tls))
        }
        None => None,
    };
    Ok(Connection { link, stream, tls })
}

/// Time until then, if there is any.
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
        .map_err(|_| OpenError::UnknownHost(format!("`{host}` is no host name")))?;
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
            // So that the other end hears why.
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

//! Link on loopback: a NAT with a delay, which can be cut.

use std::collections::VecDeque;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Time that an idle relay takes to notice the end of the test.
const IDLE: Duration = Duration::from_millis(50);

/// Largest datagram on loopback.
const DATAGRAM: usize = 65_536;

/// State of a link, which outlives its handle until its threads have seen it.
#[derive(Default)]
struct State {
    cut: AtomicBool,
    ended: AtomicBool,
}

/// Link between an address of ours and the other end of the call.
pub struct Relay {
    ours: UdpSocket,
    theirs: UdpSocket,
    state: Arc<State>,
}

impl Relay {
    /// Binds both sides; the other end sees packets from `address`.
    pub fn bind(address: &str) -> Relay {
        let bind = |address| UdpSocket::bind(address).expect("a loopback address");
        Relay {
            ours: bind("127.0.0.1:0"),
            theirs: bind(address),
            state: Arc::default(),
        }
    }

    /// Address that represents the other end on our side.
    pub fn near(&self) -> SocketAddr {
        self.ours.local_addr().expect("it is bound")
    }

    /// Forwards packets between these addresses from now on.
    pub fn start(&self, us: SocketAddr, them: SocketAddr, delay: Duration) {
        let socket = |s: &UdpSocket| s.try_clone().expect("a descriptor");
        for (from, to, target) in [
            (&self.ours, &self.theirs, them),
            (&self.theirs, &self.ours, us),
        ] {
            let line = Line {
                from: socket(from),
                to: socket(to),
                target,
                delay,
                state: Arc::clone(&self.state),
                waiting: VecDeque::new(),
            };
            thread::spawn(move || line.run());
        }
    }

    /// Loses every packet, including those in flight, or none.
    pub fn set_cut(&self, cut: bool) {
        self.state.cut.store(cut, Ordering::Relaxed);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::Relaxed);
    }
}

/// One direction of the link.
struct Line {
    from: UdpSocket,
    to: UdpSocket,
    target: SocketAddr,
    delay: Duration,
    state: Arc<State>,
    waiting: VecDeque<(Instant, Vec<u8>)>,
}

impl Line {
    fn run(mut self) {
        let mut buffer = vec![0; DATAGRAM];
        while !self.state.ended.load(Ordering::Relaxed) {
            let wait = self.deliver().max(Duration::from_micros(100));
            self.from.set_read_timeout(Some(wait)).expect("it is not 0");
            match self.from.recv(&mut buffer) {
                Ok(length) => {
                    let due = Instant::now() + self.delay;
                    self.waiting.push_back((due, buffer[..length].to_vec()));
                }
                Err(error) => assert!(is_timeout(&error), "a relay cannot receive: {error}"),
            }
        }
    }

    /// Delivers the packets that are due and returns the time until the next
    /// one.
    fn deliver(&mut self) -> Duration {
        while let Some((due, _)) = self.waiting.front() {
            let left = due.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                return left.min(IDLE);
            }
            let (_, datagram) = self.waiting.pop_front().expect("it was there");
            if self.state.cut.load(Ordering::Relaxed) {
                continue;
            }
            // A closed socket receives nothing.
            let _ = self.to.send_to(&datagram, self.target);
        }
        IDLE
    }
}

/// The ICMP error of a closed socket counts as nothing received.
fn is_timeout(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, Interrupted, TimedOut, WouldBlock};
    let harmless = [ConnectionRefused, Interrupted, TimedOut, WouldBlock];
    harmless.contains(&error.kind())
}

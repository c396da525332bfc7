//! Slow relay to an endpoint: a bounded queue and rate from the server's side.
//! From the endpoint's side it forwards everything, or loses packets regularly.

use std::collections::VecDeque;
use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use weft_units::{Bytes, Rate};

/// Maximum length of the queue, at the rate of the relay.
const QUEUE: Duration = Duration::from_millis(150);

pub(crate) struct Relay {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Relay {
    pub(crate) fn start(server: SocketAddr, rate: Rate) -> Relay {
        Relay::between(server, rate, u64::MAX)
    }

    /// Loses one in this many video packets from the endpoint.
    pub(crate) fn losing(server: SocketAddr, one_in: u64) -> Relay {
        Relay::between(server, Rate::from_mbps(100), one_in)
    }

    fn between(server: SocketAddr, rate: Rate, one_in: u64) -> Relay {
        let bind = || UdpSocket::bind("127.0.0.1:0").unwrap();
        let (to_player, to_server) = (Arc::new(bind()), Arc::new(bind()));
        to_server.connect(server).unwrap();
        for socket in [&to_player, &to_server] {
            let patience = Some(Duration::from_millis(5));
            socket.set_read_timeout(patience).unwrap();
        }
        let stop = Arc::new(AtomicBool::new(false));
        let address = to_player.local_addr().unwrap();
        let (player, announced) = std::sync::mpsc::channel();
        let up = {
            let (from, to, stop) = (to_player.clone(), to_server.clone(), stop.clone());
            move || {
                let mut buffer = [0; 2000];
                let mut pictures = 0;
                while !stop.load(Ordering::Relaxed) {
                    if let Ok((len, player_address)) = from.recv_from(&mut buffer) {
                        let _ = player.send(player_address);
                        pictures += u64::from(is_picture(&buffer[..len]));
                        if !is_picture(&buffer[..len]) || pictures % one_in != 0 {
                            let _ = to.send(&buffer[..len]);
                        }
                    }
                }
            }
        };
        let down = {
            let stop = stop.clone();
            move || {
                let Ok(player) = announced.recv() else { return };
                let mut queue = Queue::new(rate);
                let mut buffer = [0; 2000];
                while !stop.load(Ordering::Relaxed) {
                    queue.release(|datagram| {
                        let _ = to_player.send_to(datagram, player);
                    });
                    let wait = queue.wait().max(Duration::from_micros(100));
                    to_server.set_read_timeout(Some(wait)).unwrap();
                    if let Ok(len) = to_server.recv(&mut buffer) {
                        queue.push(&buffer[..len]);
                    }
                }
            }
        };
        let threads = vec![std::thread::spawn(up), std::thread::spawn(down)];
        Relay {
            address,
            stop,
            threads,
        }
    }

    /// Carries the endpoint's datagrams over a TCP connection to the server, each after
    /// its length (RFC 4571), like a browser whose network blocks UDP.
    pub(crate) fn over_tcp(server: SocketAddr) -> Relay {
        let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").unwrap());
        let stream = TcpStream::connect(server).unwrap();
        let patience = Some(Duration::from_millis(5));
        socket.set_read_timeout(patience).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let address = socket.local_addr().unwrap();
        let (endpoint, announced) = std::sync::mpsc::channel();
        let up = {
            let (socket, stop, mut stream) =
                (socket.clone(), stop.clone(), stream.try_clone().unwrap());
            move || {
                let mut buffer = [0; 2000];
                while !stop.load(Ordering::Relaxed) {
                    if let Ok((len, from)) = socket.recv_from(&mut buffer) {
                        let _ = endpoint.send(from);
                        let length = (len as u16).to_be_bytes();
                        let _ = stream.write_all(&[&length, &buffer[..len]].concat());
                    }
                }
                let _ = stream.shutdown(Shutdown::Both);
            }
        };
        let down = move || {
            let Ok(endpoint) = announced.recv() else {
                return;
            };
            let mut stream = BufReader::new(stream);
            let mut length = [0; 2];
            while stream.read_exact(&mut length).is_ok() {
                let mut datagram = vec![0; usize::from(u16::from_be_bytes(length))];
                if stream.read_exact(&mut datagram).is_ok() {
                    let _ = socket.send_to(&datagram, endpoint);
                }
            }
        };
        let threads = vec![std::thread::spawn(up), std::thread::spawn(down)];
        Relay {
            address,
            stop,
            threads,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Whether it is RTP (RFC 7983: 128 to 191) and too large for sound or a
/// report.
fn is_picture(datagram: &[u8]) -> bool {
    matches!(datagram.first(), Some(128..=191)) && datagram.len() > 500
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

struct Queue {
    rate: Rate,
    waiting: VecDeque<(Instant, Vec<u8>)>,
    free_at: Instant,
}

impl Queue {
    fn new(rate: Rate) -> Queue {
        Queue {
            rate,
            waiting: VecDeque::new(),
            free_at: Instant::now(),
        }
    }

    fn push(&mut self, datagram: &[u8]) {
        let now = Instant::now();
        let begin = self.free_at.max(now);
        if begin - now > QUEUE {
            return;
        }
        let size = Bytes(datagram.len() as u64);
        self.free_at = begin + Duration::from(self.rate.time_for(size).unwrap());
        self.waiting.push_back((self.free_at, datagram.to_vec()));
    }

    fn release(&mut self, mut send: impl FnMut(&[u8])) {
        let now = Instant::now();
        while self.waiting.front().is_some_and(|(at, _)| *at <= now) {
            if let Some((_, datagram)) = self.waiting.pop_front() {
                send(&datagram);
            }
        }
    }

    fn wait(&self) -> Duration {
        let next = self.waiting.front().map(|(at, _)| *at);
        next.map_or(Duration::from_millis(5), |at| {
            at.saturating_duration_since(Instant::now())
        })
    }
}

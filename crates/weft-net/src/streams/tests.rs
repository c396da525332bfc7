use std::net::TcpListener;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration as StdDuration;

use weft_units::{Deadline, Ecn};

use super::*;
use crate::{Clock, Driver, Network, Node};

enum Order {
    Take(StdTcpStream),
    /// Sends this many datagrams of this length to the only connection.
    Send(usize, usize),
    Tell(Sender<(usize, u64)>),
}

/// Sends every datagram back and reports it to the test.
struct Echo {
    tuple: Option<FiveTuple>,
    back: Vec<(FiveTuple, Vec<u8>)>,
    received: Sender<Vec<u8>>,
}

impl Node for Echo {
    type Command = Order;

    fn handle_datagram(&mut self, _: Instant, tuple: FiveTuple, _: Ecn, datagram: &[u8]) {
        self.back.push((tuple, datagram.to_vec()));
        let _ = self.received.send(datagram.to_vec());
    }

    fn handle_command(&mut self, network: &mut Network<'_>, order: Order) {
        match order {
            Order::Take(stream) => self.tuple = network.add_stream(stream).ok(),
            Order::Send(count, length) => {
                let tuple = self.tuple.expect("a connection");
                for _ in 0..count {
                    network.send(tuple, Ecn::NotEct, &vec![7; length]);
                }
            }
            Order::Tell(asker) => asker.send(network.streams()).expect("the test waits"),
        }
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        None
    }

    fn handle_timeout(&mut self, _: &mut Network<'_>) {}

    fn send(&mut self, network: &mut Network<'_>) {
        for (tuple, datagram) in self.back.drain(..) {
            network.send(tuple, Ecn::NotEct, &datagram);
        }
    }
}

struct Rig {
    driver: Driver<Order>,
    client: StdTcpStream,
    received: Receiver<Vec<u8>>,
}

impl Rig {
    fn start() -> Rig {
        let (sender, received) = channel();
        let node = Echo {
            tuple: None,
            back: Vec::new(),
            received: sender,
        };
        let driver = Driver::run("test", Clock::start(), Vec::new(), node).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = StdTcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let patience = Some(StdDuration::from_secs(10));
        client.set_read_timeout(patience).unwrap();
        let (stream, _) = listener.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        driver.remote.send(Order::Take(stream));
        Rig {
            driver,
            client,
            received,
        }
    }

    fn figures(&self) -> (usize, u64) {
        let (asker, answer) = channel();
        self.driver.remote.send(Order::Tell(asker));
        answer.recv().unwrap()
    }

    fn read(&mut self) -> Vec<u8> {
        let mut length = [0; 2];
        self.client.read_exact(&mut length).unwrap();
        let mut datagram = vec![0; usize::from(u16::from_be_bytes(length))];
        self.client.read_exact(&mut datagram).unwrap();
        datagram
    }

    /// Waits until the driver has closed the connection.
    fn until_closed(&mut self) {
        let mut rest = Vec::new();
        // A reset ends it, too.
        let _ = self.client.read_to_end(&mut rest);
        assert_eq!(self.figures().0, 0);
    }
}

#[test]
fn datagrams_go_both_ways_however_they_are_divided() {
    let mut rig = Rig::start();
    for octet in [0, 3, 1, 2, 3, 0, 1, 9] {
        rig.client.write_all(&[octet]).unwrap();
        std::thread::sleep(StdDuration::from_millis(2));
    }
    assert_eq!(rig.read(), [1, 2, 3]);
    assert_eq!(rig.read(), [9]);
    assert_eq!(rig.received.iter().take(2).count(), 2);
    assert_eq!(rig.figures(), (1, 0));
}

#[test]
fn a_stream_of_something_else_is_closed() {
    for nonsense in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 4]] {
        let mut rig = Rig::start();
        rig.client.write_all(nonsense).unwrap();
        rig.until_closed();
        assert!(rig.received.try_recv().is_err());
    }
}

#[test]
fn an_end_in_the_middle_of_a_datagram_ends_the_connection() {
    let mut rig = Rig::start();
    rig.client.write_all(&[0, 3, 1]).unwrap();
    rig.client.shutdown(std::net::Shutdown::Write).unwrap();
    rig.until_closed();
    assert!(rig.received.try_recv().is_err());
}

#[test]
fn a_slow_reader_loses_whole_datagrams_and_holds_little_memory() {
    const COUNT: usize = 20_000;
    const LENGTH: usize = 1_200;
    let mut rig = Rig::start();
    // 24 MB, more than the system buffers.
    rig.driver.remote.send(Order::Send(COUNT, LENGTH));
    let (_, dropped) = rig.figures();
    let dropped = usize::try_from(dropped).unwrap();
    assert!(dropped > COUNT / 2, "{dropped} of {COUNT} dropped");
    for _ in 0..COUNT - dropped {
        assert_eq!(rig.read(), [7; LENGTH]);
    }
    // The next datagram is complete.
    rig.driver.remote.send(Order::Send(1, 5));
    assert_eq!(rig.read(), [7; 5]);
}

//! Traffic of the kernel's protocols.

use super::Failure;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};
use weft_emu::{HostId, Running};

/// Returns the shortest time to connect: a round trip between two kernels, without a
/// program in between.
pub fn shortest_connect(
    running: &Running,
    from: HostId,
    to: SocketAddr,
) -> Result<Duration, Failure> {
    const TIMES: usize = 20;
    let mut shortest = Duration::MAX;
    for _ in 0..TIMES {
        let took = running.within(from, || {
            let began = Instant::now();
            TcpStream::connect(to).map(|_| began.elapsed())
        })??;
        shortest = shortest.min(took);
    }
    Ok(shortest)
}

/// Returns the rate in bits per second of a bulk transfer's receiver after the first
/// third of the time.
pub fn bulk(
    running: &Running,
    from: HostId,
    listener: &TcpListener,
    congestion: &str,
    seconds: f64,
) -> Result<f64, Failure> {
    let to = listener.local_addr()?;
    let mut sender = running.within(from, || TcpStream::connect(to))??;
    rustix::net::sockopt::set_tcp_congestion(&sender, congestion)?;
    // Connections of `shortest_connect` may still wait in the queue.
    let own = sender.local_addr()?;
    let mut receiver = loop {
        match listener.accept()? {
            (receiver, from) if from == own => break receiver,
            _ => {}
        }
    };
    let began = Instant::now();
    let from = Duration::from_secs_f64(seconds / 3.0);
    let until = Duration::from_secs_f64(seconds);
    // The receiver closes at the end, which stops the sender.
    thread::scope(move |scope| {
        scope.spawn(move || while sender.write(&[0; 65_536]).is_ok() {});
        let mut bytes = vec![0; 65_536];
        let (mut counted, mut since, mut last) = (0, None, began);
        while began.elapsed() < until {
            let length = receiver.read(&mut bytes)?;
            last = Instant::now();
            match since {
                Some(_) => counted += length,
                None if began.elapsed() > from => since = Some(last),
                None => {}
            }
        }
        let took = last - since.ok_or("nothing arrived")?;
        Ok(counted as f64 * 8.0 / took.as_secs_f64())
    })
}

/// Sends as fast as possible; returns the number of packets.
pub fn flood(
    running: &Running,
    from: HostId,
    to: SocketAddr,
    size: usize,
    seconds: f64,
) -> Result<u64, Failure> {
    /// UDP and IPv4 headers.
    const HEADERS: usize = 28;
    let socket = running.within(from, || UdpSocket::bind("0.0.0.0:0"))??;
    socket.connect(to)?;
    let bytes = vec![0; size - HEADERS];
    let until = Instant::now() + Duration::from_secs_f64(seconds);
    let mut sent = 0;
    while Instant::now() < until {
        for _ in 0..64 {
            sent += u64::from(socket.send(&bytes).is_ok());
        }
    }
    Ok(sent)
}

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use weft_emu::{Addresses, FAR, HostId, LinkId, NEAR, Network, Privilege, Running};
use weft_links::{LinkSpec, MediumSpec};
use weft_testing::skipped;

/// Two hosts with a symmetric link between them.
pub struct Pair {
    pub running: Running,
    pub left: HostId,
    pub right: HostId,
    pub link: LinkId,
    pub at_left: Addresses,
    pub at_right: Addresses,
}

/// Returns whether the tests can run; prints the reason if not.
pub fn is_possible() -> bool {
    match Privilege::find() {
        Ok(Privilege::Capabilities) => true,
        Ok(Privilege::UserNamespace) => {
            skipped("run under `unshare --user --map-root-user`, or as root");
            false
        }
        Err(error) => {
            skipped(error);
            false
        }
    }
}

pub fn spec(text: &str) -> LinkSpec {
    text.parse().expect("a specification")
}

impl Pair {
    /// Starts a pair; `None` if the tests cannot run.
    pub fn start(text: &str) -> Option<Pair> {
        Pair::with(text, |_| {})
    }

    pub fn with(text: &str, change: impl FnOnce(&mut Network)) -> Option<Pair> {
        Pair::of(spec(text), change)
    }

    /// Starts a pair after `change`, which receives the network and the host on the right.
    pub fn with_right(text: &str, change: impl FnOnce(&mut Network, HostId)) -> Option<Pair> {
        Pair::made(spec(text), change)
    }

    pub fn of(spec: LinkSpec, change: impl FnOnce(&mut Network)) -> Option<Pair> {
        Pair::made(spec, |network, _| change(network))
    }

    fn made(spec: LinkSpec, change: impl FnOnce(&mut Network, HostId)) -> Option<Pair> {
        if !is_possible() {
            return None;
        }
        let mut network = Network::new(1);
        let (left, right) = (network.host("left"), network.host("right"));
        let link = network.link("link", MediumSpec::wired(spec.clone(), spec));
        let at_left = network.attach(left, link, NEAR);
        let at_right = network.attach(right, link, FAR);
        change(&mut network, right);
        Some(Pair {
            running: network.start().expect("a privilege was found"),
            left,
            right,
            link,
            at_left,
            at_right,
        })
    }
}

/// Opens a socket of the host.
pub fn udp(running: &Running, host: HostId, address: impl Into<SocketAddr>) -> UdpSocket {
    let address = address.into();
    let socket = running.within(host, || UdpSocket::bind(address));
    let socket = socket.expect("a host to enter").expect("an address");
    socket
        .set_read_timeout(Some(Duration::from_secs(5)))
        .expect("a time-out");
    socket
}

/// Answers every datagram at `socket` with itself while `job` runs.
pub fn with_echo<T>(socket: &UdpSocket, job: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            socket
                .set_read_timeout(Some(Duration::from_millis(20)))
                .expect("a time-out");
            let mut bytes = [0; 2048];
            while !done.load(Ordering::Relaxed) {
                if let Ok((length, from)) = socket.recv_from(&mut bytes) {
                    let _ = socket.send_to(&bytes[..length], from);
                }
            }
        });
        // Sets the flag even if `job` panics.
        let _end = SetAtEnd(&done);
        job()
    })
}

struct SetAtEnd<'a>(&'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Returns the time from a datagram to its echo.
pub fn round_trip(socket: &UdpSocket, to: SocketAddr) -> io::Result<Duration> {
    let began = Instant::now();
    socket.send_to(b"ping", to)?;
    socket.recv_from(&mut [0; 16])?;
    Ok(began.elapsed())
}

/// `SO_BINDTODEVICE`, as endpoints do for each of their links.
pub fn bind_to_device(socket: &UdpSocket, device: &str) {
    use std::os::fd::AsRawFd;
    // SAFETY: the pointer is to `device`, whose length is given.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_BINDTODEVICE,
            device.as_ptr().cast(),
            device.len() as libc::socklen_t,
        )
    };
    assert_eq!(result, 0, "{}", io::Error::last_os_error());
}

//! NATS server for tests.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// NATS server on loopback; dropping it kills it.
pub(crate) struct Nats {
    child: Child,
    pub(crate) port: u16,
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Nats {
    /// Starts one on a free port; `None`, with a message to the tester, if there is no
    /// `nats-server`.
    pub(crate) fn start() -> Option<Nats> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        Nats::start_at(port, &[])
    }

    pub(crate) fn start_at(port: u16, options: &[&str]) -> Option<Nats> {
        let mut command = Command::new("nats-server");
        command.args(["-a", "127.0.0.1", "-p", &port.to_string()]);
        command.args(options);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(child) = command.spawn() else {
            weft_testing::skipped("no nats-server");
            return None;
        };
        let nats = Nats { child, port };
        let started = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(started.elapsed().as_secs() < 10, "NATS does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(nats)
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

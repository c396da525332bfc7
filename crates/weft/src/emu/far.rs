//! Program at the other end.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use libc::{SIGKILL, SIGTERM, c_int, pid_t};

/// Polling interval for the end of a program.
pub const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Time for the program to exit by itself; chosen by us.
const GRACE: Duration = Duration::from_secs(1);

/// Child program, killed on drop with its process group. Processes that have left the
/// group end with the network, which recognises them by their environment unless they
/// changed it.
pub struct Far(Child);

impl Far {
    /// Starts the program in its own process group, without standard input, so that it
    /// receives neither typed text nor Ctrl-C.
    pub fn start(mut command: Command) -> std::io::Result<Far> {
        command.process_group(0).stdin(Stdio::null());
        command.spawn().map(Far)
    }

    /// Sends a signal to the group; returns whether any process received it.
    fn signal(&self, signal: c_int) -> bool {
        let group = self.0.id() as pid_t;
        // SAFETY: the arguments are plain numbers.
        unsafe { libc::kill(-group, signal) == 0 }
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        self.signal(SIGTERM);
        let until = Instant::now() + GRACE;
        while Instant::now() < until {
            // A zombie still belongs to its group.
            let _ = self.0.try_wait();
            if !self.signal(0) {
                return;
            }
            std::thread::sleep(LOOK_EVERY);
        }
        self.signal(SIGKILL);
        let _ = self.0.wait();
    }
}

//! The program at the other end.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use libc::{SIGKILL, SIGTERM, c_int, pid_t};

/// How soon it is seen that a program has ended.
pub const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long it has to end by itself; chosen by us.
const GRACE: Duration = Duration::from_secs(1);

/// A program that ends with this value, with its process group. What has left
/// the group ends with the network, by its mark, which a program that changes
/// its own environment loses.
pub struct Far(Child);

impl Far {
    /// Starts it. What is typed is not for it, and neither is Ctrl-C.
    pub fn start(mut command: Command) -> std::io::Result<Far> {
        command.process_group(0).stdin(Stdio::null());
        command.spawn().map(Far)
    }

    /// Whether there was somebody to give it to.
    fn signal(&self, signal: c_int) -> bool {
        let group = self.0.id() as pid_t;
        // SAFETY: it takes numbers only.
        unsafe { libc::kill(-group, signal) == 0 }
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        self.signal(SIGTERM);
        let until = Instant::now() + GRACE;
        while Instant::now() < until {
            // One that nobody has waited for is still in its group.
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

//! Lines entered by the user while a call runs.

use std::io::{IsTerminal, Read, stdin};
use std::thread;
use std::time::Duration;

use libc::{SIG_IGN, SIGTTIN, STDIN_FILENO, TCIFLUSH};

/// Pause between attempts to read from a terminal while the process runs in its
/// background.
const RETRY: Duration = Duration::from_secs(1);

/// Reader of standard input. It reads nothing until it is needed, because standard input
/// may be meant for another program.
#[derive(Default)]
pub struct Console {
    is_read: bool,
}

impl Console {
    /// Calls `entered` for each line from now on; returns the words that tell the user
    /// how to enter one. Only the first call has an effect.
    pub fn on_line(&mut self, entered: impl FnMut() + Send + 'static) -> &'static str {
        let is_terminal = stdin().is_terminal();
        if is_terminal {
            // SAFETY: takes no pointer. Discards lines that were entered before.
            unsafe { libc::tcflush(STDIN_FILENO, TCIFLUSH) };
        }
        if !std::mem::replace(&mut self.is_read, true) {
            read(entered);
        }
        match is_terminal {
            true => "press Enter",
            false => "write a line to standard input",
        }
    }
}

fn read(mut entered: impl FnMut() + Send + 'static) {
    // SAFETY: takes no pointer. Otherwise, reading in the background of a terminal would
    // stop the process; now it fails with EIO.
    unsafe { libc::signal(SIGTTIN, SIG_IGN) };
    thread::spawn(move || {
        let mut read = [0; 256];
        loop {
            match stdin().read(&mut read) {
                Ok(0) => return,
                Ok(n) if read[..n].contains(&b'\n') => entered(),
                Ok(_) => {}
                Err(error) if error.raw_os_error() == Some(libc::EIO) => thread::sleep(RETRY),
                Err(_) => return,
            }
        }
    });
}

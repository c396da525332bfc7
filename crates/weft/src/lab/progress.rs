//! Progress of the runs, on a terminal.

use std::io::{IsTerminal, Write, stderr};
use std::time::Instant;

/// Line that is overwritten; prints nothing to a pipe.
pub struct Progress {
    live: bool,
    /// Name of the present task, if there are several.
    of: String,
    begun: Instant,
    done: usize,
    all: usize,
}

impl Progress {
    pub fn new(all: usize, of: &str, wanted: bool) -> Progress {
        let progress = Progress {
            live: wanted && stderr().is_terminal(),
            of: of.to_owned(),
            begun: Instant::now(),
            done: 0,
            all,
        };
        progress.show();
        progress
    }

    /// Counts a finished run.
    pub fn step(&mut self) {
        self.done += 1;
        self.show();
    }

    /// Removes the line.
    pub fn end(&self) {
        if self.live {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }

    fn show(&self) {
        if !self.live {
            return;
        }
        let (done, all) = (self.done, self.all);
        let left = match done {
            0 => String::new(),
            _ => {
                let each = self.begun.elapsed().as_secs_f64() / done as f64;
                format!(", {} left", time(each * (all - done) as f64))
            }
        };
        const WIDTH: usize = 24;
        let full = WIDTH * done / all.max(1);
        let bar = format!("{}{}", "#".repeat(full), ".".repeat(WIDTH - full));
        let mut out = stderr();
        let of = &self.of;
        let _ = write!(out, "\r\x1b[K{of}[{bar}] {done} of {all} runs{left}");
        let _ = out.flush();
    }
}

fn time(seconds: f64) -> String {
    match seconds.ceil() as u64 {
        s if s < 120 => format!("{s} s"),
        s if s < 7200 => format!("{} min", s.div_ceil(60)),
        s => format!("{:.1} h", s as f64 / 3600.0),
    }
}

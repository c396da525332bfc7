//! Program of `clients/pion/interop`: building, starting and reading it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde::Deserialize;
use weft_net::Clock;
use weft_units::Instant;

/// Line of its output (`event` in its `main.go`).
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Line {
    Answer {
        sdp: String,
    },
    Ice {
        state: String,
    },
    Selected {
        remote: String,
    },
    Frame {
        head: String,
        #[serde(default)]
        dropped: u16,
    },
    Counts {
        counts: Counts,
    },
}

#[derive(Clone, Debug, Default, Deserialize)]
pub struct Counts {
    /// RTP and RTCP packets at the socket, by remote address.
    pub from: BTreeMap<String, u64>,
    /// Packets of the track, after Pion's own drops.
    pub read: u64,
    /// Packets of the track that were out of order.
    pub late: u64,
}

/// Running program; killed on drop.
pub struct Pion {
    child: Child,
    pub lines: Receiver<(Instant, Line)>,
}

/// Path of the program, built once, or the reason why it cannot be built.
pub fn built() -> Result<PathBuf, String> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    BUILT.get_or_init(build).clone()
}

fn build() -> Result<PathBuf, String> {
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pion");
    weft_testing::pion_program("./interop", program)
}

impl Pion {
    /// Starts it with our offer; its answer is the first line.
    pub fn start(program: &PathBuf, options: &[&str], clock: Clock, offer: &str) -> Pion {
        let mut child = Command::new(program)
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it was built");
        let offer = serde_json::json!({ "sdp": offer });
        let input = child.stdin.as_mut().expect("it is piped");
        writeln!(input, "{offer}").expect("it reads");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let now = clock.now();
                let line = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
                if sender.send((now, line)).is_err() {
                    return;
                }
            }
        });
        Pion { child, lines }
    }
}

impl Drop for Pion {
    fn drop(&mut self) {
        // It exits at the end of its input.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

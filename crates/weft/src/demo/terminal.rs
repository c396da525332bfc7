//! Measurements of the demo as text.

use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

use super::figures::Tick;

/// Redraws the measurements on a terminal; writes a line every ten seconds into
/// a pipe.
pub struct Screen {
    live: bool,
    lines: usize,
    said: u64,
    headless: bool,
}

impl Screen {
    pub fn new(headless: bool) -> Screen {
        Screen {
            live: stderr().is_terminal(),
            lines: 0,
            said: 0,
            headless,
        }
    }

    pub fn show(&mut self, tick: &Tick, length: Option<Duration>) {
        if self.live {
            self.redraw(tick, length);
        } else if self.headless && tick.t as u64 / 10 > self.said {
            self.said = tick.t as u64 / 10;
            complain!("weft: {:.0} s: {}", tick.t, tick.phase);
        }
    }

    fn redraw(&mut self, tick: &Tick, length: Option<Duration>) {
        let mut text = String::new();
        if self.lines > 0 {
            text.push_str(&format!("\x1b[{}A", self.lines));
        }
        let left = length.map_or(String::new(), |l| {
            format!(", {:.0} s left", (l.as_secs_f64() - tick.t).max(0.0))
        });
        let mut lines = vec![format!("{:6.1} s  {}{left}", tick.t, tick.phase)];
        lines.push("link   state    capacity     sent      RTT    loss".to_owned());
        for link in &tick.links {
            let state = if link.up { link.state } else { "dead" };
            let loss = link
                .loss
                .map_or("-".to_owned(), |l| format!("{:.1} %", l * 100.0));
            let rtt = link.rtt_ms.map_or("-".to_owned(), |r| format!("{r:.0} ms"));
            lines.push(format!(
                "{:<6} {:<8} {:>5.1} Mbps {:>5.1} Mbps {:>7} {:>7}",
                link.name, state, link.capacity_mbps, link.sent_mbps, rtt, loss
            ));
        }
        lines.push("call          fps   frozen    freezes  latency      rate".to_owned());
        for (name, call) in &tick.calls {
            let latency = call.e2e_ms.map_or("-".to_owned(), |l| format!("{l:.0} ms"));
            lines.push(format!(
                "{:<12} {:>4} {:>6.1} s {:>8} {:>8} {:>6.2} Mbps{}",
                name,
                call.fps,
                call.freeze_s,
                call.freeze_count,
                latency,
                call.throughput_mbps,
                if call.frozen { "  FROZEN" } else { "" }
            ));
        }
        for line in &lines {
            text.push_str("\x1b[2K");
            text.push_str(line);
            text.push('\n');
        }
        self.lines = lines.len();
        // Ignored if the terminal is gone.
        let _ = stderr().write_all(text.as_bytes());
    }

    /// Keeps the last measurements on the screen while there is no visitor.
    pub fn rest(&mut self) {
        self.end();
        if self.live {
            complain!("no viewers: the cameras are paused until you open the page");
        }
    }

    pub fn end(&mut self) {
        self.lines = 0;
    }
}

//! A custom controller. It grows by a tenth per second, and falls by a quarter when most
//! packets of a feedback message were queued, marked or lost.

use weft_cc::{Controller, Limits, PacketResult, SentPacket, Snapshot};
use weft_units::{Deadline, Duration, Ecn, Instant, Rate};

/// A queue longer than this is congestion, as is a loss or a mark.
const QUEUE_NANOS: i64 = 30_000_000;
/// Factors of the rate: for a second of growth, and for one decrease.
const GROWTH: f64 = 1.10;
const DECREASE: f64 = 0.75;

struct Own {
    limits: Limits,
    target: Rate,
    /// The smallest one-way delay so far, between two unsynchronized clocks.
    least: Option<i64>,
    changed: Instant,
    state: &'static str,
}

impl Own {
    fn new(limits: Limits, now: Instant) -> Own {
        Own {
            limits,
            target: limits.start,
            least: None,
            changed: now,
            state: "increase",
        }
    }

    fn is_congested(&mut self, result: &PacketResult) -> bool {
        let Some(arrival) = result.arrival else {
            return true;
        };
        let delay = arrival.signed_nanos_since(result.sent.sent_at);
        let least = self.least.map_or(delay, |least| least.min(delay));
        self.least = Some(least);
        delay.saturating_sub(least) > QUEUE_NANOS || result.ecn == Ecn::Ce
    }
}

impl Controller for Own {
    fn on_packet_sent(&mut self, _packet: &SentPacket) {}

    fn on_feedback(&mut self, now: Instant, results: &[PacketResult], rtt: Option<Duration>) {
        let congested = results.iter().filter(|r| self.is_congested(r)).count();
        let elapsed = now.saturating_since(self.changed);
        let factor = if congested * 2 <= results.len() {
            self.state = "increase";
            GROWTH.powf(elapsed.as_secs_f64().min(1.0))
        } else if elapsed >= rtt.unwrap_or(Duration::ZERO) * 2 {
            self.state = "decrease";
            DECREASE
        } else {
            return; // the last decrease does not show yet
        };
        self.changed = now;
        let rate = self.target.mul_f64(factor);
        self.target = rate.clamp(self.limits.min, self.limits.max);
    }

    fn on_timeout(&mut self, _now: Instant) {}

    fn poll_timeout(&self) -> Option<Deadline> {
        None
    }

    fn on_path_restored(&mut self, now: Instant) {
        *self = Own::new(self.limits, now);
    }

    /// Treats a mark as a loss.
    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn target_rate(&self) -> Rate {
        self.target
    }

    fn pacing_rate(&self) -> Rate {
        self.target.mul_f64(1.5)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            target: self.target,
            acked: None,
            loss: 0.0,
            state: self.state,
        }
    }
}
// example ends

#[path = "../tests/testbed/mod.rs"]
mod testbed;

/// Returns the share of a 2.5 Mbps link used from 60 to 120 s, and the mean and 95th
/// percentile of the queue in ms.
fn try_it() -> (f64, f64, f64) {
    let controller = Box::new(Own::new(testbed::LIMITS, Instant::ZERO));
    let mut bed = testbed::Testbed::with(controller, Rate::from_kbps(2500));
    bed.run(120.0);
    let (mean, p95) = bed.queue_ms(60.0, 120.0);
    (bed.delivered_mbps(60.0, 120.0) / 2.5, mean, p95)
}

fn main() {
    let (used, mean, p95) = try_it();
    let used = 100.0 * used;
    println!("{used:.0} % used, queue {mean:.0} ms on average, 95 % below {p95:.0} ms");
}

#[test]
fn it_uses_the_link_and_keeps_the_queue_short() {
    let (used, mean, p95) = try_it();
    assert!((0.8..=1.01).contains(&used), "{used}");
    assert!((5.0..=60.0).contains(&mean), "{mean}");
    assert!((30.0..=120.0).contains(&p95), "{p95}");
}

#[test]
fn the_page_shows_this_code_and_it_is_short() {
    let page = include_str!("../../../docs/experiment/write-your-own-controller.md");
    let (example, _) = include_str!("own_controller.rs")
        .split_once("// example ends")
        .expect("the end of the example");
    assert!(page.contains(example), "the page shows older code");
    assert!(example.lines().count() < 100);
}

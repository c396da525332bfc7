//! Behaviour of every controller on one virtual bottleneck: the tables of
//! `docs/protocol/controllers.md`. Run it with
//! `cargo run -p weft-cc --example controllers`.

#[path = "../tests/testbed/mod.rs"]
mod testbed;

use testbed::Testbed;
use weft_cc::ControllerKind;
use weft_units::{Duration, Ecn, Rate};

/// Link of the ramp-up and the halving, in Mbps.
const LINK: f64 = 2.5;
/// Shares of the capacity between which a rate counts as settled.
const SETTLED: (f64, f64) = (0.75, 1.1);

fn main() {
    println!(
        "Ramp-up from 0.3 Mbps on a link of {LINK} Mbps, 50 ms round trip, 300 ms of queue:\n"
    );
    println!("| controller | 90 % after | highest target | queue p95 until 20 s | lost |");
    println!("|---|---|---|---|---|");
    for kind in ControllerKind::ADAPTIVE {
        let mut bed = Testbed::new(kind, Rate::from_kbps(2500));
        bed.run(60.0);
        let reached = bed.settles(0.0, |mbps| mbps >= 0.9 * LINK);
        let (_, _, highest) = bed.targets_mbps(0.0, 60.0);
        let (_, p95) = bed.queue_ms(0.0, 20.0);
        println!(
            "| `{kind}` | {} | {:.0} % | {p95:.0} ms | {} |",
            seconds(reached),
            100.0 * highest / LINK,
            bed.lost(0.0, 60.0)
        );
    }
    println!("\nSteady state on the same link, 60 to 120 s:\n");
    println!("| controller | delivered | target low to high | queue mean | queue p95 | lost |");
    println!("|---|---|---|---|---|---|");
    for kind in ControllerKind::ADAPTIVE {
        steady(&kind.to_string(), Testbed::new(kind, Rate::from_kbps(2500)));
    }
    println!("\nThe same, the queue marks above 5 ms, packets ECT(0) and ECT(1):\n");
    println!("| controller | delivered | target low to high | queue mean | queue p95 | lost |");
    println!("|---|---|---|---|---|---|");
    for kind in [ControllerKind::Nada, ControllerKind::Scream] {
        for (ecn, name) in [(Ecn::Ect0, "ECT(0)"), (Ecn::Ect1, "ECT(1)")] {
            let mut bed = Testbed::new(kind, Rate::from_kbps(2500));
            bed.ecn = ecn;
            bed.link.mark_above = Some(Duration::from_millis(5));
            steady(&format!("{kind} {name}"), bed);
        }
    }
    halving();
    losses();
}

fn steady(name: &str, mut bed: Testbed) {
    bed.run(120.0);
    let (low, _, high) = bed.targets_mbps(60.0, 120.0);
    let (mean, p95) = bed.queue_ms(60.0, 120.0);
    println!(
        "| `{name}` | {:.0} % | {:.0} to {:.0} % | {mean:.0} ms | {p95:.0} ms | {} |",
        100.0 * bed.delivered_mbps(60.0, 120.0) / LINK,
        100.0 * low / LINK,
        100.0 * high / LINK,
        bed.lost(60.0, 120.0)
    );
}

fn halving() {
    println!("\nThe capacity halves at 60 s, from {LINK} Mbps, and comes back at 120 s:\n");
    println!(
        "| controller | settled after | queue at most | lost | lowest target | 90 % again after |"
    );
    println!("|---|---|---|---|---|---|");
    let half = LINK / 2.0;
    let (low, high) = SETTLED;
    for kind in ControllerKind::ADAPTIVE {
        let mut bed = Testbed::new(kind, Rate::from_kbps(2500));
        bed.run(60.0);
        bed.link.set_rate(bed.now, Rate::from_kbps(1250));
        bed.run(60.0);
        bed.link.set_rate(bed.now, Rate::from_kbps(2500));
        bed.run(60.0);
        let settled = bed.settles(60.0, |mbps| mbps >= low * half && mbps <= high * half);
        let queue = bed.between(60.0, 120.0).iter().map(|s| s.queue_ms);
        let (lowest, _, _) = bed.targets_mbps(60.0, 120.0);
        let again = bed.settles(120.0, |mbps| mbps >= 0.9 * LINK);
        println!(
            "| `{kind}` | {} | {:.0} ms | {} | {:.0} % | {} |",
            seconds(settled.filter(|s| *s < 60.0)),
            queue.fold(0.0, f64::max),
            bed.lost(60.0, 120.0),
            100.0 * lowest / half,
            seconds(again)
        );
    }
}

fn losses() {
    const SHARES: [f64; 4] = [0.01, 0.02, 0.05, 0.10];
    println!("\nShare of the link used from 30 to 90 s under random loss:\n");
    println!("| controller | 1 % | 2 % | 5 % | 10 % |\n|---|---|---|---|---|");
    for kind in ControllerKind::ADAPTIVE {
        let used = SHARES.map(|loss| {
            let mut bed = Testbed::new(kind, Rate::from_kbps(2500));
            bed.link.loss = loss;
            bed.run(90.0);
            format!("{:.0} %", 100.0 * bed.delivered_mbps(30.0, 90.0) / LINK)
        });
        println!("| `{kind}` | {} |", used.join(" | "));
    }
}

fn seconds(time: Option<f64>) -> String {
    time.map_or_else(|| "never".to_owned(), |s| format!("{s:.1} s"))
}

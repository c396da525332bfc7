//! Tests of the cell against its tables, against theory, and by its rules.

mod any;
mod bearer;
mod rates;
mod rules;
mod scheduling;

use super::spec::{LteQuality, LteSignal, LteSpec, LteTerminal};
use crate::{Departure, Medium, MediumSpec, StationId};
use weft_units::{Bytes, Duration, Instant, Rng};

/// Creates a cell whose terminals have these CQIs in both directions, without errors and
/// without a network behind the base station.
fn cell(cqis: &[u8], rank: u8) -> LteSpec {
    let terminal = |cqi: &u8| {
        let signal = LteSignal {
            quality: LteQuality::Cqi(*cqi),
            rank,
        };
        let mut terminal = LteTerminal::new(signal, signal);
        terminal.queue = ENDLESS;
        terminal
    };
    LteSpec {
        errors: 0.0,
        delay: Duration::ZERO,
        queue: ENDLESS,
        ..LteSpec::new(cqis.iter().map(terminal).collect())
    }
}

const ENDLESS: Bytes = Bytes(1 << 40);
const PACKET: Bytes = Bytes(1500);

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn at_ms(n: u64) -> Instant {
    Instant::ZERO + ms(n)
}

/// Direction of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Towards {
    BaseStation,
    Terminals,
}

/// Medium that runs to its end, and its deliveries: packet number, sender,
/// time.
struct World {
    medium: Medium<u64>,
    terminals: u16,
    delivered: Vec<(StationId, u64, Instant)>,
    events: usize,
}

impl World {
    fn new(spec: LteSpec, seed: u64) -> World {
        let terminals = spec.terminals.len() as u16;
        let medium = MediumSpec::lte(spec).expect("a cell");
        World {
            medium: Medium::new(&medium, &Rng::new(seed)),
            terminals,
            delivered: Vec::new(),
            events: 0,
        }
    }

    /// Adds a packet; its number encodes the terminal in multiples of a thousand million.
    fn enqueue(&mut self, at: Instant, towards: Towards, terminal: u16, number: u64) {
        let (base, other) = (StationId(self.terminals), StationId(terminal));
        let (from, to) = match towards {
            Towards::BaseStation => (other, base),
            Towards::Terminals => (base, other),
        };
        let packet = u64::from(terminal) * 1_000_000_000 + number;
        self.medium.enqueue(at, from, to, PACKET, packet);
    }

    fn run(&mut self, end: Instant) {
        loop {
            let due = |c| Some((self.medium.poll_timeout(c)?.at, c));
            let next = self.medium.channels().filter_map(due).min();
            let Some((at, channel)) = next.filter(|(at, _)| *at <= end) else {
                return;
            };
            self.events += 1;
            while let Some((from, departure)) = self.medium.poll(at, channel) {
                if let Departure::Delivered { packet, at, .. } = departure {
                    self.delivered.push((from, packet, at));
                }
            }
        }
    }

    /// Keeps all terminals backlogged until the end; returns the Mbit/s of
    /// each.
    fn saturate(&mut self, towards: Towards, seconds: u64, packets: u64) -> Vec<f64> {
        for number in 0..packets {
            for terminal in 0..self.terminals {
                self.enqueue(Instant::ZERO, towards, terminal, number);
            }
        }
        self.run(at_ms(seconds * 1000));
        let mut rates = vec![0.0; usize::from(self.terminals)];
        // The uplink must request a grant first.
        let settled = self.delivered.iter().filter(|d| d.2 > at_ms(100));
        for (_, packet, _) in settled {
            let mbit = PACKET.0 as f64 * 8e-6;
            rates[(packet / 1_000_000_000) as usize] += mbit / (seconds as f64 - 0.1);
        }
        rates
    }

    /// Returns the share of the downlink's resource blocks for each terminal.
    fn shares(&mut self, end: Instant) -> Vec<f64> {
        let stations = (0..self.terminals).map(StationId);
        let times = stations.map(|id| self.medium.carried_to(end, id).expect("a terminal"));
        let elapsed = end.saturating_since(Instant::ZERO).as_secs_f64();
        times.map(|time| time.as_secs_f64() / elapsed).collect()
    }
}

fn assert_near(what: &str, is: f64, wanted: f64, tolerance: f64) {
    let off = is / wanted - 1.0;
    println!("{what}: {is:.3} of {wanted:.3}, {:+.1} %", off * 100.0);
    assert!(off.abs() < tolerance, "{what}: {is} of {wanted}");
}

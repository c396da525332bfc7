//! Cost of each controller: every packet is reported as sent and acknowledged in a
//! feedback message of twenty, and the deadlines are polled as a session does. One
//! element is one packet. To count instructions, which do not depend on the machine's
//! load, run `valgrind --tool=callgrind --toggle-collect='controller::Feed::run'` with
//! `--bench --test controller/NAME --exact`: a run of 100,001 packets.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use weft_cc::{Controller, ControllerKind, Limits, PacketResult, SentPacket, build};
use weft_units::{Bytes, Duration, Ecn, Instant, Rate};

const SIZE: Bytes = Bytes(1200);
/// Packets in a feedback message: 40 ms of 5 Mbps.
const MESSAGE: usize = 20;
const GAP: Duration = Duration::from_millis(2);
const DELAY: Duration = Duration::from_millis(25);
const LIMITS: Limits = Limits {
    min: Rate::from_kbps(150),
    start: Rate::from_mbps(5),
    max: Rate::from_mbps(10),
};

struct Feed {
    controller: Box<dyn Controller>,
    now: Instant,
    number: u64,
    waiting: Vec<PacketResult>,
}

impl Feed {
    fn new(kind: ControllerKind) -> Feed {
        Feed {
            controller: build(kind, LIMITS, Instant::ZERO),
            now: Instant::ZERO,
            number: 0,
            waiting: Vec::with_capacity(MESSAGE),
        }
    }

    #[inline(never)]
    fn run(&mut self, packets: u64) {
        for _ in 0..packets {
            self.now += GAP;
            let sent = SentPacket {
                number: self.number,
                sent_at: self.now,
                size: SIZE,
                probe: None,
            };
            self.number += 1;
            self.controller.on_packet_sent(&sent);
            // A queue that grows and drains within 12 ms every half second, and a loss of
            // one packet in 500.
            let queue = Duration::from_micros(50) * (self.number % 250);
            let arrival = (!self.number.is_multiple_of(500)).then(|| self.now + DELAY + queue);
            self.waiting.push(PacketResult {
                sent,
                arrival,
                ecn: Ecn::NotEct,
                unmeasured_before: Bytes::ZERO,
            });
            if self.waiting.len() == MESSAGE {
                let now = self.now;
                self.controller
                    .on_feedback(now, &self.waiting, Some(DELAY * 2));
                self.waiting.clear();
            }
            let due = self.controller.poll_timeout();
            if due.is_some_and(|deadline| deadline.at <= self.now) {
                self.controller.on_timeout(self.now);
            }
            black_box(self.controller.poll_probe(self.now));
            black_box(self.controller.pacing_rate());
        }
    }
}

fn packets(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("controller");
    group.throughput(Throughput::Elements(1));
    let fixed = ControllerKind::Fixed(Rate::from_mbps(5));
    for kind in ControllerKind::ADAPTIVE.into_iter().chain([fixed]) {
        group.bench_function(kind.to_string(), |bencher| {
            let mut feed = Feed::new(kind);
            feed.run(100_000);
            #[allow(clippy::disallowed_methods)]
            bencher.iter_custom(|packets| {
                let start = std::time::Instant::now();
                feed.run(packets);
                start.elapsed()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, packets);
criterion_main!(benches);

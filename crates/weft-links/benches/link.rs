//! Hot path of a simulation: packets of four flows over one link, offered at
//! slightly more than its capacity and polled at every deadline. One element is
//! one packet, from arrival to departure.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use weft_links::{Ecn, FlowId, Link, LinkSpec, PacketInfo};
use weft_units::{Bytes, Duration, Instant, Rng};

const SIZE: Bytes = Bytes(1200);

struct Feed {
    link: Link<u64>,
    now: Instant,
    gap: Duration,
    count: u64,
}

impl Feed {
    fn new(text: &str) -> Feed {
        let spec: LinkSpec = text.parse().expect("a link specification");
        let rate = spec.capacity.reference();
        let gap = rate.time_for(SIZE).expect("a rate above zero");
        Feed {
            link: Link::new(&spec, Rng::new(1)),
            now: Instant::ZERO,
            // Five percent more than the capacity, so that the discipline has
            // work.
            gap: gap.mul_f64(0.95),
            count: 0,
        }
    }

    fn run(&mut self, packets: u64) {
        for _ in 0..packets {
            self.now += self.gap;
            while let Some(deadline) = self.link.poll_timeout().filter(|d| d.at <= self.now) {
                while let Some(departure) = self.link.poll(deadline.at) {
                    black_box(departure);
                }
            }
            let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::NotEct];
            let flow = self.count % 4;
            let info = PacketInfo::new(SIZE)
                .with_flow(FlowId(flow))
                .with_ecn(ecn[flow as usize]);
            self.link.enqueue(self.now, info, self.count);
            self.count += 1;
        }
    }
}

fn packets(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("link");
    group.throughput(Throughput::Elements(1));
    for spec in [
        "rate=50mbit,delay=25ms,queue=2bdp",
        "rate=50mbit,delay=25ms,queue=2bdp,jitter=2ms,loss=1%,burst-loss=1%/4",
        "rate=50mbit,delay=25ms,queue=2bdp,aqm=codel",
        "rate=50mbit,delay=25ms,queue=2bdp,aqm=fq_codel",
        "rate=50mbit,delay=25ms,queue=2bdp,aqm=pie",
        "rate=50mbit,delay=25ms,queue=2bdp,aqm=dualpi2",
        "trace=generated:walking/lte,delay=25ms,queue=2bdp",
    ] {
        let mut feed = Feed::new(spec);
        feed.run(100_000);
        group.bench_function(spec, |bencher| {
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

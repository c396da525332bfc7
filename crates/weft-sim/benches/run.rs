//! The simulator's loop with the workloads that measure its speed. One element is one
//! simulated second, so elements per second are simulated seconds per second of this
//! machine. To count instructions, which do not depend on the machine's load, run
//! `valgrind --tool=callgrind --toggle-collect=run::simulate` with
//! `call-1x --bench --test`: one run of twenty seconds, including its setup.

use std::hint::black_box;

use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use weft_experiment::Setup;
use weft_sim::WORKLOADS;
use weft_units::Duration;

const SECONDS: u64 = 20;

#[inline(never)]
fn simulate(setup: &Setup) {
    let record = weft_sim::run(setup, 1, &mut ()).expect("a good setup");
    black_box(record);
}

fn workloads(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("simulated");
    group.throughput(Throughput::Elements(SECONDS));
    group.sampling_mode(SamplingMode::Flat).sample_size(20);
    for workload in WORKLOADS {
        let setup = workload.setup(Duration::from_secs(SECONDS));
        let id = BenchmarkId::from_parameter(workload.name);
        group.bench_with_input(id, &setup, |bencher, setup| {
            bencher.iter(|| simulate(setup));
        });
    }
    group.finish();
}

criterion_group!(benches, workloads);
criterion_main!(benches);

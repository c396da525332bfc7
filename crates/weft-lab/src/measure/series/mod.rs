//! The time series of a run, as a table.

mod column;
mod controllers;
mod counters;

use weft_experiment::{CallRecord, DelaySample, Direction, DirectionRecord, FlowDetail, LegSample};
use weft_units::{Duration, Instant};

use super::run::Run;
use super::view::streams;

pub use column::{Column, Series};

impl Series {
    /// Everything that the run sampled.
    #[must_use]
    pub fn of(run: &Run<'_>) -> Series {
        let first = run.record.links.first().map(|link| &link.forward.series);
        let ends: Vec<Instant> = first.into_iter().flatten().map(|s| s.at).collect();
        let mut series = Series {
            t: ends.iter().map(|at| at.as_secs_f64()).collect(),
            columns: Vec::new(),
        };
        let periods = periods(&ends);
        for flow in 0..run.setup.flows.len() {
            series.add_flow(run, flow, &periods);
        }
        for link in 0..run.setup.links.len() {
            series.add_link(run, link, &periods);
        }
        series.add_counters(run);
        series
    }

    fn add_flow(&mut self, run: &Run<'_>, flow: usize, periods: &[(Instant, Duration)]) {
        let record = &run.record.flows[flow];
        let name = record.name.as_str();
        let legs: Vec<&[LegSample]> = record
            .routes
            .iter()
            .map(|r| r.there.series.as_slice())
            .collect();
        let over = |pick: &dyn Fn(&[&LegSample]) -> Option<f64>| -> Vec<Option<f64>> {
            let at = |row: usize| {
                pick(
                    &legs
                        .iter()
                        .filter_map(|leg| leg.get(row))
                        .collect::<Vec<_>>(),
                )
            };
            (0..periods.len()).map(at).collect()
        };
        let rates = |bytes: fn(&LegSample) -> u64| -> Vec<Option<f64>> {
            let sums = over(&|legs| Some(legs.iter().map(|s| bytes(s)).sum::<u64>() as f64));
            let rows = sums.iter().zip(periods);
            rows.map(|(sum, (_, period))| mbps(sum.unwrap_or(0.0) as u64, *period))
                .collect()
        };
        self.add("rate_mbps", name, "Mbit/s", rates(|s| s.delivered.0));
        self.add("sent_mbps", name, "Mbit/s", rates(|s| s.sent.0));
        self.add(
            "owd_ms",
            name,
            "ms",
            over(&|legs| mean_of(legs, |s| s.one_way_delay)),
        );
        self.add(
            "wait_ms",
            name,
            "ms",
            over(&|legs| mean_of(legs, |s| s.queue_delay)),
        );
        self.add(
            "drops",
            name,
            "1",
            over(&|legs| Some(legs.iter().map(|s| f64::from(s.drops)).sum())),
        );
        match &record.detail {
            FlowDetail::Tcp(tcp) => {
                let windows = tcp.series.iter().map(|s| Some(s.window as f64));
                self.add("window", name, "segments", windows.collect());
            }
            FlowDetail::Call(call) => self.add_call(run, flow, call, periods),
            FlowDetail::Counted(_) | FlowDetail::Packets => {}
        }
    }

    /// What the first end sends, and what is seen of it at the other.
    fn add_call(
        &mut self,
        run: &Run<'_>,
        flow: usize,
        call: &CallRecord,
        periods: &[(Instant, Duration)],
    ) {
        let name = run.record.flows[flow].name.as_str();
        let ends = periods.iter().map(|(end, _)| *end);
        let samples = controllers::by_period(&call.caller.series, ends);
        let targets = samples
            .iter()
            .map(|sample| sample.map(|s| s.target_rate.as_mbps()));
        self.add("target_mbps", name, "Mbit/s", targets.collect());
        self.add_controllers(run, flow, &samples);
        let cameras = streams(run, flow);
        // Frames, and sums of latency, quantiser and PSNR, by period.
        let mut frames = vec![(0_u32, [0.0; 3]); periods.len()];
        let mut known = false;
        for frame in cameras.iter().flat_map(|stream| &stream.frames) {
            let Some(shown) = frame.shown else { continue };
            let row = periods.partition_point(|(end, _)| *end < shown.at);
            let Some((count, sums)) = frames.get_mut(row) else {
                continue;
            };
            *count += 1;
            sums[0] += shown.at.saturating_since(frame.captured_at).as_millis_f64();
            if let Some(quality) = frame.quality {
                known = true;
                sums[1] += f64::from(quality.quantizer);
                sums[2] += f64::from(quality.psnr_db);
            }
        }
        let started = Instant::ZERO + run.setup.flows[flow].start;
        let each = cameras.len().max(1) as f64;
        let rows = || frames.iter().zip(periods);
        let rates = rows().map(|((count, _), (end, period))| {
            let seconds = period.as_secs_f64() * each;
            (*end > started && seconds > 0.0).then(|| f64::from(*count) / seconds)
        });
        self.add("fps", name, "1/s", rates.collect());
        let quantities = [("e2e_ms", "ms"), ("qp", "1"), ("psnr_db", "dB")];
        for (index, (column, unit)) in quantities.into_iter().enumerate() {
            if index == 0 || known {
                let means = frames.iter();
                let means = means.map(|(n, sums)| (*n > 0).then(|| sums[index] / f64::from(*n)));
                self.add(column, name, unit, means.collect());
            }
        }
    }

    fn add_link(&mut self, run: &Run<'_>, link: usize, periods: &[(Instant, Duration)]) {
        let setup = &run.setup.links[link];
        let record = &run.record.links[link];
        let could = periods.iter().map(|(end, period)| {
            let end = end.saturating_since(Instant::ZERO);
            let window = (end.saturating_sub(*period), end);
            let bits = run.capacities.bits(link, Direction::Forward, window);
            Some(bits / 1e6 / period.as_secs_f64())
        });
        self.add("capacity_mbps", &setup.name, "Mbit/s", could.collect());
        self.add_direction(&setup.name, &record.forward, periods);
        let back = format!("{}-back", setup.name);
        self.add_direction(&back, &record.backward, periods);
    }

    fn add_direction(
        &mut self,
        name: &str,
        record: &DirectionRecord,
        periods: &[(Instant, Duration)],
    ) {
        let samples = || record.series.iter().zip(periods);
        let rates = samples().map(|(s, (_, period))| mbps(s.delivered.0, *period));
        self.add("link_mbps", name, "Mbit/s", rates.collect());
        let waits = samples()
            .map(|(s, _)| (s.queue_delay.count > 0).then(|| s.queue_delay.mean.as_millis_f64()));
        self.add("queue_ms", name, "ms", waits.collect());
        let drops = samples().map(|(s, _)| Some(f64::from(s.drops)));
        self.add("link_drops", name, "1", drops.collect());
    }
}

/// Each period's end and length.
fn periods(ends: &[Instant]) -> Vec<(Instant, Duration)> {
    let begins = [Instant::ZERO].into_iter().chain(ends.iter().copied());
    ends.iter()
        .zip(begins)
        .map(|(end, begin)| (*end, end.saturating_since(begin)))
        .collect()
}

fn mbps(bytes: u64, period: Duration) -> Option<f64> {
    let seconds = period.as_secs_f64();
    (seconds > 0.0).then(|| bytes as f64 * 8.0 / 1e6 / seconds)
}

/// Mean over the packets of all legs.
fn mean_of(legs: &[&LegSample], pick: fn(&LegSample) -> DelaySample) -> Option<f64> {
    let delays = legs.iter().map(|leg| pick(leg));
    let (count, sum) = delays.fold((0.0, 0.0), |(count, sum), delay| {
        let n = f64::from(delay.count);
        (count + n, sum + n * delay.mean.as_millis_f64())
    });
    (count > 0.0).then(|| sum / count)
}

//! Time series of a run as a table.

mod column;
mod controllers;
mod counters;
mod frozen;
mod tiles;

use weft_experiment::{
    CallRecord, DelaySample, FlowDetail, FlowRecord, LegSample, ShownPicture, StationRecord,
};
use weft_links::StationId;
use weft_units::{Duration, Instant};

use super::run::Run;
use super::view::{shown, shown_on_tiles, streams};

pub(crate) use column::to_four_digits;
pub use column::{Column, Series};
pub use frozen::Frozen;
pub use tiles::Tile;

/// Station whose capacity is shown: on a wired link, the forward direction.
const FIRST: StationId = StationId(0);

impl Series {
    /// Returns all samples of the run.
    #[must_use]
    pub fn of(run: &Run<'_>) -> Series {
        let first = run.record.links.first().map(|link| &link.forward().series);
        let ends: Vec<Instant> = first.into_iter().flatten().map(|s| s.at).collect();
        let mut series = Series {
            t: ends.iter().map(|at| at.as_secs_f64()).collect(),
            columns: Vec::new(),
            freezes: Frozen::of(run),
            tiles: Tile::of(run),
        };
        let periods = periods(&ends);
        for flow in 0..run.setup.flows.len() {
            series.add_flow(run, flow, &periods);
        }
        let links = 0..run.setup.links.len();
        for link in links.filter(|link| !run.setup.is_personal(*link)) {
            series.add_link(run, link, &periods);
        }
        series.add_counters(run);
        series
    }

    fn add_flow(&mut self, run: &Run<'_>, flow: usize, periods: &[(Instant, Duration)]) {
        let record = &run.record.flows[flow];
        let name = record.name.as_str();
        if run.setup.flows[flow].traffic().has_packets() {
            self.add_packets(record, periods);
        }
        match &record.detail {
            FlowDetail::Tcp(tcp) => {
                let windows = tcp.series.iter().map(|s| Some(s.window as f64));
                self.add("window", name, "segments", windows.collect());
            }
            FlowDetail::Call(call) => self.add_call(run, flow, call, periods),
            FlowDetail::Conference(_) => {
                let (tiles, pictures) = shown_on_tiles(run, flow);
                self.add_pictures(run, flow, tiles, pictures, periods);
            }
            FlowDetail::Floor(floor) => {
                self.add_pictures(run, flow, 1, floor.pictures.iter().copied(), periods);
            }
            _ => {}
        }
    }

    /// Adds the outcomes of a flow's packets.
    fn add_packets(&mut self, record: &FlowRecord, periods: &[(Instant, Duration)]) {
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
    }

    /// Adds the media sent by the first end, and their display at the other end.
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
        let pictures = cameras.iter().copied().flat_map(shown);
        self.add_pictures(run, flow, cameras.len(), pictures, periods);
        // Number of frames with known quality, and sums of quantizer and PSNR, by period.
        let mut known = vec![(0_u32, [0.0; 2]); periods.len()];
        for frame in cameras.iter().flat_map(|stream| stream.frames.iter()) {
            let (Some(shown), Some(quality)) = (frame.shown, frame.quality) else {
                continue;
            };
            if let Some((count, sums)) = known.get_mut(row_of(shown.at, periods)) {
                *count += 1;
                sums[0] += f64::from(quality.quantizer);
                sums[1] += f64::from(quality.psnr_db);
            }
        }
        if known.iter().any(|(count, _)| *count > 0) {
            for (index, (column, unit)) in [("qp", "1"), ("psnr_db", "dB")].into_iter().enumerate()
            {
                let means = known.iter();
                let means = means.map(|(n, sums)| (*n > 0).then(|| sums[index] / f64::from(*n)));
                self.add(column, name, unit, means.collect());
            }
        }
    }

    /// Adds the pictures of this many cameras.
    fn add_pictures(
        &mut self,
        run: &Run<'_>,
        flow: usize,
        cameras: usize,
        pictures: impl Iterator<Item = ShownPicture>,
        periods: &[(Instant, Duration)],
    ) {
        let name = run.record.flows[flow].name.as_str();
        let mut seen = vec![(0_u32, 0.0); periods.len()];
        for picture in pictures {
            if let Some((count, latency_ms)) = seen.get_mut(row_of(picture.shown_at, periods)) {
                *count += 1;
                *latency_ms += picture.latency().as_millis_f64();
            }
        }
        let devices_ms = run.setup.flows[flow]
            .traffic()
            .device_delay()
            .as_millis_f64();
        let started = Instant::ZERO + run.setup.flows[flow].start;
        let each = cameras.max(1) as f64;
        let rates = seen.iter().zip(periods);
        let rates = rates.map(|((count, _), (end, period))| {
            let seconds = period.as_secs_f64() * each;
            (*end > started && seconds > 0.0).then(|| f64::from(*count) / seconds)
        });
        self.add("fps", name, "1/s", rates.collect());
        let means = seen.iter();
        let means =
            means.map(|(count, sum)| (*count > 0).then(|| sum / f64::from(*count) + devices_ms));
        self.add("e2e_ms", name, "ms", means.collect());
    }

    fn add_link(&mut self, run: &Run<'_>, link: usize, periods: &[(Instant, Duration)]) {
        let setup = &run.setup.links[link];
        let record = &run.record.links[link];
        let could = periods.iter().map(|(end, period)| {
            let end = end.saturating_since(Instant::ZERO);
            let window = (end.saturating_sub(*period), end);
            let bits = run.capacities.bits(link, FIRST, window)?;
            Some(bits / 1e6 / period.as_secs_f64())
        });
        let could: Vec<Option<f64>> = could.collect();
        if could.iter().any(Option::is_some) {
            self.add("capacity_mbps", &setup.name, "Mbit/s", could);
        }
        for (station, record) in record.by_station() {
            self.add_station(setup.station(station), record, periods);
        }
    }

    fn add_station(&mut self, name: &str, record: &StationRecord, periods: &[(Instant, Duration)]) {
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

/// Returns each period's end and length.
fn periods(ends: &[Instant]) -> Vec<(Instant, Duration)> {
    let begins = [Instant::ZERO].into_iter().chain(ends.iter().copied());
    ends.iter()
        .zip(begins)
        .map(|(end, begin)| (*end, end.saturating_since(begin)))
        .collect()
}

/// Returns the period that contains a time.
fn row_of(at: Instant, periods: &[(Instant, Duration)]) -> usize {
    periods.partition_point(|(end, _)| *end < at)
}

fn mbps(bytes: u64, period: Duration) -> Option<f64> {
    let seconds = period.as_secs_f64();
    (seconds > 0.0).then(|| bytes as f64 * 8.0 / 1e6 / seconds)
}

/// Returns the mean over the packets of all legs.
fn mean_of(legs: &[&LegSample], pick: fn(&LegSample) -> DelaySample) -> Option<f64> {
    let delays = legs.iter().map(|leg| pick(leg));
    let (count, sum) = delays.fold((0.0, 0.0), |(count, sum), delay| {
        let n = f64::from(delay.count);
        (count + n, sum + n * delay.mean.as_millis_f64())
    });
    (count > 0.0).then(|| sum / count)
}

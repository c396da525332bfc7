use std::collections::BTreeMap;

use weft_units::{Bytes, Duration, Instant, PathId, Rate};

use super::{Assignment, Batch, Class, PathView, SKEW_CAP, Scheduler};

/// Our own scheduler, and the default: every frame where it arrives first.
///
/// A path's forecast is its delay with what stands in its queue now, the time
/// that its rate takes for what it was given and the frame, and what a loss
/// would cost. The frame goes whole over the path that is quickest so, and is
/// split only where that is much sooner: so a second path never makes a frame
/// later than the best one alone would, and it is used when the best one is
/// full. `docs/scheduler-weft.md` has the formulas and the reasons.
#[derive(Default)]
pub(super) struct Weft {
    /// What each path was given beyond its rate, in bytes, and when that was.
    debts: BTreeMap<PathId, (Instant, f64)>,
}

/// A split must bring a frame so much sooner: it then waits for two paths, of
/// which each may be slower than forecast. Chosen by us: `demo/ride`.
const SPLIT_GAIN: Duration = Duration::from_millis(10);
/// From a loss to its repair beside the round trip: the peer's feedback and
/// half a frame of pacing. Chosen by us.
const REPAIR_WAIT: Duration = Duration::from_millis(30);
/// The jitter buffer puts up with one late frame in so many.
const LATE_ONE_IN: f64 = 20.0;
/// No rate takes longer: what never arrives comes last.
const NEVER: Duration = Duration::from_secs(3600);

impl Scheduler for Weft {
    fn assign(&mut self, now: Instant, batch: &Batch<'_>, paths: &[PathView]) -> Vec<Assignment> {
        let plan = match batch.class {
            Class::Audio => return self.sound(now, batch.sizes, paths),
            Class::Retransmission => self.again(batch.sizes, paths),
            _ => self.frame(now, batch.sizes, paths),
        };
        for (path, size) in plan.iter().zip(batch.sizes) {
            self.charge(now, *path, *size, paths);
        }
        plan.into_iter().map(Assignment::from).collect()
    }

    /// The sum of those paths that may get media.
    fn rate(&self, paths: &[PathView]) -> Rate {
        let least = paths.iter().map(|p| p.delay).min().unwrap_or_default();
        let usable = paths.iter().filter(|p| p.delay <= least + SKEW_CAP);
        usable.map(|p| p.rate).sum()
    }

    fn rescues(&self) -> bool {
        true
    }
}

impl Weft {
    /// What the path was given and its rate has not carried yet.
    fn debt(&self, now: Instant, path: &PathView) -> Bytes {
        let Some((at, bytes)) = self.debts.get(&path.id) else {
            return path.queued;
        };
        let carried = (path.rate * now.saturating_since(*at)).0 as f64;
        Bytes((bytes - carried).max(0.0) as u64).max(path.queued)
    }

    fn charge(&mut self, now: Instant, id: PathId, size: Bytes, paths: &[PathView]) {
        let Some(path) = paths.iter().find(|p| p.id == id) else {
            return;
        };
        let debt = self.debt(now, path);
        self.debts.insert(id, (now, (debt + size).0 as f64));
    }

    /// Until `size` more bytes in `packets` packets have arrived.
    fn arrival(&self, now: Instant, path: &PathView, size: Bytes, packets: usize) -> Duration {
        let given = path.rate.time_for(self.debt(now, path) + size);
        path.reach + given.unwrap_or(NEVER).min(NEVER) + repair(path, packets)
    }

    /// One path for each packet of a frame.
    fn frame(&self, now: Instant, sizes: &[Bytes], paths: &[PathView]) -> Vec<PathId> {
        let total: Bytes = sizes.iter().copied().sum();
        let whole = paths
            .iter()
            .map(|p| (self.arrival(now, p, total, sizes.len()), p.id));
        let Some((arrival, best)) = whole.min() else {
            return Vec::new();
        };
        let (split, last) = self.split(now, sizes, paths);
        if last + SPLIT_GAIN < arrival {
            return split;
        }
        vec![best; sizes.len()]
    }

    /// Each packet where it arrives first after those before it, and when the
    /// last one arrives. The quicker a path, the earlier its run of packets.
    fn split(&self, now: Instant, sizes: &[Bytes], paths: &[PathView]) -> (Vec<PathId>, Duration) {
        let mut runs: Vec<(&PathView, Bytes, usize)> =
            paths.iter().map(|p| (p, Bytes::ZERO, 0)).collect();
        let mut last = Duration::ZERO;
        for &size in sizes {
            let arrival = |(path, given, packets): &(&PathView, Bytes, usize)| {
                self.arrival(now, path, *given + size, *packets + 1)
            };
            let quickest = runs.iter_mut().min_by_key(|run| (arrival(run), run.0.id));
            let Some(run) = quickest else { break };
            last = last.max(arrival(run));
            run.1 += size;
            run.2 += 1;
        }
        runs.sort_by_key(|(path, ..)| (path.reach, path.id));
        let all = runs.iter().flat_map(|(path, _, n)| vec![path.id; *n]);
        (all.collect(), last)
    }

    /// What is sent again overtakes what waits for the pacer.
    fn again(&self, sizes: &[Bytes], paths: &[PathView]) -> Vec<PathId> {
        let arrival = |p: &PathView, size| {
            let given = p.rate.time_for(size).unwrap_or(NEVER);
            p.reach + given + repair(p, 1)
        };
        let best = |size: &Bytes| paths.iter().min_by_key(|p| (arrival(p, *size), p.id));
        sizes.iter().filter_map(best).map(|p| p.id).collect()
    }

    /// Sound is small: it goes on the two quickest paths.
    fn sound(&mut self, now: Instant, sizes: &[Bytes], paths: &[PathView]) -> Vec<Assignment> {
        let one = |size: &Bytes| {
            let mut order: Vec<&PathView> = paths.iter().collect();
            order.sort_by_key(|p| (self.arrival(now, p, *size, 1), p.id));
            let copies = order.get(1).map(|p| p.id).into_iter().collect();
            Assignment {
                path: order[0].id,
                copies,
            }
        };
        sizes.iter().map(one).collect()
    }
}

/// What losses cost a frame of so many packets: it is complete only when the
/// last one is repaired, and where that happens often, the receiver's jitter
/// buffer makes every frame wait so long.
fn repair(path: &PathView, packets: usize) -> Duration {
    let packets = i32::try_from(packets).unwrap_or(i32::MAX);
    let hurt = 1.0 - (1.0 - path.loss.clamp(0.0, 1.0)).powi(packets);
    (path.srtt + REPAIR_WAIT).mul_f64((hurt * LATE_ONE_IN).min(1.0))
}

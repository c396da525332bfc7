mod behaviour;

use smallvec::{SmallVec, smallvec};
use weft_units::{Bytes, Duration, Instant, PathId, Rate};

use super::sound::Sound;
use super::{
    Assignment, Assignments, Batch, Behaviour, Class, PathList, PathView, SKEW_CAP, Scheduler,
};
use crate::ablation::{Ablation, Ablations};
use crate::preference::Preference;
use crate::small_map::SmallMap;

/// Our own scheduler, and the default: sends every frame over the path where it arrives
/// first.
///
/// A path's forecast is the sum of its delay with the current queue, the time that its
/// rate needs for the bytes it was given and for the frame, and the cost of losses. The
/// whole frame takes the path with the lowest forecast. It is split only if that is much
/// faster. A second path therefore never makes a frame later than the best path alone
/// would, and is used when the best one is full. `docs/protocol/scheduler-weft.md` has
/// the formulas and the reasons.
pub(super) struct Weft {
    /// Bytes that each path was given beyond its rate, and the time of that state.
    debts: SmallMap<PathId, (Instant, f64)>,
    sound: Sound,
    /// Parts that experiments leave out.
    without: Ablations,
}

/// Time by which a split must speed up a frame: the frame then waits for two paths, and
/// each may be slower than forecast. Chosen by us: `demo/ride`.
const SPLIT_GAIN: Duration = Duration::from_millis(10);
/// Time by which a split must speed up a frame while there is danger: a split frame has
/// no copy, and waits for the worse of two paths. Chosen by trial
/// (`docs/protocol/calm.md`).
const SPLIT_GAIN_IN_DANGER: Duration = Duration::from_millis(20);
/// Time from a loss to its repair in addition to the round trip: the peer's feedback and
/// half a frame of pacing. Chosen by us.
const REPAIR_WAIT: Duration = Duration::from_millis(30);
/// One in this many late frames is tolerated by the jitter buffer.
const LATE_ONE_IN: f64 = 20.0;
/// Delay of a copy behind the frame from which it is useless: by then, the first path is
/// known to have failed, and the picture restarts.
const COPY_LATE: Duration = Duration::from_millis(250);
/// Longest time for which copies may fill a path.
const COPY_ROOM: Duration = Duration::from_millis(200);
/// Arrival time of packets that never arrive; no real rate takes as long.
const NEVER: Duration = Duration::from_secs(3600);

/// Path with the bytes that it was already given.
struct Lane<'a> {
    path: &'a PathView,
    debt: Bytes,
}

impl Lane<'_> {
    /// Returns the time until `size` more bytes in `packets` packets have arrived.
    fn arrival(&self, size: Bytes, packets: usize) -> Duration {
        self.unrepaired_arrival(size) + repair(self.path, packets)
    }

    /// Returns the time until `size` more bytes have arrived if none of them is lost.
    fn unrepaired_arrival(&self, size: Bytes) -> Duration {
        let given = self.path.rate.time_for(self.debt + size);
        self.path.reach + given.unwrap_or(NEVER).min(NEVER)
    }
}

/// Path of each packet of a batch.
type Plan = SmallVec<[PathId; 16]>;

/// Share of a frame that a lane gets.
struct Run<'a> {
    lane: &'a Lane<'a>,
    packets: usize,
    size: Bytes,
}

impl Scheduler for Weft {
    fn assign(&mut self, now: Instant, batch: &Batch<'_>, paths: &[PathView]) -> Assignments {
        if let ([path], true) = (paths, batch.class != Class::Audio) {
            return self.assign_all(now, batch.sizes, path);
        }
        let lanes: PathList<Lane<'_>> = paths.iter().map(|path| self.lane(now, path)).collect();
        let plan = match batch.class {
            Class::Audio => return sound(&mut self.sound, now, batch.sizes, &lanes),
            Class::Retransmission => again(batch.sizes, paths),
            _ => frame(batch.sizes, &lanes),
        };
        let copies = match batch.class {
            _ if self.without.contains(Ablation::Copies) => None,
            Class::Retransmission | Class::Repair => None,
            _ => second(batch.sizes, &lanes, &plan),
        };
        for lane in lanes {
            let of_lane = plan.iter().zip(batch.sizes);
            let of_lane = of_lane.filter(|(id, _)| **id == lane.path.id);
            self.charge(now, &lane, of_lane.map(|(_, size)| *size).sum());
            if copies == Some(lane.path.id) {
                self.charge(now, &lane, batch.sizes.iter().copied().sum());
            }
        }
        let assign = |path| Assignment {
            path,
            copies: copies.into_iter().collect(),
        };
        plan.into_iter().map(assign).collect()
    }

    /// Sum over the paths that may get media.
    fn rate(&self, paths: &[PathView]) -> Rate {
        let least = paths.iter().map(|p| p.delay).min().unwrap_or_default();
        let usable = paths.iter().filter(|p| p.delay <= least + SKEW_CAP);
        usable.map(|p| p.rate).sum()
    }

    fn on_path_removed(&mut self, path: PathId) {
        self.debts.remove(&path);
        self.sound.remove_path(path);
    }

    fn behaviour(&self, preference: Preference) -> Behaviour {
        Behaviour::of(preference, self.without)
    }
}

impl Weft {
    pub(super) fn new(without: Ablations) -> Weft {
        Weft {
            debts: SmallMap::default(),
            sound: Sound::default(),
            without,
        }
    }

    /// Assigns all packets to the only path.
    fn assign_all(&mut self, now: Instant, sizes: &[Bytes], path: &PathView) -> Assignments {
        let given = sizes.iter().copied().sum();
        self.charge(now, &self.lane(now, path), given);
        smallvec![Assignment::from(path.id); sizes.len()]
    }

    /// Returns the path with the bytes that it was given and has not carried yet.
    fn lane<'a>(&self, now: Instant, path: &'a PathView) -> Lane<'a> {
        let owed = self.debts.get(&path.id).map(|(at, bytes)| {
            let carried = (path.rate * now.saturating_since(*at)).0 as f64;
            Bytes((bytes - carried).max(0.0) as u64)
        });
        let debt = owed.unwrap_or_default().max(path.queued);
        Lane { path, debt }
    }

    /// Adds bytes to a lane's debt.
    fn charge(&mut self, now: Instant, lane: &Lane<'_>, given: Bytes) {
        if given > Bytes::ZERO {
            let debt = (lane.debt + given).0 as f64;
            let owed = self.debts.get_or_insert_with(lane.path.id, || (now, debt));
            *owed = (now, debt);
        }
    }
}

/// Returns one path for each packet of a frame.
fn frame(sizes: &[Bytes], lanes: &[Lane<'_>]) -> Plan {
    let total: Bytes = sizes.iter().copied().sum();
    let whole = lanes
        .iter()
        .map(|lane| (lane.arrival(total, sizes.len()), lane.path.id));
    let Some((arrival, best)) = whole.min() else {
        return Plan::new();
    };
    if lanes.len() == 1 {
        return smallvec![best; sizes.len()];
    }
    let (split, last) = split(sizes, lanes);
    if last + split_gain(lanes) < arrival {
        return split;
    }
    smallvec![best; sizes.len()]
}

/// Returns the time by which a split must speed up a frame. Where repair comes too late,
/// a split is not worthwhile, because a split frame has no copy.
fn split_gain(lanes: &[Lane<'_>]) -> Duration {
    let endangered = lanes.iter().any(|lane| lane.path.endangered);
    let late = lanes.iter().any(|lane| lane.path.repairs_late);
    match (endangered, late) {
        (false, _) => SPLIT_GAIN,
        (true, false) => SPLIT_GAIN_IN_DANGER,
        (true, true) => NEVER,
    }
}

/// Returns the path for a copy of the whole frame: a path was in danger recently, and the
/// copy may still be in time if the first path fails.
fn second(sizes: &[Bytes], lanes: &[Lane<'_>], plan: &[PathId]) -> Option<PathId> {
    let first = *plan.first()?;
    let whole = plan.iter().all(|id| *id == first);
    if !whole || !lanes.iter().any(|lane| lane.path.endangered) {
        return None;
    }
    let total: Bytes = sizes.iter().copied().sum();
    // Losses on both paths are repaired for both.
    let arrival = |lane: &Lane<'_>| lane.unrepaired_arrival(total);
    let best = lanes.iter().find(|lane| lane.path.id == first)?;
    let others = lanes.iter().filter(|lane| lane.path.id != first);
    let other = others.min_by_key(|lane| (arrival(lane), lane.path.id))?;
    let fills = other.path.rate.time_for(other.debt + total);
    let has_room = fills.is_some_and(|time| time <= COPY_ROOM);
    let in_time = arrival(other) <= arrival(best) + COPY_LATE;
    (has_room && in_time).then_some(other.path.id)
}

/// Assigns each packet to the path where it arrives first, after the packets before it.
/// Returns the plan and the arrival of the last packet. Quicker paths get earlier
/// packets.
fn split(sizes: &[Bytes], lanes: &[Lane<'_>]) -> (Plan, Duration) {
    let run = |lane| Run {
        lane,
        packets: 0,
        size: Bytes::ZERO,
    };
    let mut runs: PathList<Run<'_>> = lanes.iter().map(run).collect();
    let mut last = Duration::ZERO;
    for &size in sizes {
        let longer = runs.iter_mut().map(|run| {
            let arrival = run.lane.arrival(run.size + size, run.packets + 1);
            (arrival, run)
        });
        let quickest = longer.min_by_key(|(arrival, run)| (*arrival, run.lane.path.id));
        let Some((arrival, run)) = quickest else {
            break;
        };
        last = last.max(arrival);
        run.packets += 1;
        run.size += size;
    }
    runs.sort_by_key(|run| (run.lane.path.reach, run.lane.path.id));
    let mut plan = Plan::with_capacity(sizes.len());
    for run in &runs {
        plan.resize(plan.len() + run.packets, run.lane.path.id);
    }
    (plan, last)
}

/// Returns the paths of retransmissions, which overtake the packets that wait for the
/// pacer.
fn again(sizes: &[Bytes], paths: &[PathView]) -> Plan {
    let arrival = |p: &PathView, size| {
        let given = p.rate.time_for(size).unwrap_or(NEVER);
        p.reach + given + repair(p, 1)
    };
    let best = |size: &Bytes| paths.iter().min_by_key(|p| (arrival(p, *size), p.id));
    sizes.iter().filter_map(best).map(|p| p.id).collect()
}

fn sound(sound: &mut Sound, now: Instant, sizes: &[Bytes], lanes: &[Lane<'_>]) -> Assignments {
    let one = |size: &Bytes| {
        let mut order: PathList<&Lane<'_>> = lanes.iter().collect();
        order.sort_by_key(|lane| (lane.arrival(*size, 1), lane.path.id));
        let paths: PathList<&PathView> = order.into_iter().map(|lane| lane.path).collect();
        sound.assign(now, *size, &paths)
    };
    sizes.iter().map(one).collect()
}

/// Returns the time that losses cost a frame of this many packets: the frame is complete
/// only when its last packet is repaired, and if that is frequent, the receiver's jitter
/// buffer delays every frame as much.
fn repair(path: &PathView, packets: usize) -> Duration {
    if path.loss <= 0.0 {
        return Duration::ZERO;
    }
    let packets = i32::try_from(packets).unwrap_or(i32::MAX);
    let hurt = 1.0 - (1.0 - path.loss.clamp(0.0, 1.0)).powi(packets);
    (path.srtt + REPAIR_WAIT).mul_f64((hurt * LATE_ONE_IN).min(1.0))
}

use std::collections::BTreeMap;

use weft_units::{Duration, Instant, PathId};

use super::{FrameToProtect, Group, Protection, Unprotected, interleave};

/// Converge, section 4.3: for the P packets that a frame sends over a path,
/// l × P × β repair packets on the same path; l is the path's loss, and
/// β = 1 + NACK / (P − FEC) makes up for what was not enough.
///
/// What the paper leaves open: l is a mean over some hundred packets, and what
/// NACK, P and FEC count, they count over about a second. A NACK is a packet
/// that had to be sent again, whether the receiver asked or the sender found
/// out first. Parts of a repair packet are saved up. One that holds more
/// packets is more likely to be of use, so it also takes those of the frames
/// before that none holds, as long as it comes before a retransmission would.
#[derive(Default)]
pub(super) struct PathSpecific {
    paths: BTreeMap<PathId, PathState>,
}

#[derive(Default)]
struct PathState {
    /// Mean part of the packets that is lost.
    loss: f64,
    /// Packets that the mean is of, up to [`LOSS_MEMORY`].
    known: f64,
    /// Repair packets that are due; below zero, what keyframes had too much.
    due: f64,
    /// Packets, repair packets and NACKs within about [`NACK_MEMORY`].
    packets: f64,
    repairs: f64,
    nacks: f64,
    at: Instant,
}

/// Packets that the loss is a mean of. Chosen by us: two losses at 1 %, a few
/// seconds of one Mbps.
const LOSS_MEMORY: f64 = 200.0;
/// Less than this is left to retransmission: a repair packet would be of use
/// once in a thousand packets. Chosen by us.
const LEAST_LOSS: f64 = 0.001;
const NACK_MEMORY: Duration = Duration::from_secs(1);

impl PathState {
    fn age(&mut self, now: Instant) {
        let since = now.saturating_since(self.at).as_secs_f64();
        let kept = (-since / NACK_MEMORY.as_secs_f64()).exp();
        for count in [&mut self.packets, &mut self.repairs, &mut self.nacks] {
            *count *= kept;
        }
        self.at = now;
    }

    fn on_feedback(&mut self, arrived: u64, lost: u64) {
        let count = (arrived + lost) as f64;
        if count == 0.0 {
            return;
        }
        self.known = (self.known + count).min(LOSS_MEMORY.max(count));
        let weight = count / self.known;
        self.loss += (lost as f64 / count - self.loss) * weight;
        self.known = self.known.min(LOSS_MEMORY);
    }

    /// β of section 4.3, 1 to 2: no more can be asked for than was sent.
    fn beta(&self) -> f64 {
        let media = self.packets - self.repairs;
        match media > 0.0 {
            true => 1.0 + (self.nacks / media).min(1.0),
            false => 1.0,
        }
    }

    /// How many repair packets so many packets get: what losses ask for, and at
    /// least this part.
    fn repairs_for(&mut self, packets: usize, keyframe: bool, least: f64) -> usize {
        if self.loss < LEAST_LOSS {
            self.due = 0.0;
            return 0;
        }
        // The Converge paper counts P − FEC as media: P has the repair packets in it.
        let wanted = (self.loss * self.beta()).max(least) * packets as f64;
        self.due += wanted;
        let whole = |due: f64| (due - 1e-9).ceil();
        let count = match keyframe {
            // Section 3.3: higher rates for what others depend on.
            true => whole(wanted.max(self.due)),
            // Tenths of a packet do not sum up to a whole one in binary.
            false => (self.due + 1e-9).floor(),
        };
        let count = count.clamp(0.0, packets as f64);
        self.due = (self.due - count).clamp(-1.0, 1.0);
        self.packets += packets as f64 + count;
        self.repairs += count;
        count as usize
    }
}

impl Protection for PathSpecific {
    fn on_feedback(&mut self, _now: Instant, path: PathId, arrived: u64, lost: u64) {
        let path = self.paths.entry(path).or_default();
        path.on_feedback(arrived, lost);
    }

    fn on_unrepaired(&mut self, now: Instant, path: PathId) {
        let path = self.paths.entry(path).or_default();
        path.age(now);
        path.nacks += 1.0;
    }

    fn on_path_removed(&mut self, path: PathId) {
        self.paths.remove(&path);
    }

    fn protect(&mut self, now: Instant, frame: &FrameToProtect<'_>) -> Vec<Group> {
        self.protect_with(now, frame, |_, _| 0.0)
    }
}

impl PathSpecific {
    /// Makes the groups of a frame, where `least` is the least part of the
    /// packets over a path that is repair, by the path and its loss.
    pub(super) fn protect_with(
        &mut self,
        now: Instant,
        frame: &FrameToProtect<'_>,
        least: impl Fn(PathId, f64) -> f64,
    ) -> Vec<Group> {
        let mut groups = Vec::new();
        for (&id, path) in &mut self.paths {
            let of_frame = frame.packets.iter().skip(frame.begin);
            let current = of_frame.filter(|p| p.path == id && p.goes_once).count();
            if current == 0 {
                continue;
            }
            path.age(now);
            let least = least(id, path.loss);
            let count = path.repairs_for(current, frame.keyframe, least);
            if count == 0 {
                continue;
            }
            let reach = (frame.round_trip)(id) / 2;
            let fits = |(place, packet): &(usize, &Unprotected)| {
                let age = now.saturating_since(packet.at);
                let in_time = *place >= frame.begin || age < reach;
                packet.path == id && packet.goes_once && in_time
            };
            let members = frame.packets.iter().enumerate().filter(fits);
            let members: Vec<usize> = members.map(|(place, _)| place).collect();
            groups.extend(interleave(&members, count, Some(id)));
        }
        groups
    }
}

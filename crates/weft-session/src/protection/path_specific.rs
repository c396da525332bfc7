use std::collections::BTreeMap;

use weft_units::{Duration, Instant, PathId};

use super::{FrameToProtect, Group, Protection, Unprotected, interleave};

/// Protection by Converge, section 4.3: for the P packets that a frame sends over a path,
/// l × P × β repair packets on the same path; l is the path's loss, and β = 1 + NACK / (P
/// − FEC) compensates for insufficient repair.
///
/// Our choices where the paper is open: l is a mean over some hundred packets, and NACK,
/// P and FEC are counted over about a second. A NACK is a packet that had to be sent
/// again, whether the receiver requested it or the sender detected the loss first.
/// Fractions of a repair packet are saved up. A repair packet over more packets is more
/// likely to be useful, so it also covers unprotected packets of earlier frames, as long
/// as it arrives before a retransmission would.
#[derive(Default)]
pub(super) struct PathSpecific {
    paths: BTreeMap<PathId, PathState>,
}

#[derive(Default)]
struct PathState {
    /// Mean share of packets that are lost.
    loss: f64,
    /// Number of packets in the mean, up to [`LOSS_MEMORY`].
    known: f64,
    /// Repair packets that are due; negative after keyframes got too many.
    due: f64,
    /// Packets, repair packets and NACKs within about [`NACK_MEMORY`].
    packets: f64,
    repairs: f64,
    nacks: f64,
    at: Instant,
}

/// Number of packets over which the loss is averaged. Chosen by us: two losses at 1 %, a
/// few seconds at one Mbps.
const LOSS_MEMORY: f64 = 200.0;
/// Loss below which only retransmission is used: a repair packet would be useful once in
/// a thousand packets. Chosen by us.
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

    /// Returns β of section 4.3, from 1 to 2: receivers cannot request more than was
    /// sent.
    fn beta(&self) -> f64 {
        let media = self.packets - self.repairs;
        match media > 0.0 {
            true => 1.0 + (self.nacks / media).min(1.0),
            false => 1.0,
        }
    }

    /// Returns the number of repair packets for this many packets: as many as the losses
    /// require, and at least the share `least`.
    fn repairs_for(&mut self, packets: usize, keyframe: bool, least: f64) -> usize {
        if self.loss < LEAST_LOSS {
            self.due = 0.0;
            return 0;
        }
        // The Converge paper counts P − FEC as media: P includes the repair packets.
        let wanted = (self.loss * self.beta()).max(least) * packets as f64;
        self.due += wanted;
        let whole = |due: f64| (due - 1e-9).ceil();
        let count = match keyframe {
            // Section 3.3: higher protection for frames that others depend on.
            true => whole(wanted.max(self.due)),
            // Multiples of a tenth do not sum up to a whole number in binary.
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
    /// Makes the groups of a frame. `least` gives the lowest share of repair packets for
    /// a path, by the path and its loss.
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

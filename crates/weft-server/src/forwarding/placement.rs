//! Choice of the plane of a media connection.

use crate::media_plane::ResourceId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use weft_net::Load;
use weft_units::Rate;

/// Load above which a plane gets a newcomer only if the others are above it, too. Chosen
/// by us: less than the load at which it accepts no newcomers.
const FULL: f64 = 0.8;
/// Difference between the loads of two planes that is not significant: newcomers of the
/// last second are not measured yet. Chosen by us.
const ALIKE: f64 = 0.1;
/// Maximum number of connections in a room for which they are placed on one plane: a small call
/// then needs no traffic between planes. Chosen by us: six people who see each other.
const SMALL_ROOM: usize = 12;

/// Latest measured loads of all planes.
#[derive(Debug)]
pub(super) struct Loads(Vec<[AtomicU64; 2]>);

impl Loads {
    pub(super) fn new(planes: usize) -> Loads {
        Loads((0..planes).map(|_| Default::default()).collect())
    }

    pub(super) fn set(&self, plane: usize, load: Load) {
        let [busy, sent] = &self.0[plane];
        busy.store(load.busy.to_bits(), Ordering::Relaxed);
        sent.store(load.sent.as_bps(), Ordering::Relaxed);
    }

    pub(super) fn busy(&self) -> Vec<f64> {
        let busy = self.0.iter().map(|[busy, _]| busy.load(Ordering::Relaxed));
        busy.map(f64::from_bits).collect()
    }

    /// Sending rate of all planes together.
    pub(super) fn sent(&self) -> Rate {
        let sent = self.0.iter().map(|[_, sent]| sent.load(Ordering::Relaxed));
        Rate::from_bps(sent.sum())
    }
}

/// Room and id of a participant.
pub(super) type Participant = (String, String);

#[derive(Debug)]
struct Placed {
    plane: usize,
    of: Participant,
}

/// Planes of all media connections.
#[derive(Debug, Default)]
pub(super) struct Placement {
    connections: BTreeMap<ResourceId, Placed>,
    /// Participants whose sound is not forwarded.
    pub(super) muted: BTreeSet<Participant>,
    /// Rooms that are recorded.
    pub(super) recorded: BTreeSet<String>,
}

impl Placement {
    /// Chooses the plane of a new connection: the participant's, or that of its small
    /// room, or the one with the most capacity.
    pub(super) fn place(&mut self, resource: &ResourceId, of: Participant, busy: &[f64]) -> usize {
        let plane = self.choose(&of, busy);
        let placed = Placed { plane, of };
        self.connections.insert(resource.clone(), placed);
        plane
    }

    fn choose(&self, of: &Participant, busy: &[f64]) -> usize {
        let has_room = |plane: &usize| busy[*plane] < FULL;
        let all = || self.connections.values();
        let own = all().find(|placed| placed.of == *of).map(|p| p.plane);
        if let Some(plane) = own.filter(has_room) {
            return plane;
        }
        let in_room = || all().filter(|placed| placed.of.0 == of.0);
        let home = in_room().next().map(|placed| placed.plane);
        if in_room().count() < SMALL_ROOM
            && let Some(plane) = home.filter(has_room)
        {
            return plane;
        }
        let mut counts = vec![0_usize; busy.len()];
        for placed in all() {
            counts[placed.plane] += 1;
        }
        let least = busy.iter().copied().fold(f64::INFINITY, f64::min);
        let idle = (0..busy.len()).filter(|plane| busy[*plane] <= least + ALIKE);
        idle.min_by_key(|plane| counts[*plane]).unwrap_or(0)
    }

    /// Returns the plane of a connection.
    pub(super) fn plane(&self, resource: &ResourceId) -> Option<usize> {
        self.connections.get(resource).map(|placed| placed.plane)
    }

    pub(super) fn remove(&mut self, resource: &ResourceId) {
        self.connections.remove(resource);
    }

    /// Removes all connections of a plane, which has ended.
    pub(super) fn take_all_of(&mut self, plane: usize) -> Vec<ResourceId> {
        let of_plane = self.connections.iter().filter(|(_, p)| p.plane == plane);
        let lost: Vec<ResourceId> = of_plane.map(|(resource, _)| resource.clone()).collect();
        self.connections.retain(|_, placed| placed.plane != plane);
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(number: usize) -> ResourceId {
        ResourceId(format!("{number:04}"))
    }

    /// Places newcomers and returns their planes.
    fn place(placement: &mut Placement, rooms: &[&str], busy: &[f64]) -> Vec<usize> {
        let first = placement.connections.len();
        let newcomers = rooms.iter().enumerate().map(|(place, room)| {
            let number = first + place;
            let of = ((*room).to_owned(), format!("p{number}"));
            placement.place(&resource(number), of, busy)
        });
        newcomers.collect()
    }

    #[test]
    fn a_storm_into_one_room_is_spread_before_its_load_is_measured() {
        let mut placement = Placement::default();
        let planes = place(&mut placement, &["r"; 500], &[0.0, 0.0]);
        assert_eq!(planes[..SMALL_ROOM], [0; SMALL_ROOM]);
        let second = planes.iter().filter(|plane| **plane == 1).count();
        assert!((248..=252).contains(&second), "{second} of 500");
    }

    #[test]
    fn small_rooms_stay_on_one_plane_each_and_share_the_planes() {
        let mut placement = Placement::default();
        let rooms = ["a", "b", "a", "b", "c", "d", "c", "d"];
        let planes = place(&mut placement, &rooms, &[0.3, 0.32]);
        assert_eq!(planes, [0, 1, 0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn nobody_goes_to_a_full_plane_while_another_has_room() {
        let mut placement = Placement::default();
        assert_eq!(place(&mut placement, &["r"], &[0.1, 0.5]), [0]);
        assert_eq!(place(&mut placement, &["r"], &[0.85, 0.5]), [1]);
        // A participant stays on its plane while that has capacity.
        let ada = || ("r".to_owned(), "p0".to_owned());
        let more = resource(7);
        assert_eq!(placement.place(&more, ada(), &[0.7, 0.1]), 0);
        assert_eq!(placement.place(&more, ada(), &[0.9, 0.1]), 1);
    }

    #[test]
    fn connections_of_a_plane_that_ends_are_forgotten() {
        let mut placement = Placement::default();
        place(&mut placement, &["a", "b", "a", "b"], &[0.0, 0.0]);
        assert_eq!(placement.take_all_of(1), [resource(1), resource(3)]);
        assert_eq!(placement.plane(&resource(1)), None);
        assert_eq!(placement.plane(&resource(2)), Some(0));
        placement.remove(&resource(2));
        assert_eq!(placement.plane(&resource(2)), None);
    }
}

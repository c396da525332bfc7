//! Choice of the plane that a datagram belongs to. The system distributes datagrams among the
//! planes' sockets by their addresses, so a plane also receives those of the other planes' peers.

use crate::relay::PlaneId;
use std::collections::{BTreeMap, BTreeSet};
use weft_units::{Duration, FiveTuple, Instant};

/// Duration of a claim without another check: as long as consent (RFC 7675 section 5.1).
const LASTS: Duration = Duration::from_secs(30);
/// Maximum number of claims in a plane. Chosen by us: 30 for each of the 2,000
/// connections that a server has by default.
const MOST: usize = 60_000;

/// Addresses of other planes' peers whose datagrams arrive here.
#[derive(Debug, Default)]
pub(crate) struct Steering {
    /// Other planes.
    linked: BTreeSet<PlaneId>,
    claims: BTreeMap<FiveTuple, Claim>,
}

#[derive(Debug, Clone, Copy)]
struct Claim {
    plane: PlaneId,
    proved: bool,
    until: Instant,
}

impl Steering {
    pub(crate) fn link(&mut self, plane: PlaneId) {
        self.linked.insert(plane);
    }

    pub(crate) fn unlink(&mut self, plane: PlaneId) {
        self.linked.remove(&plane);
        self.claims.retain(|_, claim| claim.plane != plane);
    }

    /// Other planes.
    pub(crate) fn linked(&self) -> impl Iterator<Item = PlaneId> {
        self.linked.iter().copied()
    }

    pub(crate) fn is_linked(&self, plane: PlaneId) -> bool {
        self.linked.contains(&plane)
    }

    /// Whether every datagram is for this plane.
    pub(crate) fn is_alone(&self) -> bool {
        self.linked.is_empty()
    }

    /// Returns the plane that a check with this user name is for, if it is another one.
    pub(crate) fn named(&self, user_name: &str) -> Option<PlaneId> {
        let plane = PlaneId::of_user_name(user_name)?;
        self.linked.get(&plane).copied()
    }

    /// Returns the plane that claims these addresses.
    pub(crate) fn claimed(&self, now: Instant, tuple: FiveTuple) -> Option<PlaneId> {
        let claim = self.claims.get(&tuple)?;
        (claim.until > now).then_some(claim.plane)
    }

    /// Records that a peer of another plane has sent an authenticated check between these
    /// addresses. Only a peer that has `proved` its presence takes them from another
    /// plane, because sources can be forged.
    pub(crate) fn claim(&mut self, now: Instant, tuple: FiveTuple, plane: PlaneId, proved: bool) {
        let known = self.claims.get(&tuple).filter(|claim| claim.until > now);
        let is_others = known.is_some_and(|claim| claim.plane != plane);
        let is_new = !self.claims.contains_key(&tuple);
        if is_others && !proved || is_new && self.claims.len() >= MOST {
            return;
        }
        let claim = Claim {
            plane,
            proved: proved || known.is_some_and(|claim| claim.proved && claim.plane == plane),
            until: now + LASTS,
        };
        self.claims.insert(tuple, claim);
    }

    /// Whether a peer of the plane that claims these addresses has proved its presence.
    pub(crate) fn is_proved(&self, now: Instant, tuple: FiveTuple) -> bool {
        let claim = self.claims.get(&tuple);
        claim.is_some_and(|claim| claim.proved && claim.until > now)
    }

    /// Records that a peer of this plane has proved its presence.
    pub(crate) fn release(&mut self, tuple: FiveTuple) {
        self.claims.remove(&tuple);
    }

    /// Forgets expired claims; returns whether any remain.
    pub(crate) fn sweep(&mut self, now: Instant) -> bool {
        self.claims.retain(|_, claim| claim.until > now);
        !self.claims.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    const LOCAL: SocketAddr =
        SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 1);

    fn plane(number: usize) -> PlaneId {
        PlaneId::new(number).expect("there are so many")
    }

    fn tuple(number: u32) -> FiveTuple {
        FiveTuple::udp(LOCAL, SocketAddr::from((number.to_be_bytes(), 9)))
    }

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    fn steering() -> Steering {
        let mut steering = Steering::default();
        (1..4).for_each(|number| steering.link(plane(number)));
        steering
    }

    #[test]
    fn checks_find_an_existing_plane_by_name() {
        let steering = steering();
        let name = |number| format!("{}name", plane(number).name());
        assert_eq!(steering.named(&name(2)), Some(plane(2)));
        assert_eq!(steering.named(&name(0)), None, "this plane");
        assert_eq!(steering.named(&name(9)), None, "no such plane");
        assert!(Steering::default().is_alone());
    }

    /// A participant can send an authenticated check with another participant's address
    /// as its source.
    #[test]
    fn a_forged_source_takes_an_address_from_nobody() {
        let mut steering = steering();
        let victim = tuple(7);
        steering.claim(at(0), victim, plane(1), false);
        steering.claim(at(1), victim, plane(2), false);
        assert_eq!(steering.claimed(at(1), victim), Some(plane(1)));
        steering.claim(at(2), victim, plane(1), true);
        assert!(steering.is_proved(at(2), victim));
        // A later check of the same peer does not revoke the proof.
        steering.claim(at(3), victim, plane(1), false);
        assert!(steering.is_proved(at(3), victim));
        // A call that restarts from the same port.
        steering.claim(at(4), victim, plane(3), true);
        assert_eq!(steering.claimed(at(4), victim), Some(plane(3)));
        steering.release(victim);
        assert_eq!(steering.claimed(at(4), victim), None);
    }

    #[test]
    fn claims_end_with_consent_and_with_their_plane() {
        let mut steering = steering();
        steering.claim(at(0), tuple(1), plane(1), true);
        steering.claim(at(10), tuple(2), plane(2), true);
        assert_eq!(steering.claimed(at(29), tuple(1)), Some(plane(1)));
        assert_eq!(steering.claimed(at(30), tuple(1)), None);
        assert!(steering.sweep(at(30)));
        steering.unlink(plane(2));
        assert_eq!(steering.claimed(at(30), tuple(2)), None);
        assert!(!steering.sweep(at(30)));
    }

    #[test]
    fn claims_have_a_bound() {
        let mut steering = steering();
        for number in 0..=MOST as u32 {
            steering.claim(at(0), tuple(number), plane(1), true);
        }
        assert_eq!(steering.claims.len(), MOST);
        // Existing claims stay in use.
        steering.claim(at(20), tuple(0), plane(1), true);
        assert_eq!(steering.claimed(at(40), tuple(0)), Some(plane(1)));
    }
}

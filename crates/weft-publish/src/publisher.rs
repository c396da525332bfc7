//! Decisions for a whole sender, over all its cameras and peers.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use weft_units::{Bytes, Rate, StreamId};

use crate::control::Allowance;

/// Shares what the network carries among a sender's cameras, and hears for them
/// what their pictures do to it.
///
/// Everybody gets the same pictures, so the slowest peer sets the rate. `P`
/// names a peer.
#[derive(Clone, Debug)]
pub struct Publisher<P> {
    cameras: Vec<Camera>,
    peers: BTreeMap<P, Peer>,
}

#[derive(Clone, Copy, Debug)]
struct Camera {
    most: Option<Rate>,
    allowance: Allowance,
}

#[derive(Clone, Debug)]
struct Peer {
    cameras: Vec<StreamId>,
    sound: Rate,
    target: Rate,
    budget: Option<Bytes>,
}

impl Peer {
    fn takes_pictures(&self) -> bool {
        !self.cameras.is_empty() && self.target > self.sound
    }
}

impl<P: Ord> Publisher<P> {
    /// A sender with these cameras, each with the most that its encoder ever
    /// gets, if there is a bound. Without peers nothing is encoded.
    #[must_use]
    pub fn new(cameras: impl IntoIterator<Item = Option<Rate>>) -> Publisher<P> {
        let camera = |most| Camera {
            most,
            allowance: Allowance::default(),
        };
        Publisher {
            cameras: cameras.into_iter().map(camera).collect(),
            peers: BTreeMap::new(),
        }
    }

    /// A peer takes the cameras as these streams, in order, and sound of this
    /// rate.
    pub fn handle_joined(&mut self, peer: P, cameras: Vec<StreamId>, sound: Rate) {
        let joined = Peer {
            cameras,
            sound,
            target: Rate::ZERO,
            budget: None,
        };
        self.peers.insert(peer, joined);
        self.share();
    }

    /// A peer takes nothing any more.
    pub fn handle_left(&mut self, peer: &P) {
        self.peers.remove(peer);
        self.share();
    }

    /// All that is sent to this peer may take this rate from now on.
    pub fn handle_target_rate(&mut self, peer: P, rate: Rate) {
        if let Some(peer) = self.peers.get_mut(&peer) {
            peer.target = rate;
            self.share();
        }
    }

    /// The next picture of every camera together is to have at most so many
    /// bytes, or this peer gets it late; `None`: any size will do. It holds until
    /// the next call, so it is to be said again before each picture or as often as
    /// it changes.
    pub fn handle_frame_budget(&mut self, peer: P, budget: Option<Bytes>) {
        if let Some(peer) = self.peers.get_mut(&peer) {
            peer.budget = budget;
            self.bound();
        }
    }

    /// A peer needs a keyframe of a stream that it takes. Requests that come
    /// before the camera's next picture are answered together; a session passes
    /// on few (`weft_session`), so there is no other bound.
    pub fn handle_keyframe_request(&mut self, peer: P, stream: StreamId) {
        let streams = self.peers.get(&peer).map(|peer| &peer.cameras);
        let camera = streams.and_then(|streams| streams.iter().position(|s| *s == stream));
        if let Some(camera) = camera.and_then(|index| self.cameras.get_mut(index)) {
            let requests = &mut camera.allowance.keyframe_requests;
            *requests = requests.wrapping_add(1);
        }
    }

    /// Returns the bounds of a camera's encoder now; `None` if there is no such
    /// camera.
    #[must_use]
    pub fn allowance(&self, camera: usize) -> Allowance {
        let camera = self.cameras.get(camera);
        camera.map(|camera| camera.allowance).unwrap_or_default()
    }

    /// Every camera gets the same share of what the slowest peer can take, after
    /// the sound. A peer that takes no picture, since it waits for a path, holds
    /// up no other.
    fn share(&mut self) {
        let after_sound = |peer: &Peer| peer.target.saturating_sub(peer.sound);
        let peers = self.peers.values().filter(|peer| peer.takes_pictures());
        let slowest = peers.map(after_sound).min().unwrap_or_default();
        let share = slowest.fair_level(self.cameras.iter().map(|camera| camera.most));
        for camera in &mut self.cameras {
            camera.allowance.rate = camera.most.map_or(share, |most| most.min(share));
        }
        self.bound();
    }

    /// The least budget of all peers that take pictures, for each camera in
    /// proportion to its rate.
    fn bound(&mut self) {
        let peers = self.peers.values().filter(|peer| peer.takes_pictures());
        let budget = peers.filter_map(|peer| peer.budget).min();
        let rates = self.cameras.iter().map(|c| c.allowance.rate.as_bps());
        let all = rates.map(u128::from).sum::<u128>().max(1);
        for Camera { allowance, .. } in &mut self.cameras {
            let part = |Bytes(all_bytes)| {
                let rate = u128::from(allowance.rate.as_bps());
                // No more than all of it, as the rate is no more than all rates.
                Bytes((u128::from(all_bytes) * rate / all) as u64)
            };
            allowance.budget = budget.map(part);
        }
    }
}

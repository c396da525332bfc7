//! Decisions for a whole sender, over all its cameras and peers.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use weft_units::{Bytes, Rate, StreamId};

use crate::control::Allowance;

/// Divides the rate that the network carries among a sender's cameras, and collects the
/// feedback of its peers.
///
/// All peers get the same pictures, so the slowest peer sets the rate. `P` identifies a
/// peer.
#[derive(Clone, Debug)]
pub struct Publisher<P> {
    cameras: Vec<Camera>,
    peers: BTreeMap<P, Peer>,
}

/// The smaller encoding gets at most one part in this many of a camera's share. Chosen by
/// us: the larger encoding, which more people see, gets more than the smaller one at any
/// rate.
const SMALLER_PART: u64 = 4;

#[derive(Clone, Copy, Debug)]
struct Camera {
    most: Option<Rate>,
    /// Highest rate of the camera's smaller encoding while that is sent.
    smaller: Option<Rate>,
    allowance: Allowance,
    smaller_allowance: Allowance,
}

#[derive(Clone, Debug)]
struct Peer {
    cameras: Vec<StreamId>,
    /// Streams of the cameras' smaller encodings.
    smaller: Vec<Option<StreamId>>,
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
    /// Creates a sender with these cameras, each with the highest rate that its encoder
    /// may get, if there is a bound. Without peers, nothing is encoded.
    #[must_use]
    pub fn new(cameras: impl IntoIterator<Item = Option<Rate>>) -> Publisher<P> {
        let camera = |most| Camera {
            most,
            smaller: None,
            allowance: Allowance::default(),
            smaller_allowance: Allowance::default(),
        };
        Publisher {
            cameras: cameras.into_iter().map(camera).collect(),
            peers: BTreeMap::new(),
        }
    }

    /// Adds a peer that receives the cameras as these streams, in order, and sound of
    /// this rate.
    pub fn handle_joined(&mut self, peer: P, cameras: Vec<StreamId>, sound: Rate) {
        let joined = Peer {
            cameras,
            smaller: Vec::new(),
            sound,
            target: Rate::ZERO,
            budget: None,
        };
        self.peers.insert(peer, joined);
        self.share();
    }

    /// Sets the streams as which a peer receives the cameras' smaller encodings, in
    /// order.
    pub fn handle_smaller_streams(&mut self, peer: P, streams: Vec<Option<StreamId>>) {
        if let Some(peer) = self.peers.get_mut(&peer) {
            peer.smaller = streams;
        }
    }

    /// Starts the smaller encoding of a camera at no more than this rate, or stops it
    /// with `None`. Its rate is part of the camera's share.
    pub fn handle_smaller(&mut self, camera: usize, most: Option<Rate>) {
        if let Some(camera) = self.cameras.get_mut(camera) {
            camera.smaller = most;
            self.share();
        }
    }

    /// Removes a peer.
    pub fn handle_left(&mut self, peer: &P) {
        self.peers.remove(peer);
        self.share();
    }

    /// Sets the rate for everything that is sent to this peer.
    pub fn handle_target_rate(&mut self, peer: P, rate: Rate) {
        if let Some(peer) = self.peers.get_mut(&peer) {
            peer.target = rate;
            self.share();
        }
    }

    /// Sets the largest size of the next pictures of all cameras together that still
    /// reaches this peer in time; `None`: no limit. The value applies until the next
    /// call, so call this before each picture or whenever the value changes.
    pub fn handle_frame_budget(&mut self, peer: P, budget: Option<Bytes>) {
        if let Some(peer) = self.peers.get_mut(&peer) {
            peer.budget = budget;
            self.bound();
        }
    }

    /// Records that a peer needs a keyframe of a stream that it receives. All requests
    /// before the camera's next picture get one keyframe; there is no other limit,
    /// because a session passes on few requests (`weft_session`).
    pub fn handle_keyframe_request(&mut self, peer: P, stream: StreamId) {
        let Some(peer) = self.peers.get(&peer) else {
            return;
        };
        let place = peer.cameras.iter().position(|s| *s == stream);
        let smaller = peer.smaller.iter().position(|s| *s == Some(stream));
        let camera = place.or(smaller).and_then(|p| self.cameras.get_mut(p));
        let Some(camera) = camera else {
            return;
        };
        let allowance = match place {
            Some(_) => &mut camera.allowance,
            None => &mut camera.smaller_allowance,
        };
        allowance.keyframe_requests = allowance.keyframe_requests.wrapping_add(1);
    }

    /// Returns the current limits of a camera's encoder, or the default if the camera
    /// does not exist.
    #[must_use]
    pub fn allowance(&self, camera: usize) -> Allowance {
        let camera = self.cameras.get(camera);
        camera.map(|camera| camera.allowance).unwrap_or_default()
    }

    /// Returns the current limits of the encoder of a camera's smaller encoding.
    #[must_use]
    pub fn smaller_allowance(&self, camera: usize) -> Allowance {
        let camera = self.cameras.get(camera);
        let allowance = camera.map(|camera| camera.smaller_allowance);
        allowance.unwrap_or_default()
    }

    /// Gives every camera the same share of the slowest peer's rate, after the sound. A
    /// peer that takes no pictures yet because it waits for a path does not slow down the
    /// others.
    fn share(&mut self) {
        let after_sound = |peer: &Peer| peer.target.saturating_sub(peer.sound);
        let peers = self.peers.values().filter(|peer| peer.takes_pictures());
        let slowest = peers.map(after_sound).min().unwrap_or_default();
        let share = slowest.fair_level(self.cameras.iter().map(|camera| camera.most));
        for camera in &mut self.cameras {
            let all = camera.most.map_or(share, |most| most.min(share));
            let part = Rate::from_bps(all.as_bps() / SMALLER_PART);
            let smaller = camera.smaller.map_or(Rate::ZERO, |most| most.min(part));
            camera.smaller_allowance.rate = smaller;
            camera.allowance.rate = all.saturating_sub(smaller);
        }
        self.bound();
    }

    /// Divides the smallest budget of all peers that take pictures among the encodings,
    /// in proportion to their rates.
    fn bound(&mut self) {
        let peers = self.peers.values().filter(|peer| peer.takes_pictures());
        let budget = peers.filter_map(|peer| peer.budget).min();
        let allowances = self.cameras.iter_mut();
        let mut allowances: Vec<&mut Allowance> = allowances
            .flat_map(|camera| [&mut camera.allowance, &mut camera.smaller_allowance])
            .collect();
        let rates = allowances.iter().map(|a| u128::from(a.rate.as_bps()));
        let all = rates.sum::<u128>().max(1);
        for allowance in &mut allowances {
            let rate = u128::from(allowance.rate.as_bps());
            // No more than the whole budget, because a rate is never above the sum of
            // rates.
            let part = |Bytes(bytes)| Bytes((u128::from(bytes) * rate / all) as u64);
            allowance.budget = budget.map(part);
        }
    }
}

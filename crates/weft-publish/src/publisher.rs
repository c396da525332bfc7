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

/// Part of a camera's share that its smaller encoding may take. Chosen by us: the larger
/// one, which more people see, stays ahead of it at any rate.
const SMALLER_PART: u64 = 4;

#[derive(Clone, Copy, Debug)]
struct Camera {
    most: Option<Rate>,
    /// Most that its smaller encoding gets, while that is sent.
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
    /// A sender with these cameras, each with the most that its encoder ever
    /// gets, if there is a bound. Without peers nothing is encoded.
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

    /// A peer takes the cameras as these streams, in order, and sound of this
    /// rate.
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

    /// A peer takes the smaller encodings of the cameras as these streams, in order.
    pub fn handle_smaller_streams(&mut self, peer: P, streams: Vec<Option<StreamId>>) {
        if let Some(peer) = self.peers.get_mut(&peer) {
            peer.smaller = streams;
        }
    }

    /// The smaller encoding of a camera is sent from now on, at no more than this rate, or
    /// not any more. Its rate is a part of the camera's share.
    pub fn handle_smaller(&mut self, camera: usize, most: Option<Rate>) {
        if let Some(camera) = self.cameras.get_mut(camera) {
            camera.smaller = most;
            self.share();
        }
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

    /// Returns the bounds of a camera's encoder now; `None` if there is no such
    /// camera.
    #[must_use]
    pub fn allowance(&self, camera: usize) -> Allowance {
        let camera = self.cameras.get(camera);
        camera.map(|camera| camera.allowance).unwrap_or_default()
    }

    /// Returns the bounds of the encoder of a camera's smaller encoding now.
    #[must_use]
    pub fn smaller_allowance(&self, camera: usize) -> Allowance {
        let camera = self.cameras.get(camera);
        let allowance = camera.map(|camera| camera.smaller_allowance);
        allowance.unwrap_or_default()
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
            let all = camera.most.map_or(share, |most| most.min(share));
            let part = Rate::from_bps(all.as_bps() / SMALLER_PART);
            let smaller = camera.smaller.map_or(Rate::ZERO, |most| most.min(part));
            camera.smaller_allowance.rate = smaller;
            camera.allowance.rate = all.saturating_sub(smaller);
        }
        self.bound();
    }

    /// The least budget of all peers that take pictures, for each encoding in
    /// proportion to its rate.
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
            // No more than all of it, as the rate is no more than all rates.
            let part = |Bytes(bytes)| Bytes((u128::from(bytes) * rate / all) as u64);
            allowance.budget = budget.map(part);
        }
    }
}

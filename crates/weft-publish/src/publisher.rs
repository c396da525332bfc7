//! What is decided once for a sender, over all its cameras and peers.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use weft_units::{Duration, Rate, StreamId};

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
}

/// When more waits than this after a picture, the camera's next one is left out:
/// it would be late anyway, and the ones after it later still. Three frame times
/// at 30 fps and a little; chosen by us.
const MOST_BACKLOG: Duration = Duration::from_millis(120);

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

    /// A picture of a camera was sent; `backlogs`: how long what waits now takes
    /// to leave, for each peer that it went to.
    pub fn handle_sent(&mut self, camera: usize, backlogs: impl IntoIterator<Item = Duration>) {
        let longest = backlogs.into_iter().max().unwrap_or_default();
        if let Some(camera) = self.cameras.get_mut(camera)
            && longest > MOST_BACKLOG
        {
            let overruns = &mut camera.allowance.overruns;
            *overruns = overruns.wrapping_add(1);
        }
    }

    /// What a camera's encoder may do now; nothing, if there is no such camera.
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
        let rates = self.peers.values().filter(|peer| !peer.cameras.is_empty());
        let rates = rates.map(after_sound).filter(|rate| *rate > Rate::ZERO);
        let share = self.equal_share(rates.min().unwrap_or_default());
        for camera in &mut self.cameras {
            camera.allowance.rate = camera.most.map_or(share, |most| most.min(share));
        }
    }

    /// What each camera gets that is not at its maximum: what those leave that
    /// are, the others share.
    fn equal_share(&self, rate: Rate) -> Rate {
        let mut bounds: Vec<u64> = self
            .cameras
            .iter()
            .filter_map(|c| c.most)
            .map(Rate::as_bps)
            .collect();
        bounds.sort_unstable();
        let (mut left, mut sharing) = (rate.as_bps(), self.cameras.len() as u64);
        for bound in bounds {
            if sharing > 1 && bound < left / sharing {
                left -= bound;
                sharing -= 1;
            }
        }
        Rate::from_bps(left / sharing.max(1))
    }
}

//! Hand-over of participants to the other servers of the cluster, while this one drains
//! (docs/operate/cluster.md).

use super::Hub;
use super::state::{AdmissionState, message};
use crate::log::ServerEvent;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Longest time between two participants: the others' viewers see one new publication
/// after the other. Chosen by us.
const PACE: Duration = Duration::from_millis(200);
/// Share of the time to drain within which everybody has been asked once.
const SHARE: u32 = 2;
/// Time after which those who are still here are asked again: longer than a participant
/// takes to move. Chosen by us.
const AGAIN: Duration = Duration::from_secs(10);

impl Hub {
    /// Asks one participant after the other to move to another server, until `patience` is
    /// over or nobody is here. Those without an event stream, such as programs that publish
    /// over WHIP, cannot be asked.
    pub(crate) async fn hand_over(&self, patience: Duration) {
        loop {
            let rooms = self.movable();
            let count = rooms.values().map(BTreeSet::len).sum::<usize>();
            let share = patience / SHARE / u32::try_from(count.max(1)).unwrap_or(u32::MAX);
            let pace = PACE.min(share);
            for (room, ids) in rooms {
                let mut asked = BTreeMap::<String, usize>::new();
                for id in ids {
                    if let Some(node) = self.ask_to_move(&room, &id) {
                        *asked.entry(node).or_default() += 1;
                        tokio::time::sleep(pace).await;
                    }
                }
                for (node, participants) in asked {
                    let room = room.clone();
                    self.log.emit(|| ServerEvent::HandedOver {
                        room,
                        node,
                        participants,
                    });
                }
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Participants with an event stream, by room.
    fn movable(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut rooms = BTreeMap::<String, BTreeSet<String>>::new();
        for feed in &self.lock().feeds {
            let room = rooms.entry(feed.room.clone()).or_default();
            room.insert(feed.participant.clone());
        }
        rooms
    }

    /// Asks a participant to move; returns the name of the other server, if one has room.
    fn ask_to_move(&self, room: &str, id: &str) -> Option<String> {
        let target = self.target_for(room)?;
        let mut state = self.lock();
        if state.admission != AdmissionState::Draining {
            return None;
        }
        let asked = message("move", &json!({"url": target.url, "node": target.node}));
        let own = |room_of: &str, id_of: &str| room_of == room && id_of == id;
        let mut is_asked = false;
        state.feeds.retain(|feed| {
            let is_own = own(&feed.room, &feed.participant);
            let stays = !is_own || feed.sender.try_send(asked.clone()).is_ok();
            is_asked |= is_own && stays;
            stays
        });
        is_asked.then_some(target.node)
    }
}

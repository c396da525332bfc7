//! Hand-over of participants to the other servers of the cluster, while this one drains
//! (docs/operate/cluster.md).

use super::Hub;
use super::resources::Resource;
use super::state::{AdmissionState, message};
use crate::auth::{Gate, Pass};
use crate::log::ServerEvent;
use crate::media_plane::ResourceId;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};
use weft_rooms::ParticipantKind;

/// Maximum interval between two participants: the others' viewers see one new publication
/// after the other. Chosen by us.
const PACE: Duration = Duration::from_millis(200);
/// Share of the draining time, as a divisor, within which everybody has been asked once.
const SHARE: u32 = 2;
/// Time after which participants who are still here are asked again: longer than a
/// participant takes to move. Chosen by us.
const AGAIN: Duration = Duration::from_secs(10);
/// Time for which the server redirects programs whose connections it has ended. Chosen by
/// us: OBS retries after 2 s, then after twice as long each time.
const RETURN: Duration = Duration::from_secs(10);

impl Hub {
    /// Asks one participant after the other to move to another server, until `patience`
    /// expires or nobody is here. Those without an event stream, such as programs that
    /// publish over WHIP, cannot be asked.
    pub(super) async fn hand_over(&self, gate: &Gate, patience: Duration) {
        loop {
            let rooms = self.movable();
            let count = rooms.values().map(BTreeSet::len).sum::<usize>();
            let share = patience / SHARE / u32::try_from(count.max(1)).unwrap_or(u32::MAX);
            let pace = PACE.min(share);
            for (room, ids) in rooms {
                let mut asked = BTreeMap::<String, usize>::new();
                for id in ids {
                    if let Some(node) = self.ask_to_move(gate, &room, &id) {
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

    /// Ends the connections of participants without an event stream after half of
    /// `patience`, one after the other, if another server has capacity: their programs
    /// reconnect and are redirected, but would find nobody after the end of this server.
    pub(super) async fn end_programs(&self, patience: Duration) {
        tokio::select! {
            () = self.until_empty() => return,
            () = tokio::time::sleep(patience / SHARE) => {}
        }
        let programs = self.programs();
        if programs.is_empty() {
            return;
        }
        let share = patience / SHARE / SHARE;
        let count = u32::try_from(programs.len()).unwrap_or(u32::MAX);
        let mut any = false;
        for (resource, room) in programs {
            if self.target_for(&room).is_some() {
                self.close(&resource);
                any = true;
                tokio::time::sleep(PACE.min(share / count)).await;
            }
        }
        if any {
            tokio::time::sleep(RETURN).await;
        }
    }

    /// Waits until all participants have left.
    pub(super) async fn until_empty(&self) {
        let mut population = self.population.subscribe();
        // The hub itself holds the sender, so this cannot fail.
        let _ = population.wait_for(|count| *count == 0).await;
    }

    /// Media connections of participants without an event stream, with their rooms.
    fn programs(&self) -> Vec<(ResourceId, String)> {
        let state = self.lock();
        let has_feed = |resource: &Resource| {
            let mut feeds = state.feeds.iter();
            feeds.any(|f| f.room == resource.room && f.participant == resource.participant)
        };
        let all = state.resources.iter();
        let programs = all.filter(|(_, resource)| !has_feed(resource));
        programs
            .map(|(id, resource)| (id.clone(), resource.room.clone()))
            .collect()
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

    /// Asks a participant to move; returns the name of the other server, if one has capacity.
    fn ask_to_move(&self, gate: &Gate, room: &str, id: &str) -> Option<String> {
        let target = self.target_for(room)?;
        let mut state = self.lock();
        if state.admission != AdmissionState::Draining {
            return None;
        }
        let who = state.registry.presence(room, id)?.participant;
        let is_page = who.kind == ParticipantKind::Browser;
        let own = |room_of: &str, id_of: &str| room_of == room && id_of == id;
        let mut is_asked = false;
        state.feeds.retain(|feed| {
            if !own(&feed.room, &feed.participant) {
                return true;
            }
            let mut asked = json!({"url": target.url, "node": target.node});
            if is_page {
                // The page's script cannot read the token in its cookie.
                let own = (feed.origin.grant.as_ref(), feed.origin.standing);
                match gate.pass(room, own, SystemTime::now()) {
                    Pass::Token(token) => asked["token"] = token.into(),
                    Pass::NotNeeded => {}
                    Pass::Impossible => return true,
                }
            }
            let stays = feed.sender.try_send(message("move", &asked)).is_ok();
            is_asked |= stays;
            stays
        });
        is_asked.then_some(target.node)
    }
}

//! Rooms that span several servers: messages from this server to the others about its
//! participants.

use super::bars::Bar;
use super::state::State;
use super::vacancies::Vacancies;
use super::{Hub, Message};
use crate::auth::TokenId;
use crate::cluster_counts::ClusterCounts;
use crate::hub::state::message;
use crate::media_plane::ResourceId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{mpsc, oneshot};
use weft_rooms::{
    Change, ChatMessage, Presence, Reaction, Recorder, RoomSettings, SettingsVersion,
};
use weft_units::Duration;

/// Event for the other servers of the cluster. Each can be repeated without harm, so a server
/// that receives a whole room may also receive events that the room already includes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum ClusterEvent {
    /// Participant of the sender, or a change of one.
    Present {
        room: String,
        presence: Presence,
    },
    /// A participant has left the sender.
    Left {
        room: String,
        id: String,
    },
    Said {
        room: String,
        message: ChatMessage,
    },
    Reacted {
        room: String,
        id: String,
        reaction: Reaction,
    },
    Settings {
        room: String,
        settings: RoomSettings,
        version: SettingsVersion,
    },
    /// Server that records a room.
    Recorder {
        room: String,
        recorder: Recorder,
    },
    /// Message for the moderators of a room about its recording.
    RecordingError {
        room: String,
        error: String,
    },
    /// The bar applies for this many milliseconds.
    Barred {
        room: String,
        bar: Bar,
        millis: u64,
    },
    /// The operator closed a room for this many milliseconds.
    Closed {
        room: String,
        millis: u64,
    },
    /// A token that ends at this time, in seconds since 1970, was revoked.
    Revoked {
        token: TokenId,
        until: u64,
    },
}

/// Request to the server of a participant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ActionWanted {
    pub(crate) room: String,
    pub(crate) id: String,
    pub(crate) action: Action,
}

/// Removal of a participant from this server.
pub(crate) struct Removal {
    /// Id of the participant.
    pub(crate) id: String,
    /// Signed token of the participant to be revoked, because no other participant inside has it.
    pub(crate) token: Option<TokenId>,
}

/// Action of a moderator on a participant of another server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    Mute,
    Admit,
    /// Removal, and the time for which the operator keeps them out; for a moderator's
    /// removal, their token determines the time.
    Remove {
        millis: Option<u64>,
    },
}

/// Recordings of each of the other servers, as the HTTP interface lists them; `None` for a
/// server that does not answer.
pub(crate) type RecordingsElsewhere = Vec<(String, Option<Vec<Value>>)>;

/// Message of the hub to its cluster.
pub(crate) enum ClusterNotice {
    /// Event for the other servers.
    Event(ClusterEvent),
    /// Request to this server.
    Action(String, ActionWanted),
    /// Request for the recordings of a room, or of all, on the other servers.
    Recordings(Option<String>, oneshot::Sender<RecordingsElsewhere>),
    /// The publications that have viewers here may have changed.
    Viewers,
    /// A media connection to another server has ended.
    Ended(ResourceId),
}

/// Sender of messages to the cluster.
pub(crate) struct Cluster {
    /// Name of this server.
    node: String,
    notices: mpsc::UnboundedSender<ClusterNotice>,
    /// Whether [`ClusterNotice::Viewers`] has been sent but not handled.
    pub(super) is_noticed: AtomicBool,
    /// Whether the others can be heard.
    pub(super) is_reachable: AtomicBool,
    counts: ClusterCounts,
    pub(super) vacancies: Vacancies,
}

impl Cluster {
    pub(crate) fn new(
        node: String,
        vacancies: Vacancies,
        notices: mpsc::UnboundedSender<ClusterNotice>,
    ) -> Cluster {
        Cluster {
            node,
            notices,
            is_noticed: AtomicBool::new(false),
            is_reachable: AtomicBool::new(true),
            counts: ClusterCounts::default(),
            vacancies,
        }
    }

    fn send(&self, event: ClusterEvent) {
        self.notice(ClusterNotice::Event(event));
    }

    /// The receiver is gone while the server ends.
    pub(super) fn notice(&self, notice: ClusterNotice) {
        let _ = self.notices.send(notice);
    }
}

impl Hub {
    /// Makes this server a member of a cluster.
    pub(crate) fn in_cluster(self, cluster: Option<Cluster>) -> Hub {
        Hub { cluster, ..self }
    }

    /// Statistics of the cluster, if this server is in one.
    pub(crate) fn cluster_counts(&self) -> Option<&ClusterCounts> {
        Some(&self.cluster.as_ref()?.counts)
    }

    /// Name of this server in its cluster; empty for a single server.
    pub(super) fn own_name(&self) -> &str {
        self.cluster.as_ref().map_or("", |cluster| &cluster.node)
    }

    /// Name of this server for the operator's programs; `None` for a single server.
    pub(crate) fn server_name(&self) -> Option<String> {
        Some(self.cluster.as_ref()?.node.clone())
    }

    pub(super) fn cluster(&self) -> Option<&Cluster> {
        self.cluster.as_ref()
    }

    pub(super) fn vacancies(&self) -> Option<&Vacancies> {
        Some(&self.cluster.as_ref()?.vacancies)
    }

    /// Whether this server is in a cluster and can hear the others.
    pub(crate) fn hears_others(&self) -> bool {
        let cluster = self.cluster.as_ref();
        cluster.is_some_and(|cluster| cluster.is_reachable.load(Ordering::Relaxed))
    }

    /// Notifies the cluster that viewers may have changed.
    pub(super) fn notice_viewers(&self) {
        if let Some(cluster) = &self.cluster
            && !cluster.is_noticed.swap(true, Ordering::Relaxed)
        {
            cluster.notice(ClusterNotice::Viewers);
        }
    }

    /// Notifies the cluster of the end of a connection that does not belong to a client.
    pub(super) fn notice_end(&self, resource: &ResourceId) {
        if let Some(cluster) = &self.cluster {
            cluster.notice(ClusterNotice::Ended(resource.clone()));
        }
    }

    pub(super) fn tell(&self, event: impl FnOnce() -> ClusterEvent) {
        if let Some(cluster) = &self.cluster {
            cluster.send(event());
        }
    }

    /// Reports a change to the other servers; `is_ours` if its participant is here.
    pub(super) fn tell_change(&self, state: &State, room: &str, change: &Change, is_ours: bool) {
        if self.cluster.is_none() {
            return;
        }
        let in_room = || room.to_owned();
        let ids: Vec<String> = match change {
            Change::Waiting => {
                let waiting = state.registry.waiting(room).into_iter();
                waiting.map(|who| who.id.clone()).collect()
            }
            Change::Joined(who) | Change::Changed(who) if is_ours => vec![who.id.clone()],
            Change::Links { id, .. } if is_ours => vec![id.clone()],
            _ => Vec::new(),
        };
        for id in ids {
            if let Some(presence) = state.registry.presence(room, &id) {
                let room = in_room();
                self.tell(|| ClusterEvent::Present { room, presence });
            }
        }
        match change {
            Change::Left { id } | Change::Withdrawn { id } if is_ours => {
                let (room, id) = (in_room(), id.clone());
                self.tell(|| ClusterEvent::Left { room, id });
            }
            Change::Said(message) if is_ours => {
                let (room, message) = (in_room(), message.clone());
                self.tell(|| ClusterEvent::Said { room, message });
            }
            Change::Reacted { id, reaction } if is_ours => {
                let (room, id, reaction) = (in_room(), id.clone(), *reaction);
                self.tell(|| ClusterEvent::Reacted { room, id, reaction });
            }
            _ => {}
        }
    }

    /// Reports settings that a moderator here has changed to the other servers.
    pub(super) fn tell_settings(&self, state: &mut State, room: &str) {
        if let Some(cluster) = &self.cluster {
            let version = state.registry.stamp_settings(room, &cluster.node);
            cluster.send(ClusterEvent::Settings {
                room: room.to_owned(),
                settings: state.registry.settings(room),
                version,
            });
        }
    }

    pub(super) fn tell_bar(&self, room: &str, bar: Bar, length: Duration) {
        let (room, millis) = (room.to_owned(), length.as_millis());
        self.tell(|| ClusterEvent::Barred { room, bar, millis });
    }

    pub(super) fn tell_closed(&self, room: &str, length: Duration) {
        let (room, millis) = (room.to_owned(), length.as_millis());
        self.tell(|| ClusterEvent::Closed { room, millis });
    }

    /// Requests an action from the server of a participant; returns whether they are on
    /// another one.
    pub(super) fn asks_elsewhere(
        &self,
        state: &State,
        (room, id): (&str, &str),
        action: Action,
    ) -> bool {
        let Some(node) = state.registry.server_of(room, id) else {
            return false;
        };
        if let Some(cluster) = &self.cluster {
            let (room, id) = (room.to_owned(), id.to_owned());
            let wanted = ActionWanted { room, id, action };
            cluster.notice(ClusterNotice::Action(node.to_owned(), wanted));
        }
        true
    }

    /// Message for a newcomer while the other servers cannot be heard.
    pub(super) fn warning(&self) -> Option<Message> {
        let cluster = self.cluster.as_ref()?;
        let is_reachable = cluster.is_reachable.load(Ordering::Relaxed);
        (!is_reachable).then(|| cluster_message(false))
    }
}

pub(super) fn cluster_message(is_reachable: bool) -> Message {
    message("cluster", &json!({ "reachable": is_reachable }))
}

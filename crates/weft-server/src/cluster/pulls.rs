//! Media from other servers. A server whose participants view a publication on another server
//! plays it once, like any player, and publishes it here to all of them. So keyframe requests,
//! rates, repair and several paths work between servers as they do towards players.
//!
//! Descriptions are exchanged over NATS: the publisher's server offers to send, this one
//! answers, and both check the other's addresses.

use super::fetch::{PATIENCE, request};
use super::message::{Accept, Offered, Pull};
use crate::hub::{Hub, PullWanted};
use crate::media_plane::{Destination, Media, MediaError, Play, Publish, ResourceId};
use crate::secret::unguessable;
use async_nats::Client;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::time::timeout;
use weft_rooms::Publishing;
use weft_units::Instant;

/// Pause after a failed pull. Chosen by us.
const AGAIN: weft_units::Duration = weft_units::Duration::from_millis(500);

/// Publications of other servers that have viewers here.
pub(super) struct Pulls {
    pub(super) hub: Arc<Hub>,
    pub(super) client: Client,
    /// Start of the names of all subjects.
    pub(super) prefix: String,
    /// By room and id of the publisher.
    pub(super) all: BTreeMap<(String, String), Running>,
    pub(super) outcomes: mpsc::Sender<Pulled>,
}

/// Publication that is being pulled.
pub(super) struct Running {
    node: String,
    /// Tracks that were published when it started.
    published: Publishing,
    /// `None` after a failure.
    resource: Option<ResourceId>,
    /// Tracks of the connection; `None` before it is negotiated.
    carried: Option<Publishing>,
    /// Time of the next attempt after a failure.
    again: Instant,
}

/// Result of negotiating a pull: the tracks, or nothing after a failure.
pub(super) struct Pulled {
    resource: ResourceId,
    carried: Option<Publishing>,
}

impl Pulls {
    /// Starts and ends pulls, so that there is one for each publication on another server
    /// that has players here.
    pub(super) fn look(&mut self) {
        let now = self.hub.now();
        let wanted = self.hub.pulls_wanted();
        let mut ended = Vec::new();
        self.all.retain(|place, running| {
            let found = wanted.get(place);
            let fits = found.is_some_and(|wanted| running.fits(wanted));
            if !fits {
                ended.extend(running.resource.take());
            }
            fits
        });
        for resource in ended {
            self.hub.media().close(resource);
        }
        for (place, wanted) in wanted {
            let known = self.all.get(&place);
            if known.is_none_or(|running| running.resource.is_none() && running.again <= now) {
                self.start(place, wanted, now);
            }
        }
        self.count();
    }

    fn count(&self) {
        if let Some(counts) = self.hub.cluster_counts() {
            let running = self.all.values().filter(|pull| pull.resource.is_some());
            counts.pulls.set(running.count());
        }
    }

    fn start(&mut self, (room, id): (String, String), wanted: PullWanted, now: Instant) {
        let PullWanted { node, publishing } = wanted;
        let resource = ResourceId(unguessable());
        self.hub.media().place(&resource, &room, &id);
        let running = Running {
            node: node.clone(),
            published: publishing,
            resource: Some(resource.clone()),
            carried: None,
            again: now,
        };
        self.all.insert((room.clone(), id.clone()), running);
        let client = self.client.clone();
        let subject = |what: &str| format!("{}.{what}.{node}", self.prefix);
        let subjects = [subject("pull"), subject("accept")];
        let (hub, outcomes) = (Arc::clone(&self.hub), self.outcomes.clone());
        tokio::spawn(async move {
            let pull = Pull { room, id };
            let carried = negotiate(&hub, &client, &subjects, pull, resource.clone()).await;
            let _ = outcomes.send(Pulled { resource, carried }).await;
        });
    }

    /// Handles the result of negotiating a pull.
    pub(super) fn take(&mut self, pulled: Pulled) {
        match pulled.carried {
            None => self.end(&pulled.resource),
            Some(carried) => {
                if let Some(running) = self.find(&pulled.resource) {
                    running.carried = Some(carried);
                }
            }
        }
    }

    /// Handles the end of a connection: it is established again while it has players.
    pub(super) fn end(&mut self, resource: &ResourceId) {
        let again = self.hub.now() + AGAIN;
        if let Some(running) = self.find(resource) {
            running.resource = None;
            running.again = again;
            self.hub.media().close(resource.clone());
            if let Some(counts) = self.hub.cluster_counts() {
                counts.failed.add_one();
            }
            self.count();
        }
    }

    fn find(&mut self, resource: &ResourceId) -> Option<&mut Running> {
        let mut all = self.all.values_mut();
        all.find(|running| running.resource.as_ref() == Some(resource))
    }
}

impl Running {
    /// Whether the connection carries all published tracks, or as many as it could when
    /// it started.
    fn fits(&self, wanted: &PullWanted) -> bool {
        let has_all = |known: &Publishing| !wanted.publishing.has_more_than(known);
        let is_whole = has_all(&self.published) || self.carried.as_ref().is_some_and(has_all);
        self.node == wanted.node && is_whole
    }
}

/// Establishes the connection of a pull; returns its tracks.
async fn negotiate(
    hub: &Hub,
    client: &Client,
    [pull_subject, accept_subject]: &[String; 2],
    pull: Pull,
    resource: ResourceId,
) -> Option<Publishing> {
    let offered: Offered = request(client, pull_subject, &pull).await?;
    let publish = Publish {
        resource: resource.clone(),
        room: pull.room,
        participant: pull.id,
        offer: offered.sdp,
    };
    let to = Destination::Connection(&resource);
    let agreed = hub.media().ask(to, |media| media.pull(publish));
    let agreed = agreed.await.ok()?.ok()?;
    let accept = Accept {
        resource: offered.resource,
        sdp: agreed.sdp,
    };
    let is_accepted: bool = request(client, accept_subject, &accept).await?;
    is_accepted.then_some(agreed.streams)
}

/// Offers a publication of this server to another one.
pub(super) async fn offer(hub: Arc<Hub>, pull: Pull) -> Option<Offered> {
    let resource = ResourceId(unguessable());
    hub.media().place(&resource, &pull.room, &pull.id);
    let play = Play {
        resource: resource.clone(),
        room: pull.room,
        publisher: pull.id,
        offer: None,
    };
    let offered = asked(&hub, &resource, |media| media.share(play)).await;
    if offered.is_none() {
        hub.media().forget(&resource);
        if let Some(counts) = hub.cluster_counts() {
            counts.refused.add_one();
        }
    }
    Some(Offered {
        resource: resource.0,
        sdp: offered?.sdp,
    })
}

/// Accepts the answer of the other server; returns whether it is usable.
pub(super) async fn accept(hub: Arc<Hub>, accept: Accept) -> bool {
    let resource = ResourceId(accept.resource);
    let id = resource.clone();
    let taken = asked(&hub, &resource, move |media| media.answer(id, accept.sdp));
    taken.await.is_some()
}

async fn asked<T: Send + 'static>(
    hub: &Hub,
    resource: &ResourceId,
    question: impl FnOnce(&mut dyn Media) -> Result<T, MediaError> + Send + 'static,
) -> Option<T> {
    let answer = hub.media().ask(Destination::Connection(resource), question);
    timeout(PATIENCE, answer).await.ok()?.ok()?.ok()
}

//! Requests to other servers, including those for their state.

use super::message::{Ask, Page, Place};
use async_nats::Client;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use weft_rooms::RoomState;

/// Time limit for a server's answer. Chosen by us.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// Requests for the state of other servers.
pub(super) struct Fetch {
    pub(super) client: Client,
    pub(super) prefix: String,
    pub(super) fetched: mpsc::Sender<Fetched>,
}

/// Part of the state of another server.
pub(super) struct Fetched {
    pub(super) node: String,
    pub(super) run: String,
    pub(super) page: Page,
    /// Names of the rooms on all pages so far.
    pub(super) rooms: Vec<String>,
    pub(super) outcome: Outcome,
}

pub(super) enum Outcome {
    More,
    /// The state includes this many events.
    Complete {
        sent: u64,
    },
    Failed,
}

impl Fetch {
    /// Requests a server's state, page by page.
    pub(super) fn start(&self, node: String, run: String) {
        let client = self.client.clone();
        let subject = format!("{}.ask.{node}", self.prefix);
        let fetched = self.fetched.clone();
        tokio::spawn(async move {
            let mut ask = Ask {
                run: run.clone(),
                after: Place::Start,
            };
            let mut rooms = Vec::new();
            let mut sent = None;
            loop {
                let page: Option<Page> = request(&client, &subject, &ask).await;
                let failed = page.is_none();
                let page = page.unwrap_or_default();
                let sent = *sent.get_or_insert(page.sent);
                rooms.extend(
                    page.rooms
                        .iter()
                        .map(|state: &RoomState| state.room.clone()),
                );
                let outcome = match &page.next {
                    _ if failed => Outcome::Failed,
                    Some(next) => {
                        ask.after = next.clone();
                        Outcome::More
                    }
                    None => Outcome::Complete { sent },
                };
                let is_last = !matches!(outcome, Outcome::More);
                let part = Fetched {
                    node: node.clone(),
                    run: run.clone(),
                    page,
                    rooms: rooms.clone(),
                    outcome,
                };
                if fetched.send(part).await.is_err() || is_last {
                    return;
                }
            }
        });
    }
}

/// Sends a request and returns the answer; `None` if none arrived in time.
pub(super) async fn request<T: DeserializeOwned>(
    client: &Client,
    subject: &str,
    message: &impl Serialize,
) -> Option<T> {
    let json = serde_json::to_vec(message).ok()?;
    let answer = client.request(subject.to_owned(), json.into());
    let answer = timeout(PATIENCE, answer).await.ok()?.ok()?;
    serde_json::from_slice(&answer.payload).ok()
}

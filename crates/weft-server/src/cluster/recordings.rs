//! Lists of the recordings on the other servers of the cluster.

use super::fetch::request;
use crate::hub::{Hub, RecordingsElsewhere};
use crate::recorder::list;
use async_nats::Client;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// Number of bytes of indexes after which a page ends. NATS accepts a megabyte by default.
const PAGE: usize = 256 * 1024;
/// Maximum length of an index that is sent with the list, in bytes.
const LONGEST_INDEX: usize = 512 * 1024;
/// Maximum number of pages from a server. Chosen by us: far more than people read.
const MOST_PAGES: usize = 100;

/// Request for a part of the recordings of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordingsWanted {
    /// Name of the room; `None` for all.
    pub(super) room: Option<String>,
    /// Id of the last recording on the previous page.
    pub(super) after: Option<String>,
}

/// Part of the recordings of a server, as `GET /api/rooms/ROOM/recordings` lists them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct RecordingsPage {
    recordings: Vec<Value>,
    /// Id of the last one, if there are more.
    next: Option<String>,
}

/// Requests the recordings of these servers, all at once.
pub(super) async fn ask_all(
    (client, prefix): (Client, String),
    nodes: Vec<String>,
    room: Option<String>,
    reply: oneshot::Sender<RecordingsElsewhere>,
) {
    let mut asked = JoinSet::new();
    for node in nodes {
        let (client, room) = (client.clone(), room.clone());
        let subject = format!("{prefix}.recordings.{node}");
        asked.spawn(async move { (node, ask(&client, &subject, room).await) });
    }
    let mut answers = asked.join_all().await;
    answers.sort_by(|(one, _), (two, _)| one.cmp(two));
    // The client may be gone.
    let _ = reply.send(answers);
}

/// Returns the recordings of a server; `None` if it does not answer.
async fn ask(client: &Client, subject: &str, room: Option<String>) -> Option<Vec<Value>> {
    let mut all = Vec::new();
    let mut wanted = RecordingsWanted { room, after: None };
    for _ in 0..MOST_PAGES {
        let page: RecordingsPage = request(client, subject, &wanted).await?;
        all.extend(page.recordings);
        match page.next {
            Some(next) => wanted.after = Some(next),
            None => break,
        }
    }
    Some(all)
}

/// Returns a part of our recordings; `None` if the disk cannot be read.
pub(super) async fn page(hub: Arc<Hub>, wanted: RecordingsWanted) -> Option<impl Serialize> {
    let folder = hub
        .media()
        .recorder()
        .map(|recorder| recorder.folder().to_owned());
    let Some(folder) = folder else {
        return Some(RecordingsPage::default());
    };
    let read = move || page_of(&folder, &wanted);
    tokio::task::spawn_blocking(read).await.ok()?.ok()
}

fn page_of(folder: &std::path::Path, wanted: &RecordingsWanted) -> std::io::Result<RecordingsPage> {
    let all = list(folder, wanted.room.as_deref())?;
    let is_new = |id: &String| wanted.after.as_ref().is_none_or(|after| id > after);
    let mut new = all.into_iter().filter(|(id, _)| is_new(id)).peekable();
    let (mut page, mut size) = (RecordingsPage::default(), 0);
    while let Some((id, index)) = new.next() {
        let index = json!(index);
        let length = index.to_string().len();
        page.recordings.push(match length > LONGEST_INDEX {
            true => json!({ "id": id }),
            false => json!({ "id": id, "index": index }),
        });
        size += length.min(LONGEST_INDEX);
        if size >= PAGE && new.peek().is_some() {
            page.next = Some(id);
            break;
        }
    }
    Ok(page)
}

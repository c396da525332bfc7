//! Rooms whose recording is running.

use super::state::State;
use crate::log::{Log, ServerEvent};
use crate::media_plane::MediaPlane;
use tokio::sync::oneshot;
use weft_rooms::Change;

/// Ends the recording of a room. The answer comes when the files are complete; `None`
/// without a recording.
pub(super) fn end(
    media: &(dyn MediaPlane + 'static),
    log: &Log,
    state: &mut State,
    room: &str,
) -> Option<oneshot::Receiver<()>> {
    if !state.recorded.remove(room) {
        return None;
    }
    media.set_recorded(room, false);
    let stopped = media.recorder().map(|recorder| recorder.stop(room));
    state.registry.set_recorded(room, false);
    log.emit(|| ServerEvent::RecordingStopped {
        room: room.to_owned(),
    });
    stopped
}

/// Tells the recorder who is in a recorded room; its recording ends with the room.
pub(super) fn follow(
    media: &(dyn MediaPlane + 'static),
    log: &Log,
    state: &mut State,
    (room, change): (&str, &Change),
) {
    if !state.recorded.contains(room) {
        return;
    }
    match change {
        Change::Joined(who) | Change::Changed(who) => {
            if let Some(recorder) = media.recorder() {
                recorder.set_name(room, &who.id, &who.name);
            }
        }
        Change::Left { .. } | Change::Withdrawn { .. }
            if !state.registry.rooms().any(|other| other == room) =>
        {
            end(media, log, state, room);
        }
        _ => {}
    }
}

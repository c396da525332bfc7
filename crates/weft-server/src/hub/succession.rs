//! Recordings that move from one server of the cluster to another.

use super::Hub;
use super::recorded::notify_of_recording;
use std::time::Duration;
use tokio::time::timeout;

/// Time for which a draining server continues a recording that another one has started:
/// longer than connections to the publishers take. Chosen by us.
const OVERLAP: Duration = Duration::from_secs(3);
/// Maximum time to complete files when the server ends. Chosen by us.
const COMPLETION: Duration = Duration::from_secs(2);

impl Hub {
    /// Finds other recorders for the rooms of servers that have gone. Tells all servers the
    /// choice: a server that drains cannot record and passes the recording on, and the others
    /// may not know yet that it drains.
    pub(crate) fn replace_recorders(&self) {
        let Some(vacancies) = self.vacancies() else {
            return;
        };
        let mut state = self.lock();
        let nodes = vacancies.nodes();
        let is_gone = |node: &str| node != self.own_name() && !nodes.contains(node);
        let rooms = state.registry.rooms().filter_map(|room| {
            let node = state.registry.recorder(room).filter(|node| is_gone(node))?;
            Some((room.to_owned(), node.to_owned()))
        });
        for (room, gone) in rooms.collect::<Vec<_>>() {
            match self.best_recorder(&state, &room) {
                Some(node) => {
                    self.set_recorder(&mut state, &room, Some(&node));
                    self.follow_recorder(&mut state, &room);
                }
                None => {
                    self.set_recorder(&mut state, &room, None);
                    let error = format!(
                        "The server {gone}, which recorded, is gone. \
                         What it recorded before is kept there."
                    );
                    notify_of_recording(&mut state, &room, &error);
                }
            }
        }
        self.publish_changes(&mut state);
    }

    /// Passes the recordings of this draining server to other servers of the cluster.
    /// Both record for a while, so that nothing is missing.
    pub(super) async fn pass_recordings_on(&self) {
        if self.hand_recorders_on() {
            tokio::time::sleep(OVERLAP).await;
            self.complete_recordings().await;
        }
    }

    /// Makes other servers the recorders of the rooms that this one records; returns
    /// whether there are any.
    fn hand_recorders_on(&self) -> bool {
        let mut state = self.lock();
        let own = self.own_name().to_owned();
        let mut any = false;
        for room in state.recorded.clone() {
            let other = self.best_recorder(&state, &room);
            if let Some(other) = other.filter(|other| *other != own) {
                self.set_recorder(&mut state, &room, Some(&other));
                any = true;
            }
        }
        self.publish_changes(&mut state);
        any
    }

    /// Ends the recordings that other servers have taken over, and waits until their
    /// files are complete and the webhook's target is informed.
    async fn complete_recordings(&self) {
        let Some(recorder) = self.media.recorder() else {
            return;
        };
        {
            let mut state = self.lock();
            for room in state.recorded.clone() {
                let other = state.registry.recorder(&room);
                if other.is_some_and(|other| other != self.own_name()) {
                    self.end_recording(&mut state, &room, true);
                }
            }
            self.publish_changes(&mut state);
        }
        let _ = timeout(COMPLETION, recorder.flush()).await;
    }
}

#[cfg(test)]
mod tests;

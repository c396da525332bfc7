//! End of the server: it refuses newcomers, then everybody.

use super::Hub;
use super::state::{AdmissionState, message};
use crate::auth::Gate;
use crate::log::ServerEvent;
use serde_json::json;
use std::time::Duration;

impl Hub {
    /// Closes all event streams, at the end of the server.
    pub(crate) fn shut(&self) {
        let mut state = self.lock();
        state.admission = AdmissionState::Shut;
        state.feeds.clear();
    }

    /// Admits no more newcomers, and informs the present participants how long they may stay.
    pub(crate) fn drain(&self, patience: Duration) {
        let mut state = self.lock();
        state.admission = AdmissionState::Draining;
        let seconds = patience.as_secs();
        let stopping = message("stopping", &json!({ "seconds": seconds }));
        state
            .feeds
            .retain(|feed| feed.sender.try_send(stopping.clone()).is_ok());
        self.log.emit(|| ServerEvent::Draining { seconds });
    }

    /// Whether newcomers may enter, as far as it depends on the end of the server.
    pub(crate) fn admits_newcomers(&self) -> bool {
        self.lock().admission == AdmissionState::Open
    }

    /// Hands the participants over to other servers, with tokens of `gate` for pages, and
    /// waits up to `patience` until they have left.
    pub(crate) async fn until_drained(&self, gate: &Gate, patience: Duration) {
        let recordings = tokio::time::timeout(patience, self.pass_recordings_on());
        let participants = async {
            tokio::select! {
                () = self.until_empty() => {}
                () = self.hand_over(gate, patience) => {}
                () = tokio::time::sleep(patience) => {}
            }
        };
        let programs = tokio::time::timeout(patience, self.end_programs(patience));
        let _ = tokio::join!(recordings, participants, programs);
    }
}

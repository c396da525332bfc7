//! Requests for the reception of a room: one connection for all received media.

use super::error::SignallingError;
use super::exchange::{AttemptTimeouts, MAX_DESCRIPTION};
use super::room::{Room, escaped, secret};
use super::viewing::read_viewing;
use super::{Created, Identity, ViewedCamera, Viewing};

impl Room {
    /// Starts to receive the room as our own participant; returns the server's offer.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn receive(&self, own: &Identity) -> Result<Created, SignallingError> {
        let (base, room, id) = (self.base(), &self.room, escaped(&own.id));
        let url = format!("{base}/api/rooms/{room}/reception?participant={id}");
        self.resources
            .create("to receive", &url, secret(Some(own)), "")
    }

    /// Answers an offer of the reception.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn answer(&self, location: &str, answer: &str) -> Result<(), SignallingError> {
        self.resources.answer(location, answer)
    }

    /// Sends the cameras that we want, the most important one first.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn put_view(
        &self,
        location: &str,
        cameras: &[ViewedCamera],
    ) -> Result<Viewing, SignallingError> {
        let view = serde_json::json!({ "cameras": cameras }).to_string();
        let url = format!("{}/view", self.resources.resolve(&self.base(), location)?);
        let send = |timeouts: AttemptTimeouts| {
            let request = timeouts.apply(self.exchange().agent.put(&url));
            let request = request.header("Content-Type", "application/json");
            self.resources.authorized(request).send(&view)
        };
        let answered = self.exchange().ask(
            "the list of wanted cameras",
            Some("application/json"),
            send,
            |mut response, _| {
                let body = response.body_mut().with_config().limit(MAX_DESCRIPTION);
                body.read_to_string()
            },
        )?;
        Ok(read_viewing(&answered)
            .map(|(_, viewing)| viewing)
            .unwrap_or_default())
    }
}

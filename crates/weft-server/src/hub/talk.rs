//! Chat, raised hands, reactions and names of participants in a room.

use super::state::State;
use super::{Arrival, Hub};
use crate::problem::Problem;
use crate::secret::proof_of;
use axum::http::StatusCode;
use std::time::{SystemTime, UNIX_EPOCH};
use weft_rooms::{Hand, Reaction, Saying};

impl Hub {
    /// Sends a participant's message to the room; returns its id.
    pub(crate) fn say(
        &self,
        who: &Arrival<'_>,
        text: &str,
        key: Option<&str>,
    ) -> Result<String, Problem> {
        let mut state = self.lock();
        let id = inside(&state, who)?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since.unwrap_or_default().as_millis();
        let at = u64::try_from(millis).unwrap_or(u64::MAX);
        let saying = Saying { text, key, at };
        saying.check()?;
        let now = self.clock.now();
        if !state.registry.has_said(who.room, id, key) {
            state.check_talk(who.room, id, now)?;
        }
        let said = state.registry.say(now, (who.room, id), &saying)?;
        self.publish_changes(&mut state);
        said.ok_or_else(Problem::no_resource)
    }

    /// Raises or lowers a participant's hand.
    pub(crate) fn set_hand(&self, who: &Arrival<'_>, hand: Hand) -> Result<(), Problem> {
        let mut state = self.lock();
        let id = inside(&state, who)?;
        state.check_pace(who.room, id, self.clock.now())?;
        state.registry.set_hand(who.room, id, hand);
        self.publish_changes(&mut state);
        Ok(())
    }

    /// Shows a participant's reaction to the room.
    pub(crate) fn react(&self, who: &Arrival<'_>, reaction: Reaction) -> Result<(), Problem> {
        let mut state = self.lock();
        let id = inside(&state, who)?;
        state.check_talk(who.room, id, self.clock.now())?;
        state.registry.react(who.room, id, reaction);
        self.publish_changes(&mut state);
        Ok(())
    }

    /// Gives a participant another name; returns the displayed one.
    pub(crate) fn rename(&self, who: &Arrival<'_>, name: &str) -> Result<String, Problem> {
        let mut state = self.lock();
        let id = inside(&state, who)?;
        state.check_pace(who.room, id, self.clock.now())?;
        let shown = state.registry.set_name(who.room, id, name)?;
        self.publish_changes(&mut state);
        Ok(shown)
    }
}

/// Returns the id of an arrival who proves to be in the room.
pub(super) fn inside<'a>(state: &State, who: &Arrival<'a>) -> Result<&'a str, Problem> {
    let id = who.id.ok_or_else(|| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            "The request does not name the participant who sends it.",
            "Open the room's event stream first, and give its id with ?participant=.",
        )
    })?;
    let proof = who.secret.map(proof_of);
    state.registry.check_inside(who.room, id, proof)?;
    Ok(id)
}

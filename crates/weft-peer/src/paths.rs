//! Translation of the association's path events into inputs of the session.

use weft_ice::{DownReason, Event};
use weft_session::Input;

/// Returns the session's input for an event of a path; `None` if the session does not use it.
pub(crate) fn input(event: &Event) -> Option<Input<'static>> {
    match *event {
        Event::PathUp { path, rtt, .. } => Some(Input::PathUp { path, rtt }),
        Event::PathSilent { path } => Some(Input::PathSilent { path }),
        Event::PathDown { path, reason } => Some(match reason {
            DownReason::Unanswered | DownReason::Expired => Input::PathDown { path },
            // Another pair has replaced this one, so the session cannot choose between the two.
            DownReason::Removed | DownReason::Spare => Input::PathRemoved { path },
        }),
        Event::PathRemoved { path } => Some(Input::PathRemoved { path }),
        Event::Selected { .. } => None,
    }
}

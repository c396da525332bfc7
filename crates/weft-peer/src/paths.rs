//! Events of the association's paths, as inputs of the session.

use weft_ice::{DownReason, Event};
use weft_session::Input;

/// The session's input for an event of a path; `None` if the session has no use
/// for it.
pub(crate) fn input(event: &Event) -> Option<Input<'static>> {
    match *event {
        Event::PathUp { path, rtt, .. } => Some(Input::PathUp { path, rtt }),
        Event::PathSilent { path } => Some(Input::PathSilent { path }),
        Event::PathDown { path, reason } => Some(match reason {
            DownReason::Unanswered | DownReason::Expired => Input::PathDown { path },
            // Another pair has taken its place: the two are no choice.
            DownReason::Removed | DownReason::Spare => Input::PathRemoved { path },
        }),
        Event::PathRemoved { path } => Some(Input::PathRemoved { path }),
        Event::Selected { .. } => None,
    }
}

//! Connections to the server that we are leaving for another one.

use std::time::Instant;

use super::call_loop::CallLoop;
use super::handover::{Needs, Side};
use super::inbox::Ticket;
use crate::caller::{Command, News};
use crate::config::Receiving;
use crate::event::Event;

impl CallLoop {
    /// Handles news of a connection that is not a present one.
    pub(super) fn on_former(&mut self, ticket: Ticket, news: News) {
        let is_reception = self.handover.receives(ticket);
        match news {
            News::Frame {
                section, frame, at, ..
            } if is_reception => self.on_frame(Side::Former, section, frame, at),
            News::Frame { frame, .. } => self.mailbox.frames().release(frame.data.len()),
            News::Path { path, link, .. } if is_reception => {
                if let Some(reception) = self.handover.reception_mut() {
                    reception.on_path(path, link);
                }
            }
            _ => {}
        }
    }

    /// Leaves the former server once the new one carries everything.
    pub(super) fn look_at_handover(&mut self, now: Instant) {
        let is_inside = !self.own.waits;
        let needs = Needs {
            publishes: is_inside && !self.own.sections.is_empty(),
            receives: is_inside && self.own.receiving != Receiving::Nobody,
        };
        let own = self.own.identity.as_ref().map(|own| own.id.as_str());
        let present = (self.reception.connected, own);
        if self.handover.is_over(now, needs, present) {
            self.leave_former();
            self.emit(Event::Moved);
        }
    }

    /// Leaves the former server.
    pub(super) fn leave_former(&mut self) {
        let Some(former) = self.handover.take() else {
            return;
        };
        for connection in former.connections() {
            self.remote.send(Command::Close(connection.peer));
        }
        let (room, own) = (former.room, former.own);
        self.queues.farewells.push(move || {
            let _ = room.part(&own);
        });
        if let Some(wanted) = former.wanted {
            self.on_wanted(&wanted);
        }
        self.update_playing();
    }
}

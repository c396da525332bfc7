//! Diagnosis of links that carry no packets.

use std::thread;

use super::call_loop::CallLoop;
use super::inbox::CallMessage;
use crate::caller::PeerReport;
use crate::event::Event;
use crate::links::LinkTrouble;

impl CallLoop {
    /// Starts a diagnosis for each link that has stopped carrying packets, once
    /// per outage.
    pub(super) fn look_at_links(&mut self, reports: &[PeerReport]) {
        let faults = self.queues.room.link_faults();
        let found = self.diagnosis.look(reports, faults);
        for (link, trouble) in found.troubles {
            self.on_trouble(link, trouble);
        }
        for link in found.to_diagnose {
            let (room, mailbox) = (self.queues.room.clone(), self.mailbox.clone());
            thread::spawn(move || {
                let trouble = room.diagnose(&link);
                mailbox.send(CallMessage::Diagnosed(link, trouble));
            });
        }
    }

    pub(super) fn on_trouble(&mut self, link: String, trouble: LinkTrouble) {
        if self.diagnosis.find(&link, &trouble) {
            self.emit(Event::LinkTrouble { link, trouble });
        }
    }
}

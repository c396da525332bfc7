//! Diagnosis of links that carry nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use super::inbox::Wish;
use super::run::Conduct;
use crate::caller::PeerReport;
use crate::event::Event;
use crate::links::LinkTrouble;
use crate::signalling::LinkFault;

impl Conduct {
    /// Starts a diagnosis for each link that has stopped carrying packets, once
    /// per outage.
    pub(super) fn look_at_links(&mut self, reports: &[PeerReport]) {
        let is_up = |link: &str| reports.iter().any(|report| report.is_up(link));
        let silent = reports.iter().flat_map(|report| &report.silent);
        let silent: BTreeSet<String> = silent.filter(|link| !is_up(link)).cloned().collect();
        let faults = self.desks.room.link_faults().into_iter();
        let portals = faults.filter_map(|(link, fault)| match fault {
            LinkFault::Portal { answer } if !is_up(&link) => {
                Some((link, LinkTrouble::CaptivePortal { answer }))
            }
            _ => None,
        });
        let portals: BTreeMap<String, LinkTrouble> = portals.collect();
        let lasts = |link: &String| silent.contains(link) || portals.contains_key(link);
        self.diagnosis.asked.retain(lasts);
        self.diagnosis.found.retain(|link, _| lasts(link));
        self.diagnosis.media_flows = reports.iter().any(PeerReport::has_path);
        for (link, trouble) in portals {
            if self.diagnosis.asked.insert(link.clone()) {
                self.on_trouble(link, trouble);
            }
        }
        for link in silent {
            if !self.diagnosis.asked.insert(link.clone()) {
                continue;
            }
            let (room, mailbox) = (self.desks.room.clone(), self.mailbox.clone());
            thread::spawn(move || {
                let trouble = room.diagnose(&link);
                mailbox.send(Wish::Diagnosed(link, trouble));
            });
        }
    }

    pub(super) fn on_trouble(&mut self, link: String, trouble: LinkTrouble) {
        // The link may have recovered in the meantime.
        if self.diagnosis.asked.contains(&link) {
            self.diagnosis.found.insert(link.clone(), trouble.clone());
            self.tell(Event::LinkTrouble { link, trouble });
        }
    }
}

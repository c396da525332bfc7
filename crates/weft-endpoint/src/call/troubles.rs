//! Links that carry no packets, and the diagnosed reasons.

use std::collections::{BTreeMap, BTreeSet};

use crate::caller::PeerReport;
use crate::links::LinkTrouble;
use crate::signalling::LinkFault;

/// Diagnoses of links without a path.
#[derive(Default)]
pub(crate) struct Diagnosis {
    /// Links with a running or finished diagnosis.
    asked: BTreeSet<String>,
    found: BTreeMap<String, LinkTrouble>,
    /// Whether a path carried packets in the last statistics.
    pub media_flows: bool,
}

/// Result of a check of the links.
pub(crate) struct Found {
    /// Troubles with a known reason.
    pub troubles: Vec<(String, LinkTrouble)>,
    /// Links that became silent for an unknown reason.
    pub to_diagnose: Vec<String>,
}

impl Diagnosis {
    /// Finds links that carry no packets; each is returned once per outage. `faults` are
    /// the faults of requests.
    pub fn look(&mut self, reports: &[PeerReport], faults: BTreeMap<String, LinkFault>) -> Found {
        let is_up = |link: &str| reports.iter().any(|report| report.is_up(link));
        let silent = reports.iter().flat_map(|report| &report.silent);
        let silent: BTreeSet<String> = silent.filter(|link| !is_up(link)).cloned().collect();
        let portals = faults.into_iter().filter_map(|(link, fault)| match fault {
            LinkFault::Portal { answer } if !is_up(&link) => {
                Some((link, LinkTrouble::CaptivePortal { answer }))
            }
            _ => None,
        });
        let portals: BTreeMap<String, LinkTrouble> = portals.collect();
        let lasts = |link: &String| silent.contains(link) || portals.contains_key(link);
        self.asked.retain(lasts);
        self.found.retain(|link, _| lasts(link));
        self.media_flows = reports.iter().any(PeerReport::has_path);
        let mut is_new = |link: &String| self.asked.insert(link.clone());
        let troubles = portals
            .into_iter()
            .filter(|(link, _)| is_new(link))
            .collect();
        let to_diagnose = silent.into_iter().filter(|link| is_new(link)).collect();
        Found {
            troubles,
            to_diagnose,
        }
    }

    /// Stores the reason why a link carries no packets; false if it has recovered in the
    /// meantime.
    pub fn find(&mut self, link: &str, trouble: &LinkTrouble) -> bool {
        let lasts = self.asked.contains(link);
        if lasts {
            self.found.insert(link.to_owned(), trouble.clone());
        }
        lasts
    }

    /// Returns the reasons why links carry no packets, by link name.
    pub fn troubles(&self) -> &BTreeMap<String, LinkTrouble> {
        &self.found
    }
}

//! Server of the cluster that accepts a newcomer (docs/operate/cluster.md).

use super::{AdmissionState, Arrival, Hub, admission};
use crate::allowed_origin::AllowedOrigin;
use crate::cluster_address::PublicUrl;
use crate::live::Live;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Minimum load at which a media thread accepts no newcomers, in thousandths of a processor.
const FULL: u64 = 900;

/// Whether the media threads, which use these thousandths of a processor, accept no newcomers.
pub(crate) fn is_full(busy: impl IntoIterator<Item = u64>) -> bool {
    busy.into_iter().all(|busy| busy >= FULL)
}

/// Address and capacity of a server for newcomers that other servers redirect.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Vacancy {
    /// Origin of the server's public URL; without it, no newcomer is redirected there.
    pub(crate) url: Option<String>,
    pub(crate) region: Option<String>,
    /// Whether the server accepts newcomers.
    pub(crate) is_ready: bool,
    /// Mean load of its media threads, in thousandths of a processor.
    pub(crate) load: u64,
    /// Whether the server can record.
    #[serde(default)]
    pub(crate) records: bool,
}

/// Server that accepts a newcomer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) node: String,
    pub(crate) url: String,
}

/// This server and the others, as far as newcomers are concerned.
#[derive(Debug, Default)]
pub(crate) struct Vacancies {
    url: Option<String>,
    region: Option<String>,
    /// Load of the media threads; [`FULL_LOAD`] if they accept no newcomers.
    load: AtomicU64,
    others: Mutex<BTreeMap<String, Vacancy>>,
    /// Origins of all servers of the cluster that the operator has named.
    named: Vec<AllowedOrigin>,
    /// These, and those of all servers of the cluster so far.
    origins: Live<Vec<AllowedOrigin>>,
}

/// Maximum number of stored origins. Chosen by us: twice as many as a cluster has servers.
const MOST_ORIGINS: usize = 128;

const FULL_LOAD: u64 = u64::MAX;

impl Vacancies {
    pub(crate) fn new(
        url: Option<String>,
        region: Option<String>,
        named: Vec<AllowedOrigin>,
    ) -> Vacancies {
        let vacancies = Vacancies {
            url,
            region,
            origins: Live::new(named.clone()),
            named,
            ..Vacancies::default()
        };
        if let Some(url) = &vacancies.url {
            vacancies.keep(url);
        }
        vacancies
    }

    fn others(&self) -> MutexGuard<'_, BTreeMap<String, Vacancy>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the origin of a server's address.
    fn keep(&self, url: &str) {
        let origin = url.parse::<PublicUrl>().ok();
        let origin = origin.and_then(|url| url.as_str().parse().ok());
        let origins = self.origins.get();
        let is_known = |origin: &AllowedOrigin| origins.iter().any(|known| known.covers(origin));
        if let Some(origin) = origin.filter(|origin| !is_known(origin)) {
            let met = &origins[self.named.len()..];
            let forgotten = (met.len() + 1).saturating_sub(MOST_ORIGINS);
            let kept = met.iter().skip(forgotten).cloned();
            let named = self.named.iter().cloned();
            self.origins
                .set(named.chain(kept).chain([origin]).collect());
        }
    }

    /// Names of the other servers that can be heard.
    pub(super) fn nodes(&self) -> BTreeSet<String> {
        self.others().keys().cloned().collect()
    }

    /// Names of the other servers that can record.
    pub(super) fn recorders(&self) -> Vec<String> {
        let others = self.others();
        let recording = others.iter().filter(|(_, vacancy)| vacancy.records);
        recording.map(|(node, _)| node.clone()).collect()
    }

    /// Returns the public URL of another server.
    pub(super) fn url_of(&self, node: &str) -> Option<String> {
        self.others().get(node)?.url.clone()
    }

    /// Returns the best of the other servers for a newcomer to a room that exists on
    /// these servers.
    fn best(&self, have_room: &BTreeSet<&str>) -> Option<Target> {
        let others = self.others();
        let targets = others.iter().filter(|(_, vacancy)| vacancy.is_ready);
        let targets = targets.filter_map(|(node, vacancy)| {
            let url = vacancy.url.clone()?;
            let is_secure = |url: &String| url.starts_with("https:");
            // A token must not leave TLS.
            let weakens = !is_secure(&url) && self.url.as_ref().is_some_and(is_secure);
            let is_far = vacancy.region != self.region;
            let is_new = !have_room.contains(&**node);
            let order = (is_far, is_new, vacancy.load, node.clone());
            let node = node.clone();
            (!weakens).then_some((order, Target { node, url }))
        });
        let best = targets.min_by(|(one, _), (two, _)| one.cmp(two));
        best.map(|(_, target)| target)
    }
}

impl Hub {
    /// Records the thousandths of a processor that each media thread uses; `None` if they
    /// do not answer.
    pub(crate) fn set_load(&self, busy: Option<&[u64]>) {
        let Some(cluster) = &self.cluster else {
            return;
        };
        let load = match busy {
            Some(busy) if !is_full(busy.iter().copied()) => {
                busy.iter().sum::<u64>() / busy.len().max(1) as u64
            }
            _ => FULL_LOAD,
        };
        cluster.vacancies.load.store(load, Ordering::Relaxed);
    }

    /// Returns the values of this server for the others.
    pub(crate) fn vacancy(&self) -> Option<Vacancy> {
        let vacancies = &self.cluster.as_ref()?.vacancies;
        let load = vacancies.load.load(Ordering::Relaxed);
        let state = self.lock();
        let is_ready = load != FULL_LOAD
            && state.admission == AdmissionState::Open
            && state.resources.has_place(&state.limits.media);
        Some(Vacancy {
            url: vacancies.url.clone(),
            region: vacancies.region.clone(),
            is_ready,
            load,
            records: self.can_record(&state),
        })
    }

    /// Origins of this server and of the others of its cluster, including those that are
    /// gone: their pages may be here.
    pub(crate) fn cluster_origins(&self) -> Arc<Vec<AllowedOrigin>> {
        let cluster = self.cluster.as_ref();
        cluster.map_or_else(Arc::default, |cluster| cluster.vacancies.origins.get())
    }

    /// Records the values of another server; `None` if it is gone.
    pub(crate) fn set_vacancy(&self, node: &str, vacancy: Option<Vacancy>) {
        if let Some(cluster) = &self.cluster {
            if let Some(url) = vacancy.as_ref().and_then(|vacancy| vacancy.url.as_deref()) {
                cluster.vacancies.keep(url);
            }
            let mut others = cluster.vacancies.others();
            match vacancy {
                Some(vacancy) => others.insert(node.to_owned(), vacancy),
                None => others.remove(node),
            };
            let records_elsewhere = others.values().any(|vacancy| vacancy.records);
            drop(others);
            self.lock().records = self.media.recorder().is_some() || records_elsewhere;
        }
    }

    /// Returns the server for newcomers to a room; `None` if it is this one.
    pub(crate) fn target_for(&self, room: &str) -> Option<Target> {
        let cluster = self.cluster.as_ref()?;
        if !self.hears_others() || self.vacancy()?.is_ready {
            return None;
        }
        let state = self.lock();
        let elsewhere = state.registry.elsewhere(room);
        let have_room = elsewhere.map(|(_, node)| node).collect();
        cluster.vacancies.best(&have_room)
    }

    /// Returns the server for an arrival; `None` if it is this one, which also holds for
    /// participants who are already here.
    pub(crate) fn target_of(&self, who: &Arrival<'_>) -> Option<Target> {
        let is_newcomer = who.name.is_some() && !admission::is_inside(&self.lock(), who);
        is_newcomer.then(|| self.target_for(who.room)).flatten()
    }
}

#[cfg(test)]
mod tests;

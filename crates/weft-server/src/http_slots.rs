//! Slots for HTTP connections: when all are taken, silent connections of
//! strangers are closed for newcomers.

use crate::connection_limit::{AddressPrefix, ConnectionLimiter, ConnectionSlot, network};
use crate::log::NotAccepted;
use crate::refusals::Refusals;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Number of an address's connections that are closed at once. Chosen by us: the search
/// takes time, so it is not repeated for each newcomer.
const GIVE_WAY: usize = 64;

/// Slots of all HTTP connections.
#[derive(Clone)]
pub(crate) struct HttpSlots {
    permits: Arc<Semaphore>,
    limiter: ConnectionLimiter,
    taken: Arc<Mutex<Taken>>,
    refusals: Arc<Refusals>,
}

#[derive(Default)]
struct Taken {
    /// Entries in order of arrival.
    all: BTreeMap<u64, Entry>,
    next: u64,
}

struct Entry {
    /// Its prefix; `None` on this machine, where a proxy may serve many
    /// clients.
    from: Option<AddressPrefix>,
    known: Known,
    end: oneshot::Sender<()>,
}

/// Whether a client was admitted over a connection: with a token, or as a participant if
/// none is required.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known(Arc<AtomicBool>);

impl Known {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Slot of one connection, freed on drop.
pub(crate) struct HttpSlot {
    pub(crate) known: Known,
    /// Notified when the slot is given to another connection.
    pub(crate) ends: oneshot::Receiver<()>,
    number: u64,
    slots: HttpSlots,
    _share: ConnectionSlot,
    _permit: OwnedSemaphorePermit,
}

impl HttpSlots {
    pub(crate) fn new(all: usize, per_address: usize, refusals: Arc<Refusals>) -> HttpSlots {
        HttpSlots {
            permits: Arc::new(Semaphore::new(all)),
            limiter: ConnectionLimiter::new(per_address),
            taken: Arc::default(),
            refusals,
        }
    }

    /// Takes a slot for a connection from this address. `None` if the address
    /// has reached its limit: the connection is closed without an answer, which
    /// would cost more. Waits while admitted connections hold all slots.
    pub(crate) async fn enter(&self, from: IpAddr) -> Option<HttpSlot> {
        let Some(share) = self.limiter.enter(from) else {
            self.refusals.connection(NotAccepted::Address);
            return None;
        };
        let permit = match Arc::clone(&self.permits).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                self.make_room(NotAccepted::Limit);
                Arc::clone(&self.permits).acquire_owned().await.ok()?
            }
        };
        let (end, ends) = oneshot::channel();
        let known = Known::default();
        let from = network(from.to_canonical());
        let entry = Entry {
            from: from
                .and_then(|ip| AddressPrefix::of(ip).next())
                .map(|(prefix, _)| prefix),
            known: known.clone(),
            end,
        };
        let mut taken = self.lock();
        let number = taken.next;
        taken.next += 1;
        taken.all.insert(number, entry);
        Some(HttpSlot {
            known,
            ends,
            number,
            slots: self.clone(),
            _share: share,
            _permit: permit,
        })
    }

    /// Closes connections of strangers for this reason: the oldest ones of the
    /// address that has the most.
    pub(crate) fn make_room(&self, reason: NotAccepted) {
        let mut taken = self.lock();
        let mut strangers: BTreeMap<AddressPrefix, Vec<u64>> = BTreeMap::new();
        for (number, entry) in taken.all.iter().filter(|(_, entry)| !entry.known.is()) {
            if let Some(from) = entry.from {
                strangers.entry(from).or_default().push(*number);
            }
        }
        let most = strangers.into_values().max_by_key(Vec::len);
        match (&most, reason) {
            (Some(_), NotAccepted::Limit) => self.refusals.connection(NotAccepted::Replaced),
            _ => self.refusals.connection(reason),
        }
        for number in most.into_iter().flatten().take(GIVE_WAY) {
            if let Some(entry) = taken.all.remove(&number) {
                let _ = entry.end.send(());
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for HttpSlot {
    fn drop(&mut self) {
        self.slots.lock().all.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Log;
    use std::time::Duration;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn slots(all: usize) -> HttpSlots {
        let refusals = Arc::new(Refusals::new(Log::default()));
        HttpSlots::new(all, 256, refusals)
    }

    /// Holds a connection like a server, until it must end.
    async fn hold(slots: &HttpSlots, from: &str) -> tokio::task::JoinHandle<()> {
        let mut slot = slots.enter(ip(from)).await.unwrap();
        tokio::spawn(async move {
            let _ = (&mut slot.ends).await;
        })
    }

    #[tokio::test(start_paused = true)]
    async fn idle_connections_of_many_addresses_keep_nobody_out() {
        let slots = slots(4096);
        let mut known = slots.enter(ip("198.51.100.1")).await.unwrap();
        known.known.set();
        let other = hold(&slots, "198.51.100.2").await;
        // Seventeen addresses, each at its limit.
        for n in 0..17 * 256 {
            hold(&slots, &format!("192.0.2.{}", n / 256)).await;
        }
        for n in 0..100 {
            let from = format!("203.0.113.{n}");
            let enter = slots.enter(ip(&from));
            let entered = tokio::time::timeout(Duration::from_secs(1), enter).await;
            assert!(entered.is_ok_and(|slot| slot.is_some()), "{n}");
        }
        assert!(!other.is_finished(), "it is not of those who have many");
        assert!(known.ends.try_recv().is_err(), "not told anything");
        let figures = slots.refusals.connections();
        assert!(
            figures
                .iter()
                .any(|(reason, _)| *reason == NotAccepted::Replaced)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn known_clients_and_this_machine_keep_their_places() {
        let slots = slots(2);
        let known = slots.enter(ip("192.0.2.1")).await.unwrap();
        known.known.set();
        let proxy = slots.enter(ip("127.0.0.1")).await.unwrap();
        let third = || tokio::time::timeout(Duration::from_secs(60), slots.enter(ip("192.0.2.2")));
        assert!(third().await.is_err());
        assert_eq!(slots.refusals.connections(), [(NotAccepted::Limit, 1)]);
        drop(proxy);
        assert!(third().await.is_ok());
    }
}

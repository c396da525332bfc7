use crate::connection_limit::{ConnectionLimiter, ConnectionSlot};
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Limits on the number of allocations.
pub(super) struct Places {
    all: Arc<Semaphore>,
    per_address: ConnectionLimiter,
}

/// Place of an allocation, freed on drop.
pub(super) struct Place {
    _permit: OwnedSemaphorePermit,
    _share: ConnectionSlot,
}

/// Reached limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// Limit of all clients.
    All,
    /// Limit of the client's address.
    Address,
}

impl Places {
    pub(super) fn new(all: usize, per_address: usize) -> Places {
        Places {
            all: Arc::new(Semaphore::new(all)),
            per_address: ConnectionLimiter::new(per_address),
        }
    }

    /// Takes a place for an allocation from this address.
    pub(super) fn enter(&self, from: IpAddr) -> Result<Place, Full> {
        let share = self.per_address.enter(from).ok_or(Full::Address)?;
        let permit = Arc::clone(&self.all).try_acquire_owned();
        Ok(Place {
            _permit: permit.map_err(|_| Full::All)?,
            _share: share,
        })
    }
}

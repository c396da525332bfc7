//! Settings that can change while the server runs.

use std::sync::{Arc, PoisonError, RwLock};

/// Value that every request reads again. Clones share it.
#[derive(Debug)]
pub(crate) struct Live<T>(Arc<RwLock<Arc<T>>>);

impl<T> Live<T> {
    pub(crate) fn new(value: T) -> Live<T> {
        Live(Arc::new(RwLock::new(Arc::new(value))))
    }

    /// Returns the present value.
    pub(crate) fn get(&self) -> Arc<T> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the value for later requests.
    pub(crate) fn set(&self, value: T) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(value);
    }
}

impl<T> Clone for Live<T> {
    fn clone(&self) -> Live<T> {
        Live(Arc::clone(&self.0))
    }
}

impl<T: Default> Default for Live<T> {
    fn default() -> Live<T> {
        Live::new(T::default())
    }
}

use std::sync::Arc;
use weft_units::Instant;

/// Time since the server started; tests use another clock.
#[derive(Clone)]
pub(crate) struct Clock(Arc<dyn Fn() -> Instant + Send + Sync>);

impl Clock {
    /// The machine's monotonic clock, starting now.
    pub(crate) fn machine() -> Clock {
        let epoch = std::time::Instant::now();
        Clock(Arc::new(move || Instant::ZERO + epoch.elapsed().into()))
    }

    #[cfg(test)]
    pub(crate) fn manual(nanos: Arc<std::sync::atomic::AtomicU64>) -> Clock {
        Clock(Arc::new(move || {
            Instant::from_nanos(nanos.load(std::sync::atomic::Ordering::SeqCst))
        }))
    }

    pub(crate) fn now(&self) -> Instant {
        (self.0)()
    }
}

//! Pure link models: capacity, queues, propagation, loss.

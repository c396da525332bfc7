//! Sans-IO multipath media session: streams, paths, schedulers, repair, receive buffers.

pub mod receive;

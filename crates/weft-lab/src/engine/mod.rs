//! What makes runs.

pub mod emu;

//! `weft demo`: one call over two emulated links, a plain one beside it.

pub mod relay;
pub mod ride;

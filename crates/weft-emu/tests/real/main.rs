//! Real namespaces, real packets. Each test makes a network of its own, and
//! is skipped with a word where the machine does not allow that.

mod cells;
mod clean_up;
mod multihomed;
mod packets;
mod tcp;
mod tools;

//! Tests with real namespaces and packets. Each test creates its own network, and is
//! skipped with a message on machines that do not allow it.

mod cells;
mod clean_up;
mod multihomed;
mod packets;
mod tcp;
mod tools;

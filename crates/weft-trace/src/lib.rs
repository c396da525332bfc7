//! Traces of calls for other programs: packets as pcapng for Wireshark ([`pcapng`]) and
//! events as qlog ([`qlog`]), those of [`peers`] among them. Also a reader of captures
//! ([`capture`]).
//!
//! The writers keep only the block that they write, and read no clock: the same input
//! gives the same bytes. [`live`] puts them behind a bounded queue and a thread, for calls
//! in real time.

#![forbid(unsafe_code)]

pub mod call;
pub mod capture;
pub mod live;
pub mod pcapng;
pub mod peers;
pub mod qlog;

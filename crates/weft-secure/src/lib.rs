//! Sans-IO association: the ICE session of `weft-ice` with many valid pairs,
//! one DTLS association, one SRTP context per direction.
//!
//! The wire protocol is plain WebRTC. A *path* is a candidate pair that is kept valid.
//! Media may be sent on any of them, and the same context decrypts packets from all of
//! them. See [`Association`].

#![forbid(unsafe_code)]

mod association;
mod certificate;
mod counters;
mod dtls;
mod failure;
mod flights;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod handshake;
mod keying;
mod record;
mod role;
mod rsa;
mod srtp;
#[cfg(feature = "testing")]
pub mod testing;
mod trouble;

pub use association::{Association, Config, Event, Output, Received, Remote};
pub use certificate::{Certificate, CertificateError, Fingerprint, FingerprintError};
pub use counters::{Counters, DropReason};
pub use failure::FailReason;
pub use keying::Keying;
pub use role::DtlsRole;
pub use srtp::{Profile, ProtectError};

//! Sans-IO models of complete call applications, as measured by three studies: their
//! sending rate and the causes of its changes.
//!
//! A closed application has no code to run, so each is a [`Family`] of behaviour with its
//! own parameters, one small file for each application in `apps/`. A [`Sender`] makes
//! packets of sound, pictures and redundancy, a [`Receiver`] reports arrivals, and the
//! family's controller turns reports into a rate; an [`End`] is one of the two, or both.
//! Packets have sizes but no content, so a model says nothing about picture quality.
//!
//! Signal and Telegram are WebRTC applications whose limits are public. They are
//! [`Family::Webrtc`]: limits for a call of any WebRTC implementation, which this crate
//! does not contain.
//!
//! ```
//! use weft_apps::{App, Family, Receiver, Sender};
//! use weft_units::{Duration, Instant, Rng};
//!
//! let Family::Model(model) = App::Skype.family() else { unreachable!() };
//! let mut sender = Sender::new(&model, Instant::ZERO, &Rng::new(1));
//! let mut receiver = Receiver::new(&model, Instant::ZERO);
//!
//! // A network that loses nothing and takes 20 ms.
//! let mut now = Instant::ZERO;
//! while now < Instant::ZERO + Duration::from_secs(20) {
//!     sender.handle_timeout(now);
//!     while let Some(packet) = sender.poll_transmit() {
//!         receiver.handle_packet(now + Duration::from_millis(20), now, &packet);
//!     }
//!     if let Some(report) = receiver.poll_report(now + Duration::from_millis(20)) {
//!         sender.handle_report(now + Duration::from_millis(40), &report);
//!     }
//!     now = sender.poll_timeout().expect("a next packet").at;
//! }
//! assert!(sender.rate() >= model.highest.mul_f64(0.99));
//! ```
//!
//! `docs/models/applications.md` lists every parameter with its source.

#![forbid(unsafe_code)]

mod app;
mod apps;
mod end;
mod family;
mod fitted;
mod packet;
mod receiver;
mod report_history;
mod sender;

pub use app::App;
pub use end::{Content, End, REPORT_SIZE};
pub use family::{Family, LimitError, Model, WebrtcLimits};
pub use fitted::{FITTED, Fitted};
pub use packet::{Packet, Report};
pub use receiver::Receiver;
pub use sender::Sender;

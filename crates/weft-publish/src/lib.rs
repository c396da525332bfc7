//! Sans-IO publisher: what the encoders of one sender may do at the rate that
//! the network carries.
//!
//! A sender has cameras, perhaps sound, and a session with each peer that it
//! sends to. Two things decide between them:
//!
//! - the [`Publisher`], one for the sender, where its sessions are: it hears
//!   their target rates, keyframe requests, how long packets wait and how large
//!   a picture may be that is to arrive in time, and shares rate and size among
//!   the cameras, after the sound;
//! - an [`EncoderControl`] for each camera, where its encoder runs: it says
//!   before each picture whether the picture is encoded, how large, at what rate,
//!   in how many bytes and whether as a keyframe, and hears what the encoder made
//!   of it.
//!
//! A [`FrameRequest`] asks an encoder for a picture; the numbers by
//! which encoders keep within its budget are in [`fitting`].
//!
//! Where a camera has several encodings at once, [`simulcast_rates`] divides its rate
//! among them.
//!
//! Where somebody else controls the encoder, a [`FrameDropper`] takes the second place: it
//! leaves out the frames for which there is no room.
//!
//! From the first to the second goes an [`Allowance`], a small plain value that
//! may be handed over between threads at any time.
//!
//! ```
//! use weft_publish::{AdaptationSetup, Degradation, EncoderControl, Publisher, QuantizerBounds, Start};
//! use weft_units::{Instant, Rate, StreamId};
//!
//! let mut publisher = Publisher::new([None]);
//! publisher.handle_joined("a viewer", vec![StreamId(0)], Rate::from_kbps(40));
//! publisher.handle_target_rate("a viewer", Rate::from_kbps(1040));
//!
//! let mut control = EncoderControl::new(&AdaptationSetup {
//!     width: 1280,
//!     height: 720,
//!     fps: 30.0,
//!     degradation: Degradation::MaintainFrameRate,
//!     quantizers: QuantizerBounds::VP8,
//! });
//! let encoding = control.on_picture(Instant::ZERO, &publisher.allowance(0));
//! let encoding = encoding.expect("there is a rate");
//! assert_eq!((encoding.rate, encoding.start), (Rate::from_kbps(1000), Start::Restart));
//! control.on_encoded(Some(60));
//! ```

#![forbid(unsafe_code)]

mod adaptation;
mod control;
mod dropping;
pub mod fitting;
mod publisher;
mod request;
mod simulcast;

pub use adaptation::{Adaptation, Verdict};
pub use adaptation::{AdaptationSetup, Degradation, Form};
pub use control::{Allowance, EncoderControl, Encoding, Start};
pub use dropping::{EncoderPace, FrameDropper, OfferedFrame};
pub use publisher::Publisher;
pub use request::{FrameRequest, Keyframe};
pub use simulcast::{SimulcastEncoding, simulcast_rates};
pub use weft_units::QuantizerBounds;

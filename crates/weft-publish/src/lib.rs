//! Sans-IO publisher: limits for the encoders of one sender at the rate that the network
//! carries.
//!
//! A sender has cameras, perhaps sound, and a session with each peer that it sends to.
//! Two types decide between them:
//!
//! - [`Publisher`], one for the sender, runs next to its sessions. It receives their
//!   target rates, their keyframe requests, the queueing time of packets and the largest
//!   picture that still arrives in time. It divides rate and size among the cameras,
//!   after the sound.
//! - [`EncoderControl`], one for each camera, runs next to its encoder. Before each
//!   picture it decides whether to encode it, at which size and rate, in how many bytes
//!   and whether as a keyframe. The caller reports the result.
//!
//! A [`FrameRequest`] asks an encoder for a picture; the numbers that keep encoders
//! within its budget are in [`fitting`].
//!
//! If a camera has several encodings at once, [`simulcast_rates`] divides its rate among
//! them.
//!
//! If you do not control the encoder, use a [`FrameDropper`] instead of the
//! [`EncoderControl`]: it drops the frames for which there is no room.
//!
//! An [`Allowance`] goes from the publisher to the encoder control. It is a small plain
//! value that you may pass between threads at any time.
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

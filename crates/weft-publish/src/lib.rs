//! Sans-IO publisher: what the encoders of one sender may do at the network's
//! rate.
//!
//! [`Adaptation`] says how large pictures are, and how frequent.

mod adaptation;

pub use adaptation::{
    Adaptation, AdaptationSetup, Degradation, Form, QuantizerBounds, UnknownDegradation, Verdict,
};

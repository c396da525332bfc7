//! Calls.

mod frames;
mod model;
mod record;
mod setup;
mod synthetic;

pub use frames::FrameLog;
pub use model::{ModelError, ModelSetup};
pub use record::{
    CallRecord, CallSample, FrameRecord, FrameShown, PathChange, PathSample, Quality, SideRecord,
    StreamRecord,
};
pub use setup::{CallSetup, CameraSetup, MicrophoneSetup, SideSetup, SourceKind};
pub use synthetic::SyntheticSetup;

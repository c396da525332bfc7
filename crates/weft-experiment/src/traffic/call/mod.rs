//! Calls.

mod frame;
mod frames;
mod model;
mod record;
mod setup;
mod synthetic;

pub use frame::{FrameRecord, FrameShown, Quality};
pub use frames::FrameLog;
pub use model::{ModelError, ModelSetup};
pub use record::{CallRecord, CallSample, PathChange, PathSample, SideRecord, StreamRecord};
pub use setup::{CallSetup, CameraSetup, MicrophoneSetup, SideSetup, SourceKind};
pub use synthetic::SyntheticSetup;

//! Recording of the others; the page can stop and start it.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use weft_endpoint::{Event, Recording, RecordingError, Switch};

use crate::exit;
use crate::vehicle::Recorded;

/// Recording that the call and the page share.
#[derive(Clone, Default)]
pub struct SharedRecording(Arc<Mutex<Option<Recording>>>);

impl SharedRecording {
    /// Starts the recording, or prepares it.
    pub fn new(path: &Path, switch: Switch) -> Result<SharedRecording, RecordingError> {
        let mut recording = Recording::new(path, exit::notices())?;
        if switch == Switch::Off {
            recording.pause();
        }
        Ok(SharedRecording(Arc::new(Mutex::new(Some(recording)))))
    }

    pub fn on_event(&self, event: &Event) {
        if let Some(recording) = &mut *self.lock() {
            recording.on_event(event);
        }
    }

    /// Stops or starts the recording; false if there is none.
    pub fn switch(&self, switch: Switch) -> bool {
        let mut recording = self.lock();
        match (&mut *recording, switch) {
            (None, _) => return false,
            (Some(recording), Switch::On) => recording.resume(),
            (Some(recording), Switch::Off) => recording.pause(),
        }
        true
    }

    pub fn state(&self) -> Recorded {
        match &*self.lock() {
            None => Recorded::Never,
            Some(recording) if recording.is_paused() => Recorded::Off,
            Some(recording) => Recorded::On {
                error: recording.error().map(str::to_owned),
            },
        }
    }

    /// Closes the files.
    pub fn finish(&self) -> Result<(), RecordingError> {
        let recording = self.lock().take();
        recording.map_or(Ok(()), Recording::finish)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Recording>> {
        self.0
            .lock()
            .expect("nothing panics while it holds the recording")
    }
}

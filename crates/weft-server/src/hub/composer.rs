//! Films of complete recordings, composed by another program.

use super::Hub;
use crate::recorder::RecordingEvent;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use weft_record::Index;

/// Handles the recorder's events until it ends. If a program is given, it composes
/// complete recordings: one after the other, in a separate process. So decoders and an
/// encoder do not affect the calls, and a recording that crashes them only loses its
/// film. A process that runs when the server ends completes its film.
pub(crate) async fn follow_recordings(
    hub: Arc<Hub>,
    mut recordings: UnboundedReceiver<RecordingEvent>,
    program: Option<Vec<OsString>>,
) {
    let (queue, mut waiting) = unbounded_channel::<(String, PathBuf)>();
    if let Some(program) = program.clone() {
        let hub = Arc::clone(&hub);
        tokio::spawn(async move {
            while let Some((room, folder)) = waiting.recv().await {
                let (program, place) = (program.clone(), folder.clone());
                let composed = tokio::task::spawn_blocking(move || run(&program, &place)).await;
                let composed = composed.unwrap_or_else(|error| Err(error.to_string()));
                hub.recording_composed(room, &folder, composed);
            }
        });
    }
    while let Some(event) = recordings.recv().await {
        if let (RecordingEvent::Ready { room, folder }, Some(_)) = (&event, &program) {
            // Fails only while the server ends.
            let _ = queue.send((room.clone(), folder.clone()));
        }
        hub.handle_recording_event(event);
    }
}

/// Runs the program; returns the name of the film, or the program's last error output.
fn run(command: &[OsString], folder: &Path) -> Result<String, String> {
    let (program, arguments) = command.split_first().ok_or("no program is configured")?;
    let mut process = Command::new(program);
    process.args(arguments).arg(folder);
    process.stdin(Stdio::null()).stdout(Stdio::null());
    let output = process.stderr(Stdio::piped()).output();
    let output = output.map_err(|error| format!("{}: {error}", program.to_string_lossy()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().rfind(|line| !line.trim().is_empty());
        let last = last.map_or_else(|| output.status.to_string(), str::to_owned);
        return Err(last);
    }
    let index = Index::read(folder).map_err(|error| error.to_string())?;
    index.film.ok_or_else(|| "its index names none".to_owned())
}

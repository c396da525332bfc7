//! Recordings of rooms: the planes pass packets on, and a separate thread writes the
//! files, so that a slow disk delays no packet.

mod job;
mod list;
mod sink;
mod writer;

use job::Job;
pub(crate) use job::{AskKeyframe, RecordingEvent};
pub(crate) use list::{list, open};
pub(crate) use sink::Sink;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot};
use weft_net::Clock;
use weft_record::{RecorderError, Recording};
use writer::Writer;

/// Handle of the thread that writes recordings; [`Recorder::end`] completes them.
pub struct Recorder {
    folder: PathBuf,
    jobs: Sender<Job>,
    /// Number of octets that wait for the thread.
    waiting: Arc<AtomicUsize>,
    /// Used until the thread starts and the hub takes the events.
    pending: Mutex<Pending>,
}

#[derive(Default)]
struct Pending {
    jobs: Option<Receiver<Job>>,
    events: Option<mpsc::UnboundedReceiver<RecordingEvent>>,
    thread: Option<JoinHandle<()>>,
}

impl Recorder {
    /// Prepares recordings in a folder, which must be writable by this user.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn new(folder: &Path) -> Result<Recorder, RecorderError> {
        Recording::check(folder)?;
        let (jobs, received) = channel();
        let pending = Pending {
            jobs: Some(received),
            ..Pending::default()
        };
        Ok(Recorder {
            folder: folder.to_owned(),
            jobs,
            waiting: Arc::default(),
            pending: Mutex::new(pending),
        })
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// If the system provides no thread.
    pub(crate) fn run(&self, clock: Clock, ask: AskKeyframe) -> std::io::Result<()> {
        let mut pending = self.pending();
        let Some(jobs) = pending.jobs.take() else {
            return Ok(());
        };
        let (events, receiver) = mpsc::unbounded_channel();
        let waiting = Arc::clone(&self.waiting);
        let writer = Writer::new(self.folder.clone(), clock, ask, events, waiting);
        let thread = std::thread::Builder::new().name("weft-record".to_owned());
        pending.thread = Some(thread.spawn(move || writer.run(&jobs))?);
        pending.events = Some(receiver);
        Ok(())
    }

    /// Completes all recordings and ends the thread.
    pub(crate) fn end(&self) {
        self.send(Job::End);
        let thread = self.pending().thread.take();
        if let Some(thread) = thread {
            // The panic hook has reported a failure.
            let _ = thread.join();
        }
    }

    /// Folder of all recordings.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the events, once.
    pub(crate) fn take_events(&self) -> Option<mpsc::UnboundedReceiver<RecordingEvent>> {
        self.pending().events.take()
    }

    /// Returns the sender for the packets of a plane.
    pub(crate) fn sink(&self, plane: usize) -> Sink {
        Sink::new(plane, self.jobs.clone(), Arc::clone(&self.waiting))
    }

    /// Starts the recording of a room. The answer is its folder.
    pub(crate) fn start(
        &self,
        room: &str,
        names: Vec<(String, String)>,
    ) -> oneshot::Receiver<Result<PathBuf, RecorderError>> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Start {
            room: room.to_owned(),
            names,
            reply: Some(reply),
        });
        answer
    }

    /// Starts the recording of a room. The answer is an event.
    pub(crate) fn begin(&self, room: &str, names: Vec<(String, String)>) {
        self.send(Job::Start {
            room: room.to_owned(),
            names,
            reply: None,
        });
    }

    /// Ends the recording of a room. The answer arrives when its files are complete.
    pub(crate) fn stop(&self, room: &str) -> oneshot::Receiver<()> {
        let (reply, answer) = oneshot::channel();
        let room = room.to_owned();
        self.send(Job::Stop { room, reply });
        answer
    }

    /// Ends the recording of a room that another server records; a recording without
    /// tracks is deleted.
    pub(crate) fn yield_room(&self, room: &str) {
        let room = room.to_owned();
        self.send(Job::Yield { room });
    }

    /// Returns an answer that arrives when the events of all earlier requests have been handled.
    pub(crate) fn flush(&self) -> oneshot::Receiver<()> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Flush(reply));
        answer
    }

    /// Sets the name of a participant in a recorded room.
    pub(crate) fn set_name(&self, room: &str, id: &str, name: &str) {
        let [room, id, name] = [room, id, name].map(str::to_owned);
        self.send(Job::Name { room, id, name });
    }

    /// Records that a plane has failed.
    pub(crate) fn lose_plane(&self, plane: usize) {
        self.send(Job::PlaneLost(plane));
    }

    fn send(&self, job: Job) {
        // Without the thread, nothing is recorded, and callers get no answer.
        let _ = self.jobs.send(job);
    }

    /// Ignores poisoning: no code panics while it holds the lock.
    fn pending(&self) -> std::sync::MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

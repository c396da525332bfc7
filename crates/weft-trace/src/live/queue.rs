//! Bounded queue to the thread that writes a file.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::fault::{OnFault, TraceFault, TraceKind};
use super::file::CreateError;

/// Maximum size of entries that wait for the disk: half a minute of a call at 2 Mbit/s.
/// Chosen by us.
const WAITING_BYTES: usize = 8 << 20;
/// Memory of an entry besides its content, in bytes. Chosen by us.
const ENTRY_BYTES: usize = 256;
/// Bytes per write. Chosen by us.
const CHUNK: usize = 64 << 10;
/// Maximum time between writes, so that a killed program loses little. Chosen by us.
const WRITE_EVERY: Duration = Duration::from_millis(200);
/// Time limit for writing the remaining entries at the end of the call. Chosen by us.
const END: Duration = Duration::from_secs(2);

/// Format of a file: entries in, bytes out.
pub trait Writing<T> {
    /// Adds an entry that follows this many dropped ones.
    fn add(&mut self, entry: &T, dropped: u64) -> io::Result<()>;

    /// Complete entries that are not in the file yet.
    fn written(&mut self) -> &mut Vec<u8>;
}

/// Sender of entries to the thread; clones share it.
#[derive(Debug)]
pub struct Queue<T> {
    entries: Sender<Entry<T>>,
    pub(super) state: Arc<State>,
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Queue<T> {
        Queue {
            entries: self.entries.clone(),
            state: Arc::clone(&self.state),
        }
    }
}

#[derive(Debug)]
enum Entry<T> {
    /// Content, its size, and the number of entries dropped before it.
    Content(T, usize, u64),
    End,
}

#[derive(Debug)]
pub(super) struct State {
    path: PathBuf,
    kind: TraceKind,
    pub(super) waiting: AtomicUsize,
    pub(super) dropped: AtomicU64,
    /// Whether writing to the file has failed.
    failed: AtomicBool,
    /// Result, once the thread has ended.
    ended: Mutex<Option<Receiver<Result<(), TraceFault>>>>,
}

impl State {
    fn dropped(&self, dropped: u64) -> TraceFault {
        TraceFault::Dropped {
            path: self.path.clone(),
            kind: self.kind,
            dropped,
        }
    }
}

impl<T: Send + 'static> Queue<T> {
    /// Starts the thread of a file, which ends after `most` bytes.
    ///
    /// # Errors
    /// If the system cannot start it.
    pub fn start(
        (file, path): (File, PathBuf),
        (kind, most): (TraceKind, Option<u64>),
        format: impl Writing<T> + Send + 'static,
        on_fault: &OnFault,
    ) -> Result<Queue<T>, CreateError> {
        let (entries, incoming) = channel();
        let (result, ended) = channel();
        let state = Arc::new(State {
            path: path.clone(),
            kind,
            waiting: AtomicUsize::new(0),
            dropped: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            ended: Mutex::new(Some(ended)),
        });
        let writer = Writer {
            file,
            length: 0,
            most: most.unwrap_or(u64::MAX),
            format,
            incoming,
            state: Arc::clone(&state),
            on_fault: Arc::clone(on_fault),
            dropped: 0,
        };
        let named = thread::Builder::new().name("trace".to_owned());
        let spawned = named.spawn(move || {
            let _ = result.send(writer.run());
        });
        spawned.map_err(|error| CreateError::System { path, error })?;
        Ok(Queue { entries, state })
    }

    /// Whether entries still reach the file: nothing has failed, and its bound is not reached.
    pub fn is_writing(&self) -> bool {
        !self.state.failed.load(Ordering::Relaxed)
    }

    /// Adds an entry with a content of this size, or drops it if the queue is full.
    pub fn push(&self, content: T, size: usize) {
        let size = size + ENTRY_BYTES;
        let State {
            waiting,
            dropped,
            failed,
            ..
        } = &*self.state;
        if failed.load(Ordering::Relaxed) {
            return;
        }
        let before = waiting.fetch_add(size, Ordering::Relaxed);
        if before + size > WAITING_BYTES {
            waiting.fetch_sub(size, Ordering::Relaxed);
            dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let dropped = dropped.load(Ordering::Relaxed);
        // A thread that has ended accepts no more entries.
        let _ = self.entries.send(Entry::Content(content, size, dropped));
    }

    /// Writes the remaining entries; waits for a limited time.
    pub fn finish(&self) -> Result<(), TraceFault> {
        let _ = self.entries.send(Entry::End);
        let ended = self.state.ended.lock();
        let ended = ended.expect("nothing panics while it holds this").take();
        // The first call already returned the result.
        let Some(ended) = ended else { return Ok(()) };
        ended.recv_timeout(END).unwrap_or_else(|_| {
            Err(TraceFault::Unfinished {
                path: self.state.path.clone(),
            })
        })
    }
}

struct Writer<T, F> {
    file: File,
    /// Bytes of complete entries in the file.
    length: u64,
    /// Bytes that it may have.
    most: u64,
    format: F,
    incoming: Receiver<Entry<T>>,
    state: Arc<State>,
    on_fault: OnFault,
    /// Dropped entries that the file mentions.
    dropped: u64,
}

impl<T, F: Writing<T>> Writer<T, F> {
    fn run(mut self) -> Result<(), TraceFault> {
        if let Err(error) = self.write_all() {
            self.state.failed.store(true, Ordering::Relaxed);
            // A partial entry would make readers reject the whole file.
            let _ = self.file.set_len(self.length);
            let path = self.state.path.clone();
            let fault = TraceFault::Failed { path, error };
            (self.on_fault)(&fault);
            return Err(fault);
        }
        match self.state.dropped.load(Ordering::Relaxed) {
            0 => Ok(()),
            dropped => Err(self.state.dropped(dropped)),
        }
    }

    fn write_all(&mut self) -> io::Result<()> {
        // Writes the header.
        self.write()?;
        let mut next_write = Instant::now() + WRITE_EVERY;
        loop {
            let wait = next_write.saturating_duration_since(Instant::now());
            let is_full = match self.incoming.recv_timeout(wait) {
                Ok(Entry::Content(content, size, dropped)) => {
                    self.state.waiting.fetch_sub(size, Ordering::Relaxed);
                    self.add(&content, dropped)?;
                    self.format.written().len() >= CHUNK
                }
                Err(RecvTimeoutError::Timeout) => true,
                Ok(Entry::End) | Err(RecvTimeoutError::Disconnected) => return self.write(),
            };
            if is_full || Instant::now() >= next_write {
                self.write()?;
                next_write = Instant::now() + WRITE_EVERY;
            }
        }
    }

    fn add(&mut self, content: &T, dropped: u64) -> io::Result<()> {
        let new = dropped - self.dropped;
        if self.dropped == 0 && new > 0 {
            (self.on_fault)(&self.state.dropped(new));
        }
        self.dropped = dropped;
        match self.format.add(content, new) {
            // A datagram that IP cannot carry: nothing of it was written.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            added => added,
        }
    }

    fn write(&mut self) -> io::Result<()> {
        let bytes = self.format.written();
        if self.length + bytes.len() as u64 > self.most {
            let message = format!("it has reached its bound of {} MiB", self.most >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        self.file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        bytes.clear();
        Ok(())
    }
}

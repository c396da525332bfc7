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

/// Bytes that may wait for the disk: half a minute of a call at 2 Mbit/s. Chosen by us.
const WAITING_BYTES: usize = 8 << 20;
/// Bytes that an entry takes beside its content. Chosen by us.
const ENTRY_BYTES: usize = 256;
/// Bytes that are written at once. Chosen by us.
const CHUNK: usize = 64 << 10;
/// Time after which entries are written, so that a killed program loses little. Chosen by
/// us.
const WRITE_EVERY: Duration = Duration::from_millis(200);
/// Time to write the rest at the end of the call. Chosen by us.
const END: Duration = Duration::from_secs(2);

/// Format of a file: entries in, bytes out.
pub trait Writing<T> {
    /// Adds an entry, before which this many were dropped.
    fn add(&mut self, entry: &T, dropped: u64) -> io::Result<()>;

    /// Whole entries that are not in the file yet.
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
    /// Whether the file cannot be written any more.
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
    /// Starts the thread of a file.
    ///
    /// # Errors
    /// If the system provides none.
    pub fn start(
        (file, path): (File, PathBuf),
        kind: TraceKind,
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

    /// Adds an entry with a content of this size; drops it if too much waits.
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
        // A thread that has ended takes no more entries.
        let _ = self.entries.send(Entry::Content(content, size, dropped));
    }

    /// Has the rest written and waits for it for a limited time.
    pub fn finish(&self) -> Result<(), TraceFault> {
        let _ = self.entries.send(Entry::End);
        let ended = self.state.ended.lock();
        let ended = ended.expect("nothing panics while it holds this").take();
        // The second call has the result of the first.
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
    /// Bytes of whole entries in the file.
    length: u64,
    format: F,
    incoming: Receiver<Entry<T>>,
    state: Arc<State>,
    on_fault: OnFault,
    /// Dropped entries of which the file says so.
    dropped: u64,
}

impl<T, F: Writing<T>> Writer<T, F> {
    fn run(mut self) -> Result<(), TraceFault> {
        if let Err(error) = self.write_all() {
            self.state.failed.store(true, Ordering::Relaxed);
            // Half an entry would make readers complain of the whole file.
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
        // Its head.
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
            // A datagram that IP cannot carry: nothing was written of it.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            added => added,
        }
    }

    fn write(&mut self) -> io::Result<()> {
        let bytes = self.format.written();
        self.file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        bytes.clear();
        Ok(())
    }
}

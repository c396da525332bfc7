use super::counts::Counts;
use super::event::{Queued, WebhookEvent};
use crate::log::{Log, ServerEvent};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Maximum number of waiting events. Chosen by us: half a megabyte, and minutes
/// of a busy server.
pub(super) const MOST: usize = 1000;

/// Bounded queue between the server and the thread that sends.
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    log: Log,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Queued>,
    counts: Counts,
    /// Whether the server is ending.
    is_closed: bool,
    /// Problems that were logged since the last delivery.
    logged: Logged,
}

#[derive(Default)]
struct Logged {
    failure: bool,
    loss: bool,
}

impl Queue {
    pub(super) fn new(log: Log) -> Queue {
        Queue {
            state: Mutex::default(),
            changed: Condvar::new(),
            log,
        }
    }

    /// Adds an event, or drops it if the queue is full.
    pub(super) fn push(&self, event: WebhookEvent, at: SystemTime) {
        let mut state = self.lock();
        if state.waiting.len() < MOST {
            state.waiting.push_back(Queued::new(&event, at));
            self.changed.notify_all();
        } else {
            self.lose(state, &format!("{MOST} of them wait for the target"));
        }
    }

    /// Waits for the first event, which stays in the queue. `None` if the
    /// server ends and the queue is empty.
    pub(super) fn first(&self) -> Option<Queued> {
        let mut state = self.lock();
        loop {
            match state.waiting.front() {
                Some(queued) => return Some(queued.clone()),
                None if state.is_closed => return None,
                None => state = self.wait(state, Duration::MAX),
            }
        }
    }

    /// Removes the first event, which the target accepted.
    pub(super) fn delivered(&self) {
        let mut state = self.lock();
        state.waiting.pop_front();
        state.counts.delivered += 1;
        state.logged = Logged::default();
    }

    /// Counts a failed request.
    pub(super) fn failed(&self, error: &str) {
        let mut state = self.lock();
        state.counts.failed += 1;
        if !std::mem::replace(&mut state.logged.failure, true) {
            drop(state);
            let error = error.to_owned();
            self.log.emit(|| ServerEvent::WebhookFailed { error });
        }
    }

    /// Removes the first event, which is lost.
    pub(super) fn drop_first(&self, error: &str) {
        let mut state = self.lock();
        state.waiting.pop_front();
        self.lose(state, error);
    }

    /// Waits before the next attempt; returns whether the server ends.
    pub(super) fn pause(&self, length: Duration) -> bool {
        let end = Instant::now() + length;
        let mut state = self.lock();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if state.is_closed || left.is_zero() {
                return state.is_closed;
            }
            state = self.wait(state, left);
        }
    }

    /// Ends all waits: the server ends.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    pub(super) fn counts(&self) -> Counts {
        let state = self.lock();
        Counts {
            waiting: state.waiting.len(),
            ..state.counts
        }
    }

    fn lose(&self, mut state: MutexGuard<'_, State>, error: &str) {
        state.counts.dropped += 1;
        if !std::mem::replace(&mut state.logged.loss, true) {
            drop(state);
            let error = error.to_owned();
            self.log.emit(|| ServerEvent::WebhookDropped { error });
        }
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, most: Duration) -> MutexGuard<'a, State> {
        let most = most.min(Duration::from_secs(3600));
        let waited = self.changed.wait_timeout(state, most);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Ignores poisoning: no code panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

use weft_units::{Duration, Instant, PathId, Rate};

use super::single::Single;
use super::{Assignments, Batch, PathView, Scheduler};

/// Uses one path; when its connection fails, the call drops it and continues over another
/// one.
///
/// Source: connection migration of WebRTC, as section 6 of Converge runs it (WebRTC-CM):
/// it "switches between the two available networks only when directed by the WebRTC
/// connection migration module". A poor path stays in use; a dead path stays in use until
/// the module detects its death.
#[derive(Default)]
pub(super) struct Migrate {
    one: Single,
    resumes_at: Option<Instant>,
}

/// Time from a connection's death to the first packet on the other one: libwebrtc's
/// `WEAK_CONNECTION_RECEIVE_TIMEOUT` of 2.5 s without a packet and
/// `RECEIVING_SWITCHING_DELAY` of 1 s (`p2p/base/p2p_constants.h`).
pub(super) const MIGRATION: Duration = Duration::from_millis(3500);

impl Scheduler for Migrate {
    fn assign(&mut self, now: Instant, batch: &Batch<'_>, paths: &[PathView]) -> Assignments {
        self.one.assign(now, batch, paths)
    }

    fn rate(&self, paths: &[PathView]) -> Rate {
        self.one.rate(paths)
    }

    fn on_path_down(&mut self, now: Instant, path: PathId) {
        if self.one.path == Some(path) {
            self.one.path = None;
            self.resumes_at = Some(now + MIGRATION);
        }
    }

    fn on_path_removed(&mut self, path: PathId) {
        self.one.on_path_removed(path);
    }

    fn keeps_to(&self) -> Option<PathId> {
        self.one.path
    }

    fn resumes_at(&self) -> Option<Instant> {
        self.resumes_at
    }
}

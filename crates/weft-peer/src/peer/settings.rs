//! Settings that change during a call.

use weft_session::{Backlog, ControllerKind, Policy, Preference, ProtectionKind, SchedulerKind};
use weft_units::{Instant, PathId, Rate, StreamId};

use super::Peer;

impl Peer {
    /// Changes the scheduler during the call.
    pub fn set_scheduler(&mut self, scheduler: SchedulerKind) {
        self.session.set_scheduler(scheduler);
    }

    /// Changes the preference during the call.
    pub fn set_preference(&mut self, now: Instant, preference: Preference) {
        self.session.set_preference(now, preference);
    }

    /// Changes the protection during the call.
    pub fn set_protection(&mut self, protection: ProtectionKind) {
        self.session.set_protection(protection);
    }

    /// Changes every path's congestion controller during the call.
    pub fn set_controller(&mut self, now: Instant, controller: ControllerKind) {
        self.session.set_controller(now, controller);
        self.pump(now);
    }

    /// Sets the policy of a path's link; it also applies to paths that do not exist yet.
    pub fn set_path_policy(&mut self, now: Instant, path: PathId, policy: Policy) {
        self.session.set_path_policy(now, path, policy);
        self.pump(now);
    }

    /// Changes the treatment of waiting packets
    /// ([`set_backlog`](weft_session::Session::set_backlog)).
    pub fn set_backlog(&mut self, backlog: Backlog) {
        self.session.set_backlog(backlog);
    }

    /// Bounds the total sending rate over all paths.
    pub fn set_max_rate(&mut self, now: Instant, rate: Rate) {
        self.session.set_max_rate(now, rate);
        self.pump(now);
    }

    /// Forgets the pictures of a stream, or of all
    /// ([`forget_pictures`](weft_session::Session::forget_pictures)).
    pub fn forget_pictures(&mut self, now: Instant, only: Option<StreamId>) {
        self.session.forget_pictures(only);
        self.pump(now);
    }

    /// Tells the peer the maximum rate of all its streams together
    /// ([`set_peer_limit`](weft_session::Session::set_peer_limit)).
    pub fn set_peer_limit(&mut self, now: Instant, rate: Rate) {
        self.session.set_peer_limit(rate);
        self.pump(now);
    }
}

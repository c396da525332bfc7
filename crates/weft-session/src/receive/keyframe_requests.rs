//! Decides when waiting for repair no longer helps and a keyframe is requested.

use weft_units::{Duration, Instant};

use super::nack::DEFAULT_RTT;

/// Longest time that a hole may stop the picture before a keyframe is requested; at least
/// three round trips of the quickest path, for two rounds of retransmission. Chosen by
/// us; libwebrtc waits 200 ms for a requested keyframe.
const PATIENCE: Duration = Duration::from_millis(200);
const PATIENCE_ROUND_TRIPS: u64 = 3;
/// Wait for a stream that does not seem to start with a keyframe: one may still arrive on
/// a slower path. Chosen by us.
const START_PATIENCE: Duration = Duration::from_millis(100);
/// Shortest time between two requests, for one to be sent and answered; chosen by us.
const INTERVAL: Duration = Duration::from_millis(300);
const INTERVAL_ROUND_TRIPS: u64 = 2;

/// Time without any packet after which there is an outage: a request cannot be answered
/// then, and retransmission may be enough afterwards; chosen by us.
const SILENCE: Duration = Duration::from_millis(100);
/// Added to the round trip that repair gets after an outage; chosen by us.
const GRACE: Duration = Duration::from_millis(50);

/// Times of libwebrtc's receiver, for [`KeyframeRequests::patient`]: it requests the
/// first keyframe after `kMaxWaitForKeyFrameMs`, and assumes that a keyframe is arriving
/// if one of its packets came within that time; a stream without a packet for 5 s is
/// inactive (`VideoReceiveStream2::HandleFrameBufferTimeout`).
const MAX_WAIT_FOR_KEYFRAME: Duration = Duration::from_millis(200);
const INACTIVE: Duration = Duration::from_secs(5);

/// Delay of a request because of an outage, at most once per stall: a very slow stream
/// may also look like an outage.
#[derive(Debug, Default, Clone, Copy)]
enum Hold {
    #[default]
    Unused,
    Silent,
    Until(Instant),
}

#[derive(Debug)]
pub(super) struct KeyframeRequests {
    /// Time from a request to its answer.
    rtt: Duration,
    requested_at: Option<Instant>,
    stalled_since: Option<Instant>,
    due: Option<Instant>,
    hold: Hold,
    unrecoverable: bool,
    /// Fixed time without a decodable frame, regardless of other events.
    patience: Option<Duration>,
}

/// Prospect of filling the hole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outlook {
    /// Retransmission may fill it.
    Repairable,
    /// There was no keyframe yet.
    Headless,
    /// Packets of it were given up.
    Lost,
}

/// Obstacle to the next frame.
pub(super) struct Stall {
    pub(super) outlook: Outlook,
    /// Arrival of the last packet of an incomplete keyframe.
    pub(super) keyframe_at: Option<Instant>,
    /// Arrival of the last packet that helped to fill the hole.
    pub(super) progress_at: Option<Instant>,
    /// Arrival of the last packet of any kind.
    pub(super) packet_at: Option<Instant>,
}

impl KeyframeRequests {
    /// Creates the state without any request, with a default round-trip time.
    pub(super) fn new(patience: Option<Duration>) -> KeyframeRequests {
        KeyframeRequests {
            rtt: DEFAULT_RTT,
            requested_at: None,
            stalled_since: None,
            due: None,
            hold: Hold::Unused,
            unrecoverable: false,
            patience,
        }
    }

    /// Sets the time from a request to its answer.
    pub(super) fn set_rtt(&mut self, rtt: Duration) {
        self.rtt = rtt;
    }

    /// Records that a decodable frame is available.
    pub(super) fn on_decodable(&mut self) {
        self.stalled_since = None;
        self.due = None;
        self.hold = Hold::Unused;
    }

    /// Records a released frame: losses before it no longer matter.
    pub(super) fn on_released(&mut self) {
        self.on_decodable();
        self.unrecoverable = false;
    }

    /// Records that packets were given up.
    pub(super) fn on_unrecoverable(&mut self) {
        self.unrecoverable = true;
    }

    pub(super) fn is_unrecoverable(&self) -> bool {
        self.unrecoverable
    }

    /// Records that nothing can be decoded. Returns true if a keyframe should be
    /// requested now.
    pub(super) fn on_stalled(&mut self, now: Instant, stall: &Stall) -> bool {
        if let Some(patience) = self.patience {
            return self.patient(now, stall, patience);
        }
        let since = *self.stalled_since.get_or_insert(now);
        let patience = PATIENCE.max(self.rtt * PATIENCE_ROUND_TRIPS);
        let wanted = match stall.outlook {
            Outlook::Lost => now,
            Outlook::Headless => since + START_PATIENCE,
            Outlook::Repairable => stall.progress_at.map_or(since, |at| at.max(since)) + patience,
        };
        let due = self.allowed_at().map_or(wanted, |at| at.max(wanted));
        self.due = if due > now {
            Some(due)
        } else {
            self.held_back(now, stall)
        };
        let is_silent = due <= now && matches!(self.hold, Hold::Silent);
        if self.due.is_some() || is_silent {
            return false;
        }
        self.requested_at = Some(now);
        self.due = self.allowed_at();
        true
    }

    /// Requests a keyframe after a fixed time, as libwebrtc does, unless one is arriving
    /// or the stream has been silent for long.
    fn patient(&mut self, now: Instant, stall: &Stall, patience: Duration) -> bool {
        let wait = match stall.outlook {
            Outlook::Headless => MAX_WAIT_FOR_KEYFRAME,
            Outlook::Repairable | Outlook::Lost => patience,
        };
        let since = *self.stalled_since.get_or_insert(now);
        if since + wait > now {
            self.due = Some(since + wait);
            return false;
        }
        self.stalled_since = Some(now);
        self.due = Some(now + wait);
        let within = |at: Option<Instant>, time| at.is_some_and(|at| now < at + time);
        let is_arriving = within(stall.keyframe_at, MAX_WAIT_FOR_KEYFRAME);
        let asks = !is_arriving && within(stall.packet_at, INACTIVE);
        if asks {
            self.requested_at = Some(now);
        }
        asks
    }

    /// Returns true if a keyframe may be requested now, not too soon after the last
    /// request.
    pub(super) fn request(&mut self, now: Instant) -> bool {
        let allowed = self.allowed_at().is_none_or(|at| at <= now);
        if allowed {
            self.requested_at = Some(now);
        }
        allowed
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Returns how long a due request is held back; `None` if it is not, or if it waits
    /// until the silence ends.
    fn held_back(&mut self, now: Instant, stall: &Stall) -> Option<Instant> {
        let is_silent = stall
            .packet_at
            .is_none_or(|at| now.saturating_since(at) >= SILENCE);
        self.hold = match (self.hold, is_silent) {
            (Hold::Unused, true) => Hold::Silent,
            (Hold::Silent, false) => Hold::Until(now + self.rtt + GRACE),
            (hold, _) => hold,
        };
        match self.hold {
            Hold::Until(at) if at > now => Some(at),
            _ => None,
        }
    }

    fn allowed_at(&self) -> Option<Instant> {
        let interval = INTERVAL.max(self.rtt * INTERVAL_ROUND_TRIPS);
        self.requested_at.map(|at| at + interval)
    }
}

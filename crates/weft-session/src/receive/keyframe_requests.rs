//! When waiting for repair has lost its sense and a keyframe is asked for.

use weft_units::{Duration, Instant};

use super::nack::DEFAULT_RTT;

/// How long a hole may stop the picture before a keyframe is asked for; also
/// three round trips of the quickest path at least, for two rounds of
/// retransmission. Chosen by us; libwebrtc waits 200 ms for a keyframe that it
/// has asked for.
const PATIENCE: Duration = Duration::from_millis(200);
const PATIENCE_ROUND_TRIPS: u64 = 3;
/// Patience with a stream that did not start with a keyframe, as far as is
/// known: one may still come by a slower path. Chosen by us.
const START_PATIENCE: Duration = Duration::from_millis(100);
/// Between two requests: time for one to be sent and answered; chosen by us.
const INTERVAL: Duration = Duration::from_millis(300);
const INTERVAL_ROUND_TRIPS: u64 = 2;

/// Nothing at all arrives: an outage, in which a request cannot be answered
/// and after which retransmission may be enough; chosen by us.
const SILENCE: Duration = Duration::from_millis(100);
/// Added to the round trip that repair gets after an outage; chosen by us.
const GRACE: Duration = Duration::from_millis(50);

/// Times of libwebrtc's receiver, for [`KeyframeRequests::patient`]: it asks for the
/// first keyframe after `kMaxWaitForKeyFrameMs` and takes one whose packet came
/// within that time for one that is arriving; a stream without a packet for 5 s is
/// inactive (`VideoReceiveStream2::HandleFrameBufferTimeout`).
const MAX_WAIT_FOR_KEYFRAME: Duration = Duration::from_millis(200);
const INACTIVE: Duration = Duration::from_secs(5);

/// A request is held back for one outage per stall: a stream may also be so
/// slow that it looks like one.
#[derive(Debug, Default, Clone, Copy)]
enum Hold {
    #[default]
    Unused,
    Silent,
    Until(Instant),
}

#[derive(Debug)]
pub(super) struct KeyframeRequests {
    /// From a request to its answer.
    rtt: Duration,
    requested_at: Option<Instant>,
    stalled_since: Option<Instant>,
    due: Option<Instant>,
    hold: Hold,
    unrecoverable: bool,
    /// Fixed time without a decodable frame, whatever happens meanwhile.
    patience: Option<Duration>,
}

/// Whether waiting can help.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outlook {
    /// Retransmission may fill the hole.
    Repairable,
    /// There was no keyframe yet.
    Headless,
    /// Packets of the hole were given up.
    Lost,
}

/// Obstacle to the next frame.
pub(super) struct Stall {
    pub(super) outlook: Outlook,
    /// The last packet of a keyframe that is not complete.
    pub(super) keyframe_at: Option<Instant>,
    /// The last packet that brought its end nearer.
    pub(super) progress_at: Option<Instant>,
    /// The last packet at all.
    pub(super) packet_at: Option<Instant>,
}

impl KeyframeRequests {
    /// Where nothing was asked for yet, and answers take a usual time.
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

    /// A request is answered after so long a time from now on.
    pub(super) fn set_rtt(&mut self, rtt: Duration) {
        self.rtt = rtt;
    }

    /// A frame that can be decoded is there.
    pub(super) fn on_decodable(&mut self) {
        self.stalled_since = None;
        self.due = None;
        self.hold = Hold::Unused;
    }

    /// A frame was released: what was lost before it does not matter.
    pub(super) fn on_released(&mut self) {
        self.on_decodable();
        self.unrecoverable = false;
    }

    /// Packets were given up.
    pub(super) fn on_unrecoverable(&mut self) {
        self.unrecoverable = true;
    }

    pub(super) fn is_unrecoverable(&self) -> bool {
        self.unrecoverable
    }

    /// Nothing can be decoded. True if a keyframe is to be asked for now.
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

    /// Asks after a fixed time, as libwebrtc does, unless a keyframe is arriving or
    /// nothing has come for long.
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

    /// Asks at once, unless that was done just before.
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

    /// Until when a request that is due is held back; `None` for not at all,
    /// or until the silence ends.
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

//! Schedule of checks.

use super::pair::Pair;
use crate::types::PathState;
use weft_units::{Duration, Instant};

/// Interval for a pair that was never valid, at first: RFC 8445 section 14.2
/// paces checks by 50 ms; libwebrtc checks weak pairs every 48 ms if it has few
/// (p2p/base/p2p_constants.h, WEAK_PING_INTERVAL).
const PROBE: Duration = Duration::from_millis(75);
/// Intervals after [`PROBE_EAGER`] and after [`PROBE_PATIENT`]: most such pairs
/// never work, but a route may appear during a call.
const PROBE_SLOW: Duration = Duration::from_millis(500);
const PROBE_RARE: Duration = Duration::from_secs(5);
const PROBE_EAGER: Duration = Duration::from_secs(3);
const PROBE_PATIENT: Duration = Duration::from_secs(10);

/// Interval for a valid pair. In a measurement, Chromium kept a pair alive that
/// was checked every 2.5 s (experiment: native sender with two addresses,
/// unmodified Chromium 156); this leaves room for a late timer.
const KEEP: Duration = Duration::from_millis(2_000);
/// Interval for a valid pair during the handshake, when only checks detect a
/// dead path.
const KEEP_HANDSHAKE: Duration = Duration::from_millis(200);
/// Interval for the selected pair until a check with the nomination is
/// answered, unless its round trip is longer.
const NOMINATE: Duration = Duration::from_millis(50);
/// Interval for a pair that was valid and failed. Chosen by us: it recovers within half a
/// second and costs 2 kbps.
const REVIVE: Duration = Duration::from_millis(400);
/// Interval for a dead pair without any packet for [`FORSAKEN`]: its addresses
/// may belong to another host by now. Chosen by us: the same as for pairs that
/// never worked.
const REVIVE_RARE: Duration = PROBE_RARE;
/// Time without any packet until a dead pair is checked rarely. Chosen by us, for a
/// tunnel or a lift: an endpoint waits for its server for the same time.
const FORSAKEN: Duration = Duration::from_secs(180);

/// Interval between the first checks of new pairs: the minimum of RFC 8445
/// section 14.2.
pub(super) const STAGGER: Duration = Duration::from_millis(5);
/// Minimum interval of checks on the same pair that the peer's checks trigger.
pub(super) const TRIGGERED_GAP: Duration = Duration::from_millis(20);

/// Purpose of the paths, which determines the check interval of valid ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Key exchange: only checks detect a dead path.
    Handshake,
    /// Media: its feedback detects a dead path first.
    Media,
}

/// Time until the next check of the pair if one is sent now. `unconfirmed`: it
/// is selected and the peer may not know.
pub(super) fn interval(now: Instant, pair: &Pair, phase: Phase, unconfirmed: bool) -> Duration {
    match (pair.path.state, phase) {
        (PathState::Probing, _) => {
            let age = now.saturating_since(pair.since);
            if age < PROBE_EAGER {
                PROBE
            } else if age < PROBE_PATIENT {
                PROBE_SLOW
            } else {
                PROBE_RARE
            }
        }
        (PathState::Down, _) => match pair.sent.heard_at {
            Some(at) if now.saturating_since(at) < FORSAKEN => REVIVE,
            _ => REVIVE_RARE,
        },
        (PathState::Up | PathState::Spare, _) if unconfirmed => {
            NOMINATE.max(pair.path.rtt.unwrap_or_default()).min(KEEP)
        }
        (PathState::Up | PathState::Spare, Phase::Handshake) => KEEP_HANDSHAKE,
        (PathState::Up | PathState::Spare, Phase::Media) => KEEP,
    }
}

/// Whether a pair is so unlikely to work that a new one may replace it: no
/// answer for long, and no media.
pub(super) fn is_hopeless(now: Instant, pair: &Pair) -> bool {
    pair.path.state == PathState::Probing
        && !pair.numbered
        && now.saturating_since(pair.since) >= PROBE_PATIENT
}

//! When checks leave.

use super::pair::Pair;
use crate::types::PathState;
use weft_units::{Duration, Instant};

/// A pair that was never valid, at first: RFC 8445 section 14.2 paces checks
/// by 50 ms; libwebrtc checks weak pairs every 48 ms when it has few
/// (p2p/base/p2p_constants.h, WEAK_PING_INTERVAL).
const PROBE: Duration = Duration::from_millis(75);
/// The same after [`PROBE_EAGER`] and after [`PROBE_PATIENT`]: most such
/// pairs never work, but a route may appear during a call.
const PROBE_SLOW: Duration = Duration::from_millis(500);
const PROBE_RARE: Duration = Duration::from_secs(5);
const PROBE_EAGER: Duration = Duration::from_secs(3);
const PROBE_PATIENT: Duration = Duration::from_secs(10);

/// A valid pair. Chromium was measured to keep a pair alive that is checked
/// every 2.5 s (experiment: native sender with two addresses, unmodified
/// Chromium 156); this leaves room for a late timer.
const KEEP: Duration = Duration::from_millis(2_000);
/// The same until the handshake is done: nothing else tells then that the
/// path died.
const KEEP_HANDSHAKE: Duration = Duration::from_millis(200);
/// The selected pair until a check with the nomination was answered, unless
/// its round trip takes longer.
const NOMINATE: Duration = Duration::from_millis(50);
/// A pair that was valid and died. Chosen by us: it is back within half a
/// second and costs 2 kbps.
const REVIVE: Duration = Duration::from_millis(400);
/// The same when nothing has come by it for [`FORSAKEN`]: its addresses may be
/// somebody else's by now. Chosen by us: as for pairs that never worked.
const REVIVE_RARE: Duration = PROBE_RARE;
/// Chosen by us: a tunnel, a lift; an endpoint waits as long for its server.
const FORSAKEN: Duration = Duration::from_secs(180);

/// Between the first checks of new pairs: the least that RFC 8445
/// section 14.2 allows.
pub(super) const STAGGER: Duration = Duration::from_millis(5);
/// Checks on the same pair are at least so far apart when the peer's checks
/// trigger them.
pub(super) const TRIGGERED_GAP: Duration = Duration::from_millis(20);

/// What the paths are used for; it decides how often valid ones are checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Keys are being agreed on: nothing but a check tells that a path died.
    Handshake,
    /// Media flows, and its feedback tells first.
    Media,
}

/// Until the next check of the pair if one leaves now. `unconfirmed`: it is
/// selected and the peer may not know.
pub(super) fn interval(now: Instant, pair: &Pair, phase: Phase, unconfirmed: bool) -> Duration {
    match (pair.path.state, phase) {
        (PathState::Probing, _) => {
            let age = now.saturating_since(pair.probing_since);
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

/// Whether a pair is so unlikely to work that a new one may take its place:
/// no answer for long, and no media.
pub(super) fn is_hopeless(now: Instant, pair: &Pair) -> bool {
    pair.path.state == PathState::Probing
        && !pair.numbered
        && now.saturating_since(pair.probing_since) >= PROBE_PATIENT
}

use weft_units::{Duration, Instant};

/// Packets sent within this time form one group: `kSendTimeGroupLength`
/// (libwebrtc `delay_based_bwe.cc`), draft-ietf-rmcat-gcc-02 section 5.2.
const GROUP_LENGTH: Duration = Duration::from_millis(5);

/// Packets that arrive this close together after a stall also form one burst:
/// `kBurstDeltaThreshold` (libwebrtc `inter_arrival_delta.cc`).
const BURST_GAP_MS: f64 = 5.0;

/// Longest burst: `kMaxBurstDuration` (ibid.).
const MAX_BURST_MS: f64 = 100.0;

/// Lead of the arrival clock over our clock from which it has jumped:
/// `kArrivalTimeOffsetThreshold` (ibid.).
const ARRIVAL_OFFSET_MS: f64 = 3000.0;

/// Consecutive reordered groups that also count as a jump: `kReorderedResetThreshold`
/// (libwebrtc `inter_arrival_delta.h`).
const REORDERED_RESET: u32 = 3;

/// Time differences between two neighbouring groups of packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Delta {
    /// Time between the sending of their last packets.
    pub(super) send_ms: f64,
    /// Time between the arrivals of their last packets.
    pub(super) arrival_ms: f64,
    /// Time when the later group was complete, in the receiver's clock.
    pub(super) arrival: Instant,
}

/// Groups packets into bursts and compares each burst with the previous one.
#[derive(Debug, Default)]
pub(super) struct InterArrival {
    current: Option<Group>,
    previous: Option<Group>,
    reordered: u32,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Instant,
    last_sent: Instant,
    first_arrival: Instant,
    complete: Instant,
    /// Time on our clock when the group's last packet was reported.
    reported: Instant,
}

impl Group {
    fn new(now: Instant, sent: Instant, arrival: Instant) -> Group {
        Group {
            first_sent: sent,
            last_sent: sent,
            first_arrival: arrival,
            complete: arrival,
            reported: now,
        }
    }

    fn takes(&self, sent: Instant, arrival: Instant) -> bool {
        let arrival_ms = signed_ms(arrival, self.complete);
        let send_ms = signed_ms(sent, self.last_sent);
        let burst = send_ms == 0.0
            || (arrival_ms - send_ms < 0.0
                && arrival_ms.abs() <= BURST_GAP_MS
                && signed_ms(arrival, self.first_arrival) < MAX_BURST_MS);
        burst || sent.saturating_since(self.first_sent) <= GROUP_LENGTH
    }
}

impl InterArrival {
    /// Adds a reported packet; if it starts a new group, returns the difference of the
    /// two previous groups.
    pub(super) fn on_packet(
        &mut self,
        now: Instant,
        sent: Instant,
        arrival: Instant,
    ) -> Option<Delta> {
        let Some(current) = &mut self.current else {
            self.current = Some(Group::new(now, sent, arrival));
            return None;
        };
        if sent < current.first_sent {
            return None; // reordered: belongs to an earlier group
        }
        if current.takes(sent, arrival) {
            current.last_sent = current.last_sent.max(sent);
            current.complete = current.complete.max(arrival);
            current.reported = now;
            return None;
        }
        let (finished, before) = (*current, self.previous);
        let delta = match before {
            Some(before) => Some(self.compare(&before, &finished)?),
            None => None,
        };
        self.previous = Some(finished);
        self.current = Some(Group::new(now, sent, arrival));
        delta
    }

    fn compare(&mut self, before: &Group, group: &Group) -> Option<Delta> {
        let arrival_ms = signed_ms(group.complete, before.complete);
        let own_ms = signed_ms(group.reported, before.reported);
        if arrival_ms - own_ms >= ARRIVAL_OFFSET_MS {
            *self = InterArrival::default();
            return None;
        }
        if arrival_ms < 0.0 {
            self.reordered += 1;
            if self.reordered >= REORDERED_RESET {
                *self = InterArrival::default();
            } else {
                // No group to compare with: continue from the earlier group.
                self.current = None;
            }
            return None;
        }
        self.reordered = 0;
        Some(Delta {
            send_ms: signed_ms(group.last_sent, before.last_sent),
            arrival_ms,
            arrival: group.complete,
        })
    }
}

fn signed_ms(a: Instant, b: Instant) -> f64 {
    a.signed_nanos_since(b) as f64 / 1e6
}

#[cfg(test)]
mod tests;

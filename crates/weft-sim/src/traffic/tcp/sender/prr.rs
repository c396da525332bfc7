//! Proportional rate reduction (RFC 6937).

/// Sends during recovery in proportion to deliveries, so that the window reaches the goal
/// at its end.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Proportional {
    /// `RecoverFS`: segments in flight at the start.
    at_start: u32,
    delivered: u32,
    sent: u32,
    window: u32,
}

impl Proportional {
    /// Starts a recovery; `at_start` segments were in flight before the loss was found.
    pub fn begin(&mut self, at_start: u32, in_flight: u32) {
        *self = Proportional {
            at_start: at_start.max(1),
            delivered: 0,
            sent: 0,
            // The fast retransmission is sent in any case.
            window: in_flight + 1,
        };
    }

    pub fn on_sent(&mut self) {
        self.sent += 1;
    }

    /// Processes `delivered` more segments; `goal` is the slow start threshold. `safe`
    /// means that something was acknowledged in order, and nothing more is lost.
    pub fn on_ack(&mut self, delivered: u32, in_flight: u32, goal: u32, safe: bool) {
        self.delivered += delivered;
        let allowed = if in_flight > goal {
            let share = u64::from(self.delivered) * u64::from(goal);
            let share = share.div_ceil(u64::from(self.at_start)) as u32;
            share.saturating_sub(self.sent)
        } else {
            // Slow start reduction bound, or the conservative one.
            let behind = self.delivered.saturating_sub(self.sent);
            let bound = behind.max(delivered) + u32::from(safe);
            bound.min(goal - in_flight)
        };
        let first = u32::from(self.sent == 0);
        self.window = in_flight + allowed.max(first);
    }

    pub fn window(&self) -> u32 {
        self.window
    }
}

use weft_units::{Duration, Ecn, Instant};

/// `L4S_AVG_G_UP` and `L4S_AVG_G_DOWN`.
const GAIN_UP: f64 = 1.0 / 8.0;
const GAIN_DOWN: f64 = 1.0 / 128.0;
/// Longest interval between updates of the average.
const INTERVAL: Duration = Duration::from_millis(10);

/// Meaning of marks, by the codepoint with which our packets arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Marking {
    /// ECT(0) or not ECN-capable: a mark counts like a loss (RFC 8511).
    #[default]
    Classic,
    /// ECT(1): the share of marks counts (`IS_L4S`).
    L4s,
}

/// Share of marked packets ("Receiving ECN-CE for L4S").
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// `l4s_alpha`.
    share: f64,
    delivered: u32,
    marked: u32,
    updated: Option<Instant>,
    marking: Marking,
}

impl Marks {
    /// Records a packet that arrived with this codepoint.
    pub(super) fn on_packet(&mut self, ecn: Ecn) {
        self.delivered = self.delivered.saturating_add(1);
        match ecn {
            Ecn::Ce => self.marked = self.marked.saturating_add(1),
            Ecn::Ect1 => self.marking = Marking::L4s,
            Ecn::Ect0 | Ecn::NotEct => self.marking = Marking::Classic,
        }
    }

    /// Updates the average after all packets of a feedback message.
    pub(super) fn update(&mut self, now: Instant, rtt: Duration) {
        let updated = *self.updated.get_or_insert(now);
        if now.saturating_since(updated) < INTERVAL.min(rtt) || self.delivered == 0 {
            return;
        }
        self.updated = Some(now);
        let fraction = f64::from(self.marked) / f64::from(self.delivered);
        (self.delivered, self.marked) = (0, 0);
        self.share = match fraction >= self.share {
            true => GAIN_UP * fraction + (1.0 - GAIN_UP) * self.share,
            false => (1.0 - GAIN_DOWN) * self.share,
        };
    }

    /// Returns `l4s_alpha`, 0 to 1.
    pub(super) fn share(&self) -> f64 {
        self.share
    }

    pub(super) fn marking(&self) -> Marking {
        self.marking
    }
}

#[cfg(test)]
mod tests;

use super::raises::Raises;
use std::collections::VecDeque;
use weft_units::{Bytes, Duration, Instant, Rate};

#[cfg(test)]
mod tests;

/// Temporal layers that a VP8 payload descriptor can name (RFC 7741 section
/// 4.2: TID has two bits).
pub(crate) const LAYERS: usize = 4;

/// Size of the headers of a forwarded packet in bytes, RTP's and its extensions' (RFC
/// 3550, RFC 8285): controllers count them, and the smallest encodings grow by a quarter.
pub(crate) const HEADERS: u64 = 32;

/// Time over which a layer's rate is measured: longer than the fluctuations of an encoder
/// from picture to picture, shorter than its reaction to a new target. Chosen by us.
const WINDOW: Duration = Duration::from_secs(1);
/// Minimum time for a meaningful rate. Chosen by us.
const SHORTEST_WINDOW: Duration = Duration::from_millis(200);
/// Buckets per window.
const BUCKETS: u64 = 10;

/// Factor by which a target rate must exceed a layer's rate before the layer is added.
/// Chosen by us: below it, a layer would flap with every probe.
const RAISE_MARGIN: f64 = 1.15;
/// Time for which the target must stay above that. Chosen by us: longer than one cycle of
/// decrease and recovery of GCC on a full link.
const RAISE_AFTER: Duration = Duration::from_secs(1);

/// Layers that need a packet, as bits, of those that a subscriber can choose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayerSet([bool; LAYERS]);

impl LayerSet {
    pub(crate) fn of(has: impl Fn(usize) -> bool) -> LayerSet {
        LayerSet(std::array::from_fn(has))
    }
}

/// All layers from a temporal layer on.
impl From<u8> for LayerSet {
    fn from(layer: u8) -> LayerSet {
        let lowest = usize::from(layer).min(LAYERS - 1);
        LayerSet::of(|layer| layer >= lowest)
    }
}

/// Incoming rates of a track's layers that a subscriber can choose.
#[derive(Debug, Clone, Default)]
pub(crate) struct LayerRates {
    buckets: VecDeque<(u64, [u64; LAYERS])>,
    first: Option<Instant>,
    /// Rates of a whole window, which stay the same until this bucket ends.
    found: Option<(u64, [Rate; LAYERS])>,
}

impl LayerRates {
    /// Counts a packet for all layers that need it.
    pub(crate) fn on_packet(&mut self, now: Instant, layers: impl Into<LayerSet>, size: Bytes) {
        let LayerSet(needed) = layers.into();
        let number = bucket(now);
        let first = *self.first.get_or_insert(now);
        if self.buckets.back().is_none_or(|(last, _)| *last < number) {
            while self
                .buckets
                .front()
                .is_some_and(|(n, _)| n + BUCKETS < number)
            {
                self.buckets.pop_front();
            }
            self.buckets.push_back((number, [0; LAYERS]));
            // Every forwarded packet and every division of a viewer's rate asks for these.
            let is_whole = now.saturating_since(first) >= WINDOW;
            let found = is_whole.then(|| self.find(now)).flatten();
            self.found = found.map(|rates| (number, rates));
        }
        if let Some((_, sizes)) = self.buckets.back_mut() {
            for (all, _) in sizes.iter_mut().zip(needed).filter(|(_, needed)| *needed) {
                *all += size.0;
            }
        }
    }

    /// Rates of the layers up to each layer; `None` until enough was measured.
    #[must_use]
    pub(crate) fn cumulative(&self, now: Instant) -> Option<[Rate; LAYERS]> {
        match self.found {
            Some((number, rates)) if number == bucket(now) => Some(rates),
            _ => self.find(now),
        }
    }

    /// Rate of all layers together.
    #[must_use]
    pub(crate) fn total(&self, now: Instant) -> Option<Rate> {
        Some(self.cumulative(now)?[LAYERS - 1])
    }

    /// Finds the rates of the layers up to each layer; `None` while too little was seen.
    fn find(&self, now: Instant) -> Option<[Rate; LAYERS]> {
        let seen = now.saturating_since(self.first?);
        if seen < SHORTEST_WINDOW {
            return None;
        }
        // The current bucket is only partly filled: leave it out, and count up to ten
        // buckets before it.
        let number = bucket(now);
        let counts = |n: u64| n + BUCKETS >= number && (n < number || seen < WINDOW);
        let mut sum = [0_u64; LAYERS];
        for (_, sizes) in self.buckets.iter().filter(|(n, _)| counts(*n)) {
            for (total, size) in sum.iter_mut().zip(sizes) {
                *total += size;
            }
        }
        Some(sum.map(|size| Bytes(size) / seen.min(WINDOW)))
    }
}

/// Number of the bucket that packets of this time belong to.
fn bucket(now: Instant) -> u64 {
    now.as_nanos() / (WINDOW / BUCKETS).as_nanos()
}

/// Choice of the highest layer that fits a subscriber's target rate: down at once, up
/// after the target has exceeded the need for a while.
#[derive(Debug, Clone)]
pub(crate) struct LayerChoice {
    wanted: u8,
    raise_since: Option<Instant>,
    /// Raises to each layer that is the first one with larger pictures.
    larger: [Raises; LAYERS],
}

impl LayerChoice {
    pub(crate) fn new() -> LayerChoice {
        LayerChoice {
            wanted: LAYERS as u8 - 1,
            raise_since: None,
            larger: Default::default(),
        }
    }

    /// Chooses this layer, or the highest if it is above that.
    pub(crate) fn set(&mut self, layer: u8) {
        self.wanted = layer.min(LAYERS as u8 - 1);
    }

    /// Layer that was last wanted.
    pub(crate) fn wanted(&self) -> u8 {
        self.wanted
    }

    /// Updates the choice with the target and the cumulative `rates` up to each layer; `spatial`
    /// are the layers' spatial layers. Returns whether a raise to larger pictures did not last.
    pub(crate) fn update(
        &mut self,
        now: Instant,
        target: Option<Rate>,
        rates: Option<[Rate; LAYERS]>,
        spatial: [u8; LAYERS],
    ) -> bool {
        let (Some(target), Some(rates)) = (target, rates) else {
            return false;
        };
        let fits = |factor: f64| {
            let above = rates.iter().rposition(|r| r.mul_f64(factor) <= target);
            above.unwrap_or(0)
        };
        let wanted = usize::from(self.wanted);
        let (stay, raise) = (fits(1.0), fits(RAISE_MARGIN));
        if raise > wanted {
            self.raise(now, raise, spatial);
            return false;
        }
        self.raise_since = None;
        self.larger.iter_mut().for_each(Raises::reset);
        self.wanted = stay.min(wanted) as u8;
        let given_up = (stay + 1..=wanted).filter(|layer| spatial[*layer] > spatial[layer - 1]);
        let failed = given_up.map(|layer| self.larger[layer].lower(now));
        failed.fold(false, |any, failed| any | failed)
    }

    /// Raises the layer to `most` when it is time; at most to the next one with larger pictures.
    fn raise(&mut self, now: Instant, most: usize, spatial: [u8; LAYERS]) {
        let wanted = usize::from(self.wanted);
        let next = wanted + 1;
        if spatial[next] > spatial[wanted] {
            let raises = &mut self.larger[next];
            if raises.is_due(now) {
                raises.raise(now);
                self.wanted = next as u8;
            }
            return;
        }
        let since = *self.raise_since.get_or_insert(now);
        if now.saturating_since(since) >= RAISE_AFTER {
            let same = (next..=most).take_while(|layer| spatial[*layer] == spatial[wanted]);
            self.wanted = same.last().unwrap_or(next) as u8;
            self.raise_since = None;
        }
    }
}

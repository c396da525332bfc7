use super::conditions::Scale;
use super::profile::{Common, Dips, Profile, Wander};
use weft_units::{Duration, Rate, Rng};

/// Time for which a rate applies. Chosen by us: about the averaging time of a cell's
/// scheduler, and far shorter than a call notices.
pub(super) const SLOT: Duration = Duration::from_millis(100);

/// Capacity as a product: the typical rate, a slow and a fast component
/// (log-normal, each with its own correlation time), and dips.
#[derive(Clone, Debug)]
pub(super) struct Process {
    profile: &'static Profile,
    /// Fraction of the profile's typical rate.
    rate: f64,
    /// Seconds since the start.
    now: f64,
    slow: Component,
    fast: Component,
    /// Whether dips hit both directions at the same time.
    dips_together: bool,
    fades: Coverage,
    handovers: Coverage,
    outages: Coverage,
}

/// Autoregressive normal process of variance one; both directions share a part of it.
#[derive(Clone, Debug)]
struct Component {
    common: Walk,
    own: Walk,
    share: f64,
}

/// Autoregressive normal process of variance one.
#[derive(Clone, Debug)]
struct Walk {
    rng: Rng,
    value: f64,
}

/// Next or current dip, in seconds.
#[derive(Clone, Debug)]
struct Coverage {
    rng: Rng,
    begin: f64,
    end: f64,
    /// Factor on the length that the profile gives.
    longer: f64,
}

impl Process {
    /// Creates the capacity of one of two directions: the first generator draws the part
    /// in `common`, the second one the rest.
    pub fn new(
        profile: &'static Profile,
        scale: Scale,
        common: Common,
        [both, own]: [&Rng; 2],
    ) -> Process {
        let component = |name: &str, share: f64| Component {
            common: Walk::new(both.stream(name)),
            own: Walk::new(own.stream(name)),
            share,
        };
        let longer = Scale::factor(scale.dips);
        let place = if common.dips { both } else { own };
        Process {
            profile,
            rate: Scale::factor(scale.rate),
            now: 0.0,
            slow: component("slow", common.slow),
            fast: component("fast", common.fast),
            dips_together: common.dips,
            fades: Coverage::new(&profile.fades, place.stream("fades"), longer),
            handovers: Coverage::new(&profile.handovers, place.stream("handovers"), longer),
            outages: Coverage::new(&profile.outages, place.stream("outages"), longer),
        }
    }

    /// Returns the mean capacity over the next slot.
    pub fn next_slot(&mut self) -> Rate {
        let length = SLOT.as_secs_f64();
        let profile = self.profile;
        let level = self.slow.next(&profile.slow, length) * self.fast.next(&profile.fast, length);
        let mut factor = level.min(profile.ceiling);
        let dips = [
            (&mut self.fades, &profile.fades),
            (&mut self.handovers, &profile.handovers),
            (&mut self.outages, &profile.outages),
        ];
        for (coverage, dips) in dips {
            factor *= coverage.over(self.now, length, dips);
        }
        if self.handovers.has_ended(self.now, length) {
            self.slow.own.draw();
            if self.dips_together {
                self.slow.common.draw();
            }
        }
        self.now += length;
        profile.typical.mul_f64(factor * self.rate)
    }
}

impl Component {
    /// Returns the next factor, of mean one.
    fn next(&mut self, wander: &Wander, length: f64) -> f64 {
        let keep = (-length / wander.time).exp();
        let (common, own) = (self.common.next(keep), self.own.next(keep));
        let value = self.share.sqrt() * common + (1.0 - self.share).sqrt() * own;
        let spread = wander.deviation;
        (spread * value - spread * spread / 2.0).exp()
    }
}

impl Walk {
    fn new(mut rng: Rng) -> Walk {
        let value = rng.normal();
        Walk { rng, value }
    }

    /// Draws a new level, as in another cell.
    fn draw(&mut self) {
        self.value = self.rng.normal();
    }

    fn next(&mut self, keep: f64) -> f64 {
        let fresh = (1.0 - keep * keep).sqrt();
        self.value = keep * self.value + fresh * self.rng.normal();
        self.value
    }
}

impl Coverage {
    fn new(dips: &Dips, rng: Rng, longer: f64) -> Coverage {
        let mut coverage = Coverage {
            rng,
            begin: 0.0,
            end: 0.0,
            longer,
        };
        coverage.draw(dips, 0.0);
        coverage
    }

    /// Returns the remaining share of the capacity over `length` seconds from `now`.
    fn over(&mut self, now: f64, length: f64, dips: &Dips) -> f64 {
        if now > self.end + dips.ramp {
            self.draw(dips, now);
        }
        let inside = (self.end.min(now + length) - self.begin.max(now)).max(0.0) / length;
        let middle = now + length / 2.0;
        let away = (self.begin - middle).max(middle - self.end).max(0.0);
        let slope = if dips.ramp > 0.0 {
            (1.0 - away / dips.ramp).max(0.0)
        } else {
            0.0
        };
        let depth = if away > 0.0 {
            inside.max(slope)
        } else {
            inside.max(0.0)
        };
        1.0 - (1.0 - dips.floor) * depth
    }

    fn has_ended(&self, now: f64, length: f64) -> bool {
        (now..now + length).contains(&self.end)
    }

    fn draw(&mut self, dips: &Dips, now: f64) {
        self.begin = now + dips.ramp + self.exponential(dips.every);
        self.end = self.begin + self.exponential(dips.lasts * self.longer);
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -(1.0 - self.rng.unit()).ln() * mean
    }
}

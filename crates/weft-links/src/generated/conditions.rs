weft_units::named! {
    /// Motion of a device.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Motion: "motion" {
        /// On a desk.
        Stationary = "stationary",
        /// Through buildings and streets.
        Walking = "walking",
        /// In traffic.
        Driving = "driving",
    }
}

weft_units::named! {
    /// Network that a device uses.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Network: "network" {
        /// Access points with gaps between them.
        Wifi = "wifi",
        /// Cellular carrier with good coverage.
        Lte = "lte",
        /// Second carrier, with less capacity.
        Lte2 = "lte2",
    }
}

/// Correlation of the two directions of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DirectionCorrelation {
    /// WiFi: identical, because both directions take turns on one channel. Cellular: as
    /// measured; without measurements, only common coverage.
    #[default]
    AsMeasured,
    /// Identical capacity.
    Together,
    /// Independent capacities.
    Apart,
}

/// Scaling of a generated link relative to its profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scale {
    /// Capacity, in percent of the profile's, 1 to 1000.
    pub rate: u32,
    /// Length of fades, handovers and outages, in percent of the profile's, 1
    /// to 1000; the time between two of them stays the same.
    pub dips: u32,
}

impl Scale {
    /// Profile without scaling.
    pub const PROFILE: Scale = Scale {
        rate: 100,
        dips: 100,
    };

    /// Range of the percentages in a link specification.
    const PER_CENT: std::ops::RangeInclusive<u32> = 1..=1000;

    /// Takes a part such as `rate=50%`; returns whether it was a valid part.
    pub(super) fn take(&mut self, part: &str) -> bool {
        let read = || {
            let (name, share) = part.split_once('=')?;
            let digits = share.strip_suffix('%')?;
            let share = digits.parse().ok().filter(|n| Scale::PER_CENT.contains(n));
            Some((name, share?))
        };
        match read() {
            Some(("rate", share)) => self.rate = share,
            Some(("dips", share)) => self.dips = share,
            _ => return false,
        }
        true
    }

    /// Returns a share as a factor.
    pub(super) fn factor(share: u32) -> f64 {
        f64::from(share) / 100.0
    }
}

impl DirectionCorrelation {
    /// Variants that have a name in link specifications, with that name.
    pub const NAMED: [(DirectionCorrelation, &'static str); 2] = [
        (DirectionCorrelation::Together, "together"),
        (DirectionCorrelation::Apart, "apart"),
    ];
}

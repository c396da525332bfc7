/// How a device moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Motion {
    /// On a desk.
    Stationary,
    /// Through buildings and streets.
    Walking,
    /// In traffic.
    Driving,
}

/// What a device is connected to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Network {
    /// Access points with gaps between them.
    Wifi,
    /// A cellular carrier with good coverage.
    Lte,
    /// Another one, with less capacity.
    Lte2,
}

/// What the two directions of a link have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ways {
    /// WiFi everything, since both directions take turns on one channel;
    /// cellular what was measured, and coverage where nothing was.
    #[default]
    AsMeasured,
    /// Everything: they have the same capacity.
    Together,
    /// Nothing.
    Apart,
}

/// How much worse or better than its profile a generated link is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scale {
    /// Its capacity, in per cent of the profile's, 1 to 1000.
    pub rate: u32,
    /// How long fades, handovers and outages last, in per cent of the
    /// profile's, 1 to 1000; as much time lies between two of them.
    pub dips: u32,
}

impl Scale {
    /// As the profile is.
    pub const PROFILE: Scale = Scale {
        rate: 100,
        dips: 100,
    };

    /// What a part of a link specification may say.
    const PER_CENT: std::ops::RangeInclusive<u32> = 1..=1000;

    /// Takes a part such as `rate=50%`; whether it was one.
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

    /// A share as a factor.
    pub(super) fn factor(share: u32) -> f64 {
        f64::from(share) / 100.0
    }
}

impl Ways {
    /// Those that are told, with what tells them in a link specification.
    pub const TOLD: [(Ways, &'static str); 2] =
        [(Ways::Together, "together"), (Ways::Apart, "apart")];
}

impl Motion {
    /// All of them.
    pub const ALL: [Motion; 3] = [Motion::Stationary, Motion::Walking, Motion::Driving];

    /// As in a link specification.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Motion::Stationary => "stationary",
            Motion::Walking => "walking",
            Motion::Driving => "driving",
        }
    }
}

impl Network {
    /// All of them.
    pub const ALL: [Network; 3] = [Network::Wifi, Network::Lte, Network::Lte2];

    /// As in a link specification.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Network::Wifi => "wifi",
            Network::Lte => "lte",
            Network::Lte2 => "lte2",
        }
    }
}

use super::conditions::{DirectionCorrelation, Motion, Network};
use weft_units::Rate;

/// Parameters of a type of link. All numbers are fitted by us to the statistics
/// in docs/models/links.md, by hand; times are in seconds.
#[derive(Debug)]
pub(super) struct Profile {
    /// Mean in good coverage.
    pub typical: Rate,
    /// Variation from distance, shadowing and load of the cell.
    pub slow: Wander,
    /// Variation from fading and the scheduler's turns.
    pub fast: Wander,
    /// Maximum capacity, as a multiple of the typical rate.
    pub ceiling: f64,
    /// Bad coverage.
    pub fades: Dips,
    /// Moves to another cell or access point: a short gap, then another level.
    pub handovers: Dips,
    /// No coverage.
    pub outages: Dips,
    /// Correlation of both directions, unless the specification overrides it.
    pub common: Common,
}

/// Correlation of the two directions of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Common {
    /// Shared part, 0 to 1, of the variance of the slow and the fast component.
    pub slow: f64,
    pub fast: f64,
    /// Whether fades, handovers and outages are shared.
    pub dips: bool,
}

impl Common {
    /// Returns this correlation, unless `ways` overrides it.
    pub fn overridden(self, ways: DirectionCorrelation) -> Common {
        match ways {
            DirectionCorrelation::AsMeasured => self,
            DirectionCorrelation::Together => EVERYTHING,
            DirectionCorrelation::Apart => NOTHING,
        }
    }
}

const EVERYTHING: Common = common(1.0, 1.0, true);
const NOTHING: Common = common(0.0, 0.0, false);
/// Fitted by us to the two pairs with measurements of both directions
/// (docs/models/links.md): the level is partly shared; one direction can stop
/// while the other continues.
const AS_MEASURED: Common = common(0.5, 0.0, false);
/// Chosen by us for links without measurements of both directions: the level as for
/// driving, and no coverage in one direction means none in the other.
const COVERAGE: Common = common(0.5, 0.0, true);

/// Component of the logarithm of the capacity.
#[derive(Debug)]
pub(super) struct Wander {
    /// Standard deviation of the logarithm.
    pub deviation: f64,
    /// Time in seconds after which the correlation is 1/e.
    pub time: f64,
}

/// Periods with less capacity.
#[derive(Debug)]
pub(super) struct Dips {
    /// Mean time from one to the next, exponential.
    pub every: f64,
    /// Mean length, exponential.
    pub lasts: f64,
    /// Remaining share of the capacity.
    pub floor: f64,
    /// Time over which the capacity falls before and rises after.
    pub ramp: f64,
}

const NEVER: Dips = Dips {
    every: f64::INFINITY,
    lasts: 0.0,
    floor: 1.0,
    ramp: 0.0,
};

pub(super) fn of(motion: Motion, network: Network) -> &'static Profile {
    match (motion, network) {
        (Motion::Stationary, Network::Wifi) => &STATIONARY_WIFI,
        (Motion::Stationary, Network::Lte) => &STATIONARY_LTE,
        (Motion::Stationary, Network::Lte2) => &STATIONARY_LTE2,
        (Motion::Walking, Network::Wifi) => &WALKING_WIFI,
        (Motion::Walking, Network::Lte) => &WALKING_LTE,
        (Motion::Walking, Network::Lte2) => &WALKING_LTE2,
        (Motion::Driving, Network::Wifi) => &DRIVING_WIFI,
        (Motion::Driving, Network::Lte) => &DRIVING_LTE,
        (Motion::Driving, Network::Lte2) => &DRIVING_LTE2,
    }
}

const fn wander(deviation: f64, time: f64) -> Wander {
    Wander { deviation, time }
}

const fn common(slow: f64, fast: f64, dips: bool) -> Common {
    Common { slow, fast, dips }
}

const fn dips(every: f64, lasts: f64, floor: f64, ramp: f64) -> Dips {
    Dips {
        every,
        lasts,
        floor,
        ramp,
    }
}

const STATIONARY_WIFI: Profile = Profile {
    typical: Rate::from_mbps(46),
    slow: wander(0.27, 15.0),
    fast: wander(0.1, 0.5),
    ceiling: 1.5,
    fades: dips(40.0, 2.0, 0.3, 1.0),
    handovers: NEVER,
    outages: NEVER,
    common: EVERYTHING,
};
const STATIONARY_LTE: Profile = Profile {
    typical: Rate::from_mbps(42),
    slow: wander(0.14, 4.0),
    fast: wander(0.2, 0.3),
    ceiling: 2.0,
    fades: NEVER,
    handovers: NEVER,
    outages: NEVER,
    common: COVERAGE,
};
const STATIONARY_LTE2: Profile = Profile {
    typical: Rate::from_mbps(15),
    slow: wander(0.2, 4.0),
    fast: wander(0.3, 0.3),
    ceiling: 2.0,
    fades: NEVER,
    handovers: NEVER,
    outages: NEVER,
    common: COVERAGE,
};
const WALKING_WIFI: Profile = Profile {
    typical: Rate::from_mbps(42),
    slow: wander(0.5, 10.0),
    fast: wander(0.2, 0.5),
    ceiling: 1.8,
    fades: dips(25.0, 4.0, 0.2, 2.0),
    handovers: dips(60.0, 0.5, 0.0, 0.0),
    outages: dips(26.0, 6.5, 0.0, 4.0),
    common: EVERYTHING,
};
const WALKING_LTE: Profile = Profile {
    typical: Rate::from_mbps(48),
    slow: wander(0.26, 10.0),
    fast: wander(0.2, 0.3),
    ceiling: 2.0,
    fades: dips(60.0, 1.5, 0.2, 1.0),
    handovers: dips(40.0, 0.2, 0.0, 0.0),
    outages: dips(200.0, 1.0, 0.0, 0.5),
    common: COVERAGE,
};
const WALKING_LTE2: Profile = Profile {
    typical: Rate::from_mbps(15),
    slow: wander(0.65, 6.0),
    fast: wander(0.3, 0.3),
    ceiling: 3.0,
    fades: dips(40.0, 4.0, 0.15, 2.0),
    handovers: dips(40.0, 0.3, 0.0, 0.0),
    outages: dips(80.0, 4.0, 0.0, 2.0),
    common: COVERAGE,
};
const DRIVING_WIFI: Profile = Profile {
    typical: Rate::from_mbps(12),
    slow: wander(0.8, 4.0),
    fast: wander(0.3, 0.5),
    ceiling: 4.0,
    fades: NEVER,
    handovers: NEVER,
    outages: dips(14.0, 4.0, 0.0, 3.0),
    common: EVERYTHING,
};
const DRIVING_LTE: Profile = Profile {
    typical: Rate::from_kbps(16_800),
    slow: wander(0.59, 12.0),
    fast: wander(0.3, 0.25),
    ceiling: 3.0,
    fades: dips(30.0, 1.5, 0.2, 1.5),
    handovers: dips(20.0, 0.2, 0.0, 0.0),
    outages: dips(70.0, 0.7, 0.0, 0.5),
    common: AS_MEASURED,
};
const DRIVING_LTE2: Profile = Profile {
    typical: Rate::from_kbps(6_200),
    slow: wander(0.56, 12.0),
    fast: wander(0.3, 0.25),
    ceiling: 3.0,
    fades: dips(30.0, 1.5, 0.2, 1.5),
    handovers: dips(16.0, 0.2, 0.0, 0.0),
    outages: dips(70.0, 0.8, 0.0, 0.5),
    common: AS_MEASURED,
};

use weft_units::{Duration, Rate};

/// Tasks of the session that a scheduler selects. The default has none: the receiver
/// handles late packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Behaviour {
    /// Treatment of packets that arrive too late for play-out.
    pub lateness: Option<Lateness>,
    /// Whether sound is also sent over a second path, even over a suspect one.
    pub copies_sound: bool,
}

/// Treatment of late packets: the session sends them again on another path before they
/// are known to be lost, and moves media off degraded paths.
#[derive(Clone, Copy, Debug)]
pub struct Lateness {
    /// Response to danger on a path.
    pub caution: Caution,
    /// Share of the other paths' safe rates that is added to the best path's; `None` if
    /// safe rates do not limit the target.
    pub others_count: Option<f64>,
    /// Whether a path with a standing queue gets no media while another path is healthy.
    pub avoids_degraded_paths: bool,
    /// Whether the picture restarts if packets stuck on one path would take too long on
    /// another.
    pub restarts_pictures: bool,
    /// Whether the size of the next picture is limited to what arrives in time.
    pub bounds_pictures: bool,
    /// Whether a single path is treated differently: its packets are spread over the time
    /// until the next picture.
    pub spreads_on_only_path: bool,
}

/// Response to danger on a path.
#[derive(Clone, Copy, Debug)]
pub struct Caution {
    /// Delay above that of the empty path from which a path is in danger.
    pub danger: Duration,
    /// Whether a path is not in danger while the link carries its safe rate.
    pub trusts_rate: bool,
    /// Time after a danger for which frames are also sent over a second path.
    pub copies_for: Duration,
    /// Rule for learning a path's safe rate; `None` if it is not learned.
    pub cap: Option<Cap>,
}

/// Rule by which a path's safe rate falls with danger and grows without it.
#[derive(Clone, Copy, Debug)]
pub struct Cap {
    /// Initial safe rate.
    pub start: Rate,
    /// Highest safe rate after the first danger.
    pub after_first: Rate,
    /// Lowest safe rate.
    pub least: Rate,
    /// Fraction of the safe rate that remains after a danger.
    pub fall: f64,
    /// Growth per second without danger, as a fraction of the safe rate.
    pub growth: f64,
    /// Growth per second before the first danger, and after `calm_after`.
    pub early_growth: f64,
    /// Time after which a danger is forgotten.
    pub calm_after: Option<Duration>,
}

use weft_units::{Duration, Rate};

/// Duties of the session beside a scheduler, which the scheduler chooses. The
/// default has none: the receiver deals with late packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Behaviour {
    /// Treatment of packets that come too late to be played.
    pub lateness: Option<Lateness>,
    /// Whether sound goes over a second path as well, also over one that is
    /// suspect.
    pub copies_sound: bool,
}

/// Treatment of late packets: the session sends them again on another path
/// before they are known to be lost, and takes media off degraded paths.
#[derive(Clone, Copy, Debug)]
pub struct Lateness {
    /// Response to danger on a path.
    pub caution: Caution,
    /// Part of the other paths' safe rates that counts beside the best one's;
    /// `None` if the target has no such bound.
    pub others_count: Option<f64>,
    /// Whether a path with a standing queue gets no media while another one is
    /// well.
    pub avoids_degraded_paths: bool,
    /// Whether the picture restarts where packets that are stuck would take
    /// too long on another path.
    pub restarts_pictures: bool,
    /// Whether the next picture is bounded to what arrives in time.
    pub bounds_pictures: bool,
    /// Whether a path that is alone is treated in its own way: its packets are
    /// spread over the time until the next picture.
    pub spreads_on_only_path: bool,
}

/// Response to danger on a path.
#[derive(Clone, Copy, Debug)]
pub struct Caution {
    /// A delay over that of the empty path from which a path is in danger.
    pub danger: Duration,
    /// Whether there is no danger while the link carries what was thought safe.
    pub trusts_rate: bool,
    /// Time for which frames go over a second path as well after a danger.
    pub copies_for: Duration,
    /// How a path's safe rate is learnt; `None` if it is not.
    pub cap: Option<Cap>,
}

/// How a path's safe rate is learnt from danger, and changes without any.
#[derive(Clone, Copy, Debug)]
pub struct Cap {
    /// Safe rate at the beginning.
    pub start: Rate,
    /// Most of the safe rate when the first danger has come.
    pub after_first: Rate,
    /// Least safe rate.
    pub least: Rate,
    /// Part of the safe rate that a danger leaves.
    pub fall: f64,
    /// Growth a second without danger, as a part of the safe rate.
    pub growth: f64,
    /// Growth a second while there was no danger yet, and after `calm_after`.
    pub early_growth: f64,
    /// Time after which a danger is forgotten.
    pub calm_after: Option<Duration>,
}

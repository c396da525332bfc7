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

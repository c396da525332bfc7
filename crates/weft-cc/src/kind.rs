use crate::{
    Behaviour, Controller, CustomController, Fixed, Gcc, GccDraft, Limits, Nada, Reports, Scream,
    ScreamV1,
};
use std::fmt;
use std::str::FromStr;
use weft_units::{Instant, Rate};

/// Controller, by its name on the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ControllerKind {
    /// `gcc`: Google congestion control, with its known weaknesses repaired
    /// (see [`Behaviour::Repaired`]).
    #[default]
    Gcc,
    /// `gcc_deployed`: Google congestion control as libwebrtc deploys it, for
    /// comparisons.
    GccDeployed,
    /// `gcc_2022`: as libwebrtc deployed it in 2022, for comparisons with measurements of
    /// that time.
    Gcc2022,
    /// `gcc_draft`: Google congestion control of draft-ietf-rmcat-gcc-02.
    GccDraft,
    /// `nada`: RFC 8698.
    Nada,
    /// `scream`: version 2, the planned replacement of RFC 8298.
    Scream,
    /// `scream_v1`: RFC 8298.
    ScreamV1,
    /// `fixed:RATE`: a constant rate, for instance `fixed:2mbit`.
    Fixed(Rate),
    /// Controller that the embedding program defines. Not parsed from a name here.
    Custom(&'static CustomController),
}

/// Error in the name of a controller.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ControllerKindError {
    /// Unknown word before the colon.
    #[error(
        "unknown controller `{0}`: use `gcc`, `gcc_deployed`, `gcc_2022`, `gcc_draft`, `nada`, `scream`, `scream_v1` or `fixed:RATE`, such as `fixed:2mbit`"
    )]
    Unknown(String),
    /// Invalid rate after the colon.
    #[error(
        "`{0}` is not a rate above zero: write a number and `bit`, `kbit`, `mbit` or `gbit`, such as `fixed:2mbit`"
    )]
    Rate(String),
}

/// Builds a controller like [`build`], for a path whose packets get no feedback of their
/// own: [`Reports`] replaces a controller that needs such feedback.
#[must_use]
pub fn build_without_feedback(
    kind: ControllerKind,
    limits: Limits,
    now: Instant,
) -> Box<dyn Controller> {
    match kind {
        ControllerKind::Fixed(_) => build(kind, limits, now),
        ControllerKind::Gcc
        | ControllerKind::GccDeployed
        | ControllerKind::Gcc2022
        | ControllerKind::GccDraft
        | ControllerKind::Nada
        | ControllerKind::Scream
        | ControllerKind::ScreamV1
        | ControllerKind::Custom(_) => Box::new(Reports::new(limits, now)),
    }
}

/// Builds the controller of this kind for one path. Inconsistent limits are repaired in
/// favour of `min`.
#[must_use]
pub fn build(kind: ControllerKind, limits: Limits, now: Instant) -> Box<dyn Controller> {
    match kind {
        ControllerKind::Gcc => Box::new(Gcc::new(Behaviour::Repaired, limits, now)),
        ControllerKind::GccDeployed => Box::new(Gcc::new(Behaviour::Deployed, limits, now)),
        ControllerKind::Gcc2022 => Box::new(Gcc::new(Behaviour::Deployed2022, limits, now)),
        ControllerKind::GccDraft => Box::new(GccDraft::new(limits)),
        ControllerKind::Nada => Box::new(Nada::new(limits)),
        ControllerKind::Scream => Box::new(Scream::new(limits)),
        ControllerKind::ScreamV1 => Box::new(ScreamV1::new(limits)),
        ControllerKind::Fixed(rate) => Box::new(Fixed::new(rate, limits)),
        ControllerKind::Custom(custom) => custom.build(limits, now),
    }
}

impl ControllerKind {
    /// Adaptive controllers, in the order of the documentation.
    pub const ADAPTIVE: [ControllerKind; 7] = [
        ControllerKind::Gcc,
        ControllerKind::GccDeployed,
        ControllerKind::Gcc2022,
        ControllerKind::GccDraft,
        ControllerKind::Nada,
        ControllerKind::Scream,
        ControllerKind::ScreamV1,
    ];

    /// Returns the name on the command line and in reports; for `fixed`, without the
    /// rate.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ControllerKind::Gcc => "gcc",
            ControllerKind::GccDeployed => "gcc_deployed",
            ControllerKind::Gcc2022 => "gcc_2022",
            ControllerKind::GccDraft => "gcc_draft",
            ControllerKind::Nada => "nada",
            ControllerKind::Scream => "scream",
            ControllerKind::ScreamV1 => "scream_v1",
            ControllerKind::Fixed(_) => FIXED,
            ControllerKind::Custom(custom) => custom.name(),
        }
    }
}

const FIXED: &str = "fixed";

impl fmt::Display for ControllerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        let ControllerKind::Fixed(rate) = self else {
            return Ok(());
        };
        let bps = rate.as_bps();
        let (number, unit) = match bps {
            _ if bps % 1_000_000 == 0 => (bps / 1_000_000, "mbit"),
            _ if bps % 1_000 == 0 => (bps / 1_000, "kbit"),
            _ => (bps, "bit"),
        };
        write!(f, ":{number}{unit}")
    }
}

/// Accepts a hyphen instead of an underscore.
impl FromStr for ControllerKind {
    type Err = ControllerKindError;

    fn from_str(s: &str) -> Result<ControllerKind, ControllerKindError> {
        if let Some((FIXED, rate)) = s.split_once(':') {
            return parse_rate(rate)
                .map(ControllerKind::Fixed)
                .ok_or_else(|| ControllerKindError::Rate(rate.to_owned()));
        }
        let name = s.replace('-', "_");
        ControllerKind::ADAPTIVE
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| ControllerKindError::Unknown(s.to_owned()))
    }
}

fn parse_rate(s: &str) -> Option<Rate> {
    let s = s.strip_suffix("bit")?;
    let (number, factor) = match s.as_bytes().last()? {
        b'k' => (&s[..s.len() - 1], 1e3),
        b'm' => (&s[..s.len() - 1], 1e6),
        b'g' => (&s[..s.len() - 1], 1e9),
        _ => (s, 1.0),
    };
    let bps = number.parse::<f64>().ok()? * factor;
    (bps >= 1.0 && bps.is_finite()).then(|| Rate::from_bps(bps.round() as u64))
}

#[cfg(test)]
mod tests;

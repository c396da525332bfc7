//! Engines by name.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use weft_units::UnknownName;

/// Engine of a run, as named in results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineKind {
    /// `sim`: the simulator, in virtual time.
    #[default]
    Sim,
    /// `emu`: the emulator, with real packets.
    Emu,
}

impl EngineKind {
    /// Every engine, for help texts.
    pub const ALL: [EngineKind; 2] = [EngineKind::Sim, EngineKind::Emu];

    /// Returns the name on the command line, in results and folder names.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            EngineKind::Sim => "sim",
            EngineKind::Emu => "emu",
        }
    }

    /// Returns the display name.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            EngineKind::Sim => "simulator",
            EngineKind::Emu => "emulator",
        }
    }

    /// Returns a line for the help text.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            EngineKind::Sim => "The simulator",
            EngineKind::Emu => "The emulator: namespaces, the kernel's TCP, real clients",
        }
    }

    /// Whether it runs a client's programs in real time, and so needs the whole machine.
    /// Otherwise it runs weft's own code, in parallel on all processors.
    #[must_use]
    pub const fn runs_programs(self) -> bool {
        match self {
            EngineKind::Sim => false,
            EngineKind::Emu => true,
        }
    }
}

/// Engines that run a scenario, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engines {
    /// Only one of them.
    One(EngineKind),
    /// The simulator, then the emulator, with a comparison of both.
    Both,
}

impl Engines {
    /// Iterates over every choice.
    pub fn all() -> impl Iterator<Item = Engines> {
        EngineKind::ALL
            .into_iter()
            .map(Engines::One)
            .chain([Engines::Both])
    }

    /// Returns the name on the command line and in campaigns.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Engines::One(kind) => kind.name(),
            Engines::Both => "both",
        }
    }

    /// Returns a line for the help text.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Engines::One(kind) => kind.about(),
            Engines::Both => "Both in turn, with a comparison of their results",
        }
    }

    /// Returns the engines of this choice.
    #[must_use]
    pub fn kinds(self) -> Vec<EngineKind> {
        match self {
            Engines::One(kind) => vec![kind],
            Engines::Both => vec![EngineKind::Sim, EngineKind::Emu],
        }
    }

    /// Whether one of them runs a client's programs.
    #[must_use]
    pub fn run_programs(self) -> bool {
        self.kinds().into_iter().any(EngineKind::runs_programs)
    }
}

impl Default for Engines {
    fn default() -> Engines {
        Engines::One(EngineKind::default())
    }
}

impl fmt::Display for Engines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Engines {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Engines, UnknownName> {
        let found = Engines::all().find(|engines| engines.name() == name);
        let names = || Engines::all().map(Engines::name);
        found.ok_or_else(|| UnknownName::new("engine", name, names()))
    }
}

//! Which engines there are, by name.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::names::unknown_name;

/// Which engine runs were made by, as results name it.
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
    /// All of them, for help texts.
    pub const ALL: [EngineKind; 2] = [EngineKind::Sim, EngineKind::Emu];

    /// On the command line, in results and names of folders.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            EngineKind::Sim => "sim",
            EngineKind::Emu => "emu",
        }
    }

    /// For people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            EngineKind::Sim => "simulator",
            EngineKind::Emu => "emulator",
        }
    }

    /// What it does, a line of help.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            EngineKind::Sim => "The simulator",
            EngineKind::Emu => "The emulator: namespaces, the kernel's TCP, real clients",
        }
    }

    /// Whether it runs a client's programs in real time, and so needs the
    /// machine for itself. What does not runs weft's own code, as many runs at a
    /// time as there are processors.
    #[must_use]
    pub const fn runs_programs(self) -> bool {
        match self {
            EngineKind::Sim => false,
            EngineKind::Emu => true,
        }
    }
}

/// Engines that the same scenario is run by, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engines {
    /// One of them alone.
    One(EngineKind),
    /// The simulator, then the emulator, and where they disagree.
    Both,
}

impl Engines {
    /// Every choice.
    pub fn all() -> impl Iterator<Item = Engines> {
        EngineKind::ALL
            .into_iter()
            .map(Engines::One)
            .chain([Engines::Both])
    }

    /// On the command line and in campaigns.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Engines::One(kind) => kind.name(),
            Engines::Both => "both",
        }
    }

    /// A line of help.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Engines::One(kind) => kind.about(),
            Engines::Both => "One after the other, and where they disagree",
        }
    }

    /// Those that it is.
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

/// There is no engine of this name; the text has those that there are.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct UnknownEngine(String);

impl FromStr for Engines {
    type Err = UnknownEngine;

    fn from_str(name: &str) -> Result<Engines, UnknownEngine> {
        let found = Engines::all().find(|engines| engines.name() == name);
        found.ok_or_else(|| {
            let known = Engines::all().map(Engines::name);
            UnknownEngine(unknown_name("there is no engine", name, known))
        })
    }
}

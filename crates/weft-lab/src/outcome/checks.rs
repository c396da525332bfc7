//! The self-check of all runs.

use serde::Serialize;

use super::Outcome;
use crate::measure::check::Check;

/// A check of the self-check, with its system.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SystemCheck {
    /// The variant's name.
    pub system: String,
    /// The check with the largest deviation over all seeds.
    #[serde(flatten)]
    pub check: Check,
}

impl Outcome<'_> {
    /// Returns the self-check of all systems.
    #[must_use]
    pub fn checks(&self) -> Vec<SystemCheck> {
        let of = self.scenario.variants.iter().zip(&self.checks);
        let all = of.flat_map(|(variant, checks)| {
            let system = |check: &Check| SystemCheck {
                system: variant.name.clone(),
                check: check.clone(),
            };
            checks.iter().map(system)
        });
        all.collect()
    }
}

/// Keeps the larger deviation of each check.
pub fn worst(kept: &mut Vec<Check>, new: Vec<Check>) {
    for check in new {
        let known = kept
            .iter_mut()
            .find(|k| (k.what, &k.of) == (check.what, &check.of));
        // Ties go to the larger value, so that the order does not matter.
        let off = |c: &Check| {
            (
                (c.measured - c.configured).abs() / c.configured.abs().max(1e-9),
                c.measured,
            )
        };
        match known {
            None => kept.push(check),
            Some(known) => {
                let further = match check.what {
                    // For limits: the nearest value, or the largest excess.
                    "queue_ms" | "rate_mbps" | "late_ms" => {
                        check.measured / check.configured > known.measured / known.configured
                    }
                    "unlogged" => check.measured > known.measured,
                    _ => off(&check) > off(known),
                };
                if (known.ok, further) == (true, true)
                    || (known.ok && !check.ok)
                    || (further && !check.ok)
                {
                    *known = check;
                }
            }
        }
    }
}

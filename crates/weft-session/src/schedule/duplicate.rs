use weft_units::{Instant, Rate};

use super::{Assignment, Assignments, Batch, Class, PathView, Scheduler};

/// Sends each packet on every path: the receiver keeps the copy that arrives first.
///
/// Packets take the numbers of each path in turn, so that feedback measures all of them.
/// Retransmissions are sent once: they show the receiver which path is which, and the
/// copies before them were the protection.
#[derive(Default)]
pub(super) struct Duplicate {
    turn: usize,
}

impl Scheduler for Duplicate {
    fn assign(&mut self, _now: Instant, batch: &Batch<'_>, paths: &[PathView]) -> Assignments {
        if batch.class == Class::Retransmission {
            return super::fastest_each(batch.sizes, paths);
        }
        let assign_one = |_| {
            self.turn = (self.turn + 1) % paths.len();
            let path = paths[self.turn].id;
            let copies = paths
                .iter()
                .map(|p| p.id)
                .filter(|id| *id != path)
                .collect();
            Assignment { path, copies }
        };
        batch.sizes.iter().map(assign_one).collect()
    }

    /// The widest path sets the rate: a narrow one then only loses copies.
    fn rate(&self, paths: &[PathView]) -> Rate {
        paths.iter().map(|p| p.rate).max().unwrap_or(Rate::ZERO)
    }
}

use weft_units::{Bytes, Duration, Instant, PathId, Rate};

use super::{Assignment, Assignments, Batch, PathView, Scheduler};

/// Uses the path with the lowest smoothed round trip first, until it is full.
///
/// Source: the default scheduler of MPTCP and MPQUIC (Paasch et al. 2014), which section
/// 5 of Converge calls SRTT. They fill a congestion window; our window is the bytes that
/// the controller's rate puts in flight in a round trip plus the time until feedback. If
/// all windows are full, the packet does not wait as in TCP but takes the path where it
/// would leave first.
pub(super) struct MinRtt;

/// Time for which an arrived packet counts as in flight, until the next feedback: twice
/// the interval of our feedback.
const FEEDBACK_WAIT: Duration = Duration::from_millis(50);

fn window(path: &PathView) -> Bytes {
    path.rate * (path.srtt + FEEDBACK_WAIT)
}

impl Scheduler for MinRtt {
    fn assign(&mut self, _now: Instant, batch: &Batch<'_>, paths: &[PathView]) -> Assignments {
        let mut paths = paths.to_vec();
        paths.sort_by_key(|p| (p.srtt, p.id));
        let mut assign = |size: Bytes| -> Option<PathId> {
            let fits = |p: &PathView| p.queued + p.in_flight + size <= window(p);
            let leaves = |p: &PathView| {
                let wait = p.rate.time_for(p.queued + size);
                (wait.unwrap_or(Duration::from_secs(3600)), p.srtt, p.id)
            };
            let index = paths
                .iter()
                .position(fits)
                .or_else(|| (0..paths.len()).min_by_key(|i| leaves(&paths[*i])))?;
            paths[index].queued += size;
            Some(paths[index].id)
        };
        batch
            .sizes
            .iter()
            .filter_map(|size| assign(*size).map(Assignment::from))
            .collect()
    }

    fn rate(&self, paths: &[PathView]) -> Rate {
        paths.iter().map(|p| p.rate).sum()
    }
}

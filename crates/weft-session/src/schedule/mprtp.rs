use std::collections::BTreeMap;

use weft_units::{Duration, Instant, PathId, Rate};

use super::shares::{Shares, in_runs};
use super::{Assignment, Assignments, Batch, PathView, Scheduler};

/// Shares packets in proportion to a sending rate that follows each path's losses.
///
/// Source: MPRTP (Singh, Ahsan, Ott, `MMSys` 2013; draft-ietf-avtcore-mprtp), which
/// section 5 of Converge calls M-RTP: "sends packets using a loss-based estimated sending
/// rate"; delay does not matter. That rate is the one of draft-ietf-rmcat-gcc-02 section
/// 6, once per report.
#[derive(Default)]
pub(super) struct Mprtp {
    rates: BTreeMap<PathId, f64>,
    next_report: Option<Instant>,
    shares: Shares,
}

/// Interval between reports of each path's losses: RTCP's interval for video in
/// libwebrtc.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// A path that loses everything still carries a few packets, because otherwise nothing
/// would show its recovery. Chosen by us: the lowest rate in [`crate::Config`]'s path
/// limits.
const LEAST_BPS: f64 = 50e3;
/// Highest rate of a path, a gigabit per second; chosen by us.
const MOST_BPS: f64 = 1e9;

/// Returns the new rate by draft-ietf-rmcat-gcc-02 section 6.
fn adapted(rate: f64, loss: f64) -> f64 {
    let adapted = if loss > 0.1 {
        rate * (1.0 - 0.5 * loss)
    } else if loss < 0.02 {
        rate * 1.05
    } else {
        rate
    };
    adapted.clamp(LEAST_BPS, MOST_BPS)
}

impl Mprtp {
    fn follow(&mut self, now: Instant, paths: &[PathView]) {
        let report = self.next_report.is_none_or(|at| at <= now);
        if report {
            self.next_report = Some(now + REPORT_INTERVAL);
        }
        self.rates.retain(|id, _| paths.iter().any(|p| p.id == *id));
        for path in paths {
            let rate = self.rates.entry(path.id);
            let rate = rate.or_insert(path.rate.as_bps() as f64);
            if report {
                *rate = adapted(*rate, path.loss);
            }
        }
    }
}

impl Scheduler for Mprtp {
    fn assign(&mut self, now: Instant, batch: &Batch<'_>, paths: &[PathView]) -> Assignments {
        self.follow(now, paths);
        let weights: Vec<(PathId, f64)> = self.rates.iter().map(|(id, r)| (*id, *r)).collect();
        let shares = self.shares.divide(batch.sizes.len(), &weights);
        in_runs(&shares).map(Assignment::from).collect()
    }

    fn on_path_removed(&mut self, path: PathId) {
        self.rates.remove(&path);
    }

    fn rate(&self, paths: &[PathView]) -> Rate {
        paths.iter().map(|p| p.rate).sum()
    }
}

//! Metrics of a recording, by the same formulas as for runs.

use super::track::{Owner, Track};
use crate::measure::metrics;
use crate::measure::run::Value;
use crate::measure::series::Frozen;
use crate::measure::view::View;
use crate::statistics::mean;

/// Returns the metrics of the displayed pictures.
pub fn of_views(views: &[View]) -> Vec<Value> {
    let mut values = metrics::of_views(views);
    let useful = views.iter().filter_map(|view| view.useful);
    let rates: Vec<f64> = useful
        .filter(|useful| useful.seconds > 0.0)
        .map(|useful| useful.bytes * 8.0 / 1e6 / useful.seconds)
        .collect();
    if !rates.is_empty() {
        values.push(("goodput_mbps".to_owned(), rates.iter().sum()));
    }
    values
}

/// Returns the mean rates of the call.
pub fn of_rates(tracks: &[Track]) -> Vec<Value> {
    let pairs = [("rate_mbps", "throughput_mbps"), ("sent_mbps", "sent_mbps")];
    let found = pairs.into_iter().filter_map(|(quantity, metric)| {
        let mut tracks = tracks.iter();
        let track = tracks.find(|t| t.quantity == quantity && t.owner == Owner::Call)?;
        Some((metric.to_owned(), track.mean()?))
    });
    found.collect()
}

/// Returns the freezes of all views that contain information about them.
pub fn frozen(views: &[View]) -> Option<Frozen> {
    let seconds = mean(views.iter().filter_map(|view| Some(view.frozen()?.seconds)))?;
    let cameras = views.iter().filter_map(|view| view.freezes.as_ref());
    let cameras = cameras.map(|freezes| {
        let spans = freezes.iter();
        spans
            .map(|freeze| (freeze.begin.as_secs_f64(), freeze.end.as_secs_f64()))
            .collect()
    });
    Some(Frozen {
        of: String::new(),
        seconds,
        cameras: cameras.collect(),
    })
}

/// Returns the values in the order of reports, except those that are not numbers.
pub fn sorted(mut values: Vec<Value>) -> Vec<Value> {
    values.retain(|(_, value)| value.is_finite());
    values.sort_by_key(|(name, _)| metrics::position(name));
    values
}

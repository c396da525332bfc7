//! Transmission turns and resource blocks of the stations of cells, from `measure-from`
//! on.

use weft_experiment::{LinkRecord, LinkSetup};
use weft_links::{RadioCounters, ServiceTime};
use weft_units::Duration;

use crate::measure::run::{Run, Value};

/// Quantity derived from the counters of some stations.
type Of = fn(&RadioCounters) -> Option<f64>;

/// Metrics of a kind of cell: the used share of its time, and the counters of its
/// stations.
struct Kind {
    used: &'static str,
    counted: &'static [(&'static str, Of)],
}

const WIFI: Kind = Kind {
    used: "airtime",
    counted: &[
        ("collisions", |c| share(c.collisions, c.attempts)),
        ("retries", |c| share(c.again, c.frames)),
        ("aggregate", |c| share(c.frames, c.attempts)),
    ],
};
const LTE: Kind = Kind {
    used: "prb_share",
    counted: &[("harq_errors", |c| share(c.failed, c.attempts))],
};

pub fn measure(run: &Run<'_>, values: &mut Vec<Value>) {
    for kind in [WIFI, LTE] {
        let is_lte = kind.used == LTE.used;
        let cells = run.setup.links.iter().zip(&run.record.links);
        let own = |cell: &(&LinkSetup, &LinkRecord)| {
            !cell.1.channels.is_empty() && cell.0.medium.lte_spec().is_some() == is_lte
        };
        kind.measure(cells.filter(own), values);
    }
}

impl Kind {
    fn measure<'r>(
        &self,
        cells: impl Iterator<Item = (&'r LinkSetup, &'r LinkRecord)>,
        values: &mut Vec<Value>,
    ) {
        let mut all = RadioCounters::default();
        let mut shares = Vec::new();
        for (setup, record) in cells {
            let used = |channel: &ServiceTime| of(channel.used, channel);
            let used: Vec<f64> = record.channels.iter().filter_map(used).collect();
            self.add_stations(setup, record, values);
            let counters = record.stations.iter().filter_map(|s| s.radio);
            let whole = counters.fold(RadioCounters::default(), |sum, one| sum.plus(&one));
            // The cell of a single link has the name of its station.
            if !setup.stations.contains(&setup.name) {
                let share = used.iter().sum::<f64>() / used.len() as f64;
                values.extend(
                    (!used.is_empty()).then(|| (format!("{}.{}", self.used, setup.name), share)),
                );
                self.add(values, &whole, Some(&setup.name));
            }
            shares.extend(used);
            all = all.plus(&whole);
        }
        if shares.is_empty() {
            return;
        }
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        values.push((self.used.to_owned(), mean));
        self.add(values, &all, None);
    }

    /// Adds each station of a cell, by its name.
    fn add_stations(&self, setup: &LinkSetup, record: &LinkRecord, values: &mut Vec<Value>) {
        let used = self.used;
        let Some(channel) = record.channels.first() else {
            return;
        };
        for (id, station) in record.by_station() {
            let name = setup.station(id);
            let own = station
                .service
                .and_then(|service| of(service.used, channel));
            values.extend(own.map(|own| (format!("{used}.{name}"), own)));
            let back = station.carried_to.and_then(|time| of(time, channel));
            values.extend(back.map(|back| (format!("{used}.{name}-back"), back)));
            if let Some(radio) = &station.radio {
                self.add(values, radio, Some(name));
            }
        }
    }

    fn add(&self, values: &mut Vec<Value>, counters: &RadioCounters, of: Option<&str>) {
        for (what, quantity) in self.counted {
            let name = of.map_or_else(|| (*what).to_owned(), |of| format!("{what}.{of}"));
            values.extend(quantity(counters).map(|value| (name, value)));
        }
    }
}

/// Returns the share of a channel's time.
fn of(used: Duration, channel: &ServiceTime) -> Option<f64> {
    let elapsed = channel.elapsed().as_secs_f64();
    (elapsed > 0.0).then(|| used.as_secs_f64() / elapsed)
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

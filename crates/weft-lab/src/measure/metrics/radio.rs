//! How the stations of a cell took turns, from `measure-from` on.

use weft_experiment::{LinkRecord, LinkSetup};
use weft_links::{RadioCounters, ServiceTime};

use crate::measure::run::{Run, Value};

/// What was counted of some stations.
type Of = fn(&RadioCounters) -> Option<f64>;

const COUNTED: [(&str, Of); 3] = [
    ("collisions", |c| share(c.collisions, c.attempts)),
    ("retries", |c| share(c.again, c.frames)),
    ("aggregate", |c| share(c.frames, c.attempts)),
];

pub fn measure(run: &Run<'_>, values: &mut Vec<Value>) {
    let mut all = RadioCounters::default();
    let mut times = Vec::new();
    for (setup, record) in run.setup.links.iter().zip(&run.record.links) {
        let Some(channel) = &record.channel else {
            continue;
        };
        times.extend(airtime(channel));
        add_cell(setup, record, channel, values);
        let counters = record.stations.iter().filter_map(|s| s.radio);
        all = counters.fold(all, |all, one| all.plus(&one));
    }
    if times.is_empty() {
        return;
    }
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    values.push(("airtime".to_owned(), mean));
    add(values, &all, None);
}

/// Each station of a cell, by its name.
fn add_cell(
    setup: &LinkSetup,
    record: &LinkRecord,
    channel: &ServiceTime,
    values: &mut Vec<Value>,
) {
    for (id, station) in record.by_station() {
        let name = setup.station(id);
        if let Some(service) = &station.service {
            let used = service.used.as_secs_f64() / channel.elapsed().as_secs_f64();
            values.push((format!("airtime.{name}"), used));
        }
        if let Some(radio) = &station.radio {
            add(values, radio, Some(name));
        }
    }
}

fn add(values: &mut Vec<Value>, counters: &RadioCounters, of: Option<&str>) {
    for (what, quantity) in COUNTED {
        let name = of.map_or_else(|| what.to_owned(), |of| format!("{what}.{of}"));
        values.extend(quantity(counters).map(|value| (name, value)));
    }
}

/// The share of the time in which the channel carried one exchange.
fn airtime(channel: &ServiceTime) -> Option<f64> {
    let elapsed = channel.elapsed().as_secs_f64();
    (elapsed > 0.0).then(|| channel.used.as_secs_f64() / elapsed)
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

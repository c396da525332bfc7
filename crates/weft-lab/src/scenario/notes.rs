//! Notes on settings that are allowed, but possibly unintended.

use std::collections::BTreeMap;

use weft_links::{Capacity, LinkSpec, QueueLimit};
use weft_units::Duration;

use super::{Scenario, Variant};

impl Scenario {
    /// Returns notes on settings that are allowed, but possibly unintended.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for variant in &self.variants {
            for note in variant
                .short_traces()
                .into_iter()
                .chain(variant.short_queues())
            {
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        if !self.published.is_empty() && !self.is_as_published {
            notes.push(
                "published values are left out: they are for the scenario as it is written, and \
                 --set varies more"
                    .to_owned(),
            );
        }
        let times = ["duration", "measure-from"];
        if !self.published.is_empty() && times.iter().any(|key| self.source.sets(key)) {
            notes.push(
                "published values are compared as if these were the times of the file, which were \
                 changed"
                    .to_owned(),
            );
        }
        notes
    }
}

impl Variant {
    /// Returns notes on traces that end before the run.
    fn short_traces(&self) -> Vec<String> {
        let mut short: BTreeMap<&str, Duration> = BTreeMap::new();
        for (link, spec) in self.directions() {
            let Capacity::Trace(trace) = &spec.capacity else {
                continue;
            };
            if trace.length() < self.setup.duration {
                let known = short.entry(link).or_insert(trace.length());
                *known = (*known).min(trace.length());
            }
        }
        let note = |(link, shortest): (&str, Duration)| {
            format!(
                "link `{link}`: a trace ends after {} s, before the run does, and is played again from its beginning",
                shortest.as_secs_f64()
            )
        };
        short.into_iter().map(note).collect()
    }

    /// Returns notes on queues that cannot hold a full packet.
    fn short_queues(&self) -> Vec<String> {
        let short = |(_, spec): &(&str, &LinkSpec)| spec.configured_queue() < QueueLimit::LEAST;
        let note = |(link, spec): (&str, &LinkSpec)| {
            format!(
                "link `{link}`: a queue of {} bytes holds no full packet, and is one of {} bytes",
                spec.configured_queue().0,
                QueueLimit::LEAST.0
            )
        };
        self.directions().filter(short).map(note).collect()
    }

    /// Iterates over each direction of each link, with each of several traces, with the
    /// link's name.
    fn directions(&self) -> impl Iterator<Item = (&str, &LinkSpec)> {
        let links = self.traces.setups().chain([self.setup.links.as_slice()]);
        links.flatten().flat_map(|link| {
            let stations = link.medium.stations();
            let specs = stations.filter_map(|id| link.medium.link(id));
            specs.map(|spec| (link.name.as_str(), spec))
        })
    }
}

//! Links of the people in a conference: each person has a copy of the links named by a
//! group.

use std::collections::BTreeSet;

use weft_experiment::{FlowKind, FlowSetup, Hop, LinkSetup, Route};

use super::file::File;
use super::place::{ScenarioError, Source};

/// Setups of a link: one for all seeds, or one for each trace, with the matched text.
type Setups = Vec<(String, LinkSetup)>;

/// Gives each person of a conference their own links from the server: the first person
/// gets those of the file, every other one a copy with another name.
pub fn spread(
    source: &Source,
    file: &File,
    links: &mut Vec<Setups>,
    flows: &mut [FlowSetup],
) -> Result<(), ScenarioError> {
    let mut taken = BTreeSet::new();
    for flow in flows {
        let FlowKind::Conference(group) = &mut flow.kind else {
            continue;
        };
        let own = std::mem::take(&mut flow.routes);
        group.routes_each = own.len();
        for person in 0..group.people {
            for route in &own {
                let mut hops = Vec::new();
                for hop in route.hops.iter().rev() {
                    let link = match taken.insert(hop.link) {
                        true => hop.link,
                        false => {
                            let name = format!("{}-{}", flow.name, person + 1);
                            let copied = copy(links, hop.link, &name);
                            copied.ok_or_else(|| shared(source, file, &flow.name))?
                        }
                    };
                    hops.push(Hop {
                        link,
                        ..hop.reversed()
                    });
                }
                flow.routes.push(Route {
                    hops,
                    ..route.clone()
                });
            }
        }
    }
    Ok(())
}

/// Adds a copy of a link for a person of this name; `None` if stations share its medium.
fn copy(links: &mut Vec<Setups>, link: usize, of: &str) -> Option<usize> {
    let copied = links[link].iter().map(|(star, setup)| {
        let name = format!("{}-{of}", setup.name);
        // A wire, or its own cell.
        let is_alone = setup.medium.station_count() == 2;
        is_alone.then(|| {
            let stations = setup.stations.iter();
            let stations = stations.map(|station| station.replacen(&setup.name, &name, 1));
            let stations = stations.collect();
            let setup = LinkSetup {
                name,
                stations,
                ..setup.clone()
            };
            (star.clone(), setup)
        })
    });
    let copied = copied.collect::<Option<Setups>>()?;
    links.push(copied);
    Some(links.len() - 1)
}

fn shared(source: &Source, file: &File, flow: &str) -> ScenarioError {
    let flows = &file.flows.get_ref().0;
    let named = flows.iter().find(|(name, _)| name.get_ref() == flow);
    let place = named.map_or(file.flows.span(), |(name, _)| name.span());
    let message = format!(
        "a station of a medium belongs to one person: give group `{flow}` people = 1, and each of them a station of their own"
    );
    source.error(place, message)
}

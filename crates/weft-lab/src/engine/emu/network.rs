//! Hosts of the emulated network: two for each flow, on its links.

use weft_emu::{HostId, LinkId, Logging, Network};
use weft_experiment::{FlowKind, FlowSetup, Setup};

use super::testbed::job::Ends;

/// Hosts and links of the emulated network.
pub struct FlowHosts {
    pub links: Vec<LinkId>,
    /// Hosts by flow: source and sink.
    pub hosts: Vec<[HostId; 2]>,
    pub ends: Vec<Ends>,
}

/// Creates two hosts for each flow, on its links.
pub fn flow_hosts(setup: &Setup, seed: u64) -> (FlowHosts, Network) {
    let mut network = Network::new(seed);
    network.set_logging(Logging::Packets);
    network.count_service(setup.first_measured_period(), setup.duration);
    let links = setup.links.iter();
    let links = links.map(|l| network.link(&l.name, l.medium.clone()));
    let links: Vec<LinkId> = links.collect();
    let (mut hosts, mut ends) = (Vec::new(), Vec::new());
    for flow in &setup.flows {
        let source = network.host(&format!("{} source", flow.name));
        let sink = network.host(&format!("{} sink", flow.name));
        let home = network.home_address(sink).v4;
        for host in [source, sink] {
            network.set_class(host, flow.class);
        }
        if let FlowKind::Tcp(tcp) = &flow.kind
            && let Some(window) = tcp.receive_window
        {
            network.limit_receive_window(sink, window);
        }
        let mut of = Ends {
            source: Vec::new(),
            sink: Vec::new(),
            sink_home: home,
        };
        for hop in hops(flow) {
            let link = links[hop.link];
            let mut ends = [
                (hop.from, source, &mut of.source),
                (hop.to, sink, &mut of.sink),
            ];
            // Addresses follow the order of stations, regardless of the data's direction.
            ends.sort_by_key(|(station, ..)| *station);
            for (station, host, addresses) in ends {
                addresses.push(network.attach(host, link, station).v4);
            }
        }
        hosts.push([source, sink]);
        ends.push(of);
    }
    (FlowHosts { links, hosts, ends }, network)
}

/// Returns the single link of each route, as checked in `limits`.
fn hops(flow: &FlowSetup) -> impl Iterator<Item = weft_experiment::Hop> {
    flow.routes
        .iter()
        .filter_map(|route| route.hops.first().copied())
}

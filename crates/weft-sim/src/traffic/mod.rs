//! Running flows, one folder for each kind; `flow.rs` defines their common interface.

mod app;
mod call;
mod conference;
mod floor;
mod flow;
mod tcp;
mod udp;

use weft_experiment::{FlowKind, FlowRecord, FlowSetup, Route, RouteRecord};
use weft_units::{Instant, Rng};

use crate::capture::Way;
use crate::network::Network;
use crate::packet::LegId;
use app::AppFlow;
use call::CallFlow;
pub use call::{Camera, EncodedFrame, End, FrameEncoder, Model, Synthetic};
use conference::{ConferenceFlow, Group, Interconnect};
use floor::FloorFlow;
use flow::{Flow, Legs, Span};
use tcp::TcpFlow;
use udp::UdpFlow;

/// Flows of a run.
pub(crate) struct Flows {
    /// Running flows, including the conference, which all its groups share.
    running: Vec<Box<dyn Flow>>,
    /// Entry for each flow of the setup.
    parts: Vec<Part>,
}

/// Flow of the setup with its name and its legs in the network.
struct Part {
    name: String,
    legs: Vec<Legs>,
    /// Position among the running flows.
    running: usize,
    /// Number among the flows that share it.
    share: usize,
}

impl Flows {
    pub fn new(setups: &[FlowSetup], rng: &Rng, network: &mut Network) -> Flows {
        let mut flows = Flows {
            running: Vec::new(),
            parts: Vec::new(),
        };
        let (mut groups, mut interconnects) = (Vec::new(), Vec::new());
        let is_shared = |setup: &&FlowSetup| {
            matches!(
                setup.kind,
                FlowKind::Conference(_) | FlowKind::Interconnect(_)
            )
        };
        let singles = setups.len() - setups.iter().filter(is_shared).count();
        for setup in setups {
            let rng = rng.stream(&setup.name);
            // The conference comes after the other flows.
            let (running, share) = match &setup.kind {
                FlowKind::Conference(_) => (singles, groups.len()),
                // Larger than the number of any group.
                FlowKind::Interconnect(_) => (singles, usize::MAX),
                _ => (flows.running.len(), 0),
            };
            let legs = add_legs(running, setup, &rng, network);
            match &setup.kind {
                FlowKind::Conference(group) => groups.push(Group {
                    setup: group,
                    flow: setup,
                    legs: legs.clone(),
                    rng,
                }),
                FlowKind::Interconnect(setup) => interconnects.push(Interconnect {
                    setup,
                    legs: legs.clone(),
                }),
                _ => flows
                    .running
                    .push(single(running, setup, &legs, &rng, network)),
            }
            flows.parts.push(Part {
                name: setup.name.clone(),
                legs,
                running,
                share,
            });
        }
        if !groups.is_empty() {
            let rng = rng.stream("conference");
            let parts = (&*groups, &*interconnects);
            let conference = ConferenceFlow::new(singles, parts, &rng, network);
            flows.running.push(Box::new(conference));
        }
        flows
    }

    /// Returns the running flow at this position.
    pub fn running(&mut self, index: usize) -> &mut dyn Flow {
        self.running[index].as_mut()
    }

    /// Returns the positions of a leg's flow and route in the setup, and its direction.
    pub fn place_of(&self, leg: LegId) -> Option<(usize, usize, Way)> {
        self.parts.iter().enumerate().find_map(|(flow, part)| {
            let route = part.legs.iter().position(|legs| legs.has(leg))?;
            let way = match part.legs[route].there == leg {
                true => Way::There,
                false => Way::Back,
            };
            Some((flow, route, way))
        })
    }

    /// Ends a sampling period.
    pub fn sample(&mut self, at: Instant) {
        self.running.iter_mut().for_each(|flow| flow.sample(at));
    }

    pub fn into_records(mut self, network: &mut Network) -> Vec<FlowRecord> {
        let record = |part: Part| FlowRecord {
            routes: part
                .legs
                .iter()
                .map(|legs| RouteRecord {
                    there: network.leg_record(legs.there),
                    back: network.leg_record(legs.back),
                })
                .collect(),
            name: part.name,
            detail: self.running[part.running].detail(part.share),
        };
        self.parts.into_iter().map(record).collect()
    }
}

fn add_legs(index: usize, setup: &FlowSetup, rng: &Rng, network: &mut Network) -> Vec<Legs> {
    let add = |(number, route): (usize, &Route)| {
        let rng = rng.stream(&format!("route {number}"));
        let (there, back) = network.add_route(index, setup.class, route, &rng);
        Legs { there, back }
    };
    setup.routes.iter().enumerate().map(add).collect()
}

/// Creates a flow that shares nothing with other flows.
fn single(
    index: usize,
    setup: &FlowSetup,
    legs: &[Legs],
    rng: &Rng,
    network: &mut Network,
) -> Box<dyn Flow> {
    let span = Span::of(setup);
    match &setup.kind {
        FlowKind::Tcp(tcp) => Box::new(TcpFlow::new(index, tcp, span, legs[0], rng, network)),
        FlowKind::Call(call) => {
            let paths = setup
                .routes
                .iter()
                .map(|r| (network.empty_rtt(r), r.policy));
            let paths = paths.collect();
            Box::new(CallFlow::new(index, call, span, legs, paths, rng, network))
        }
        FlowKind::App(app) => Box::new(AppFlow::new(index, app, span, legs[0], rng, network)),
        FlowKind::Floor(floor) => Box::new(FloorFlow::new(*floor, span, &setup.routes, network)),
        FlowKind::Udp(udp) => Box::new(UdpFlow::new(index, udp, span, legs[0], network)),
        FlowKind::Conference(_) | FlowKind::Interconnect(_) => {
            unreachable!("they share one flow")
        }
    }
}

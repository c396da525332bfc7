//! Running flows, one folder for each kind; `flow.rs` defines their common interface.

mod app;
mod call;
mod floor;
mod flow;
mod tcp;
mod udp;

use weft_experiment::{FlowKind, FlowRecord, FlowSetup, Route, RouteRecord};
use weft_units::Rng;

use crate::network::Network;
use app::AppFlow;
use call::CallFlow;
pub use call::{Camera, EncodedFrame, End, FrameEncoder, Model, Synthetic};
use floor::FloorFlow;
use flow::{Flow, Legs, Span};
use tcp::TcpFlow;
use udp::UdpFlow;

/// A flow with its name and its legs in the network.
pub(crate) struct Running {
    name: String,
    legs: Vec<Legs>,
    pub flow: Box<dyn Flow>,
}

impl Running {
    pub fn new(index: usize, setup: &FlowSetup, rng: &Rng, network: &mut Network) -> Running {
        let rng = rng.stream(&setup.name);
        let add = |(number, route): (usize, &Route)| {
            let rng = rng.stream(&format!("route {number}"));
            let (there, back) = network.add_route(index, setup.class, route, &rng);
            Legs { there, back }
        };
        let legs: Vec<Legs> = setup.routes.iter().enumerate().map(add).collect();
        let span = Span::of(setup);
        let flow: Box<dyn Flow> = match &setup.kind {
            FlowKind::Tcp(tcp) => Box::new(TcpFlow::new(index, tcp, span, legs[0], &rng, network)),
            FlowKind::Call(call) => {
                let paths = setup
                    .routes
                    .iter()
                    .map(|r| (network.empty_rtt(r), r.policy));
                let paths = paths.collect();
                Box::new(CallFlow::new(
                    index, call, span, &legs, paths, &rng, network,
                ))
            }
            FlowKind::App(app) => Box::new(AppFlow::new(index, app, span, legs[0], &rng, network)),
            FlowKind::Floor(floor) => {
                Box::new(FloorFlow::new(*floor, span, &setup.routes, network))
            }
            FlowKind::Udp(udp) => Box::new(UdpFlow::new(index, udp, span, legs[0], network)),
        };
        Running {
            name: setup.name.clone(),
            legs,
            flow,
        }
    }

    pub fn into_record(mut self, network: &mut Network) -> FlowRecord {
        let route = |legs: &Legs| RouteRecord {
            there: network.leg_record(legs.there),
            back: network.leg_record(legs.back),
        };
        FlowRecord {
            name: self.name,
            routes: self.legs.iter().map(route).collect(),
            detail: self.flow.detail(),
        }
    }
}

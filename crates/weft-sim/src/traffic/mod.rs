//! Flows at work, one folder for each kind; here is what all of them can do.

mod call;
mod tcp;
mod udp;

use weft_experiment::{FlowDetail, FlowKind, FlowRecord, FlowSetup, RouteRecord};
use weft_units::{Duration, Instant, Rng};

use crate::network::Network;
use crate::packet::{LegId, Packet};
use call::CallFlow;
pub use call::{Camera, EncodedFrame, End, FrameEncoder, Model, Synthetic};
use tcp::TcpFlow;
pub(crate) use tcp::{Acknowledgement, Segment};
use udp::UdpFlow;

/// A flow at work. It is called when one of its packets or timers is due, and
/// sends through the network.
pub(crate) trait Flow {
    /// A timer of the flow has come, perhaps too early. `key` is the number
    /// that the flow gave it.
    fn on_timer(&mut self, now: Instant, key: u32, network: &mut Network);

    /// A packet of the flow reached the end of its leg.
    fn on_packet(&mut self, now: Instant, packet: &Packet, network: &mut Network);

    /// A packet of the flow ended on its way.
    fn on_dropped(&mut self, _packet: &Packet) {}

    /// The end of a period.
    fn sample(&mut self, at: Instant);

    /// What only flows of this kind have.
    fn detail(&mut self) -> FlowDetail;
}

/// The two ways of one of a flow's routes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Legs {
    /// From the source to the sink.
    pub there: LegId,
    /// From the sink to the source.
    pub back: LegId,
}

impl Legs {
    /// Whether `leg` is one of them.
    pub fn has(&self, leg: LegId) -> bool {
        leg == self.there || leg == self.back
    }
}

/// When a flow begins and ends, as times of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub start: Instant,
    pub stop: Option<Instant>,
}

impl Span {
    fn of(setup: &FlowSetup) -> Span {
        let at = |time: Duration| Instant::ZERO + time;
        Span {
            start: at(setup.start),
            stop: setup.stop.map(at),
        }
    }
}

/// A flow with its name and its legs in the network.
pub(crate) struct Running {
    name: String,
    legs: Vec<Legs>,
    pub flow: Box<dyn Flow>,
}

impl Running {
    pub fn new(index: usize, setup: &FlowSetup, rng: &Rng, network: &mut Network) -> Running {
        let add = |route| {
            let (there, back) = network.add_route(index, route);
            Legs { there, back }
        };
        let legs: Vec<Legs> = setup.routes.iter().map(add).collect();
        let rng = rng.stream(&setup.name);
        let span = Span::of(setup);
        let flow: Box<dyn Flow> = match &setup.kind {
            FlowKind::Tcp(tcp) => Box::new(TcpFlow::new(index, tcp, span, legs[0], &rng, network)),
            FlowKind::Call(call) => {
                let rtts = setup.routes.iter().map(|r| network.empty_rtt(r)).collect();
                Box::new(CallFlow::new(index, call, span, &legs, rtts, &rng, network))
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

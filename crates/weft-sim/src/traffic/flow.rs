use weft_experiment::{FlowDetail, FlowSetup};
use weft_units::{Duration, Instant};

use crate::network::Network;
use crate::packet::{LegId, Packet};

/// Running flow. It is called when one of its packets or timers is due, and sends through
/// the network.
pub(crate) trait Flow: Send {
    /// Handles a timer of the flow, perhaps too early. `key` is the number that the flow
    /// chose for it.
    fn on_timer(&mut self, now: Instant, key: u32, network: &mut Network);

    /// Handles a packet of the flow that reached the end of its leg.
    fn on_packet(&mut self, now: Instant, packet: &Packet, network: &mut Network);

    /// Handles a packet of the flow that was dropped.
    fn on_dropped(&mut self, _packet: &Packet) {}

    /// Handles a packet that has crossed the first link of a leg for which the flow asked
    /// to be notified.
    fn on_left(&mut self, _now: Instant, _packet: &Packet, _network: &mut Network) {}

    /// Ends a sampling period.
    fn sample(&mut self, at: Instant);

    /// Returns the details of this kind of flow. `share` counts the flows of the setup
    /// that are combined here, from 0.
    fn detail(&mut self, share: usize) -> FlowDetail;
}

/// Two legs of a route of the flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Legs {
    /// Leg from the source to the sink.
    pub there: LegId,
    /// Leg from the sink to the source.
    pub back: LegId,
}

impl Legs {
    /// Returns whether `leg` is one of the two.
    pub fn has(&self, leg: LegId) -> bool {
        leg == self.there || leg == self.back
    }
}

/// Start and end of a flow, as times of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub start: Instant,
    pub stop: Option<Instant>,
}

impl Span {
    pub fn of(setup: &FlowSetup) -> Span {
        let at = |time: Duration| Instant::ZERO + time;
        Span {
            start: at(setup.start),
            stop: setup.stop.map(at),
        }
    }
}

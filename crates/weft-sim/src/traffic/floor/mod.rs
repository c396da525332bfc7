//! The floor: an oracle that shows what the links allow. It sends no packets
//! over the network: each link is made again, for it alone, with the same
//! capacity.

mod crossing;

use weft_experiment::{FloorRecord, FloorSetup, FlowDetail, Hop, Route, ShownPicture};
use weft_units::{Duration, Instant};

use crate::network::Network;
use crate::packet::Packet;
use crate::traffic::flow::{Flow, Span};
use crossing::{Crossing, Picture};

/// It has no timers, either: how it went is computed when the run has ended.
pub(crate) struct FloorFlow {
    setup: FloorSetup,
    span: Span,
    ways: Vec<Way>,
    /// The end of the latest period.
    until: Instant,
}

/// A route from end to end.
struct Way {
    access_delay: Duration,
    links: Vec<Crossing>,
}

impl FloorFlow {
    pub fn new(setup: FloorSetup, span: Span, routes: &[Route], network: &Network) -> FloorFlow {
        let crossing = |hop: &Hop| {
            let (medium, rng) = network.made_of(hop.link);
            Crossing::new(medium, rng, hop)
        };
        let way = |route: &Route| Way {
            access_delay: route.access_delay,
            links: route.hops.iter().map(crossing).collect(),
        };
        FloorFlow {
            setup,
            span,
            ways: routes.iter().map(way).collect(),
            until: Instant::ZERO,
        }
    }

    /// When each picture is taken.
    fn captured(&self) -> Vec<Instant> {
        let end = self.span.stop.unwrap_or(self.until).min(self.until);
        let frame_rate = self.setup.frame_rate;
        let at = |number| Duration::from_secs_f64(f64::from(number) / frame_rate);
        let pictures = (0_u32..).map(|number| self.span.start + at(number));
        pictures.take_while(|at| *at < end).collect()
    }
}

impl Flow for FloorFlow {
    fn on_timer(&mut self, _now: Instant, _key: u32, _network: &mut Network) {}

    fn on_packet(&mut self, _now: Instant, _packet: &Packet, _network: &mut Network) {}

    fn sample(&mut self, at: Instant) {
        self.until = at;
    }

    fn detail(&mut self) -> FlowDetail {
        let (size, until) = (self.setup.picture(), self.until);
        let captured = self.captured();
        let mut arrived = Vec::new();
        for way in &mut self.ways {
            let taken = captured.iter().zip(0..).map(|(&at, number)| Picture {
                at: at + way.access_delay,
                number,
            });
            let cross = |pictures: Vec<_>, link: &mut Crossing| link.cross(&pictures, size, until);
            arrived.extend(way.links.iter_mut().fold(taken.collect(), cross));
        }
        let shown = shown(arrived, until).map(|picture| ShownPicture {
            captured_at: captured[picture.number],
            shown_at: picture.at,
        });
        FlowDetail::Floor(FloorRecord {
            pictures: shown.collect(),
        })
    }
}

/// Of what came by then, over whichever way, what was newer than all before.
fn shown(mut arrived: Vec<Picture>, until: Instant) -> impl Iterator<Item = Picture> {
    arrived.retain(|picture| picture.at <= until);
    // Of two at once the newer one.
    arrived.sort_by_key(|picture| (picture.at, std::cmp::Reverse(picture.number)));
    let mut next = 0;
    arrived.into_iter().filter(move |picture| {
        let is_newer = picture.number >= next;
        next = next.max(picture.number + 1);
        is_newer
    })
}

#[cfg(test)]
mod tests;

//! Floor: an oracle that computes what the links allow. It sends no packets over the
//! network: it builds its own copy of each link, with the same capacity.

mod crossing;

use weft_experiment::{FloorRecord, FloorSetup, FlowDetail, Hop, Route, ShownPicture};
use weft_units::{Bytes, Duration, Instant};

use crate::network::Network;
use crate::packet::Packet;
use crate::traffic::flow::{Flow, Span};
use crossing::{Crossing, Picture};

/// Flow of the oracle. It has no timers: its result is computed at the end of the run.
pub(crate) struct FloorFlow {
    setup: FloorSetup,
    span: Span,
    pictures: Vec<FloorRoute>,
    sound: Vec<FloorRoute>,
    /// End of the latest period.
    until: Instant,
}

/// Route from end to end.
struct FloorRoute {
    access_delay: Duration,
    links: Vec<Crossing>,
}

impl FloorFlow {
    pub fn new(setup: FloorSetup, span: Span, routes: &[Route], network: &Network) -> FloorFlow {
        let crossing = |hop: &Hop| {
            let (medium, rng) = network.made_of(hop.link);
            Crossing::new(medium, rng, hop)
        };
        let way = |route: &Route| FloorRoute {
            access_delay: route.access_delay,
            links: route.hops.iter().map(crossing).collect(),
        };
        let ways = || routes.iter().map(way).collect();
        FloorFlow {
            setup,
            span,
            pictures: ways(),
            sound: ways(),
            until: Instant::ZERO,
        }
    }

    /// Returns the capture times of pictures or audio packets, at this rate per second.
    fn captured(&self, per_second: f64) -> Vec<Instant> {
        let end = self.span.stop.unwrap_or(self.until).min(self.until);
        let at = |number| Duration::from_secs_f64(f64::from(number) / per_second);
        let taken = (0_u32..).map(|number| self.span.start + at(number));
        taken.take_while(|at| *at < end).collect()
    }
}

/// Returns the pictures that arrived over these routes and were newer than all previous
/// ones.
fn cross(
    ways: &mut [FloorRoute],
    captured: &[Instant],
    size: Bytes,
    until: Instant,
) -> Vec<Picture> {
    let mut arrived = Vec::new();
    for way in ways {
        let taken = captured.iter().zip(0..).map(|(&at, number)| Picture {
            at: at + way.access_delay,
            number,
        });
        let cross = |pictures: Vec<_>, link: &mut Crossing| link.cross(&pictures, size, until);
        arrived.extend(way.links.iter_mut().fold(taken.collect(), cross));
    }
    shown(arrived, until).collect()
}

impl Flow for FloorFlow {
    fn on_timer(&mut self, _now: Instant, _key: u32, _network: &mut Network) {}

    fn on_packet(&mut self, _now: Instant, _packet: &Packet, _network: &mut Network) {}

    fn sample(&mut self, at: Instant) {
        self.until = at;
    }

    fn detail(&mut self, _share: usize) -> FlowDetail {
        let until = self.until;
        let captured = self.captured(self.setup.frame_rate);
        let seen = cross(&mut self.pictures, &captured, self.setup.picture(), until);
        let pictures = seen.into_iter().map(|picture| ShownPicture {
            captured_at: captured[picture.number],
            shown_at: picture.at,
        });
        let sound = self.setup.sound.map(|microphone| {
            let recorded = self.captured(1.0 / microphone.packet_time.as_secs_f64());
            let size = FloorSetup::packet(&microphone);
            cross(&mut self.sound, &recorded, size, until)
        });
        let heard = sound.into_iter().flatten();
        FlowDetail::Floor(FloorRecord {
            pictures: pictures.collect(),
            sound: heard.map(|packet| packet.at).collect(),
        })
    }
}

/// Selects the pictures that arrived by `until` over any route and were newer than all
/// previous ones.
fn shown(mut arrived: Vec<Picture>, until: Instant) -> impl Iterator<Item = Picture> {
    arrived.retain(|picture| picture.at <= until);
    // If two arrive at the same time, the newer one comes first.
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

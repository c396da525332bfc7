//! Losses on a bearer.

use super::super::bearer::{Bearer, Part};
use super::{ENDLESS, at_ms, ms};
use crate::line::Line;
use crate::medium::port::Port;
use crate::{Aqm, Departure, LinkSpec, PacketInfo};
use weft_units::{Bytes, Duration, Instant, Rate, Rng};

struct World {
    port: Port<u32>,
    bearer: Bearer<u32>,
}

impl World {
    /// Creates a bearer with packets of 991 bytes, 995 with their header.
    fn with(packets: u32) -> World {
        let rng = Rng::new(1);
        let line = LinkSpec::new(Rate::ZERO, Duration::ZERO);
        let mut port = Port::new(Line::new(&line, &rng));
        let mut bearer = Bearer::new(ENDLESS, Aqm::DropTail, &rng);
        for packet in 0..packets {
            let info = PacketInfo::new(Bytes(991));
            bearer.enqueue(Instant::ZERO, info, packet, &mut port);
        }
        World { port, bearer }
    }

    fn fill(&mut self, at: Instant, room: u64) -> Vec<Part> {
        let mut parts = Vec::new();
        self.bearer.fill(at, 0, room, &mut self.port, &mut parts);
        parts
    }

    fn receive(&mut self, at: Instant, parts: &[Part]) {
        for part in parts {
            self.bearer.receive(at, *part, &mut self.port);
        }
    }

    fn arrived(&mut self, now: Instant) -> Vec<(u32, Instant)> {
        let mut all = Vec::new();
        while let Some(Departure::Delivered { packet, at, .. }) = self.port.poll(now) {
            all.push((packet, at));
        }
        all
    }
}

#[test]
fn a_packet_that_is_cut_arrives_with_its_last_part() {
    let mut world = World::with(2);
    assert_eq!(world.bearer.fresh(), 2 * 995);
    let blocks: Vec<_> = (0..4).map(|n| world.fill(at_ms(n), 505)).collect();
    assert_eq!(world.bearer.fresh(), 0);
    for (n, parts) in blocks.iter().enumerate() {
        world.receive(at_ms(10 + n as u64), parts);
    }
    // 500 and 495 bytes of the first packet; its last five bytes leave room in the second
    // block for the beginning of the second packet.
    assert_eq!(world.arrived(at_ms(100)), [(0, at_ms(11)), (1, at_ms(13))]);
}

/// The receiver detects the gap when later data arrives, waits 35 ms for HARQ and
/// requests a retransmission; without later data the sender retransmits after 45 ms.
#[test]
fn abandoned_data_is_sent_again_and_holds_back_later_data() {
    let mut world = World::with(3);
    let [first, second, third] = [0, 1, 2].map(|n| world.fill(at_ms(n), 1_000));
    world.receive(at_ms(5), &second);
    world.bearer.give_up(at_ms(28), first[0]);
    // Detected at 5 ms, requested at 40 ms, received at 44 ms.
    assert_eq!(world.bearer.next_repeat(), Some(at_ms(44)));
    assert_eq!(world.bearer.repeatable(at_ms(43)), 0);
    assert!(world.fill(at_ms(43), 1_000).is_empty());
    assert_eq!(world.arrived(at_ms(43)), []);
    let again = world.fill(at_ms(44), 1_000);
    assert_eq!(again.len(), 1);
    world.receive(at_ms(48), &again);
    assert_eq!(world.arrived(at_ms(60)), [(0, at_ms(48)), (1, at_ms(48))]);
    world.bearer.give_up(at_ms(70), third[0]);
    assert_eq!(world.bearer.next_repeat(), Some(at_ms(70) + ms(45)));
    // It is sent in two halves, one of which is abandoned again.
    let halves = [115, 116].map(|n| world.fill(at_ms(n), 505));
    world.receive(at_ms(119), &halves[0]);
    world.bearer.give_up(at_ms(140), halves[1][0]);
    assert_eq!(world.arrived(at_ms(150)), []);
    let last = world.fill(at_ms(300), 1_000);
    world.receive(at_ms(304), &last);
    assert_eq!(world.arrived(at_ms(304)), [(2, at_ms(304))]);
    assert_eq!(world.bearer.held().packets, 0);
}

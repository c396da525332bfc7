//! TCP and UDP take no memory from the system for a packet. Alone in its
//! file: another test's allocations would count.

mod world;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use weft_experiment::{CongestionKind, FlowKind, FlowSetup, Route, UdpSetup};
use weft_units::Rate;
use world::*;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: hands everything to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above; it came from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn packets_cost_no_allocations_once_the_queues_have_their_size() {
    for kind in CongestionKind::ALL {
        let count = |duration| {
            let mut setup = bottleneck(10.0, duration, &[kind]);
            let udp = FlowKind::Udp(UdpSetup::new(Rate::from_mbps(1)));
            let flow = FlowSetup::new("udp", Route::forward(&[0]), udp);
            setup.flows.push(flow);
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            let record = run(&setup, 1);
            let sent = record.links[0].forward().counters.sent.packets;
            (ALLOCATIONS.load(Ordering::Relaxed) - before, sent)
        };
        let (short, few) = count(30);
        let (long, many) = count(90);
        // 50,000 packets more; what is left are the series, which double.
        assert!(many - few > 45_000, "{} packets", many - few);
        assert!(long - short < 100, "{kind}: {} allocations", long - short);
    }
}

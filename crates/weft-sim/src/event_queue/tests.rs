use super::{EventQueue, Slot};
use proptest::prelude::*;
use weft_units::Instant;

fn at(n: u64) -> Instant {
    Instant::from_nanos(n)
}

fn drain(event_queue: &mut EventQueue) -> Vec<(u32, u64)> {
    std::iter::from_fn(|| {
        let (slot, at) = event_queue.first()?;
        event_queue.set(slot, None);
        Some((slot.0, at.as_nanos()))
    })
    .collect()
}

#[test]
fn ties_come_in_the_order_in_which_they_were_set() {
    let mut event_queue = EventQueue::new();
    let slots: Vec<Slot> = (0..4).map(|_| event_queue.add()).collect();
    for &i in &[2, 0, 3, 1] {
        event_queue.set(slots[i], Some(at(7)));
    }
    // Set again to the same time, so it keeps its position.
    event_queue.set(slots[2], Some(at(7)));
    assert_eq!(drain(&mut event_queue), [(2, 7), (0, 7), (3, 7), (1, 7)]);
}

#[test]
fn to_hasten_never_delays() {
    let mut event_queue = EventQueue::new();
    let slot = event_queue.add();
    event_queue.hasten(slot, at(5));
    event_queue.hasten(slot, at(9));
    assert_eq!(event_queue.first(), Some((slot, at(5))));
    event_queue.hasten(slot, at(3));
    assert_eq!(event_queue.first(), Some((slot, at(3))));
}

proptest! {
    /// Compares the event queue with a list searched for the smallest entry.
    #[test]
    fn the_event_queue_agrees_with_a_list(
        changes in prop::collection::vec((0_u32..8, prop::option::of(0_u64..20)), 0..200)
    ) {
        let mut event_queue = EventQueue::new();
        for _ in 0..8 {
            event_queue.add();
        }
        let mut list: Vec<Option<(u64, usize)>> = vec![None; 8];
        for (order, &(slot, time)) in changes.iter().enumerate() {
            event_queue.set(Slot(slot), time.map(at));
            let entry = &mut list[slot as usize];
            let kept = entry.map(|(t, _)| t) == time;
            if !kept {
                *entry = time.map(|t| (t, order));
            }
            let least = (0..8_u32)
                .filter_map(|s| list[s as usize].map(|key| (key, s)))
                .min()
                .map(|((t, _), s)| (Slot(s), at(t)));
            prop_assert_eq!(event_queue.first(), least);
        }
    }
}

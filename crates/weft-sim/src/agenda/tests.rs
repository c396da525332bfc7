use super::{Agenda, Slot};
use proptest::prelude::*;
use weft_units::Instant;

fn at(n: u64) -> Instant {
    Instant::from_nanos(n)
}

fn drain(agenda: &mut Agenda) -> Vec<(u32, u64)> {
    std::iter::from_fn(|| {
        let (slot, at) = agenda.first()?;
        agenda.set(slot, None);
        Some((slot.0, at.as_nanos()))
    })
    .collect()
}

#[test]
fn ties_come_in_the_order_in_which_they_were_set() {
    let mut agenda = Agenda::new();
    let slots: Vec<Slot> = (0..4).map(|_| agenda.add()).collect();
    for &i in &[2, 0, 3, 1] {
        agenda.set(slots[i], Some(at(7)));
    }
    // Set again to the same time: keeps its place.
    agenda.set(slots[2], Some(at(7)));
    assert_eq!(drain(&mut agenda), [(2, 7), (0, 7), (3, 7), (1, 7)]);
}

#[test]
fn to_hasten_never_delays() {
    let mut agenda = Agenda::new();
    let slot = agenda.add();
    agenda.hasten(slot, at(5));
    agenda.hasten(slot, at(9));
    assert_eq!(agenda.first(), Some((slot, at(5))));
    agenda.hasten(slot, at(3));
    assert_eq!(agenda.first(), Some((slot, at(3))));
}

proptest! {
    /// Compares the agenda with a list searched for the smallest entry.
    #[test]
    fn the_agenda_agrees_with_a_list(
        changes in prop::collection::vec((0_u32..8, prop::option::of(0_u64..20)), 0..200)
    ) {
        let mut agenda = Agenda::new();
        for _ in 0..8 {
            agenda.add();
        }
        let mut list: Vec<Option<(u64, usize)>> = vec![None; 8];
        for (order, &(slot, time)) in changes.iter().enumerate() {
            agenda.set(Slot(slot), time.map(at));
            let entry = &mut list[slot as usize];
            let kept = entry.map(|(t, _)| t) == time;
            if !kept {
                *entry = time.map(|t| (t, order));
            }
            let least = (0..8_u32)
                .filter_map(|s| list[s as usize].map(|key| (key, s)))
                .min()
                .map(|((t, _), s)| (Slot(s), at(t)));
            prop_assert_eq!(agenda.first(), least);
        }
    }
}

use super::{EcnState, Marking, TESTED};
use weft_units::Ecn;

fn fields(marking: &mut Marking, packets: u32) -> Vec<Ecn> {
    (0..packets).map(|_| marking.next()).collect()
}

#[test]
fn a_path_that_lets_the_field_pass_is_used_with_it() {
    let mut marking = Marking::new(Ecn::Ect1);
    let first = fields(&mut marking, TESTED + 5);
    let (tested, others) = first.split_at(TESTED as usize);
    assert!(tested.iter().all(|e| *e == Ecn::Ect1));
    assert!(others.iter().all(|e| *e == Ecn::NotEct));
    marking.on_arrival(Ecn::NotEct, Ecn::NotEct);
    assert_eq!(marking.state(), EcnState::Tested, "it left so");
    marking.on_arrival(Ecn::Ect1, Ecn::Ect1);
    assert_eq!(marking.state(), EcnState::On);
    assert!(fields(&mut marking, 50).iter().all(|e| *e == Ecn::Ect1));
    marking.on_arrival(Ecn::Ect1, Ecn::Ce);
    assert_eq!((marking.state(), marking.marked), (EcnState::On, 1));
}

#[test]
fn a_path_that_changes_the_field_is_used_without_it() {
    for changed in [Ecn::NotEct, Ecn::Ect0] {
        let mut marking = Marking::new(Ecn::Ect1);
        marking.next();
        marking.on_arrival(Ecn::Ect1, changed);
        assert_eq!(marking.state(), EcnState::Refused);
        assert_eq!(marking.next(), Ecn::NotEct);
        // Packets still in flight change nothing.
        marking.on_arrival(Ecn::Ect1, Ecn::Ect1);
        assert_eq!(marking.state(), EcnState::Refused);
        marking.restart();
        assert_eq!(marking.next(), Ecn::Ect1, "it may be another route");
    }
}

#[test]
fn a_path_that_drops_the_field_costs_the_packets_of_a_test() {
    let mut marking = Marking::new(Ecn::Ect0);
    let capable = fields(&mut marking, 1000);
    let capable = capable.iter().filter(|e| e.is_capable()).count();
    assert_eq!(capable, TESTED as usize);
    // A path that begins to drop the field later is tested again.
    marking.on_arrival(Ecn::Ect0, Ecn::Ect0);
    marking.doubt();
    let capable = fields(&mut marking, 1000);
    let capable = capable.iter().filter(|e| e.is_capable()).count();
    assert_eq!(capable, TESTED as usize);
}

#[test]
fn a_path_that_marks_everything_proves_nothing() {
    let mut marking = Marking::new(Ecn::Ect1);
    for _ in 0..100 {
        let left = marking.next();
        marking.on_arrival(left, Ecn::Ce);
    }
    assert_eq!(marking.state(), EcnState::Tested);
    assert_eq!(marking.marked, u64::from(TESTED));
}

#[test]
fn a_controller_without_marks_sends_none() {
    let mut marking = Marking::new(Ecn::NotEct);
    marking.restart();
    marking.doubt();
    assert_eq!(marking.next(), Ecn::NotEct);
    assert_eq!(marking.state(), EcnState::Off);
}

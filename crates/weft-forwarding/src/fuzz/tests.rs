//! Runs the bodies of the fuzz targets with the inputs of `fuzz/seeds`, and some derived
//! from them, within their budgets.

use weft_secure::testing;
use weft_testing::allocation::Counting;
use weft_testing::fuzz::Target;

use super::{MOST, Room, fuzz_plane, fuzz_router};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_plane_handles_inputs_of_any_kind_within_its_budget() {
    Target::PLANE.try_all(100, |data| {
        testing::repeat();
        testing::leave_out_handshakes();
        fuzz_plane(data, &testing::certificate())
    });
}

#[test]
fn a_router_handles_inputs_of_any_kind_within_its_budget() {
    Target::ROUTER.try_all(300, fuzz_router);
}

#[test]
fn all_connections_of_an_input_come_up() {
    let come_up = |planes| {
        testing::repeat();
        let mut room = Room::new(planes, &testing::certificate());
        (0..MOST).for_each(|_| room.enter(&[]));
        assert_eq!(room.connected, MOST, "{planes} planes");
    };
    [1, 2].into_iter().for_each(come_up);
    testing::leave_out_handshakes();
    [1, 2].into_iter().for_each(come_up);
}

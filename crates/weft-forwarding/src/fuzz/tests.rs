//! Runs the body of the fuzz target `plane` with the inputs of `fuzz/seeds`, and some
//! made of them, within its budget.

use weft_secure::testing;
use weft_testing::allocation::Counting;
use weft_testing::fuzz::Target;

use super::fuzz_plane;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn inputs_of_any_kind_are_handled_within_their_budget() {
    Target::PLANE.try_all(100, |data| {
        testing::repeat();
        fuzz_plane(data, &testing::certificate())
    });
}

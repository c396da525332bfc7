//! Runs the bodies of the fuzz targets `http` and `turn` with the inputs of `fuzz/seeds`,
//! and some derived from them, within their budgets.

use weft_testing::allocation::Counting;
use weft_testing::fuzz::Target;

use super::{fuzz_requests, fuzz_turn};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn inputs_of_any_kind_are_handled_within_their_budget() {
    Target::HTTP.try_all(100, fuzz_requests);
}

#[test]
fn a_turn_client_reaches_nothing_but_the_media_side_within_its_budget() {
    Target::TURN.try_all(1_000, fuzz_turn);
}

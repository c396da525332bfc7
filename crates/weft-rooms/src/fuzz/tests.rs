//! Runs the body of the fuzz target `rooms` with the inputs of `fuzz/seeds`, and some
//! derived from them, within its budget.

use weft_testing::allocation::Counting;
use weft_testing::fuzz::Target;

use super::fuzz_calls;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn inputs_of_any_kind_are_handled_within_their_budget() {
    Target::ROOMS.try_all(300, fuzz_calls);
}

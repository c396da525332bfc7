//! Runs the body of the fuzz target `session` on the inputs of `fuzz/seeds` and on
//! mutations of them, within its budget.

use weft_testing::allocation::Counting;
use weft_testing::fuzz::Target;

use super::fuzz_packets;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn inputs_of_any_kind_are_handled_within_their_budget() {
    Target::SESSION.try_all(300, fuzz_packets);
}

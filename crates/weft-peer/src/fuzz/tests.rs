//! Runs the body of the fuzz target `peers` with the inputs of `fuzz/seeds`, and some
//! derived from them, within its budget.

use weft_secure::testing;
use weft_testing::allocation::Counting;
use weft_testing::fuzz::Target;

use super::fuzz_set;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn inputs_of_any_kind_are_handled_within_their_budget() {
    Target::PEERS.try_all(100, |data| {
        testing::repeat();
        fuzz_set(data, &testing::certificate())
    });
}

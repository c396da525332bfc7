//! Runs the body of the fuzz target `secure` with the inputs of `fuzz/seeds`, and some
//! derived from them, within its budget.

use weft_testing::allocation::Counting;
use weft_testing::fuzz::Target;

use super::fuzz_datagrams;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn datagrams_of_any_kind_are_handled_within_their_budget() {
    Target::SECURE.try_parser(300, fuzz_datagrams);
}

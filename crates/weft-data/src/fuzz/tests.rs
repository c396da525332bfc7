//! Runs the body of the fuzz target `data` with the inputs of `fuzz/seeds`, and some
//! derived from them, within its budget.

use weft_testing::allocation::Counting;
use weft_testing::fuzz::Target;

use super::{fuzz_packets, with_checksum};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn packets_of_any_kind_are_handled_within_their_budget() {
    Target::DATA.try_all(200, fuzz_packets);
}

#[test]
fn a_checksum_is_that_of_the_peer() {
    let mut pair = super::Pair::new();
    pair.settle();
    assert_eq!(with_checksum(pair.last.clone()), pair.last);
}

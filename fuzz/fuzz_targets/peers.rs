#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_secure::testing;
use weft_testing::allocation::Counting;
use weft_testing::fuzz::{SANITIZED, Target};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(|data: &[u8]| Target::PEERS.hold(SANITIZED, || {
    testing::repeat();
    weft_peer::fuzz::fuzz_set(data, &testing::certificate())
}));

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_testing::allocation::Counting;
use weft_testing::fuzz::{SANITIZED, Target};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(|data: &[u8]| Target::IMPORTS.parse(SANITIZED, data, weft_lab::recording::fuzz::fuzz_imports));

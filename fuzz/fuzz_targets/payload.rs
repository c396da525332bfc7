#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| weft_wire::fuzz::fuzz_payload(data));

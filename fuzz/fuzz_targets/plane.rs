#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use weft_secure::{Certificate, testing};
use weft_testing::allocation::Counting;
use weft_testing::fuzz::{SANITIZED, Target};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Reading it takes as long as a short input.
static CERTIFICATE: OnceLock<Certificate> = OnceLock::new();

fuzz_target!(|data: &[u8]| {
    testing::repeat();
    testing::leave_out_handshakes();
    let certificate = CERTIFICATE.get_or_init(testing::certificate);
    Target::PLANE.hold(SANITIZED, || weft_forwarding::fuzz::fuzz_plane(data, certificate))
});

//! Runs the bodies of the parsers' fuzz targets within their budgets, with the inputs of
//! `fuzz/seeds` and mutations of them.

use weft_testing::allocation::Counting;
use weft_testing::fuzz::Target;

use super::{fuzz_flexfec, fuzz_h264, fuzz_payload, fuzz_rtcp, fuzz_rtp, fuzz_sdp, fuzz_vp8};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn flexfec_of_any_kind_is_read_within_its_budget() {
    Target::FLEXFEC.try_parser(1_000, fuzz_flexfec);
}

#[test]
fn h264_of_any_kind_is_read_within_its_budget() {
    Target::H264.try_parser(1_000, fuzz_h264);
}

#[test]
fn payload_of_any_kind_is_read_within_its_budget() {
    Target::PAYLOAD.try_parser(1_000, fuzz_payload);
}

#[test]
fn rtcp_of_any_kind_is_read_within_its_budget() {
    Target::RTCP.try_parser(1_000, fuzz_rtcp);
}

#[test]
fn rtp_of_any_kind_is_read_within_its_budget() {
    Target::RTP.try_parser(1_000, fuzz_rtp);
}

#[test]
fn sdp_of_any_kind_is_read_within_its_budget() {
    Target::SDP.try_parser(1_000, fuzz_sdp);
}

#[test]
fn vp8_of_any_kind_is_read_within_its_budget() {
    Target::VP8.try_parser(1_000, fuzz_vp8);
}

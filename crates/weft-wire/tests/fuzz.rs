//! Runs the bodies of the parsers' fuzz targets with the inputs of
//! `fuzz/seeds`, and some derived from them, within their budgets.

use weft_testing::allocation::Counting;
use weft_testing::fuzz::Target;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn flexfec_of_any_kind_is_read_within_its_budget() {
    Target::FLEXFEC.try_parser(1_000, weft_wire::fuzz::fuzz_flexfec);
}

#[test]
fn h264_of_any_kind_is_read_within_its_budget() {
    Target::H264.try_parser(1_000, weft_wire::fuzz::fuzz_h264);
}

#[test]
fn payload_of_any_kind_is_read_within_its_budget() {
    Target::PAYLOAD.try_parser(1_000, weft_wire::fuzz::fuzz_payload);
}

#[test]
fn rtcp_of_any_kind_is_read_within_its_budget() {
    Target::RTCP.try_parser(1_000, weft_wire::fuzz::fuzz_rtcp);
}

#[test]
fn rtp_of_any_kind_is_read_within_its_budget() {
    Target::RTP.try_parser(1_000, weft_wire::fuzz::fuzz_rtp);
}

#[test]
fn sdp_of_any_kind_is_read_within_its_budget() {
    Target::SDP.try_parser(1_000, weft_wire::fuzz::fuzz_sdp);
}

#[test]
fn vp8_of_any_kind_is_read_within_its_budget() {
    Target::VP8.try_parser(1_000, weft_wire::fuzz::fuzz_vp8);
}

//! Metrics of small records, calculated by hand.

use weft_experiment::FrameRecord;

use super::records::{Small, built_in, film, frame, quantised, unseen};

fn near(found: Option<f64>, expected: f64) {
    let found = found.expect("a value");
    assert!(
        (found - expected).abs() < 1e-9,
        "{found} instead of {expected}"
    );
}

#[test]
fn a_frame_is_built_from_its_first_packet_to_its_last() {
    let first = [built_in(0, 0), built_in(40, 12), unseen(80)];
    // (0 + 12) / 2 and 30; each camera has the same weight.
    near(Small::call(2, &[&first]).value("fcd_ms"), 6.0);
    let both = Small::call(2, &[&first, &[built_in(0, 30)]]);
    near(both.value("fcd_ms"), 18.0);
    assert_eq!(Small::call(2, &[&[unseen(0)]]).value("fcd_ms"), None);
}

#[test]
fn frames_stand_until_the_next_one() {
    // 40 and 80 ms: the frame between was never shown.
    let call = Small::call(2, &[&[frame(0), frame(40), unseen(80), frame(120)]]);
    near(call.value("ifd_ms"), 60.0);
    // From the second one on.
    near(call.value_from(40, "ifd_ms"), 80.0);
}

#[test]
fn devices_are_part_of_the_latency_and_of_nothing_else() {
    let pictures = film(0, 2000);
    let without = Small::call(4, &[&pictures]);
    let with = Small::call(4, &[&pictures]).with_devices(140);
    near(without.value("e2e_ms_mean"), 50.0);
    near(with.value("e2e_ms_mean"), 190.0);
    near(with.value("e2e_ms_p95"), 190.0);
    for metric in ["fps", "freeze_s", "ifd_ms", "fcd_ms", "frames_dropped"] {
        assert_eq!(with.value(metric), without.value(metric), "{metric}");
    }
}

#[test]
fn pictures_within_one_refresh_of_the_display_are_seen_once() {
    // 25 a second for one second, and then one picture in place of ten.
    let stall: Vec<_> = (0..10)
        .map(|n| FrameRecord {
            shown: frame(960).shown,
            ..frame(n * 40)
        })
        .collect();
    let call = Small::call(2, &[&stall]);
    near(call.value("fps"), 5.0);
    near(call.value("fps_seen"), 0.5);
    near(Small::call(2, &[&film(0, 2000)]).value("fps_seen"), 25.0);
    // Captured at 0 to 360 ms and shown at 1,010 ms: 1,010 minus 180.
    near(call.value("e2e_ms_worst_s"), 830.0);
    // The first of ten has the longest: quantile of 1,010, 970, ...
    let p99 = call.value("e2e_ms_p99").expect("a value");
    assert!((1000.0..=1010.0).contains(&p99), "{p99}");
    near(call.with_devices(140).value("e2e_ms_worst_s"), 970.0);
}

#[test]
fn frames_of_a_second_are_held_against_24() {
    // 12 in 2 s are 6 a second.
    let frames: Vec<_> = (0..12).map(|n| frame(n * 160)).collect();
    near(Small::call(2, &[&frames]).value("fps_norm"), 0.25);
    // Those of 1120 to 1760 ms.
    near(
        Small::call(2, &[&frames]).value_from(1000, "fps_norm"),
        5.0 / 24.0,
    );
    // 25 a second and none: 12.5 on average.
    let call = Small::call(2, &[&film(0, 2000), &[unseen(0)]]);
    near(call.value("fps_norm"), 12.5 / 24.0);
}

#[test]
fn quantisers_are_held_against_the_coarsest_of_the_codec() {
    let call = Small::call(2, &[&[quantised(0, 30), quantised(40, 50)]]);
    near(call.value("qp"), 40.0);
    // VP8's indices end at 127.
    near(call.value("qp_norm"), 40.0 / 127.0);
    assert_eq!(Small::call(2, &[&[frame(0)]]).value("qp_norm"), None);
}

#[test]
fn pictures_are_judged_by_the_last_ten_that_were_shown() {
    // Scores equal the quantizers, 1 to 12; the last one is never seen.
    let mut frames: Vec<_> = (1..=12).map(|n| quantised(u64::from(n) * 40, n)).collect();
    frames[11].shown = None;
    // 2 to 11.
    near(Small::call(2, &[&frames]).value("brisque"), 6.5);
    near(Small::call(2, &[&frames[..2]]).value("brisque"), 1.5);
    assert_eq!(Small::call(2, &[&[unseen(0)]]).value("brisque"), None);
}

#[test]
fn a_section_is_measured_by_itself() {
    // 2, 4, 6 and 8 Mbit/s, a second each.
    let bytes = [250_000, 500_000, 750_000, 1_000_000];
    let call = Small::call(4, &[&[frame(0)]]).carrying(&bytes, &[]);
    let bounds = [0, 1_000, 2_500, 4_000];
    near(call.value("throughput_mbps"), 5.0);
    near(call.value_in(&bounds, "throughput_mbps#1"), 2.0);
    // A second of 4, half a second of 6.
    near(call.value_in(&bounds, "throughput_mbps#2"), 14.0 / 3.0);
    near(call.value_in(&bounds, "throughput_mbps#3"), 22.0 / 3.0);
    // One frame of 1 kB, shown after 50 ms.
    near(call.value_in(&bounds, "goodput_mbps#1"), 0.008);
    near(call.value_in(&bounds, "goodput_mbps#2"), 0.0);
    assert_eq!(call.value_in(&bounds, "throughput_mbps#4"), None);
    assert_eq!(call.value_in(&bounds, "queue_ms_mean#1"), None);
    // Half seconds of 2 and of 4 (twice each): 1 from their mean.
    near(call.value_in(&[0, 2_000], "rate_sd_mbps#1"), 1.0);
}

#[test]
fn throughput_is_held_against_what_the_cameras_send_at_most() {
    // 250 and 500 kB: 3 Mbit/s on average, 4 in the second one.
    let bytes = [250_000, 500_000];
    let one = Small::call(2, &[&[]]).carrying(&bytes, &[]);
    near(one.value("throughput_mbps"), 3.0);
    near(one.value("throughput_norm"), 3.0 / 2.0);
    near(one.value_from(1000, "throughput_norm"), 4.0 / 2.0);
    // Two cameras with 2 Mbit/s each.
    let two = Small::call(2, &[&[], &[]]).carrying(&bytes, &[]);
    near(two.value("throughput_norm"), 3.0 / 4.0);
}

#[test]
fn feedback_is_what_comes_back_of_what_is_sent() {
    let call = Small::call(2, &[&[]]).carrying(&[100_000, 300_000], &[4_000, 6_000]);
    near(call.value("feedback_overhead"), 10.0 / 400.0);
    near(call.value_from(1000, "feedback_overhead"), 6.0 / 300.0);
    let silent = Small::call(2, &[&[]]).carrying(&[0, 0], &[0, 0]);
    assert_eq!(silent.value("feedback_overhead"), None);
}

#[test]
fn delays_of_all_ways_make_one_mean() {
    // (10 + 20 + 30 + 100) / 4: the mean over packets, not over routes.
    let call = Small::call(2, &[&[]]).delayed(&[&[10, 20, 30], &[100]]);
    near(call.value("owd_ms_mean"), 40.0);
    assert_eq!(Small::call(2, &[&[]]).value("owd_ms_mean"), None);
}

#[test]
fn a_queue_is_held_against_the_longest_wait_that_it_allows() {
    // Sander et al.: two products of 0.5 Mbit/s and 50 ms are 6250 bytes, 100 ms.
    let call = Small::call(2, &[&[]]).over("rate=500kbit,delay=25ms,queue=2bdp");
    let call = call.queued(&[50, 75, 100, 75]);
    near(call.value("queue_share"), 0.75);
    // Half a product of 0.5 Mbit/s and 30 ms is less than a packet: 1514 bytes
    // take 24.224 ms.
    let call = Small::call(2, &[&[]]).over("rate=500kbit,delay=15ms,queue=0.5bdp");
    near(call.queued(&[12, 12]).value("queue_share"), 12.0 / 24.224);
    // By bytes and by time.
    let call = Small::call(2, &[&[]]).over("rate=1mbit,queue=60kB");
    near(call.queued(&[120]).value("queue_share"), 0.25);
    let call = Small::call(2, &[&[]]).over("rate=1mbit,queue=300ms");
    near(call.queued(&[120]).value("queue_share"), 0.4);
    let call = Small::call(2, &[&[]]).over("trace=generated:driving/lte");
    assert_eq!(call.queued(&[120]).value("queue_share"), None);
}

#[test]
fn packets_are_counted_while_they_are_measured() {
    // One a second; in the small record, none arrives.
    let call = Small::call(4, &[&[]]).carrying(&[1000; 4], &[]);
    near(call.value("packets_sent"), 4.0);
    near(call.value_from(1500, "packets_sent"), 2.5);
    near(call.value("packets_received"), 0.0);
}

#[test]
fn two_flows_of_ones_choice_are_equal_while_both_run() {
    let first = Small::call(4, &[&[]]).carrying(&[9_000, 0, 2_000, 2_000], &[]);
    let three = first.beside("second", 2_000, &[0, 0, 1_000, 1_000]).beside(
        "third",
        0,
        &[1_000, 1_000, 4_000, 4_000],
    );
    // Table 2 of Sander et al. has 0.51, 0.39 and -0.03; here the first has twice
    // as much as the second in the last two seconds.
    near(three.equality("flow/second"), 0.5);
    near(three.equality("second/flow"), -0.5);
    near(three.equality("second/third"), -0.75);
    // 13 and 10 kB.
    near(three.equality("flow/third"), 3.0 / 13.0);
    assert_eq!(three.equality("flow/fourth"), None);
    // The total compares calls with TCP while all of them run.
    near(three.value("flow_rate_equality"), 2.0 / 5.0 - 1.0);
}

#[test]
fn transfers_take_from_the_opening_to_the_last_acknowledgement() {
    let tcp = Small::tcp(20, &[(0, 1000), (2000, 5000), (5000, 10_000)]);
    near(tcp.value("transfer_s"), 3.0);
    // Transfers that started earlier do not belong to the measured time.
    near(tcp.value_from(1500, "transfer_s"), 4.0);
    assert_eq!(Small::tcp(20, &[]).value("transfer_s"), None);
}

/// The caller's three frames of 1 kB within two seconds, and the callee's frames.
#[test]
fn the_callees_camera_is_load_and_not_judged() {
    let mine = [frame(0), built_in(40, 20), frame(120)];
    let theirs = [built_in(0, 90), unseen(40)];
    let bytes = ([4_000, 6_000], [40_000, 60_000]);
    let call = Small::both_ways(2, &mine, &theirs).carrying(&bytes.0, &bytes.1);
    near(call.value("throughput_mbps"), 0.04);
    // Relative to the caller's 2 Mbit/s.
    near(call.value("throughput_norm"), 0.02);
    near(call.value("goodput_mbps"), 0.012);
    near(call.value("fps"), 1.5);
    near(call.value("ifd_ms"), 60.0);
    near(call.value("fcd_ms"), 20.0 / 3.0);
    near(call.value("frames_dropped"), 0.0);
    // Media and feedback cannot be separated in the backward direction.
    assert_eq!(call.value("feedback_overhead"), None);
}

fn frozen(call: &Small, from: u64) -> (f64, f64) {
    let value = |metric| call.value_from(from, metric).expect("a value");
    (value("freeze_s"), value("freeze_count"))
}

#[test]
fn freezes_count_within_the_measured_time_only() {
    // The last picture before the outage is displayed from 1010 ms, the next one at 3050
    // ms.
    let frames = [film(0, 1000), film(3000, 4000)].concat();
    let call = Small::call(4, &[&frames]);
    assert_eq!(frozen(&call, 0), (2.04, 1.0));
    assert_eq!(frozen(&call, 500), (2.04, 1.0));
    assert_eq!(frozen(&call, 2000), (1.05, 1.0));
    assert_eq!(frozen(&call, 3500), (0.0, 0.0));
    // 100 ms are not a freeze, wherever the measured time starts.
    let frames = [film(0, 1000), film(1060, 4000)].concat();
    assert_eq!(frozen(&Small::call(4, &[&frames]), 1020), (0.0, 0.0));
}

#[test]
fn a_call_that_begins_too_late_is_frozen() {
    // The first picture at 1000 ms belongs to a normal call setup.
    let call = |first| Small::call(4, &[&film(first, 4000)]);
    assert_eq!(frozen(&call(950), 0), (0.0, 0.0));
    assert_eq!(frozen(&call(951), 0), (1.001, 1.0));
    // From the start of the flow, or of the measured time.
    assert_eq!(frozen(&call(2950).starting(2000), 0), (0.0, 0.0));
    assert_eq!(frozen(&call(2950).starting(1000), 0), (2.0, 1.0));
    assert_eq!(frozen(&call(2950), 1500), (1.5, 1.0));
}

#[test]
fn no_picture_and_the_last_picture_count_to_the_end() {
    assert_eq!(frozen(&Small::call(4, &[&[unseen(0)]]), 1000), (3.0, 1.0));
    // The last picture is displayed from 1010 ms.
    let call = Small::call(4, &[&film(0, 1000)]);
    assert_eq!(frozen(&call, 0), (2.99, 1.0));
    assert_eq!(frozen(&call, 500), (2.99, 1.0));
}

#[test]
fn sound_has_gaps_where_nothing_new_is_played() {
    let spoken = |lost: std::ops::Range<u64>| {
        let packet = |n| match lost.contains(&n) {
            true => unseen(n * 20),
            false => frame(n * 20),
        };
        Small::sound(2, &(0..100).map(packet).collect::<Vec<_>>())
    };
    // Two packets of 20 ms are missing: 60 ms between their neighbours, which is not yet
    // too long.
    let two = spoken(10..12);
    near(two.value("sound_gap_ms"), 60.0);
    near(two.value("sound_gaps"), 0.0);
    let three = spoken(10..13);
    near(three.value("sound_gap_ms"), 80.0);
    near(three.value("sound_gaps"), 1.0);
    // The gap from 230 to 310 ms, measured from 250 ms; none after its end.
    near(three.value_from(250, "sound_gap_ms"), 60.0);
    near(three.value_from(320, "sound_gap_ms"), 20.0);
    // The packet before the last 20 is played at 1630 ms.
    near(spoken(80..100).value("sound_gap_ms"), 370.0);
    // A call may take a second to start; here it takes 1.05 and 1.07 s.
    near(spoken(0..50).value("sound_gaps"), 1.0);
    near(spoken(0..47).value("sound_gaps"), 0.0);
    near(spoken(0..100).value("sound_gap_ms"), 2000.0);
    near(spoken(0..100).value("sound_gaps"), 1.0);
    // Pictures are not audio.
    assert_eq!(Small::call(2, &[&film(0, 2000)]).value("sound_gaps"), None);
}

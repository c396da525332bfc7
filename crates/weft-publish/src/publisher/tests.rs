use proptest::prelude::*;
use weft_units::{Bytes, Rate, StreamId};

use super::Publisher;

const SOUND: Rate = Rate::from_kbps(40);

fn bps(publisher: &Publisher<u8>, cameras: usize) -> Vec<u64> {
    let rate = |camera| publisher.allowance(camera).rate.as_bps();
    (0..cameras).map(rate).collect()
}

/// Returns the shares of a rate for cameras with these bounds.
fn shares(bounds: &[Option<u64>], sound: Rate, target: u64) -> Vec<u64> {
    let bounds = bounds.iter().map(|bound| bound.map(Rate::from_bps));
    let mut publisher = Publisher::new(bounds.clone());
    let streams = (0..bounds.len() as u32).map(StreamId).collect();
    publisher.handle_joined(1, streams, sound);
    publisher.handle_target_rate(1, Rate::from_bps(target));
    bps(&publisher, bounds.len())
}

#[test]
fn cameras_get_equal_shares_that_are_never_more_than_there_is() {
    for (cameras, each) in [(1, 1_000_001), (2, 500_000), (3, 333_333), (4, 250_000)] {
        let bounds = vec![None; cameras];
        assert_eq!(shares(&bounds, Rate::ZERO, 1_000_001), vec![each; cameras]);
        assert_eq!(shares(&bounds, Rate::ZERO, 0), vec![0; cameras]);
    }
    assert_eq!(shares(&[], Rate::ZERO, 1_000_000), [], "nobody takes it");
}

#[test]
fn sound_comes_first() {
    // 1000 kbps less 40 are 960: three times 320.
    assert_eq!(shares(&[None; 3], SOUND, 1_000_000), [320_000; 3]);
    // Sound alone needs more than the rate, or exactly the rate.
    assert_eq!(shares(&[None; 2], SOUND, 30_000), [0, 0]);
    assert_eq!(shares(&[None], SOUND, 40_000), [0]);
    assert_eq!(shares(&[None], SOUND, 40_001), [1]);
}

#[test]
fn other_cameras_share_what_one_at_its_maximum_leaves() {
    // 900 kbps are 300 each; one takes 100, and the others 400 each.
    let bounds = [None, Some(100_000), None];
    assert_eq!(
        shares(&bounds, Rate::ZERO, 900_000),
        [400_000, 100_000, 400_000]
    );
    // A maximum is not guaranteed: each camera gets 80 of 240 kbps.
    assert_eq!(shares(&bounds, Rate::ZERO, 240_000), [80_000; 3]);
    // With all cameras at their maxima, the rest is unused.
    let bounds = [Some(200_000), Some(100_000)];
    assert_eq!(shares(&bounds, Rate::ZERO, 900_000), [200_000, 100_000]);
    assert_eq!(shares(&[Some(200_000)], Rate::ZERO, 900_000), [200_000]);
}

#[test]
fn the_slowest_peer_sets_the_rate_unless_it_takes_no_picture() {
    let mut publisher = Publisher::new([None, None]);
    let streams = || vec![StreamId(0), StreamId(1)];
    publisher.handle_joined(1, streams(), Rate::ZERO);
    publisher.handle_target_rate(1, Rate::from_kbps(1000));
    assert_eq!(bps(&publisher, 2), [500_000; 2]);
    // One peer waits for a path, and one takes no camera.
    publisher.handle_joined(2, streams(), SOUND);
    publisher.handle_joined(3, Vec::new(), SOUND);
    publisher.handle_target_rate(3, Rate::from_kbps(100));
    assert_eq!(bps(&publisher, 2), [500_000; 2]);
    publisher.handle_target_rate(2, Rate::from_kbps(840));
    assert_eq!(bps(&publisher, 2), [400_000; 2]);
    publisher.handle_left(&2);
    assert_eq!(bps(&publisher, 2), [500_000; 2]);
    publisher.handle_left(&1);
    assert_eq!(bps(&publisher, 2), [0; 2], "nobody looks");
    publisher.handle_target_rate(1, Rate::from_kbps(1000));
    assert_eq!(bps(&publisher, 2), [0; 2], "it has left");
}

#[test]
fn the_least_budget_is_shared_by_the_rates() {
    // 900 kbps divide into 400, 100 and 400 kbps, and 9000 bytes into 4000, 1000 and
    // 4000.
    let mut publisher = Publisher::new([None, Some(Rate::from_kbps(100)), None]);
    let budgets = |publisher: &Publisher<u8>| [0, 1, 2].map(|c| publisher.allowance(c).budget);
    let streams = || [0, 1, 2].map(StreamId).to_vec();
    publisher.handle_joined(1, streams(), Rate::ZERO);
    publisher.handle_joined(2, streams(), SOUND);
    publisher.handle_target_rate(1, Rate::from_kbps(900));
    assert_eq!(budgets(&publisher), [None; 3]);
    publisher.handle_frame_budget(1, Some(Bytes(9000)));
    let bytes = |sizes: [u64; 3]| sizes.map(|size| Some(Bytes(size)));
    assert_eq!(budgets(&publisher), bytes([4000, 1000, 4000]));
    // A peer that takes no pictures yet does not limit the budget.
    publisher.handle_frame_budget(2, Some(Bytes(0)));
    assert_eq!(budgets(&publisher), bytes([4000, 1000, 4000]));
    publisher.handle_target_rate(2, Rate::from_kbps(2000));
    assert_eq!(budgets(&publisher), bytes([0; 3]));
    publisher.handle_frame_budget(2, None);
    assert_eq!(budgets(&publisher), bytes([4000, 1000, 4000]));
    publisher.handle_left(&1);
    assert_eq!(budgets(&publisher), [None; 3]);
    // With a rate of zero, nothing is sent and nothing is divided by zero.
    publisher.handle_target_rate(2, Rate::ZERO);
    publisher.handle_frame_budget(2, Some(Bytes(u64::MAX)));
    assert_eq!(budgets(&publisher), [None; 3]);
}

#[test]
fn keyframe_requests_count_for_the_camera_that_the_peer_takes_as_this_stream() {
    let mut publisher = Publisher::new([None, None]);
    publisher.handle_joined(1, vec![StreamId(4), StreamId(5)], Rate::ZERO);
    publisher.handle_joined(2, vec![StreamId(5)], Rate::ZERO);
    publisher.handle_keyframe_request(1, StreamId(5));
    publisher.handle_keyframe_request(2, StreamId(5));
    publisher.handle_keyframe_request(1, StreamId(4));
    // Sound, a camera that the peer does not take, and an unknown peer.
    publisher.handle_keyframe_request(1, StreamId(6));
    publisher.handle_keyframe_request(2, StreamId(4));
    publisher.handle_keyframe_request(3, StreamId(4));
    let requests = [0, 1].map(|camera| publisher.allowance(camera).keyframe_requests);
    assert_eq!(requests, [2, 1]);
}

proptest! {
    /// For any sender: the shares do not exceed the target, no camera gets more than its
    /// maximum, a remainder means that all cameras are at their maxima, and a higher
    /// target never lowers a share.
    #[test]
    fn shares_fit_and_rise_with_the_target(
        bounds in prop::collection::vec(prop::option::of(0_u64..5_000_000), 1..6),
        sound in 0_u64..100_000,
        target in 0_u64..10_000_000,
        more in 0_u64..1_000_000,
    ) {
        let sound = Rate::from_bps(sound);
        let before = shares(&bounds, sound, target);
        let total: u64 = before.iter().sum();
        let after_sound = target.saturating_sub(sound.as_bps());
        prop_assert!(total <= after_sound);
        let mut bound = before.iter().zip(&bounds);
        prop_assert!(bound.all(|(share, bound)| bound.is_none_or(|bound| *share <= bound)));
        let full = before.iter().zip(&bounds).all(|(share, bound)| Some(*share) == *bound);
        prop_assert!(full || after_sound - total < bounds.len() as u64, "{total} of {after_sound}");
        let after = shares(&bounds, sound, target + more);
        prop_assert!(before.iter().zip(&after).all(|(before, after)| before <= after));
    }
}

#[test]
fn a_smaller_encoding_takes_its_part_of_the_camera_while_it_is_sent() {
    let mut publisher = Publisher::new([None, None]);
    publisher.handle_joined(1, vec![StreamId(0), StreamId(1)], SOUND);
    publisher.handle_smaller_streams(1, vec![Some(StreamId(2)), None]);
    publisher.handle_target_rate(1, Rate::from_kbps(2_040));
    let both = |publisher: &Publisher<u8>| {
        let allowances = [publisher.allowance(0), publisher.smaller_allowance(0)];
        allowances.map(|allowance| allowance.rate.as_bps() / 1_000)
    };
    assert_eq!(both(&publisher), [1_000, 0]);
    publisher.handle_smaller(0, Some(Rate::from_kbps(150)));
    assert_eq!(both(&publisher), [850, 150]);
    assert_eq!(bps(&publisher, 2)[1], 1_000_000, "the other camera's share");
    // At low rates, the smaller encoding gets a quarter.
    publisher.handle_target_rate(1, Rate::from_kbps(840));
    assert_eq!(both(&publisher), [300, 100]);
    // Budget of the next pictures: 8000 bytes at 800 kbit/s.
    publisher.handle_frame_budget(1, Some(Bytes(8_000)));
    assert_eq!(publisher.allowance(0).budget, Some(Bytes(3_000)));
    assert_eq!(publisher.smaller_allowance(0).budget, Some(Bytes(1_000)));
    assert_eq!(publisher.allowance(1).budget, Some(Bytes(4_000)));
    publisher.handle_keyframe_request(1, StreamId(2));
    assert_eq!(publisher.smaller_allowance(0).keyframe_requests, 1);
    assert_eq!(publisher.allowance(0).keyframe_requests, 0);
    publisher.handle_smaller(0, None);
    assert_eq!(both(&publisher), [400, 0]);
}

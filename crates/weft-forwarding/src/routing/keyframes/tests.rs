use super::{KeyframeAggregator, RETRY, SPACING};
use crate::routing::TrackId;
use proptest::prelude::*;
use weft_units::{Duration, Instant};

const TRACK: TrackId = TrackId(1);

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

#[test]
fn a_hundred_requests_make_one() {
    let mut aggregator = KeyframeAggregator::default();
    for ms in 0..100 {
        aggregator.request(at(ms), TRACK);
    }
    assert_eq!(aggregator.poll_output(), Some(TRACK));
    assert_eq!(aggregator.poll_output(), None);
}

#[test]
fn a_request_after_the_keyframe_began_waits_for_the_spacing() {
    let mut aggregator = KeyframeAggregator::default();
    aggregator.request(at(0), TRACK);
    assert_eq!(aggregator.poll_output(), Some(TRACK));
    aggregator.on_keyframe(TRACK);
    assert_eq!(aggregator.poll_timeout(), None);
    aggregator.request(at(60), TRACK);
    assert_eq!(aggregator.poll_output(), None);
    assert_eq!(aggregator.poll_timeout().map(|d| d.at), Some(at(400)));
    aggregator.handle_timeout(at(399));
    assert_eq!(aggregator.poll_output(), None);
    aggregator.handle_timeout(at(400));
    assert_eq!(aggregator.poll_output(), Some(TRACK));
}

#[test]
fn a_request_is_repeated_until_it_is_answered() {
    let mut aggregator = KeyframeAggregator::default();
    aggregator.request(at(0), TRACK);
    aggregator.handle_timeout(at(999));
    assert_eq!(aggregator.poll_output(), Some(TRACK));
    assert_eq!(aggregator.poll_output(), None);
    aggregator.handle_timeout(at(1_000));
    assert_eq!(aggregator.poll_output(), Some(TRACK));
    aggregator.on_keyframe(TRACK);
    aggregator.handle_timeout(at(9_000));
    assert_eq!(aggregator.poll_output(), None);
}

#[test]
fn tracks_do_not_wait_for_one_another() {
    let mut aggregator = KeyframeAggregator::default();
    aggregator.request(at(0), TRACK);
    aggregator.request(at(1), TrackId(2));
    assert_eq!(aggregator.poll_output(), Some(TRACK));
    assert_eq!(aggregator.poll_output(), Some(TrackId(2)));
    aggregator.remove(TRACK);
    aggregator.remove(TrackId(2));
    assert_eq!(aggregator.poll_timeout(), None);
}

proptest! {
    #[test]
    fn requests_are_spaced_and_none_is_forgotten(
        steps in prop::collection::vec((0_u8..3, 0_u64..300), 1..100)
    ) {
        let mut aggregator = KeyframeAggregator::default();
        let (mut now, mut sent, mut open) = (0, Vec::new(), false);
        let mut drain = |aggregator: &mut KeyframeAggregator, now| {
            while aggregator.poll_output().is_some() {
                sent.push(now);
            }
        };
        for (action, wait) in steps {
            now += wait;
            aggregator.handle_timeout(at(now));
            drain(&mut aggregator, now);
            match action {
                0 => { aggregator.request(at(now), TRACK); open = true; }
                1 => { aggregator.on_keyframe(TRACK); open = false; }
                _ => {}
            }
            drain(&mut aggregator, now);
            let due = aggregator.poll_timeout();
            prop_assert_eq!(due.is_some(), open);
            if let Some(due) = due {
                prop_assert!(due.at <= at(now) + RETRY);
            }
        }
        for pair in sent.windows(2) {
            prop_assert!(pair[1] - pair[0] >= SPACING.as_millis());
        }
    }
}

use super::*;
use weft_units::Duration;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// One-packet pictures: descriptor octet with S = 1, then the frame header
/// whose lowest bit is 0 in a keyframe (RFC 7741 section 4.3).
fn picture(sequence: u64, keyframe: bool) -> MediaPacket {
    MediaPacket {
        sequence,
        timestamp: sequence as u32 * 3_000,
        marker: true,
        audio_level: None,
        dependency: weft_wire::media::SharedBytes::default(),
        payload: [0x10, u8::from(!keyframe), 7].into(),
    }
}

fn drain(router: &mut Router) -> Vec<Output> {
    std::iter::from_fn(|| router.poll_output()).collect()
}

fn forwarded_to(outputs: &[Output], wanted: SubscriptionId) -> Vec<u64> {
    let to = |o: &Output| match o {
        Output::Forward {
            subscription,
            packet,
        } if *subscription == wanted => Some(packet.sequence),
        _ => None,
    };
    outputs.iter().filter_map(to).collect()
}

#[test]
fn many_subscribers_make_one_keyframe_request() {
    let mut router = Router::default();
    let track = router.add_track(Codec::Vp8);
    for ms in 0..50 {
        router.subscribe(at(ms), track).unwrap();
    }
    assert_eq!(drain(&mut router), [Output::RequestKeyframe { track }]);
    assert_eq!(router.subscriptions(), 50);
}

/// Everybody pays for a keyframe that one viewer requests.
#[test]
fn keyframe_requests_of_one_viewer_are_paced() {
    let mut router = Router::default();
    let track = router.add_track(Codec::Vp8);
    let greedy = router.subscribe(at(0), track).unwrap();
    let other = router.subscribe(at(0), track).unwrap();
    let mut asked = 0;
    for ms in 0..60_000 {
        router.request_keyframe(at(ms), greedy);
        router.handle_timeout(at(ms));
        let outputs = drain(&mut router).into_iter();
        for _ in outputs.filter(|o| matches!(o, Output::RequestKeyframe { .. })) {
            asked += 1;
            router.handle_packet(at(ms), track, picture(100_000 + asked, true));
        }
    }
    // One for the new subscriber, four at once and one every two seconds; without the
    // bound there would be 150.
    assert!((30..=36).contains(&asked), "{asked} in a minute");
    router.request_keyframe(at(60_400), other);
    router.handle_timeout(at(60_400));
    assert_eq!(drain(&mut router), [Output::RequestKeyframe { track }]);
}

#[test]
fn a_slow_subscriber_loses_its_own_packets_only() {
    let mut router = Router::default();
    let track = router.add_track(Codec::Vp8);
    let slow = router.subscribe(at(0), track).unwrap();
    let fast = router.subscribe(at(0), track).unwrap();
    router.handle_packet(at(10), track, picture(100_000, true));
    let downlink = Downlink {
        target: None,
        limit: None,
        queued: Duration::from_secs(2),
    };
    router.set_downlink(at(20), slow, downlink);
    for n in 1..100 {
        router.handle_packet(at(20 + n), track, picture(100_000 + n, false));
    }
    let outputs = drain(&mut router);
    assert_eq!(forwarded_to(&outputs, slow), [1]);
    assert_eq!(
        forwarded_to(&outputs, fast),
        (1..=100).collect::<Vec<u64>>()
    );
    assert_eq!(router.subscriptions[&slow].forwarder.stats().congested, 99);
    assert_eq!(router.subscriptions[&fast].forwarder.stats().congested, 0);
}

#[test]
fn each_subscriber_starts_at_a_keyframe_with_its_own_numbers() {
    let mut router = Router::default();
    let track = router.add_track(Codec::Vp8);
    let first = router.subscribe(at(0), track).unwrap();
    router.handle_packet(at(10), track, picture(100_000, true));
    router.handle_packet(at(40), track, picture(100_001, false));
    let second = router.subscribe(at(50), track).unwrap();
    router.handle_packet(at(70), track, picture(100_002, false));
    router.handle_packet(at(100), track, picture(100_003, true));
    let outputs = drain(&mut router);
    assert_eq!(forwarded_to(&outputs, first), [1, 2, 3, 4]);
    assert_eq!(forwarded_to(&outputs, second), [1]);
}

#[test]
fn a_new_source_requests_a_keyframe_and_continues() {
    let mut router = Router::default();
    let track = router.add_track(Codec::Vp8);
    let subscription = router.subscribe(at(0), track).unwrap();
    router.handle_packet(at(10), track, picture(100_000, true));
    drain(&mut router);
    router.switch_source(at(1_000), track);
    assert_eq!(drain(&mut router), [Output::RequestKeyframe { track }]);
    router.handle_packet(at(1_100), track, picture(80_000, true));
    assert_eq!(forwarded_to(&drain(&mut router), subscription), [2]);
}

#[test]
fn subscriptions_of_a_track_that_ended_forward_nothing() {
    let mut router = Router::default();
    let track = router.add_track(Codec::Opus);
    let subscription = router.subscribe(at(0), track).unwrap();
    assert_eq!(drain(&mut router), [], "sound needs no keyframe");
    router.remove_track(track);
    assert_eq!(router.track(subscription), None);
    assert_eq!(router.subscribe(at(1), track), None);
    router.handle_packet(at(2), track, picture(100_000, true));
    router.request_keyframe(at(3), subscription);
    assert_eq!(drain(&mut router), []);
}

#[test]
fn another_track_continues_the_numbers_of_the_one_before() {
    let mut router = Router::default();
    let [first, second] = [(); 2].map(|()| router.add_track(Codec::Vp8));
    let subscription = router.subscribe(at(0), first).unwrap();
    router.handle_packet(at(10), first, picture(100_000, true));
    router.handle_packet(at(40), first, picture(100_001, false));
    assert_eq!(forwarded_to(&drain(&mut router), subscription), [1, 2]);
    assert!(router.switch_track(at(50), subscription, second));
    let forgotten = Output::Forget { subscription };
    let asked = Output::RequestKeyframe { track: second };
    assert_eq!(drain(&mut router), [forgotten.clone(), asked]);
    router.handle_packet(at(70), first, picture(100_002, true));
    router.handle_packet(at(80), second, picture(7, false));
    router.handle_packet(at(90), second, picture(8, true));
    assert_eq!(forwarded_to(&drain(&mut router), subscription), [3]);
    router.detach(subscription);
    router.handle_packet(at(120), second, picture(9, false));
    assert_eq!(drain(&mut router), [forgotten]);
    let sound = router.add_track(Codec::Opus);
    assert!(!router.switch_track(at(130), subscription, sound));
    assert!(router.switch_track(at(140), subscription, first));
    router.handle_packet(at(150), first, picture(100_003, true));
    assert_eq!(forwarded_to(&drain(&mut router), subscription), [4]);
}

#[test]
fn an_unsubscribed_reader_gets_nothing() {
    let mut router = Router::default();
    let track = router.add_track(Codec::Opus);
    let subscription = router.subscribe(at(0), track).unwrap();
    router.unsubscribe(subscription);
    router.handle_packet(at(2), track, picture(100_000, true));
    assert_eq!(drain(&mut router), []);
    assert!(!router.subscriptions.contains_key(&subscription));
}

#[test]
fn an_encoding_is_left_when_the_preferred_one_begins() {
    let mut router = Router::default();
    let [small, large] = [(); 2].map(|()| router.add_track(Codec::Vp8));
    let subscription = router.subscribe(at(0), small).unwrap();
    router.handle_packet(at(10), small, picture(100_000, true));
    drain(&mut router);
    router.prefer(at(500), subscription, large);
    let asked = [Output::RequestKeyframe { track: large }];
    assert_eq!(drain(&mut router), asked);
    router.prefer(at(510), subscription, large);
    assert_eq!(drain(&mut router), [], "asked once");
    router.handle_packet(at(520), large, picture(7, false));
    router.handle_packet(at(530), small, picture(100_001, false));
    assert_eq!(forwarded_to(&drain(&mut router), subscription), [2]);
    assert_eq!(router.track(subscription), Some(small));
    router.handle_packet(at(560), large, picture(8, true));
    router.handle_packet(at(570), small, picture(100_002, false));
    assert_eq!(forwarded_to(&drain(&mut router), subscription), [3]);
    assert_eq!(router.track(subscription), Some(large));
    // A change back, which is withdrawn before it begins.
    router.prefer(at(600), subscription, small);
    router.prefer(at(610), subscription, large);
    drain(&mut router);
    router.handle_packet(at(620), small, picture(100_003, true));
    router.handle_packet(at(630), large, picture(9, false));
    assert_eq!(forwarded_to(&drain(&mut router), subscription), [4]);
    router.prefer(at(700), subscription, small);
    router.remove_track(small);
    router.handle_packet(at(710), large, picture(10, false));
    assert_eq!(router.preferred(subscription), Some(large));
}

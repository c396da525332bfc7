use proptest::prelude::*;
use weft_units::{Bytes, Duration, Instant, Rate};

use super::{Allowance, EncoderControl, Start};
use crate::{AdaptationSetup, Degradation, QuantizerBounds};

/// Camera with 30 pictures per second.
struct Camera {
    control: EncoderControl,
    allowance: Allowance,
    pictures: u64,
}

impl Camera {
    fn new() -> Camera {
        let control = EncoderControl::new(&AdaptationSetup {
            width: 1280,
            height: 720,
            fps: 30.0,
            degradation: Degradation::MaintainFrameRate,
            quantizers: QuantizerBounds::VP8,
        });
        let allowance = Allowance {
            rate: Rate::from_kbps(1000),
            ..Allowance::default()
        };
        Camera {
            control,
            allowance,
            pictures: 0,
        }
    }

    /// Takes a picture, which is then encoded or dropped.
    fn picture(&mut self, quantizer: Option<u8>) -> Option<Start> {
        let now = Instant::ZERO + Duration::from_micros(33_333) * self.pictures;
        self.pictures += 1;
        let encoding = self.control.on_picture(now, &self.allowance)?;
        assert_eq!(encoding.rate, self.allowance.rate);
        self.control.on_encoded(quantizer);
        Some(encoding.start)
    }

    fn next(&mut self) -> Option<Start> {
        self.picture(Some(50))
    }
}

#[test]
fn nothing_is_encoded_without_a_rate() {
    let mut camera = Camera::new();
    camera.allowance.rate = Rate::ZERO;
    assert_eq!(camera.next(), None);
    camera.allowance.rate = Rate::from_bps(1);
    assert_eq!(camera.next(), Some(Start::Restart));
    assert_eq!(camera.next(), Some(Start::Continue));
}

#[test]
fn without_room_one_picture_in_four_is_tried() {
    let mut camera = Camera::new();
    camera.next();
    // An eighth of 1 Mbit/s at 30 fps: 520 bytes.
    camera.allowance.budget = Some(Bytes(510));
    let taken = [(); 8].map(|()| camera.next().is_some());
    let tried = [false, false, false, true];
    assert_eq!(taken, [tried, tried].concat()[..]);
    camera.allowance.budget = Some(Bytes(530));
    assert_eq!(camera.next(), Some(Start::Continue));
}

#[test]
fn a_keyframe_after_a_fall_is_made_by_an_encoder_that_restarts() {
    let mut camera = Camera::new();
    for _ in 0..30 {
        camera.next();
    }
    camera.allowance.keyframe_requests += 1;
    assert_eq!(camera.next(), Some(Start::Keyframe), "as usual");
    camera.allowance.rate = Rate::from_kbps(600);
    assert_eq!(camera.next(), Some(Start::Continue), "nobody asked");
    camera.allowance.keyframe_requests += 1;
    assert_eq!(camera.next(), Some(Start::Restart));
    camera.allowance.keyframe_requests += 1;
    assert_eq!(
        camera.next(),
        Some(Start::Keyframe),
        "600 kbit/s is usual now"
    );
}

#[test]
fn keyframes_asked_for_before_a_picture_are_one() {
    let mut camera = Camera::new();
    camera.next();
    camera.allowance.keyframe_requests += 2;
    assert_eq!(camera.next(), Some(Start::Keyframe));
    assert_eq!(camera.next(), Some(Start::Continue));
    camera.allowance.keyframe_requests += 1;
    assert_eq!(camera.next(), Some(Start::Keyframe));
}

#[test]
fn a_keyframe_stays_due_until_it_was_encoded() {
    let mut camera = Camera::new();
    camera.next();
    camera.allowance.keyframe_requests += 1;
    camera.allowance.budget = Some(Bytes(0));
    assert_eq!(camera.next(), None);
    camera.allowance.budget = None;
    assert_eq!(camera.picture(None), Some(Start::Keyframe), "dropped");
    // An encoder failure is not reported at all.
    let now = Instant::ZERO + Duration::from_secs(1);
    let encoding = camera.control.on_picture(now, &camera.allowance);
    assert_eq!(encoding.map(|e| e.start), Some(Start::Keyframe));
    camera.pictures = 31;
    assert_eq!(camera.next(), Some(Start::Keyframe));
    assert_eq!(camera.next(), Some(Start::Continue));
}

#[test]
fn an_encoder_that_restarts_answers_requests() {
    let mut camera = Camera::new();
    camera.allowance.keyframe_requests += 1;
    assert_eq!(camera.next(), Some(Start::Restart));
    assert_eq!(camera.next(), Some(Start::Continue));
}

#[test]
fn a_budget_is_passed_on_with_keyframes_and_without() {
    let mut camera = Camera::new();
    for (requests, start) in [
        (0, Start::Restart),
        (0, Start::Continue),
        (1, Start::Keyframe),
    ] {
        camera.allowance.keyframe_requests += requests;
        for budget in [None, Some(Bytes(600)), Some(Bytes(1000))] {
            camera.allowance.budget = budget;
            let mut control = camera.control.clone();
            let now = Instant::ZERO + Duration::from_secs(1);
            let encoding = control.on_picture(now, &camera.allowance);
            assert_eq!(encoding.map(|e| (e.start, e.budget)), Some((start, budget)));
        }
        camera.next();
    }
}

proptest! {
    /// For any sequence of events, the first picture encoded after a request answers it,
    /// and no other picture does.
    #[test]
    fn each_request_is_answered_once(
        events in prop::collection::vec((0_u32..3, any::<bool>(), any::<bool>()), 1..200),
    ) {
        let mut camera = Camera::new();
        camera.next();
        let mut due = false;
        for (requests, full, dropped) in events {
            camera.allowance.keyframe_requests += requests;
            camera.allowance.budget = full.then_some(Bytes(0));
            due |= requests > 0;
            let start = camera.picture((!dropped).then_some(50));
            if let Some(start) = start {
                prop_assert!(!due || start != Start::Continue);
                prop_assert!(due || start != Start::Keyframe);
                due &= dropped;
            }
        }
    }
}

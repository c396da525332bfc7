use proptest::prelude::*;
use weft_units::{Duration, Instant, Rate};

use super::{Allowance, EncoderControl, Start};
use crate::adaptation::{AdaptationSetup, Degradation, QuantizerBounds};

/// A camera of 30 pictures per second.
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

    /// Takes a picture and has it encoded, or dropped.
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
fn an_overrun_costs_one_picture_however_many_there_were() {
    let mut camera = Camera::new();
    camera.next();
    camera.allowance.overruns += 3;
    let taken = [(); 4].map(|()| camera.next().is_some());
    assert_eq!(taken, [false, true, true, true]);
    // As long as it goes on, every second picture is tried.
    let taken = [(); 4].map(|()| {
        let start = camera.next();
        camera.allowance.overruns += u32::from(start.is_some());
        start.is_some()
    });
    assert_eq!(taken, [true, false, true, false]);
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
    camera.allowance.overruns += 1;
    assert_eq!(camera.next(), None);
    assert_eq!(camera.picture(None), Some(Start::Keyframe), "dropped");
    // One that fails is not reported at all.
    let now = Instant::ZERO + Duration::from_secs(1);
    let encoding = camera.control.on_picture(now, &camera.allowance);
    assert_eq!(encoding.map(|e| e.start), Some(Start::Keyframe));
    camera.pictures = 31;
    assert_eq!(camera.next(), Some(Start::Keyframe));
    assert_eq!(camera.next(), Some(Start::Continue));
}

#[test]
fn an_encoder_that_begins_anew_answers_requests() {
    let mut camera = Camera::new();
    camera.allowance.keyframe_requests += 1;
    assert_eq!(camera.next(), Some(Start::Restart));
    assert_eq!(camera.next(), Some(Start::Continue));
}

proptest! {
    /// Whatever comes, a request is answered by the first picture that is
    /// encoded after it, and by one only.
    #[test]
    fn each_request_is_answered_once(
        events in prop::collection::vec((0_u32..3, 0_u32..2, any::<bool>()), 1..200),
    ) {
        let mut camera = Camera::new();
        camera.next();
        let mut due = false;
        for (requests, overruns, dropped) in events {
            camera.allowance.keyframe_requests += requests;
            camera.allowance.overruns += overruns;
            due |= requests > 0;
            let start = camera.picture((!dropped).then_some(50));
            prop_assert!(overruns == 0 || start.is_none());
            if let Some(start) = start {
                prop_assert!(!due || start != Start::Continue);
                prop_assert!(due || start != Start::Keyframe);
                due &= dropped;
            }
        }
    }
}

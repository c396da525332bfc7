use proptest::prelude::*;
use weft_units::{Instant, Rate};

use super::{Adaptation, AdaptationSetup, Degradation, Form, QuantizerBounds, Verdict};

const FPS: u64 = 30;

fn setup(degradation: Degradation) -> AdaptationSetup {
    AdaptationSetup {
        width: 1280,
        height: 720,
        fps: FPS as f64,
        degradation,
        quantizers: QuantizerBounds::VP8,
    }
}

/// Camera with 30 pictures per second, and counts of what happened to its pictures.
struct Camera {
    adaptation: Adaptation,
    pictures: u64,
    encoded: u32,
    restarts: u32,
}

impl Camera {
    fn new(degradation: Degradation) -> Camera {
        Camera {
            adaptation: Adaptation::new(&setup(degradation)),
            pictures: 0,
            encoded: 0,
            restarts: 0,
        }
    }

    fn picture(&mut self, kbps: u64, quantizer: Option<u8>) -> Verdict {
        let now = Instant::from_nanos(self.pictures * 1_000_000_000 / FPS);
        self.pictures += 1;
        let verdict = self.adaptation.on_picture(now, Rate::from_kbps(kbps));
        if verdict != Verdict::Skip {
            self.encoded += 1;
            self.adaptation.on_encoded(quantizer);
        }
        self.restarts += u32::from(verdict == Verdict::Restart);
        verdict
    }

    /// Returns the height at the end of the run.
    fn run(&mut self, pictures: u64, kbps: u64, quantizer: u8) -> u32 {
        for _ in 0..pictures {
            self.picture(kbps, Some(quantizer));
        }
        self.height()
    }

    fn height(&self) -> u32 {
        self.adaptation.form().height
    }
}

fn forms(degradation: Degradation) -> Vec<(u32, u32, f64)> {
    let ladder = super::Ladder::new(&setup(degradation));
    let form = |i| ladder.rung(i).form;
    (0..=ladder.last())
        .map(form)
        .map(|Form { width, height, fps }| (width, height, (fps * 10.0).round() / 10.0))
        .collect()
}

#[test]
fn steps_are_those_of_the_preference() {
    let sizes = [(960, 540), (640, 360), (480, 270), (320, 180)];
    let mut expected = vec![(1280, 720, 30.0)];
    expected.extend(sizes.map(|(w, h)| (w, h, 30.0)));
    expected.extend([20.0, 15.0, 7.5].map(|fps| (320, 180, fps)));
    assert_eq!(forms(Degradation::MaintainFrameRate), expected);
    let expected = [30.0, 20.0, 15.0, 7.5].map(|fps| (1280, 720, fps));
    assert_eq!(forms(Degradation::MaintainResolution), expected);
    // At least 15, 10 and 7 pictures per second up to 640x480, 480x360, 320x240.
    let expected = [
        (1280, 720, 30.0),
        (960, 540, 30.0),
        (640, 360, 30.0),
        (640, 360, 20.0),
        (640, 360, 15.0),
        (480, 270, 15.0),
        (320, 180, 15.0),
        (320, 180, 7.5),
    ];
    assert_eq!(forms(Degradation::Balanced), expected);
    assert_eq!(forms(Degradation::Off), [(1280, 720, 30.0)]);
}

#[test]
fn odd_cameras_get_even_pictures_and_tiny_ones_stay() {
    let ladder = |width, height| {
        let setup = AdaptationSetup {
            width,
            height,
            ..setup(Degradation::MaintainFrameRate)
        };
        let ladder = super::Ladder::new(&setup);
        let mut all: Vec<(u32, u32)> = (0..=ladder.last())
            .map(|i| ladder.rung(i).form)
            .map(|f| (f.width, f.height))
            .collect();
        all.dedup();
        all
    };
    // 3/4 of 854 is 640.5, half 427.
    assert_eq!(
        ladder(854, 480),
        [(854, 480), (640, 360), (426, 240), (320, 180)]
    );
    assert_eq!(ladder(160, 120), [(160, 120)]);
}

#[test]
fn a_call_begins_as_large_as_its_rate_allows() {
    for (kbps, height) in [
        (2500, 720),
        (900, 720),
        (899, 540),
        (500, 540),
        (499, 360),
        (300, 360),
        (299, 270),
        (199, 180),
        (20, 180),
    ] {
        let mut camera = Camera::new(Degradation::MaintainFrameRate);
        assert_eq!(camera.picture(kbps, Some(50)), Verdict::Restart);
        assert_eq!(camera.height(), height, "{kbps} kbps");
    }
}

#[test]
fn a_rate_below_half_of_the_start_lowers_the_size_at_once() {
    let mut camera = Camera::new(Degradation::MaintainFrameRate);
    camera.run(30, 2500, 20);
    assert_eq!(camera.picture(450, Some(60)), Verdict::Encode);
    assert_eq!(camera.height(), 720);
    assert_eq!(camera.picture(449, Some(60)), Verdict::Restart);
    assert_eq!(camera.height(), 360);
}

#[test]
fn a_rate_that_lasts_raises_the_size_again() {
    let mut camera = Camera::new(Degradation::MaintainFrameRate);
    assert_eq!(camera.run(60, 400, 60), 360);
    // Less than two seconds above 900 kbps, then one picture below it.
    assert_eq!(camera.run(45, 1000, 60), 360);
    assert_eq!(camera.run(1, 600, 60), 360);
    assert_eq!(camera.run(61, 1000, 60), 540);
    assert_eq!(camera.run(61, 1000, 60), 720);
    assert_eq!(camera.restarts, 3);
}

#[test]
fn coarse_quantizers_lower_the_size_by_a_step_and_fine_ones_raise_it() {
    let mut camera = Camera::new(Degradation::MaintainFrameRate);
    assert_eq!(camera.run(90, 2000, 95), 720);
    assert_eq!(camera.run(32, 2000, 97), 540);
    assert_eq!(camera.run(150, 2000, 30), 540);
    assert_eq!(camera.run(122, 2000, 29), 720);
}

#[test]
fn dropped_pictures_lower_the_size_after_a_second() {
    for (dropped, height) in [(18, 720), (20, 540)] {
        let mut camera = Camera::new(Degradation::MaintainFrameRate);
        for i in 0..31 {
            camera.picture(1000, (i % 30 >= dropped).then_some(50));
        }
        assert_eq!(camera.height(), height, "{dropped} of 30 dropped");
    }
}

#[test]
fn failed_raises_are_retried_later_each_time() {
    let mut camera = Camera::new(Degradation::MaintainFrameRate);
    let mut heights = Vec::new();
    // Each rate lasts five seconds, too short for the larger size.
    for second in 0..240 {
        let kbps = if second / 5 % 2 == 0 { 1000 } else { 400 };
        heights.push(camera.run(FPS, kbps, 60));
    }
    let rises = |seconds: std::ops::Range<usize>| {
        let pairs = heights[seconds].windows(2);
        pairs.filter(|pair| pair[1] > pair[0]).count()
    };
    // Waits of 2, 4, 8, 16, 32 and then 60 s; after each, the rate must be high for a
    // whole window again.
    let (early, late) = (rises(0..80), rises(160..240));
    assert!((3..=5).contains(&early), "{early} rises: {heights:?}");
    assert!((1..=2).contains(&late), "{late} rises: {heights:?}");
}

#[test]
fn after_an_outage_the_encoder_restarts() {
    let mut camera = Camera::new(Degradation::MaintainFrameRate);
    camera.run(60, 2500, 20);
    assert_eq!(camera.run(29, 0, 20), 720);
    assert_eq!(camera.picture(2500, Some(20)), Verdict::Encode);
    assert_eq!(camera.run(31, 0, 20), 720);
    assert_eq!(camera.encoded, 61);
    assert_eq!(camera.picture(350, Some(60)), Verdict::Restart);
    assert_eq!(camera.height(), 360);
}

#[test]
fn the_frame_rate_falls_when_the_smallest_picture_does_not_fit() {
    let mut camera = Camera::new(Degradation::MaintainFrameRate);
    let mut per_second = Vec::new();
    for _ in 0..14 {
        let before = camera.encoded;
        camera.run(FPS, 30, 106);
        assert_eq!(camera.height(), 180);
        per_second.push(camera.encoded - before);
    }
    per_second.dedup();
    assert_eq!(per_second.first(), Some(&30));
    assert!(per_second.contains(&20), "{per_second:?}");
    assert!(per_second.contains(&15), "{per_second:?}");
    assert!(matches!(per_second.last(), Some(7 | 8)), "{per_second:?}");
    assert_eq!(camera.restarts, 1, "a frame rate costs no keyframe");
    // It rises again when quantizers are fine.
    let before = camera.encoded;
    camera.run(10 * FPS, 150, 20);
    let before = camera.encoded - before;
    assert!((150..300).contains(&before), "{before}");
    let before = camera.encoded;
    camera.run(FPS, 150, 20);
    assert_eq!(camera.encoded - before, 30);
}

#[test]
fn off_changes_nothing() {
    let mut camera = Camera::new(Degradation::Off);
    assert_eq!(camera.run(300, 50, 106), 720);
    assert_eq!((camera.encoded, camera.restarts), (300, 1));
}

#[test]
fn names_are_read_back() {
    for degradation in Degradation::ALL {
        assert_eq!(degradation.name().parse(), Ok(degradation));
    }
    let wrong = "sharp".parse::<Degradation>();
    assert_eq!(
        wrong.unwrap_err().to_string(),
        "there is no degradation preference `sharp`: write maintain-framerate, \
         maintain-resolution, balanced or off"
    );
}

proptest! {
    /// For any network and encoder: nothing is encoded without a rate, and the number of
    /// keyframes is bounded.
    #[test]
    fn sizes_do_not_flap(
        seconds in prop::collection::vec((0_u64..3000, 0_u8..=127, 0_u8..10), 30..120),
    ) {
        let mut camera = Camera::new(Degradation::MaintainFrameRate);
        let known = forms(Degradation::MaintainFrameRate);
        let mut outages = 0;
        let count = seconds.len() as u32;
        for (kbps, quantizer, drops) in seconds {
            let kbps = if kbps < 100 { 0 } else { kbps };
            outages += u32::from(kbps == 0);
            for i in 0..FPS {
                let quantizer = (i % 10 >= u64::from(drops)).then_some(quantizer);
                let verdict = camera.picture(kbps, quantizer);
                prop_assert!(kbps > 0 || verdict == Verdict::Skip);
                let height = camera.height();
                prop_assert!(known.iter().any(|(_, h, _)| *h == height));
            }
        }
        // A rise needs two seconds, and one fall can follow each rise.
        let most = 1 + outages + 4 + 2 * (count / 2);
        prop_assert!(camera.restarts <= most, "{} restarts in {count} s", camera.restarts);
    }
}

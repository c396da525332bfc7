use super::{EncodedFrame, FrameEncoder, Synthetic};
use weft_experiment::SyntheticSetup;
use weft_publish::{Encoding, Form, Start};
use weft_units::{Duration, Instant, Rate, Rng};

/// Camera with 30 frames per second for the encoder.
struct Source {
    encoder: Synthetic,
    pictures: u64,
}

impl Source {
    fn next_at(&self) -> Instant {
        Instant::ZERO + Duration::from_secs_f64(self.pictures as f64 / 30.0)
    }

    fn take_frame(&mut self, start: Start) -> EncodedFrame {
        let now = self.next_at();
        self.pictures += 1;
        let form = Form {
            width: 1280,
            height: 720,
            fps: 30.0,
        };
        // The codec follows its own targets.
        let rate = Rate::from_kbps(1);
        let encoding = Encoding {
            form,
            rate,
            budget: None,
            start,
        };
        let frame = self.encoder.encode(now, &encoding);
        frame.expect("never dropped")
    }
}

fn source(variation: f64) -> Source {
    let setup = SyntheticSetup {
        variation,
        ..SyntheticSetup::new(30.0)
    };
    let mut encoder = Synthetic::new(setup, Rng::new(1));
    encoder.set_target(Instant::ZERO, Rate::from_kbps(1200));
    Source {
        encoder,
        pictures: 0,
    }
}

fn frames(source: &mut Source, n: usize) -> Vec<EncodedFrame> {
    let start = |source: &Source| match source.pictures {
        0 => Start::Restart,
        _ => Start::Continue,
    };
    let take = |_| {
        let start = start(source);
        source.take_frame(start)
    };
    (0..n).map(take).collect()
}

#[test]
fn a_keyframe_is_made_up_for_within_the_transient() {
    // 1.2 Mbps at 30 frames per second are 5000 bytes each. The keyframe has 13,500, and
    // the seven after it have 5000 - 8500 / 7 = 3785.7.
    let sizes: Vec<u64> = frames(&mut source(0.0), 10)
        .iter()
        .map(|f| f.size.0)
        .collect();
    let mut expected = vec![3786; 10];
    expected[0] = 13_500;
    expected[8..].fill(5000);
    assert_eq!(sizes, expected);
    let total: u64 = sizes[..8].iter().sum();
    assert!(total.abs_diff(8 * 5000) <= 8);
}

#[test]
fn sizes_scatter_by_laplace_around_the_target() {
    let all = frames(&mut source(0.15), 30_000);
    let late = &all[8..];
    let n = late.len() as f64;
    let mean = late.iter().map(|f| f.size.0 as f64).sum::<f64>() / n;
    assert!((4970.0..5030.0).contains(&mean), "mean {mean}");
    // The mean deviation of a Laplace distribution is its scale.
    let deviation = late
        .iter()
        .map(|f| (f.size.0 as f64 - mean).abs())
        .sum::<f64>()
        / n;
    assert!((735.0..765.0).contains(&deviation), "deviation {deviation}");
    assert_eq!(all.iter().filter(|f| f.keyframe).count(), 1);
}

#[test]
fn a_new_target_takes_effect_after_the_reaction_time() {
    let mut source = source(0.0);
    frames(&mut source, 30);
    let now = source.next_at();
    source.encoder.set_target(now, Rate::from_kbps(480));
    source
        .encoder
        .set_target(now + Duration::from_millis(50), Rate::from_kbps(240));
    let sizes: Vec<u64> = frames(&mut source, 8).iter().map(|f| f.size.0).collect();
    // 0.2 s are six frame intervals; after that, 240 kbps are 1000 bytes.
    assert_eq!(sizes, [5000, 5000, 5000, 5000, 5000, 5000, 1000, 1000]);
    assert!(source.take_frame(Start::Keyframe).keyframe);
}

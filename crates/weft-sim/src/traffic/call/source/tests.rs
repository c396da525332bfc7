use weft_experiment::CameraSetup;
use weft_publish::Allowance;
use weft_units::{Bytes, Duration, Instant, Rate, Rng};

use super::Camera;

fn camera() -> Camera {
    let setup = CameraSetup::synthetic(30.0, Rate::from_mbps(2));
    let mut camera = Camera::new(&setup, Instant::ZERO, Rng::new(1));
    camera.set_target(Instant::ZERO, Rate::from_kbps(1200));
    camera
}

fn allowance() -> Allowance {
    Allowance {
        rate: Rate::from_kbps(1200),
        ..Allowance::default()
    }
}

#[test]
fn pictures_are_taken_at_equal_distances() {
    let mut camera = camera();
    for _ in 0..3000 {
        let at = camera.next_at();
        camera.take_frame(at, &allowance()).expect("never dropped");
    }
    assert_eq!(camera.next_at(), Instant::ZERO + Duration::from_secs(100));
}

#[test]
fn a_picture_that_is_left_out_takes_its_time() {
    let mut camera = camera();
    let full = Allowance {
        budget: Some(Bytes(0)),
        ..allowance()
    };
    assert_eq!(camera.take_frame(camera.next_at(), &full), None);
    let first = camera.take_frame(camera.next_at(), &allowance());
    assert!(first.is_some_and(|frame| frame.keyframe));
    let second = Instant::ZERO + Duration::from_secs_f64(2.0 / 30.0);
    assert_eq!(camera.next_at(), second);
}

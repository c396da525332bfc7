use super::{Clip, ClipConfig};
use crate::metrics::psnr;

fn clip(seed: u64) -> Clip {
    Clip::new(ClipConfig {
        width: 320,
        height: 180,
        fps: 30,
        seed,
    })
}

#[test]
fn equal_seed_number_and_time_give_the_same_picture() {
    let (mut a, mut b) = (clip(5), clip(5));
    // In another order, because a picture must not depend on earlier drawing.
    let later = a.picture(60, 2000);
    let first = a.picture(0, 0);
    assert_eq!(b.picture(0, 0), first);
    assert_eq!(b.picture(60, 2000), later);
    assert_ne!(first, later);
}

#[test]
fn another_seed_is_another_person() {
    let (mut a, mut b) = (clip(0), clip(1));
    assert!(psnr(&a.picture(0, 0), &b.picture(0, 0)) < 25.0);
}

#[test]
fn a_still_moment_differs_by_the_sensors_noise_only() {
    let mut clip = clip(0);
    let (a, b) = (clip.picture(0, 500), clip.picture(1, 500));
    // Two independent noises of about one level: mse about 2, 45 dB.
    let difference = psnr(&a, &b);
    assert!((42.0..48.0).contains(&difference), "{difference} dB");
}

#[test]
fn every_size_can_be_drawn() {
    for (width, height) in [(640, 480), (180, 320), (322, 182), (101, 75), (64, 36)] {
        let mut clip = Clip::new(ClipConfig {
            width,
            height,
            fps: 30,
            seed: 3,
        });
        for second in 0..20 {
            let picture = clip.picture(second * 30, second * 1000);
            assert_eq!(picture.y.len(), width * height);
        }
    }
}

#[test]
fn the_middle_of_the_picture_is_the_face() {
    let mut clip = clip(0);
    let picture = clip.picture(0, 500);
    // Skin has much more red difference than blue difference.
    let at = (picture.height / 4) * picture.chroma_width() + picture.chroma_width() / 2;
    assert!(
        picture.v[at] > picture.u[at] + 20,
        "{} {}",
        picture.v[at],
        picture.u[at]
    );
}

#[test]
fn a_file_of_the_clip_has_numbers_and_times_in_its_corner() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("clip.y4m");
    let config = *clip(0).config();
    super::write_y4m(&path, config, 4).unwrap();
    let mut camera = crate::CameraSpec::File(path).open().unwrap();
    let format = camera.format();
    assert_eq!((format.width, format.height, format.fps), (320, 180, 30.0));
    // At 30 pictures a second: 33.3 ms apart; after the last the first again.
    for (number, time_ms) in [(0, 0), (1, 33), (2, 66), (3, 100), (0, 0)] {
        let picture = camera.capture().unwrap().picture;
        let stamp = crate::stamp::read(&picture);
        assert_eq!(stamp, Some(crate::stamp::Stamp { number, time_ms }));
    }
}

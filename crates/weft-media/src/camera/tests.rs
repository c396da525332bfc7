use std::path::Path;

use super::pixels::{Pixels, convert};
use super::{CameraError, CameraSpec};
use crate::clip::ClipConfig;
use crate::metrics::psnr;
use crate::{Pace, Picture};

fn clip(width: usize, height: usize, fps: u32, seed: u64) -> CameraSpec {
    CameraSpec::Clip(ClipConfig {
        width,
        height,
        fps,
        seed,
    })
}

#[test]
fn names_mean_what_the_command_line_says() {
    let parse = |spec: &str| spec.parse::<CameraSpec>().unwrap();
    assert_eq!(parse("clip"), clip(1280, 720, 30, 0));
    assert_eq!(parse("clip:360p"), clip(640, 360, 30, 0));
    assert_eq!(parse("clip:1080p@15#2"), clip(1920, 1080, 15, 2));
    assert_eq!(parse("clip@60"), clip(1280, 720, 60, 0));
    assert_eq!(parse("clip:800x600"), clip(800, 600, 30, 0));
    assert_eq!(parse("a/b.y4m"), CameraSpec::File("a/b.y4m".into()));
    let device = CameraSpec::Device {
        path: "/dev/video2".into(),
        width: 640,
        height: 360,
        fps: 24,
    };
    assert_eq!(parse("/dev/video2:360p@24"), device);
    for spec in ["clip:360p@15#7", "/dev/video0", "x.y4m"] {
        assert_eq!(parse(&parse(spec).to_string()), parse(spec));
    }
}

#[test]
fn errors_name_the_part_and_the_remedy() {
    let error = |spec: &str| spec.parse::<CameraSpec>().unwrap_err().to_string();
    assert_eq!(
        error("clip:4k@30"),
        "camera `clip:4k@30`: invalid size `4k`; write 360p, 720p, 1080p or WIDTHxHEIGHT \
         (32 to 4096 each)"
    );
    assert!(error("clip@fast").contains("`fast`"));
    assert!(error("clip@0").contains("from 1 to 120"));
    assert!(error("clip#x").contains("after the #"));
    assert!(error("webcam").contains("/dev/videoN"));
    assert!(error("/dev/video0#1").contains("remove it"));
    assert!(error("clip:1x1").contains("32 to 4096"));
    assert!(error("").contains("unknown kind of camera"));
}

#[test]
fn a_missing_device_says_what_to_do() {
    let spec: CameraSpec = "/dev/video250".parse().unwrap();
    let error = spec.open().err().unwrap();
    assert!(matches!(error, CameraError::Open { .. }));
    let text = error.to_string();
    assert!(
        text.contains("/dev/video250") && text.contains("connect"),
        "{text}"
    );
}

#[test]
fn the_clip_counts_and_is_paced_by_the_caller() {
    let mut camera = clip(64, 36, 10, 1).open().unwrap();
    assert_eq!(camera.pace(), Pace::Caller);
    let numbers: Vec<u64> = (0..3).map(|_| camera.capture().unwrap().number).collect();
    assert_eq!(numbers, [0, 1, 2]);
}

fn write_y4m(path: &Path, pictures: &[Picture], header: &str) {
    let mut bytes = format!("YUV4MPEG2 {header}\n").into_bytes();
    for picture in pictures {
        bytes.extend_from_slice(b"FRAME\n");
        for plane in [&picture.y, &picture.u, &picture.v] {
            bytes.extend_from_slice(plane);
        }
    }
    std::fs::write(path, bytes).unwrap();
}

fn sample(level: u8) -> Picture {
    let mut picture = Picture::new(34, 18);
    for (n, y) in picture.y.iter_mut().enumerate() {
        *y = level.wrapping_add(n as u8);
    }
    picture.u.fill(level / 2);
    picture
}

#[test]
fn a_file_is_played_in_a_loop() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("two.y4m");
    let pictures = [sample(20), sample(90)];
    write_y4m(&path, &pictures, "W34 H18 F30000:1001 Ip A1:1 C420mpeg2");
    let mut camera = CameraSpec::File(path).open().unwrap();
    let format = camera.format();
    assert_eq!((format.width, format.height), (34, 18));
    assert!((format.fps - 29.97).abs() < 0.001);
    for n in [0, 1, 0, 1, 0] {
        assert_eq!(*camera.capture().unwrap().picture, pictures[n]);
    }
}

#[test]
fn files_that_cannot_be_used_say_why() {
    let directory = tempfile::tempdir().unwrap();
    let open = |name: &str, header: Option<&str>| {
        let path = directory.path().join(name);
        if let Some(header) = header {
            write_y4m(&path, &[], header);
        }
        CameraSpec::File(path).open()
    };
    let error = |name, header| open(name, header).err().unwrap().to_string();
    assert!(error("none.y4m", None).contains("check the path"));
    assert!(error("444.y4m", Some("W4 H4 F30:1 C444")).contains("not 4:2:0"));
    assert!(error("bad.y4m", Some("nonsense")).contains("ffmpeg"));
    let header = "W4 H4 F30:1 C420";
    assert!(error("empty.y4m", Some(header)).contains("shorter than one picture"));
    let cut = directory.path().join("cut.y4m");
    write_y4m(&cut, &[sample(20)], "W34 H18 F30:1 C420");
    let bytes = std::fs::read(&cut).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() - 1]).unwrap();
    let told = CameraSpec::File(cut).open().err().unwrap().to_string();
    assert!(told.contains("shorter than one picture"), "{told}");
}

#[test]
fn yuyv_rows_become_planes_and_chroma_the_mean_of_two_rows() {
    // Two rows of four pixels, each row padded by two bytes.
    let data = [
        [1, 10, 2, 20, 3, 30, 4, 40, 99, 99],
        [5, 12, 6, 24, 7, 30, 8, 50, 99, 99],
    ]
    .concat();
    let picture = convert(Pixels::Yuyv, &data, (4, 2), 10).unwrap();
    assert_eq!(picture.y, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!((picture.u, picture.v), (vec![11, 30], vec![22, 45]));
    assert!(convert(Pixels::Yuyv, &data[..17], (4, 2), 10).is_none());
}

#[test]
fn i420_rows_lose_their_padding() {
    let data = [1, 2, 9, 9, 3, 4, 9, 9, 5, 9, 6, 9];
    let picture = convert(Pixels::I420, &data, (2, 2), 4).unwrap();
    assert_eq!(picture.y, [1, 2, 3, 4]);
    assert_eq!((picture.u, picture.v), (vec![5], vec![6]));
    assert!(convert(Pixels::I420, &data[..10], (2, 2), 4).is_none());
}

#[test]
fn jpeg_pictures_come_out_as_they_went_in() {
    let original = clip(320, 180, 30, 0)
        .open()
        .unwrap()
        .capture()
        .unwrap()
        .picture;
    let mut jpeg = Vec::new();
    jpeg_encoder::Encoder::new(&mut jpeg, 95)
        .encode(&original.to_rgb(), 320, 180, jpeg_encoder::ColorType::Rgb)
        .unwrap();
    let picture = convert(Pixels::Jpeg, &jpeg, (320, 180), 0).unwrap();
    assert!(
        psnr(&original, &picture) > 34.0,
        "{}",
        psnr(&original, &picture)
    );
    let off = |a: &[u8], b: &[u8]| {
        let sum: i32 = a
            .iter()
            .zip(b)
            .map(|(a, b)| i32::from(*a) - i32::from(*b))
            .sum();
        f64::from(sum) / a.len() as f64
    };
    assert!(off(&original.u, &picture.u).abs() < 1.5);
    assert!(off(&original.v, &picture.v).abs() < 1.5);
    // Wrong size, cut short.
    assert!(convert(Pixels::Jpeg, &jpeg, (640, 360), 0).is_none());
    assert!(convert(Pixels::Jpeg, &jpeg[..20], (320, 180), 0).is_none());
}

proptest::proptest! {
    #[test]
    fn no_buffer_of_a_camera_panics(
        data in proptest::collection::vec(proptest::num::u8::ANY, 0..400),
        width in 1_usize..20,
        height in 1_usize..20,
        stride in 0_usize..50,
    ) {
        for pixels in [Pixels::Yuyv, Pixels::I420, Pixels::Jpeg] {
            if let Some(picture) = convert(pixels, &data, (width, height), stride) {
                proptest::prop_assert_eq!(picture.y.len(), width * height);
            }
        }
    }
}

#[test]
fn the_clip_is_painted_for_its_first_picture_and_not_before() {
    let began = std::time::Instant::now();
    let spec: CameraSpec = "clip:1080p".parse().expect("a clip");
    let mut camera = spec.open().expect("it opens");
    let opened = began.elapsed();
    assert_eq!(camera.format().height, 1080);
    let began = std::time::Instant::now();
    camera.capture().expect("a picture");
    let painted = began.elapsed();
    assert!(
        opened * 10 < painted,
        "{opened:?} to open, {painted:?} to paint"
    );
}

use std::io::Write;
use std::path::Path;
use std::process::Command;

use weft_testing::skipped;

use super::features::Features;
use super::filter::Grey;
use super::gamma::ln_gamma;
use super::{Brisque, BrisqueError};
use crate::Picture;

/// Results of OpenCV 4.10, `cv2.quality.QualityBRISQUE_compute`, for [`pattern`] after
/// repeated smoothing: width, height, repetitions, sum of the samples, score.
const OPENCV: [(usize, usize, usize, u64, f64); 6] = [
    (320, 180, 0, 8_241_735, 54.7131),
    (320, 180, 1, 8_216_071, 61.2534),
    (320, 180, 3, 8_164_834, 71.6049),
    (321, 183, 0, 8_404_724, 56.1141),
    (321, 183, 2, 8_352_469, 77.7752),
    (97, 65, 4, 874_305, 76.9878),
];

/// Result of `cv2.quality.QualityBRISQUE_computeFeatures` for the first of them.
const FEATURES: [f64; 36] = [
    4.795, 0.35395, 1.146, 0.10207, 0.0755, 0.17191, 1.186, 0.07032, 0.08378, 0.1483, 1.209,
    -0.06965, 0.14084, 0.07891, 1.017, 0.08813, 0.09543, 0.18752, 7.209, 0.53488, 1.229, 0.02016,
    0.27424, 0.30349, 1.205, -0.04547, 0.31541, 0.24997, 1.157, -0.12721, 0.37093, 0.18931, 1.332,
    0.14018, 0.17414, 0.36448,
];

/// Blocks with waves and noise, equal on every machine.
fn pattern(width: usize, height: usize) -> Vec<u8> {
    let sample = |x: i64, y: i64| {
        let blocks = (x / 8 * 37 + y / 8 * 91) % 64;
        let waves = ((3 * x * x + 5 * y * y + 7 * x * y) / 64 % 256 - 128).abs() / 4;
        let noise = ((1_103_515_245 * x + 12_345 * y + 2_654_435_761 * x * y) >> 7) % 9 - 4;
        u8::try_from((96 + blocks + waves + noise).clamp(0, 255)).unwrap()
    };
    let rows = 0..height as i64;
    rows.flat_map(|y| (0..width as i64).map(move |x| sample(x, y)))
        .collect()
}

/// Returns each sample as the mean of nine.
fn smoothed(width: usize, height: usize, values: &[u8]) -> Vec<u8> {
    let at = |x: isize, y: isize| {
        let x = x.clamp(0, width as isize - 1) as usize;
        let y = y.clamp(0, height as isize - 1) as usize;
        u32::from(values[y * width + x])
    };
    let around = |x: isize, y: isize| -> u32 {
        let rows = y - 1..=y + 1;
        rows.flat_map(|y| (x - 1..=x + 1).map(move |x| (x, y)))
            .map(|(x, y)| at(x, y))
            .sum()
    };
    let rows = 0..height as isize;
    rows.flat_map(|y| (0..width as isize).map(move |x| (x, y)))
        .map(|(x, y)| (around(x, y) / 9) as u8)
        .collect()
}

fn picture(width: usize, height: usize, times: usize) -> Vec<u8> {
    (0..times).fold(pattern(width, height), |values, _| {
        smoothed(width, height, &values)
    })
}

/// Loads the model, if the machine has it.
fn installed() -> Option<Brisque> {
    Brisque::installed().map_err(skipped).ok()
}

#[test]
fn the_gamma_function_is_known_at_some_places() {
    let pi = std::f64::consts::PI;
    // 4! and sqrt(pi), and gamma(1/10) = 9.513507698668731.
    assert!((ln_gamma(5.0) - 24.0_f64.ln()).abs() < 1e-12);
    assert!((ln_gamma(0.5) - 0.5 * pi.ln()).abs() < 1e-12);
    assert!((ln_gamma(0.1) - 9.513_507_698_668_73_f64.ln()).abs() < 1e-12);
}

#[test]
fn features_are_those_of_opencv() {
    let (width, height) = (320, 180);
    let values = pattern(width, height);
    let grey = values.iter().map(|&grey| f32::from(grey) / 255.0).collect();
    let features = Features::new().of(&Grey::new(width, height, grey)).unwrap();
    for (at, (here, there)) in features.iter().zip(FEATURES).enumerate() {
        // A step of the shape, and the digits given here.
        assert!((here - there).abs() < 0.002, "{at}: {here} for {there}");
    }
}

#[test]
fn scores_are_those_of_opencv() {
    let Some(brisque) = installed() else { return };
    for (width, height, times, sum, score) in OPENCV {
        let values = picture(width, height, times);
        assert_eq!(values.iter().copied().map(u64::from).sum::<u64>(), sum);
        let here = brisque.score_grey(width, height, &values).unwrap();
        assert!((here - score).abs() < 0.01, "{here} for {score}");
    }
}

/// Compares with OpenCV itself, on pictures without published scores: encoded ones.
#[test]
fn encoded_pictures_have_the_scores_of_opencv() {
    const PROGRAM: &str = "import cv2, numpy, sys\n\
        grey = numpy.fromfile(sys.argv[1], numpy.uint8).reshape(int(sys.argv[3]), int(sys.argv[2]))\n\
        folder = '/usr/share/opencv4/quality/brisque_%s_live.yml'\n\
        print(cv2.quality.QualityBRISQUE_compute(grey, folder % 'model', folder % 'range')[0])\n";
    let Some(brisque) = installed() else { return };
    let python = std::env::var("WEFT_OPENCV_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let (width, height) = (320, 180);
    for quality in [10, 30, 80] {
        let mut bytes = Vec::new();
        let encoder = jpeg_encoder::Encoder::new(&mut bytes, quality);
        let values = picture(width, height, 1);
        let luma = jpeg_encoder::ColorType::Luma;
        encoder
            .encode(&values, width as u16, height as u16, luma)
            .unwrap();
        let values = zune_jpeg::JpegDecoder::new(std::io::Cursor::new(bytes))
            .decode()
            .unwrap();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&values).unwrap();
        let oracle = Command::new(&python)
            .args(["-c", PROGRAM])
            .arg(file.path())
            .args([width.to_string(), height.to_string()])
            .output();
        let said = oracle.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
        let Some(there) = said.ok().and_then(|said| said.parse::<f64>().ok()) else {
            return skipped(format_args!(
                "{python} has no cv2.quality: install opencv-contrib-python-headless, and name its \
                 Python in WEFT_OPENCV_PYTHON"
            ));
        };
        let here = brisque.score_grey(width, height, &values).unwrap();
        assert!(
            (here - there).abs() < 0.05,
            "{here} for {there} at {quality}"
        );
    }
}

#[test]
fn luma_is_spread_as_a_screen_shows_it() {
    let Some(brisque) = installed() else { return };
    let (width, height) = (320, 180);
    let values = pattern(width, height);
    let mut picture = Picture::new(width, height);
    let squeezed = values
        .iter()
        .map(|&grey| (f32::from(grey) / 255.0 * 219.0 + 16.0).round() as u8);
    picture.y = squeezed.collect();
    let (screen, luma) = (
        brisque.score(&picture).unwrap(),
        brisque.score_grey(width, height, &picture.y).unwrap(),
    );
    // Rounding changes the score slightly; the narrower range gives another picture.
    assert!((screen - 54.7131).abs() < 1.0, "{screen}");
    assert!((luma - 54.7131).abs() > 0.02, "{luma}");
}

#[test]
fn pictures_without_content_have_no_score() {
    let Some(brisque) = installed() else { return };
    // OpenCV gives a flat picture 0, the best score.
    assert_eq!(brisque.score_grey(320, 180, &[128; 320 * 180]), None);
    assert_eq!(brisque.score_grey(15, 16, &pattern(15, 16)), None);
}

#[test]
fn a_missing_or_broken_model_says_where_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let error = Brisque::load(folder.path()).unwrap_err();
    assert!(matches!(error, BrisqueError::Missing { .. }));
    let text = error.to_string();
    for part in ["brisque_model_live.yml", "opencv-data", "WEFT_BRISQUE"] {
        assert!(text.contains(part), "{text}");
    }
    let broken = |model: &str, part: &str| {
        std::fs::write(folder.path().join("brisque_model_live.yml"), model).unwrap();
        let text = Brisque::load(Path::new(folder.path()))
            .unwrap_err()
            .to_string();
        assert!(
            text.contains(part) && text.contains("model_live.yml"),
            "{text}"
        );
    };
    broken("", "no decision_functions");
    broken("gamma: 0.05\ndecision_functions:\n", "no support_vectors");
    broken(
        "gamma: 0.5\nsupport_vectors:\ndecision_functions:\n",
        "gamma",
    );
    broken(
        "gamma: 0.05\nsupport_vectors:\n [1, 2]\ndecision_functions:\n rho: 1\n alpha: [3]\n",
        "0 support vectors",
    );
}

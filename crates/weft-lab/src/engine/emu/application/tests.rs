use weft_emu::{LinkReport, StationReport};
use weft_experiment::{FlowKind, FlowSetup, LinkSetup, Route, UdpSetup};
use weft_links::LinkSpec;
use weft_units::{Duration, Rate};

use super::super::testbed::job::End;
use super::*;
use crate::measure::capacity::Capacities;
use crate::measure::metrics::{Wanted, measure};
use crate::measure::run::{Run, Value};
use crate::measure::series::Series;

const BEGAN_MS: f64 = 1_700_000_000_000.0;

fn setup() -> Setup {
    let mut setup = Setup::new(Duration::from_secs(10));
    let spec: LinkSpec = "rate=1mbit,delay=20ms".parse().unwrap();
    setup.links.push(LinkSetup::symmetric("line", &spec));
    let kind = FlowKind::Udp(UdpSetup::new(Rate::from_mbps(1)));
    setup
        .flows
        .push(FlowSetup::new("call", Route::forward(&[0]), kind));
    setup
}

/// 25 frames and 0.1 s of freezes each second; a round trip of 50 ms.
fn sink() -> ClientLog {
    let sample = |second: u32| Sample {
        unix_ms: BEGAN_MS + f64::from(second) * 1e3,
        rtt_ms: Some(50.0),
        received: Some(Received {
            frames: Some(f64::from(second) * 25.0),
            freezes: Some(f64::from(second / 2)),
            freeze_s: Some(f64::from(second) * 0.1),
            height: Some(360.0),
            fps: Some(25.0),
            ..Received::default()
        }),
        sent: None,
    };
    ClientLog {
        flow: 0,
        end: End::Sink,
        about: None,
        has_failed: false,
        samples: (0..=10).map(sample).collect(),
    }
}

fn source(cpu_limited_s: f64) -> ClientLog {
    let sample = Sample {
        unix_ms: BEGAN_MS + 9e3,
        sent: Some(Sent {
            frames: Some(200.0),
            quantizer_sum: Some(8_000.0),
            cpu_limited_s: Some(cpu_limited_s),
            ..Sent::default()
        }),
        ..Sample::default()
    };
    ClientLog {
        end: End::Source,
        samples: vec![sample],
        ..sink()
    }
}

/// Evaluates a run with these logs and without packets.
fn of<T>(logs: &[ClientLog], from: Duration, look: impl FnOnce(&Run<'_>) -> T) -> T {
    let setup = setup();
    let judge = Brisque::installed().ok();
    let details = details(&setup, logs, BEGAN_MS, judge.as_ref());
    let recorder = super::super::record::Recorder::new(&setup);
    let report = LinkReport {
        name: "line".to_owned(),
        stations: vec![StationReport::default(); 2],
        channels: Vec::new(),
    };
    let record = recorder.finish(&[report], details);
    look(&Run {
        setup: &setup,
        focus: &[0],
        from,
        until: None,
        capacities: &Capacities::of(&setup),
        record: &record,
    })
}

fn values(logs: &[ClientLog], from: Duration) -> Vec<Value> {
    of(logs, from, |run| measure(run, &Wanted::default()))
}

fn value(values: &[Value], name: &str) -> Option<f64> {
    values
        .iter()
        .find(|(of, _)| of == name)
        .map(|(_, value)| *value)
}

#[test]
fn counts_are_differences_between_the_ends_of_the_measured_time() {
    // From the sample at 3 s, the last before 4 s, to the sample at 10 s: 7 x 25 frames
    // over 6 s, freezes 5 - 1 and 1.0 - 0.3 s.
    let values = values(&[sink()], Duration::from_secs(4));
    let near = |name: &str, goal: f64| {
        let found = value(&values, name).unwrap();
        assert!((found - goal).abs() < 1e-9, "{name}: {found}");
    };
    near("fps", 175.0 / 6.0);
    near("freeze_count", 4.0);
    near("freeze_s", 0.7);
    near("freeze_ms_mean", 175.0);
    near("height_px", 360.0);
    near("rtt_ms_mean", 50.0);
    assert_eq!(value(&values, "qp"), None, "nobody has told");
}

#[test]
fn a_picture_that_lasts_to_the_end_is_a_freeze() {
    let freezes = |log: &ClientLog, from: u64| {
        let values = values(std::slice::from_ref(log), Duration::from_secs(from));
        ["freeze_count", "freeze_s"].map(|name| value(&values, name).unwrap())
    };
    let still = |since: usize| {
        let mut log = sink();
        let last = log.samples[since].received.clone();
        for sample in &mut log.samples[since..] {
            sample.received.clone_from(&last);
        }
        log
    };
    // Counted until 6 s: 3 freezes, 0.6 s; then 4 s without pictures and without
    // counters.
    let [count, seconds] = freezes(&still(6), 0);
    assert_eq!((count, (seconds * 10.0).round()), (4.0, 46.0));
    // Measured from 8 s, nothing else remains.
    assert_eq!(freezes(&still(6), 8), [1.0, 2.0]);
    // No picture at any time.
    assert_eq!(freezes(&still(0), 0), [1.0, 10.0]);
    assert_eq!(freezes(&still(10), 8)[0], 2.0, "and none stands");
    // With a picture per second, 2 s without one are normal.
    let mut rare = sink();
    for (at, sample) in rare.samples.iter_mut().enumerate() {
        sample.received.as_mut().unwrap().frames = Some(at.min(8) as f64);
    }
    assert_eq!(freezes(&rare, 0)[0], 5.0);
}

#[test]
fn freezes_over_time_are_those_that_are_counted() {
    let mut still = sink();
    let last = still.samples[7].received.clone();
    for sample in &mut still.samples[7..] {
        sample.received.clone_from(&last);
    }
    for (log, from) in [(sink(), 0), (sink(), 4), (still.clone(), 0), (still, 3)] {
        of(&[log], Duration::from_secs(from), |run| {
            let values = measure(run, &Wanted::default());
            let frozen = Series::of(run).freezes.remove(0);
            assert_eq!(Some(frozen.seconds), value(&values, "freeze_s"));
            let spans = frozen.cameras[0].iter().map(|(from, until)| until - from);
            assert!((spans.sum::<f64>() - frozen.seconds).abs() < 1e-9);
        });
    }
}

#[test]
fn the_sender_knows_quantiser_and_processor() {
    let values = values(&[source(0.5), sink()], Duration::ZERO);
    assert_eq!(value(&values, "qp"), Some(40.0));
    assert_eq!(value(&values, "cpu_limited_s"), Some(0.5));
}

#[test]
fn a_run_that_the_processor_limited_is_flagged() {
    let notes = |limited| super::notes(&setup(), &[source(limited)]);
    assert_eq!(notes(0.5), Vec::<String>::new());
    let flagged = notes(3.25);
    assert!(
        flagged[0].contains("for 3.2 s") && flagged[0].contains("flow `call`"),
        "{flagged:?}"
    );
}

#[test]
fn a_lost_connection_is_reported() {
    let lost = ClientLog {
        has_failed: true,
        ..sink()
    };
    let notes = super::notes(&setup(), &[lost]);
    assert!(
        notes[0].contains("flow `call`, sink: its connection"),
        "{notes:?}"
    );
}

#[test]
fn goodput_is_between_the_samples_that_tell_of_it() {
    // 125 kB a second, reported 0.4 s after each: for 4 to 10 s the first sample before
    // is at 3.4 s, the last one within at 9.4 s.
    let sample = |second: u32| Sample {
        unix_ms: BEGAN_MS + f64::from(second) * 1e3 + 400.0,
        received: Some(Received {
            goodput_bytes: Some(f64::from(second) * 125_000.0),
            latencies_ms: vec![f64::from(second) * 10.0],
            ..Received::default()
        }),
        ..Sample::default()
    };
    let log = ClientLog {
        samples: (0..=10).map(sample).collect(),
        ..sink()
    };
    let values = values(&[log], Duration::from_secs(4));
    let near = |name: &str, goal: f64| {
        let found = value(&values, name).unwrap();
        assert!((found - goal).abs() < 1e-6, "{name}: {found}");
    };
    near("goodput_mbps", 1.0);
    // 40, 50 to 90 ms.
    near("e2e_ms_mean", 65.0);
}

#[test]
fn series_hold_what_was_said_last_and_not_for_long() {
    let mut log = sink();
    log.samples.truncate(3);
    let mut series = Series {
        t: vec![0.5, 2.0, 2.9, 3.5],
        columns: Vec::new(),
        ..Series::default()
    };
    of(&[log], Duration::ZERO, |run| series.add_counters(run));
    let fps = series
        .columns
        .iter()
        .find(|column| column.name == "fps")
        .unwrap();
    assert_eq!(fps.values, [Some(25.0), Some(25.0), Some(25.0), None]);
}

#[test]
fn pictures_are_judged_by_the_client_or_after_the_run() {
    let Ok(judge) = Brisque::installed() else {
        println!("skipped: no model of BRISQUE: install Debian's `opencv-data`");
        return;
    };
    // Squares; blurring a picture softens their edges.
    let (width, height) = (160, 120);
    let pixel = |at: usize| match (at % width / 9 + at / width / 7) % 2 {
        0 => 60 + (at % 37) as u8,
        _ => 180 - (at % 23) as u8,
    };
    let luma: Vec<u8> = (0..width * height).map(pixel).collect();
    let own = judge.score_luma(width, height, &luma).expect("a score");
    let told = |second: u32, base64: String| Sample {
        unix_ms: BEGAN_MS + f64::from(second) * 1e3,
        received: Some(Received {
            brisque: vec![own + 10.0],
            picture: Some(Luma {
                width,
                height,
                base64,
            }),
            ..Received::default()
        }),
        ..Sample::default()
    };
    let log = ClientLog {
        samples: vec![
            told(5, STANDARD.encode(&luma)),
            // An incomplete picture gets no score.
            told(6, STANDARD.encode(&luma[1..])),
            told(7, "no picture!".to_owned()),
        ],
        ..sink()
    };
    let values = values(&[log], Duration::from_secs(4));
    let found = value(&values, "brisque").expect("judged");
    assert!((found - (own + 7.5)).abs() < 1e-9, "{found}, {own}");
}

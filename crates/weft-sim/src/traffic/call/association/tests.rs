use std::collections::BTreeMap;

use super::{Association, Verdict};
use weft_units::{Duration, Instant, PathId};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Two paths whose answers take their round trips, unless they are dead.
struct Line {
    association: Association,
    dead: [bool; 2],
    rtts: [Duration; 2],
    answers: Vec<(Instant, PathId, Instant)>,
    verdicts: Vec<(Instant, Verdict)>,
    now: Instant,
}

impl Line {
    fn new(rtts: [Duration; 2]) -> Line {
        Line {
            association: Association::new(Instant::ZERO, &rtts),
            dead: [false; 2],
            rtts,
            answers: Vec::new(),
            verdicts: Vec::new(),
            now: Instant::ZERO,
        }
    }

    fn run(&mut self, span: Duration) {
        let end = self.now + span;
        while self.now < end {
            self.now += ms(1);
            let now = self.now;
            let due = |a: &(Instant, PathId, Instant)| a.0 <= now;
            for (_, path, sent) in self.answers.extract_if(.., |a| due(a)).collect::<Vec<_>>() {
                self.association.on_answer(now, path, sent);
            }
            if self.association.due().is_some_and(|at| at <= now) {
                self.association.on_time(now);
            }
            self.drain();
        }
    }

    fn suspect(&mut self, path: PathId) {
        self.association.suspect(self.now, path);
        self.drain();
    }

    fn drain(&mut self) {
        let now = self.now;
        while let Some(output) = self.association.poll_output() {
            match output {
                Verdict::SendCheck(path) => {
                    let index = usize::from(path.0);
                    if !self.dead[index] {
                        self.answers.push((now + self.rtts[index], path, now));
                    }
                }
                verdict => self.verdicts.push((now, verdict)),
            }
        }
    }
}

#[test]
fn a_dead_path_is_found_within_200_ms_and_comes_back() {
    let mut line = Line::new([ms(40), ms(90)]);
    line.run(ms(5000));
    assert_eq!(line.verdicts, []);
    line.dead[1] = true;
    line.suspect(PathId(0));
    line.run(ms(200));
    let [(at, Verdict::Down(PathId(1)))] = line.verdicts[..] else {
        panic!("{:?}", line.verdicts);
    };
    // A round trip and a quarter of path 1, 10 ms of jitter: 122.5 ms.
    let after = at - (Instant::ZERO + ms(5000));
    assert!((ms(120)..=ms(130)).contains(&after), "after {after:?}");
    line.dead[1] = false;
    line.run(ms(600));
    let (at, verdict) = line.verdicts[1];
    assert_eq!(verdict, Verdict::Up(PathId(1), ms(90)));
    assert!(at - (Instant::ZERO + ms(5200)) <= ms(500));
}

#[test]
fn a_false_alarm_takes_nothing_down() {
    let mut line = Line::new([ms(40), ms(90)]);
    line.run(ms(100));
    line.suspect(PathId(1));
    line.run(ms(1000));
    assert_eq!(line.verdicts, []);
    assert!(!line.association.is_suspicious());
}

#[test]
fn the_last_path_is_never_taken_down() {
    let mut line = Line::new([ms(40), ms(90)]);
    line.dead = [true, true];
    line.suspect(PathId(0));
    line.run(ms(60_000));
    assert_eq!(line.verdicts, []);
    line.dead = [false, true];
    line.run(ms(500));
    assert_eq!(line.verdicts.len(), 1);
    assert_eq!(line.verdicts[0].1, Verdict::Down(PathId(1)));
}

#[test]
fn what_media_proves_needs_no_answer() {
    let mut line = Line::new([ms(40), ms(40)]);
    line.dead[1] = true;
    line.run(ms(100));
    line.suspect(PathId(1));
    // Feedback names packets of path 1 all the time.
    for _ in 0..40 {
        line.run(ms(5));
        let heard = Some(line.now);
        line.association.on_media(PathId(1), ms(40), heard);
    }
    assert_eq!(line.verdicts, []);
}

/// Both copies of the rules have the same times: the simulator may not depend
/// on the association, which brings sockets' worth of cryptography.
#[test]
fn its_times_are_those_of_the_association() {
    fn times(source: &str) -> BTreeMap<&str, &str> {
        let lines = source.lines().filter_map(|line| {
            let line = line.trim_start_matches("pub(super) ");
            line.strip_prefix("const ")?.split_once(": Duration = ")
        });
        lines.collect()
    }
    let own = times(include_str!("../association.rs"));
    let liveness = times(include_str!(
        "../../../../../weft-ice/src/agent/liveness.rs"
    ));
    let schedule = times(include_str!(
        "../../../../../weft-ice/src/agent/schedule.rs"
    ));
    assert_eq!(own.len(), 10, "{own:?}");
    for (name, value) in own {
        let original = liveness.get(name).or(schedule.get(name));
        // Thousands may be set apart.
        let plain = |value: &str| value.replace('_', "");
        assert_eq!(original.map(|v| plain(v)), Some(plain(value)), "{name}");
    }
}

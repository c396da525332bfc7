use std::collections::BTreeMap;

use super::{Action, Association};
use crate::traffic::call::End;
use weft_session::Input;
use weft_units::{Duration, Instant, PathId, Rng};

/// A call may start at any time of the run.
const START: Instant = Instant::from_nanos(7_000_000_000);

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn pair(rtts: &[Duration]) -> [Association; 2] {
    Association::pair(START, rtts, &Rng::new(1))
}

/// Path event that an end reported to its session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum News {
    Up(PathId, Duration),
    Down(PathId),
    Silent(PathId),
}

/// Both ends and the paths between them, up or down.
struct Line {
    ends: [Association; 2],
    rtts: Vec<Duration>,
    dead: Vec<bool>,
    /// Messages by arrival and number: the receiver and the path.
    flights: BTreeMap<(Instant, u32), (End, PathId, Vec<u8>)>,
    sent: u32,
    news: Vec<(Instant, End, News)>,
    now: Instant,
}

impl Line {
    fn new(rtts: &[Duration]) -> Line {
        Line {
            ends: pair(rtts),
            rtts: rtts.to_vec(),
            dead: vec![false; rtts.len()],
            flights: BTreeMap::new(),
            sent: 0,
            news: Vec::new(),
            now: START,
        }
    }

    fn run(&mut self, span: Duration) {
        let end = self.now + span;
        while self.now < end {
            self.now += ms(1);
            let now = self.now;
            while let Some(entry) = self.flights.first_entry().filter(|e| e.key().0 <= now) {
                let (to, path, datagram) = entry.remove();
                self.ends[to as usize].on_datagram(now, path, &datagram);
            }
            for association in &mut self.ends {
                if association.due().is_some_and(|at| at <= now) {
                    association.on_time(now);
                }
            }
            self.drain();
        }
    }

    fn suspect(&mut self, end: End, path: PathId) {
        self.ends[end as usize].suspect(self.now, path);
        self.drain();
    }

    fn drain(&mut self) {
        for end in End::BOTH {
            while let Some(action) = self.ends[end as usize].poll_action() {
                let news = match action {
                    Action::Transmit(path, datagram) => {
                        let index = usize::from(path.0);
                        self.sent += 1;
                        if !self.dead[index] {
                            let at = self.now + self.rtts[index] / 2;
                            let flight = (end.other(), path, datagram);
                            self.flights.insert((at, self.sent), flight);
                        }
                        continue;
                    }
                    Action::Tell(Input::PathUp { path, rtt }) => News::Up(path, rtt),
                    Action::Tell(Input::PathDown { path }) => News::Down(path),
                    Action::Tell(Input::PathSilent { path }) => News::Silent(path),
                    Action::Tell(other) => panic!("{other:?}"),
                };
                self.news.push((self.now, end, news));
            }
        }
    }

    /// Returns the events of one end, in milliseconds after `from`.
    fn news_of(&self, end: End, from: Instant) -> Vec<(u64, News)> {
        let of = self.news.iter();
        let of = of.filter(|(at, e, _)| *e == end && *at >= from);
        of.map(|(at, _, news)| ((*at - from).as_millis(), *news))
            .collect()
    }
}

#[test]
fn a_call_begins_with_every_path_up_and_its_empty_round_trip() {
    let cases: [Vec<Duration>; 4] = [
        vec![ms(40)],
        // Answers arrive in the opposite order; one cannot be halved.
        vec![ms(700), Duration::from_nanos(90_000_001), Duration::ZERO],
        (1..=15).rev().map(|i| ms(20 * i)).collect(),
        vec![ms(3000), ms(1)],
    ];
    for rtts in cases {
        for association in pair(&rtts) {
            let up = association.paths_up();
            let expected = rtts.iter().enumerate();
            let expected: Vec<_> = expected.map(|(i, r)| (PathId(i as u8), *r)).collect();
            assert_eq!(up, expected);
            assert!(!association.is_suspicious());
        }
        // Nothing was lost when the run started, and nothing is late.
        let mut line = Line::new(&rtts);
        line.drain();
        assert!(line.flights.is_empty());
        for association in &mut line.ends {
            let due = association.due().expect("paths are checked");
            assert!((START..=START + ms(2000)).contains(&due), "due {due:?}");
        }
        line.run(ms(10_000));
        assert_eq!(line.news, []);
    }
}

#[test]
fn a_dead_path_is_found_within_200_ms_and_comes_back() {
    // The agent numbers the quick path first.
    let mut line = Line::new(&[ms(90), ms(40)]);
    line.run(ms(5000));
    assert_eq!(line.news, []);
    line.dead[0] = true;
    let at = line.now;
    line.suspect(End::Caller, PathId(1));
    line.run(ms(200));
    let news = line.news_of(End::Caller, at);
    let [(after, News::Down(PathId(0)))] = news[..] else {
        panic!("{news:?}");
    };
    // A round trip and a quarter of path 0, 10 ms of jitter: 122.5 ms.
    assert!((120..=130).contains(&after), "after {after} ms");
    line.dead[0] = false;
    let at = line.now;
    line.run(ms(600));
    let news = line.news_of(End::Caller, at);
    assert!(
        matches!(news[..], [(..=500, News::Up(PathId(0), rtt))] if rtt == ms(90)),
        "{news:?}"
    );
}

/// Feedback uses the run's time, the agent its own.
#[test]
fn a_path_that_carries_media_needs_no_answer() {
    let run = |is_heard: bool| {
        let mut line = Line::new(&[ms(40), ms(40)]);
        line.dead[1] = true;
        line.run(ms(100));
        let heard_before = Some(line.now);
        line.suspect(End::Caller, PathId(1));
        for _ in 0..40 {
            line.run(ms(5));
            let heard = if is_heard {
                Some(line.now)
            } else {
                heard_before
            };
            line.ends[0].on_media(PathId(1), ms(40), heard);
        }
        line.news_of(End::Caller, START)
    };
    assert_eq!(run(true), []);
    assert!(matches!(run(false)[..], [(_, News::Down(PathId(1)))]));
}

/// An end whose own check is not due detects the recovery from the peer's check: its own
/// check follows immediately.
#[test]
fn a_check_of_the_peer_revives_a_dead_path() {
    for later in [50, 150, 250, 350] {
        let mut line = Line::new(&[ms(20), ms(60)]);
        line.run(ms(5000));
        line.dead[1] = true;
        line.suspect(End::Caller, PathId(1));
        line.run(ms(later));
        line.suspect(End::Callee, PathId(1));
        line.run(ms(1000));
        line.dead[1] = false;
        let at = line.now;
        line.run(ms(1000));
        let up = End::BOTH.map(|end| {
            let news = line.news_of(end, at);
            let [(after, News::Up(PathId(1), _))] = news[..] else {
                panic!("{news:?}");
            };
            after
        });
        // The first end's check, and an answer to the other's: half a round trip apart,
        // and not the 400 ms between checks of a dead path.
        assert!(up[0].abs_diff(up[1]) <= 35, "up after {up:?} ms");
    }
}

#[test]
fn without_any_answer_paths_fall_silent_and_consent_ends() {
    let mut line = Line::new(&[ms(20), ms(60)]);
    line.run(ms(5000));
    line.dead = vec![true; 2];
    let at = line.now;
    line.suspect(End::Caller, PathId(0));
    line.run(ms(28_000));
    let news = line.news_of(End::Caller, at);
    let silent = matches!(
        news[..],
        [
            (1000..=1100, News::Silent(PathId(0))),
            (1000..=1100, News::Silent(PathId(1)))
        ]
    );
    assert!(silent, "a second without answers: {news:?}");
    line.run(ms(3_000));
    let news = line.news_of(End::Caller, at).split_off(2);
    let down = |path| move |n: &(u64, News)| n.1 == News::Down(PathId(path));
    assert!(news.len() == 2 && news.iter().any(down(0)) && news.iter().any(down(1)));
    line.dead = vec![false; 2];
    let at = line.now;
    line.run(ms(500));
    let news = line.news_of(End::Caller, at);
    assert!(
        matches!(news[..], [(_, News::Up(..)), (_, News::Up(..))]),
        "{news:?}"
    );
}

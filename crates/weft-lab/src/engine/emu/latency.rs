//! From capture to display, from the numbers in the corner of the pictures:
//! one end tells when it took them, the other one when it showed them, by the
//! same clock.

use std::collections::BTreeMap;

use super::client::scratch::CLIP_S;
use super::testbed::ClientLog;
use super::testbed::line::Sample;

/// Latencies of the pictures that a flow's ends have shown between the two
/// times (milliseconds since 1970), in milliseconds. A picture that nobody saw
/// being taken does not count.
#[must_use]
pub fn latencies(logs: &[ClientLog], flow: usize, (from_ms, to_ms): (f64, f64)) -> Vec<f64> {
    let within = |at: f64| (from_ms..=to_ms).contains(&at);
    let ends = || logs.iter().filter(|log| log.flow == flow);
    let mut found = Vec::new();
    for here in ends() {
        let received = |s: &'_ Sample| s.received.clone();
        let known = here.samples.iter().filter(|s| within(s.unix_ms));
        let known = known.filter_map(received).flat_map(|r| r.latencies_ms);
        found.extend(known);
        let filmed = ends().filter(|there| there.end != here.end);
        let filmed = Filmed::of(filmed.flat_map(|there| &there.samples));
        let shown = here.samples.iter().filter_map(received);
        let shown = shown.flat_map(|r| r.shown).filter(|(_, at)| within(*at));
        found.extend(shown.filter_map(|(number, at)| Some(at - filmed.before(number, at)?)));
    }
    found
}

/// When pictures were taken, by their numbers, in order.
struct Filmed(BTreeMap<u32, Vec<f64>>);

impl Filmed {
    fn of<'a>(samples: impl Iterator<Item = &'a Sample>) -> Filmed {
        let mut times: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        let sent = samples.filter_map(|sample| sample.sent.as_ref());
        for (number, at) in sent.flat_map(|sent| &sent.filmed) {
            times.entry(*number).or_default().push(*at);
        }
        Filmed(times)
    }

    /// The last time before. The clip is a loop: what is older than that was
    /// another picture of the same number.
    fn before(&self, number: u32, at: f64) -> Option<f64> {
        let last = self.0.get(&number)?.iter().rfind(|filmed| **filmed <= at);
        last.copied()
            .filter(|filmed| at - filmed < f64::from(CLIP_S) * 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testbed::job::End;
    use super::super::testbed::line::{Received, Sent};
    use super::*;

    fn log(end: End, sample: Sample) -> ClientLog {
        ClientLog {
            flow: 0,
            end,
            about: None,
            has_failed: false,
            samples: vec![sample],
        }
    }

    fn filmed(filmed: &[(u32, f64)]) -> ClientLog {
        let sent = Some(Sent {
            filmed: filmed.to_vec(),
            ..Sent::default()
        });
        let sample = Sample {
            sent,
            ..Sample::default()
        };
        log(End::Source, sample)
    }

    fn shown(unix_ms: f64, received: Received) -> ClientLog {
        let sample = Sample {
            unix_ms,
            received: Some(received),
            ..Sample::default()
        };
        log(End::Sink, sample)
    }

    #[test]
    fn a_number_means_the_picture_that_was_taken_last() {
        // The loop comes round after 5 s; number 3 was missed the second time.
        let camera = filmed(&[(2, 100.0), (3, 133.0), (2, 5_100.0)]);
        let screen = shown(
            0.0,
            Received {
                shown: vec![
                    (2, 180.0),
                    (3, 253.0),
                    (2, 5_150.0),
                    (3, 5_250.0),
                    (9, 300.0),
                ],
                ..Received::default()
            },
        );
        let found = latencies(&[camera, screen], 0, (0.0, 6_000.0));
        assert_eq!(found, [80.0, 120.0, 50.0]);
    }

    #[test]
    fn what_was_shown_outside_the_measured_time_does_not_count() {
        let camera = filmed(&[(1, 100.0), (2, 133.0)]);
        let received = Received {
            shown: vec![(1, 180.0), (2, 253.0)],
            ..Received::default()
        };
        let all = [camera, shown(0.0, received)];
        assert_eq!(latencies(&all, 0, (200.0, 300.0)), [120.0]);
        assert_eq!(latencies(&all, 1, (0.0, 300.0)), Vec::<f64>::new());
    }

    #[test]
    fn a_client_may_know_it_itself() {
        let received = || Received {
            latencies_ms: vec![40.0, 60.0],
            ..Received::default()
        };
        let all = [shown(250.0, received()), shown(350.0, received())];
        assert_eq!(latencies(&all, 0, (200.0, 300.0)), [40.0, 60.0]);
    }
}

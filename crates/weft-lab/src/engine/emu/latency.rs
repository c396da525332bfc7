//! Latency from capture to display, from the numbers in the corner of the pictures. One
//! end reports the capture times and the other the display times, both on one clock.

use std::collections::BTreeMap;

use super::client::scratch::CLIP_S;
use super::testbed::ClientLog;
use super::testbed::line::Sample;

/// Returns, for each sample of an end, the pictures reported since the previous sample:
/// the display time since 1970 and the latency from capture to display, in milliseconds.
/// Omits pictures that no other end captured.
pub fn latencies<'a>(
    here: &ClientLog,
    others: impl Iterator<Item = &'a ClientLog>,
) -> Vec<Vec<(f64, f64)>> {
    let filmed = Filmed::of(others.flat_map(|there| &there.samples));
    let of = |sample: &Sample| {
        let received = sample.received.iter();
        let known = received.clone().flat_map(|r| &r.latencies_ms);
        let known = known.map(|latency| (sample.unix_ms, *latency));
        let shown = received.flat_map(|r| &r.shown);
        let shown = shown.filter_map(|(number, at)| Some((*at, at - filmed.before(*number, *at)?)));
        known.chain(shown).collect()
    };
    here.samples.iter().map(of).collect()
}

/// Capture times of pictures in order, by their numbers.
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

    /// Returns the last capture before this time. The clip is looped, so an older capture
    /// belongs to another picture with the same number.
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

    /// Returns the latencies of pictures captured there and shown here.
    fn found(here: &ClientLog, there: &[ClientLog]) -> Vec<f64> {
        let all = latencies(here, there.iter());
        all.into_iter().flatten().map(|(_, ms)| ms).collect()
    }

    #[test]
    fn a_number_means_the_picture_that_was_taken_last() {
        // The loop repeats after 5 s; number 3 was missed the second time.
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
        assert_eq!(found(&screen, &[camera]), [80.0, 120.0, 50.0]);
    }

    #[test]
    fn a_client_may_know_it_itself() {
        let received = Received {
            latencies_ms: vec![40.0, 60.0],
            ..Received::default()
        };
        let screen = shown(250.0, received);
        let all = latencies(&screen, std::iter::empty());
        assert_eq!(all, [vec![(250.0, 40.0), (250.0, 60.0)]]);
    }
}

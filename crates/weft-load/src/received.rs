//! Counters of a viewer: pictures by publisher, their numbers, times and encodings.

use std::collections::BTreeMap;

use weft_units::{Duration, Freezes, Histogram, Instant};

use crate::stamp::Stamp;

/// Maximum number of encodings of a camera.
pub(crate) const ENCODINGS: usize = 4;
/// Pause between two requests for a publisher's first keyframe, as in `weft join`.
const KEYFRAME_AGAIN: Duration = Duration::from_secs(1);

/// Time span of the measurement; pictures captured in it count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub from: Instant,
    pub until: Instant,
}

impl Span {
    pub fn has(&self, at: Instant) -> bool {
        (self.from..self.until).contains(&at)
    }
}

/// Publishers that a viewer sees.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    pub by_publisher: BTreeMap<u32, FromPublisher>,
}

/// Pictures of one publisher.
#[derive(Clone, Debug, Default)]
pub(crate) struct FromPublisher {
    /// Number of the first complete picture, and the time at which it was complete.
    pub first: Option<(u32, Instant)>,
    /// Number of the last one.
    last: Option<u32>,
    /// Complete pictures within the measurement.
    pub pictures: u64,
    /// Complete pictures within the measurement, by encoding.
    pub encodings: [u64; ENCODINGS],
    /// Bytes of these pictures.
    pub bytes: u64,
    /// Time from capture until the picture was complete, during the measurement.
    pub latency: Histogram,
    /// Latency before the measurement.
    pub latency_before: Histogram,
    /// Freezes of the display, from the first picture.
    pub freezes: Freezes,
    /// Longest run of numbers without a complete picture, during the measurement.
    pub longest_gap: u32,
    asked: Option<Instant>,
}

/// Treatment of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// Shown.
    Shown,
    /// It refers to pictures that the viewer does not have.
    Undecodable,
    /// Undecodable, and a keyframe request is due.
    RequestKeyframe,
}

/// Complete picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole {
    pub stamp: Stamp,
    pub keyframe: bool,
    pub bytes: usize,
    /// Arrival of its last packet.
    pub complete_at: Instant,
}

impl Received {
    /// Counts a picture that is shown at `now`.
    pub fn on_picture(&mut self, now: Instant, whole: Whole, span: Option<Span>) -> Treatment {
        let Stamp { publisher, .. } = whole.stamp;
        self.by_publisher
            .entry(publisher)
            .or_default()
            .on_picture(now, whole, span)
    }
}

impl FromPublisher {
    fn on_picture(&mut self, now: Instant, whole: Whole, span: Option<Span>) -> Treatment {
        let Whole {
            stamp,
            keyframe,
            bytes,
            complete_at,
        } = whole;
        if self.first.is_none() && !keyframe {
            let soon = |at| now.saturating_since(at) < KEYFRAME_AGAIN;
            if self.asked.is_some_and(soon) {
                return Treatment::Undecodable;
            }
            self.asked = Some(now);
            return Treatment::RequestKeyframe;
        }
        // Another encoding of a picture that was already shown.
        if self.last.is_some_and(|last| stamp.number <= last) {
            return Treatment::Shown;
        }
        self.first.get_or_insert((stamp.number, complete_at));
        self.freezes.on_picture(now);
        let latency = complete_at.saturating_since(stamp.captured);
        match span {
            Some(span) if span.has(stamp.captured) => {
                self.pictures += 1;
                self.bytes += bytes as u64;
                self.latency.add(latency);
                if let Some(count) = self.encodings.get_mut(usize::from(stamp.encoding)) {
                    *count += 1;
                }
                let before = self.last.unwrap_or(stamp.number.saturating_sub(1));
                self.longest_gap = self.longest_gap.max(stamp.number - before - 1);
            }
            Some(span) if stamp.captured >= span.until => {}
            _ => self.latency_before.add(latency),
        }
        self.last = Some(stamp.number);
        Treatment::Shown
    }

    /// Returns the number of the publisher's pictures that this viewer should have: those
    /// captured in the measurement, from its first picture.
    pub fn expected(&self, sent_at: &[Instant], span: Span) -> u64 {
        let Some((first, _)) = self.first else {
            return 0;
        };
        let from = sent_at.partition_point(|at| *at < span.from);
        let until = sent_at.partition_point(|at| *at < span.until);
        until.saturating_sub(from.max(first as usize)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Option<Span> = Some(Span {
        from: at(1_000),
        until: at(2_000),
    });

    const fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Returns a picture of publisher 1 that takes 20 ms.
    fn whole(number: u32, captured: u64, keyframe: bool) -> Whole {
        Whole {
            stamp: Stamp {
                publisher: 1,
                encoding: 1,
                number,
                captured: at(captured),
            },
            keyframe,
            bytes: 100,
            complete_at: at(captured + 20),
        }
    }

    #[test]
    fn pictures_of_the_measurement_are_counted_against_those_sent() {
        let mut received = Received::default();
        // Ten pictures a second from 0; 12 and 13 are lost.
        for number in (3..25).filter(|n| ![12, 13].contains(n)) {
            let captured = u64::from(number) * 100;
            let picture = whole(number, captured, number == 3);
            let treatment = received.on_picture(at(captured + 30), picture, SPAN);
            assert_eq!(treatment, Treatment::Shown);
        }
        let from = &received.by_publisher[&1];
        let sent_at: Vec<Instant> = (0..25).map(|n| at(n * 100)).collect();
        assert_eq!(from.first, Some((3, at(320))));
        assert_eq!((from.pictures, from.longest_gap), (8, 2));
        assert_eq!(from.expected(&sent_at, SPAN.unwrap()), 10);
        assert_eq!((from.encodings, from.bytes), ([0, 8, 0, 0], 800));
        assert_eq!(from.latency.max(), Duration::from_millis(20));
        assert_eq!((from.latency.count(), from.latency_before.count()), (8, 7));
        // 300 ms without a picture, compared with a mean of 100.
        assert_eq!(from.freezes.count(), 1);
    }

    #[test]
    fn a_viewer_who_comes_late_lacks_only_later_pictures() {
        let mut received = Received::default();
        received.on_picture(at(1_530), whole(15, 1_500, true), SPAN);
        let sent_at: Vec<Instant> = (0..25).map(|n| at(n * 100)).collect();
        let expected = received.by_publisher[&1].expected(&sent_at, SPAN.unwrap());
        assert_eq!(expected, 5);
    }

    #[test]
    fn the_first_picture_is_a_keyframe() {
        let mut received = Received::default();
        let mut on =
            |ms, number, keyframe| received.on_picture(at(ms), whole(number, ms, keyframe), SPAN);
        assert_eq!(on(100, 1, false), Treatment::RequestKeyframe);
        assert_eq!(on(200, 2, false), Treatment::Undecodable);
        assert_eq!(on(1_100, 3, false), Treatment::RequestKeyframe);
        assert_eq!(on(1_200, 4, true), Treatment::Shown);
        assert_eq!(on(1_300, 5, false), Treatment::Shown);
    }
}

//! Encodings that a publisher should send, depending on the viewers.

use crate::routing::TrackId;
use std::collections::BTreeSet;
use weft_units::{Duration, Instant};

/// Time without viewers after which an encoding's publisher pauses it. Chosen by us: a
/// viewer who pages through the tiles returns sooner.
const HOLD: Duration = Duration::from_secs(5);

/// Width and height of pictures in pixels, if known.
pub(crate) type Size = Option<(u16, u16)>;

/// Returns the encodings of a camera that a viewer may get who displays it at this size: those
/// not larger than the smallest one that fills the size. One of unknown size may be useful.
pub(crate) fn watchable(encodings: &[(TrackId, Size)], shown: Option<(u32, u32)>) -> Vec<TrackId> {
    let sizes = encodings.iter().filter_map(|(_, size)| *size);
    let fills = |size: &(u16, u16)| {
        shown.is_some_and(|(w, h)| u32::from(size.0) >= w && u32::from(size.1) >= h)
    };
    let enough = sizes.filter(fills).min();
    let small = |size: &Size| enough.is_none_or(|enough| *size <= Some(enough));
    let useful = encodings.iter().filter(|(_, size)| small(size));
    useful.map(|(track, _)| *track).collect()
}

/// Encodings of a source as its publisher should send them, camera by camera.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    cameras: Vec<Vec<Encoding>>,
}

#[derive(Debug)]
struct Encoding {
    track: TrackId,
    /// Last time when it had a viewer.
    watched: Instant,
    /// Whether the publisher should send it, as last requested; at first it should.
    sent: bool,
}

impl Wanted {
    /// Updates the cameras' encodings and which of them are watched. Returns the
    /// encodings to send, if they have changed.
    pub(crate) fn update(
        &mut self,
        now: Instant,
        cameras: &[&[TrackId]],
        watched: &BTreeSet<TrackId>,
    ) -> Option<Vec<Vec<bool>>> {
        self.cameras.resize_with(cameras.len(), Vec::new);
        let mut is_news = false;
        for (known, encodings) in self.cameras.iter_mut().zip(cameras) {
            let same = known.iter().map(|e| &e.track).eq(encodings.iter());
            if !same {
                let begin = |track: &TrackId| Encoding {
                    track: *track,
                    watched: now,
                    sent: true,
                };
                *known = encodings.iter().map(begin).collect();
            }
            for encoding in known {
                if watched.contains(&encoding.track) {
                    encoding.watched = now;
                }
                let sent = now.saturating_since(encoding.watched) < HOLD;
                is_news |= std::mem::replace(&mut encoding.sent, sent) != sent;
            }
        }
        let camera = |encodings: &Vec<Encoding>| encodings.iter().map(|e| e.sent).collect();
        is_news.then(|| self.cameras.iter().map(camera).collect())
    }

    /// Whether the publisher was asked to pause anything.
    pub(crate) fn pauses_any(&self) -> bool {
        self.cameras.iter().flatten().any(|encoding| !encoding.sent)
    }

    /// Whether the publisher was asked to pause any of these.
    pub(crate) fn pauses(&self, tracks: &[TrackId]) -> bool {
        let mut all = self.cameras.iter().flatten();
        all.any(|encoding| !encoding.sent && tracks.contains(&encoding.track))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn an_encoding_is_paused_when_nobody_has_watched_it_for_a_while_and_sent_at_once() {
        let tracks = [TrackId(1), TrackId(2)];
        let mut wanted = Wanted::default();
        let mut told = Vec::new();
        for ms in (0..30_000).step_by(250) {
            // A viewer displays the camera large until 2 s, for a moment at 10 s, and
            // then not at all.
            let large = ms < 2_000 || ms == 10_000;
            let small = ms < 20_000;
            let watched = [(large, tracks[1]), (small, tracks[0])];
            let watched = watched.into_iter().filter(|(is, _)| *is).map(|(_, t)| t);
            let news = wanted.update(at(ms), &[&tracks], &watched.collect());
            told.extend(news.map(|cameras| (ms, cameras)));
        }
        let expected = [
            (6_750, vec![vec![true, false]]),
            (10_000, vec![vec![true, true]]),
            (15_000, vec![vec![true, false]]),
            (24_750, vec![vec![false, false]]),
        ];
        assert_eq!(told, expected);
        assert!(wanted.pauses(&[TrackId(1)]) && !wanted.pauses(&[TrackId(9)]));
    }

    #[test]
    fn encodings_larger_than_somebody_shows_the_camera_are_not_watched() {
        let sized = |track, size| (TrackId(track), size);
        let three = [
            sized(1, Some((320, 180))),
            sized(2, Some((640, 360))),
            sized(3, Some((1280, 720))),
        ];
        let count = |encodings: &[_], shown| watchable(encodings, shown).len();
        assert_eq!(count(&three, None), 3);
        assert_eq!(count(&three, Some((1920, 1080))), 3);
        assert_eq!(count(&three, Some((641, 360))), 3);
        assert_eq!(
            watchable(&three, Some((640, 300))),
            [TrackId(1), TrackId(2)]
        );
        assert_eq!(watchable(&three, Some((100, 50))), [TrackId(1)]);
        let unknown = [three[0], sized(2, None)];
        assert_eq!(count(&unknown, Some((100, 50))), 2);
    }

    #[test]
    fn other_encodings_begin_as_sent() {
        let mut wanted = Wanted::default();
        let nobody = BTreeSet::new();
        assert_eq!(wanted.update(at(0), &[&[TrackId(1)]], &nobody), None);
        let paused = wanted.update(at(6_000), &[&[TrackId(1)]], &nobody);
        assert_eq!(paused, Some(vec![vec![false]]));
        assert_eq!(wanted.update(at(6_250), &[&[TrackId(2)]], &nobody), None);
    }
}

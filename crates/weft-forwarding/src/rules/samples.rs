//! Cameras and estimates for the tests of rules.

use super::choice::{Camera, Estimate, Layers};
use crate::routing::TrackId;
use weft_units::{Duration, Instant, Rate, StreamId};

/// Camera with the page's encodings, each with three temporal layers.
pub(super) fn camera(stream: u32, rank: usize, shown: (u32, u32)) -> Camera {
    let encoding = |(place, kbps): (u64, [u64; 3])| Layers {
        track: TrackId(u64::from(stream) * 10 + place),
        height: 180 << place,
        rates: kbps.map(Rate::from_kbps).to_vec(),
    };
    let rates = [[75, 100, 150], [250, 350, 500], [1_200, 1_700, 2_500]];
    Camera {
        stream: StreamId(stream),
        rank,
        shown: Some(shown),
        encodings: (0..).zip(rates).map(encoding).collect(),
    }
}

pub(super) fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

pub(super) fn estimate(kbps: u64) -> Estimate {
    Estimate {
        rate: Some(Rate::from_kbps(kbps)),
        is_measured: true,
    }
}

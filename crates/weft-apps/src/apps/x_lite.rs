//! X-Lite 3.0, 2009 (Boyaci et al.): the free version of Eyebeam.

use weft_units::{Duration, Rate};

use crate::family::{Behaviour, Ladder, Model};

pub(crate) fn model() -> Model {
    Model {
        // Chosen: the figure is not in our copy; experiments also try 0.7 and 1.3 times
        // this value.
        highest: Rate::from_kbps(500),
        // Published: section 4.2.1, also when everything is lost.
        lowest: Rate::from_kbps(180),
        // Chosen.
        report_every: Duration::from_millis(250),
        behaviour: Behaviour::Ladder(Ladder {
            // Published: few levels, H.263; 400, 320, 250 and 180 are chosen.
            steps: vec![0.8, 0.64, 0.5, 0.36],
            // Chosen: like Eyebeam. With 0.15 it still does not fall beside BitTorrent,
            // as in section 4.2.3.
            steps_down: (0.35, Duration::from_secs(5)),
            hesitates: Duration::ZERO,
            // Chosen.
            sound: Rate::from_kbps(32),
            // Published: sound packets get larger; the threshold is chosen.
            doubles_sound: 0.05,
            // Chosen: "smooth".
            frames_per_second: 25.0,
        }),
        // Chosen: steady.
        swing: (0.05, Duration::from_millis(200)),
    }
}

//! Eyebeam 1.5.19.5, 2009 (Boyaci et al.).

use weft_units::{Duration, Rate};

use crate::family::{Behaviour, Ladder, Model};

pub(crate) fn model() -> Model {
    Model {
        // Published: two rates, H.264. Values chosen; experiments also try 0.7 and 1.3
        // times the higher one.
        highest: Rate::from_kbps(600),
        lowest: Rate::from_kbps(300),
        // Chosen.
        report_every: Duration::from_millis(250),
        behaviour: Behaviour::Ladder(Ladder {
            steps: vec![0.5],
            // Fitted: above its loss over 5 s beside BitTorrent, which does not make it
            // fall (section 4.2.3).
            steps_down: (0.35, Duration::from_secs(5)),
            // Fitted: figure 6, it falls only when the capacity has returned.
            hesitates: Duration::from_secs(25),
            // Chosen.
            sound: Rate::from_kbps(32),
            // Published: sound is protected; the threshold is chosen.
            doubles_sound: 0.05,
            // Chosen: "smooth".
            frames_per_second: 25.0,
        }),
        // Published: strong swings (section 4.2.1); values chosen.
        swing: (0.3, Duration::from_secs(1)),
    }
}

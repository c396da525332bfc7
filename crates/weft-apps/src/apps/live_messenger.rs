//! Windows Live Messenger 14.0.8064.206, 2009 (Boyaci et al.).

use weft_units::{Duration, Rate};

use crate::family::{Behaviour, Model, SlowRecovery};

pub(crate) fn model() -> Model {
    Model {
        // Chosen: the figure is not in our copy; experiments also try 0.7 and 1.3 times
        // this value.
        highest: Rate::from_kbps(700),
        // Chosen: "falls drastically", with room for pictures.
        lowest: Rate::from_kbps(100),
        // Chosen.
        report_every: Duration::from_millis(250),
        behaviour: Behaviour::SlowRecovery(SlowRecovery {
            // Chosen.
            window: Duration::from_secs(2),
            // Fitted: the upload of section 4.2.2 does not make it fall; it recovers at
            // once in the function 10-50 of figure 6.
            light_heavy: (0.15, 0.4),
            // Published: section 4.2.1, up to 9 minutes; the quick recovery is chosen.
            back_in: (Duration::from_secs(10), Duration::from_secs(540)),
            // Published: section 4.2.1.
            sound: Rate::from_kbps(50),
            // Published: redundancy exists; the amount is chosen.
            sound_redundancy: Rate::from_kbps(25),
            pictures_back: Duration::from_secs(10),
            // Chosen: "low frame rate".
            frames_per_second: 15.0,
        }),
        // Chosen.
        swing: (0.05, Duration::from_millis(200)),
    }
}

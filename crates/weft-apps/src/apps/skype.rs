//! Skype 4.0.0.215, 2009 (Boyaci et al.).

use weft_units::{Duration, Rate};

use crate::family::{Behaviour, DelayBased, Model};

pub(crate) fn model() -> Model {
    Model {
        // Chosen: the figure is not in our copy; experiments also try 0.7 and 1.3 times
        // this value.
        highest: Rate::from_kbps(800),
        // Published: section 4.2.1, sound alone.
        lowest: Rate::from_kbps(16),
        // Chosen.
        report_every: Duration::from_millis(250),
        behaviour: Behaviour::DelayBased(DelayBased {
            // Published: section 4.2.4, almost at once, but gradually with 1 % loss;
            // values chosen.
            start: (Rate::from_kbps(100), Duration::from_secs(5)),
            cautious_start: (Duration::from_secs(10), 0.05),
            // Chosen.
            queue: (Duration::from_millis(60), Duration::from_millis(30)),
            falls_to: 0.85,
            // Fitted: figure 2, it follows each rise of 80 kbit/s within 10 s.
            rise: (0.15, 1.2),
            // Fitted: figure 10, 20 % more with 1 % loss.
            redundancy: (0.005, 0.2, Duration::from_secs(10)),
            // Chosen, and published: section 4.2.1.
            sound: (Rate::from_kbps(32), Rate::from_kbps(16)),
            // Published: De Cicco et al. 2011, at least 40 kbit/s of pictures.
            pictures_from: Rate::from_kbps(40),
            // Chosen; section 4.2.1: the call ends at its lowest rate.
            patience: Duration::from_secs(10),
            // Chosen: "low frame rate".
            frames_per_second: 15.0,
        }),
        // Chosen.
        swing: (0.05, Duration::from_millis(200)),
    }
}

//! WhatsApp, early 2023 (Grote et al.): its parameters are what that study saw,
//! where not said otherwise.

use weft_units::{Bytes, Duration, Rate};

use crate::family::{Behaviour, Model, Robust};

pub(crate) fn model() -> Model {
    Model {
        // Fitted: figure 2, the median alone.
        highest: Rate::from_kbps(450),
        // Chosen.
        lowest: Rate::from_kbps(100),
        // Source: patents US20190158437A1 and US10887641B2 let the receiver
        // tell the sender what came; the period is chosen.
        report_every: Duration::from_millis(200),
        behaviour: Behaviour::Robust(Robust {
            // Chosen: how the highest rate is split, 25 + 300 + 125.
            sound: Rate::from_kbps(25),
            redundancy: 125.0 / 300.0,
            // Chosen.
            frames_per_second: 15.0,
            // Chosen: figure 8's prose has 9 to 12 % of loss beside BBRv2; the
            // model has 2 %, whatever this is.
            arrives: (0.9, 2),
            // Chosen.
            falls_to: 0.95,
            // Chosen; the sign is that of its negative harm in figure 4.
            light_loss: (0.005, 0.1, Duration::from_secs(5)),
            added_redundancy: Rate::from_kbps(40),
            // Chosen: a burst that 187.5 kB hold and 10 kB do not.
            quiet: Duration::from_secs(5),
            burst: Bytes(16_000),
            // Fitted: section IV-A, within 60 s at its rate behind 187.5 kB.
            rise_after_whole: (Rate::from_kbps(30), Duration::from_secs(10)),
            // Chosen: with 5 to 50 kbit/s it is not back in 180 s behind 10 kB, as
            // what the burst loses makes it fall again.
            rise_after_part: (Rate::from_kbps(10), Duration::from_secs(20)),
        }),
        // Chosen: pictures before a still wall differ little.
        swing: (0.05, Duration::from_millis(200)),
    }
}

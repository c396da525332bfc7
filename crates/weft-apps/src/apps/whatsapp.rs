//! WhatsApp, early 2023 (Grote et al.): parameters without another source are from that
//! study.

use weft_units::{Bytes, Duration, Rate};

use crate::family::{Behaviour, Model, Robust};

pub(crate) fn model() -> Model {
    Model {
        // Fitted: figure 2, the median alone.
        highest: Rate::from_kbps(450),
        // Chosen.
        lowest: Rate::from_kbps(100),
        // Source: patents US20190158437A1 and US10887641B2, in which the receiver reports
        // arrivals to the sender; the period is chosen.
        report_every: Duration::from_millis(200),
        behaviour: Behaviour::Robust(Robust {
            // Chosen: the division of the highest rate, 25 + 300 + 125.
            sound: Rate::from_kbps(25),
            redundancy: 125.0 / 300.0,
            // Chosen.
            frames_per_second: 15.0,
            // Chosen: the text on figure 8 gives 9 to 12 % loss beside BBRv2; the model
            // gives 2 % for any value here.
            arrives: (0.9, 2),
            // Chosen.
            falls_to: 0.95,
            // Chosen; the sign is that of its negative harm in figure 4.
            light_loss: (0.005, 0.1, Duration::from_secs(5)),
            added_redundancy: Rate::from_kbps(40),
            // Chosen: a burst that fits into 187.5 kB but not into 10 kB.
            quiet: Duration::from_secs(5),
            burst: Bytes(16_000),
            // Fitted: section IV-A, back at its rate within 60 s behind 187.5 kB.
            rise_after_whole: (Rate::from_kbps(30), Duration::from_secs(10)),
            // Chosen: with 5 to 50 kbit/s it does not recover within 180 s behind 10 kB,
            // because the burst's losses make it fall again.
            rise_after_part: (Rate::from_kbps(10), Duration::from_secs(20)),
        }),
        // Chosen: pictures of a person before a plain wall differ little.
        swing: (0.05, Duration::from_millis(200)),
    }
}

//! Zoom 5.0, July to October 2020 (Sander et al.): its server, which sends the
//! downlink, and a client, which sends the uplink.

use weft_units::{Bytes, Duration, Rate};

use crate::family::{AtLowest, Behaviour, Model, Overshoot, Prober};

/// Parameters that differ between the two; the others are common to Zoom.
struct End {
    highest: Rate,
    gain: f64,
    probe_up: (f64, Duration),
    overshoot: Option<Overshoot>,
    grows: Option<(Duration, Rate, Rate)>,
}

pub(crate) fn backend() -> Model {
    model(End {
        // Fitted: figure 2, slightly below 4 Mbit/s.
        highest: Rate::from_kbps(3_900),
        // Chosen: nearly all of a free link.
        gain: 0.9,
        probe_up: (1.25, Duration::from_secs(2)),
        // Fitted: figure 2, four times the rate soon after it has fallen.
        overshoot: Some(Overshoot {
            gain: 4.0,
            after: Duration::from_secs(5),
            lasts: Duration::from_secs(5),
        }),
        grows: None,
    })
}

pub(crate) fn client() -> Model {
    model(End {
        // Fitted: figure 2.
        highest: Rate::from_kbps(2_500),
        // Chosen: "leaves a gap".
        gain: 0.85,
        probe_up: (1.1, Duration::from_secs(2)),
        overshoot: None,
        // Fitted: figure 2, 3.5 Mbit/s of the uplink when the rate falls.
        grows: Some((
            Duration::from_secs(60),
            Rate::from_kbps(20),
            Rate::from_kbps(3_500),
        )),
    })
}

fn model(end: End) -> Model {
    Model {
        highest: end.highest,
        // Derived: table 2, drop-tail: 44.4 packets of 890 bytes a second.
        lowest: Rate::from_kbps(316),
        // Chosen.
        report_every: Duration::from_millis(100),
        behaviour: Behaviour::Prober(Prober {
            // Fitted: figure 2, 30 s at the old rate.
            memory: Duration::from_secs(30),
            gain: end.gain,
            probe_up: end.probe_up,
            // Chosen.
            probe_down: (0.5, Duration::from_millis(500)),
            probe_every: Duration::from_secs(10),
            // Fitted: equality of 0.6 at 1 Mbit/s, 50 ms, 0.5 BDP, CUBIC first, downlink.
            counts_below_loss: 0.01,
            overshoot: end.overshoot,
            grows: end.grows,
            // Fitted: table 2, the columns drop-tail and FQ_CoDel; CoDel checks it.
            at_lowest: AtLowest {
                packets_per_second: 44.4,
                per_loss: 1.76,
                size: (860.0, 0.105, 1_650.0),
            },
            // Chosen.
            packet: Bytes(1_050),
        }),
        // The study sent noise, so that the encoder would not vary the rate.
        swing: (0.0, Duration::from_secs(1)),
    }
}

//! Properties that hold on every medium.

use super::ms;
use crate::medium::tests::property::{calls, holds};
use crate::{LteBandwidth, LteMotion, LteQuality, LteSignal, LteSpec, LteTerminal, MediumSpec};
use proptest::prelude::*;
use weft_units::Bytes;

fn cell() -> impl Strategy<Value = MediumSpec> {
    (0_usize..6, -5_i8..25, 1_500_u64..60_000, 0_u64..50).prop_map(
        move |(bandwidth, snr, queue, delay)| {
            let quality = LteQuality::Fading {
                snr: f64::from(snr),
                motion: LteMotion::ALL[bandwidth % 3],
            };
            let signal = |rank| LteSignal { quality, rank };
            let mut terminal = LteTerminal::new(signal(1), signal(2));
            terminal.queue = Bytes(queue);
            terminal.handovers = vec![ms(delay)];
            let mut spec = LteSpec::new(vec![terminal]);
            spec.bandwidth = LteBandwidth::ALL[bandwidth];
            spec.drx = (delay > 10).then(|| ms(delay));
            spec.delay = ms(delay);
            MediumSpec::lte(spec).expect("a cell")
        },
    )
}

proptest! {
    #[test]
    fn a_cell_is_a_medium(spec in cell(), calls in calls()) {
        holds(&spec, &calls)?;
    }
}

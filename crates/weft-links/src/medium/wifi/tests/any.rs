//! Properties that hold on every medium.

use crate::medium::tests::property::{calls, holds};
use crate::{MediumSpec, WifiSpec, WifiStandard, WifiStation};
use proptest::prelude::*;
use weft_units::{Bytes, Duration};

fn cell() -> impl Strategy<Value = MediumSpec> {
    (0_usize..3, 0_usize..4, 1_500_u64..60_000, 0_u64..50).prop_map(
        move |(standard, rate, queue, delay)| {
            let standard = WifiStandard::ALL[standard];
            let mut station = WifiStation::new(standard.rates()[rate]);
            station.queue = Bytes(queue);
            let mut spec = WifiSpec::new(standard, vec![station]);
            spec.delay = Duration::from_millis(delay);
            MediumSpec::wifi(spec).expect("a cell")
        },
    )
}

proptest! {
    #[test]
    fn a_cell_is_a_medium(spec in cell(), calls in calls()) {
        holds(&spec, &calls)?;
    }
}

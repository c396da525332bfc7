//! Peak rates and transport blocks against 3GPP TS 36.213.

use super::super::rates::Cqi;
use super::super::spec::LteBandwidth;
use super::{Towards, World, assert_near, cell};

#[test]
fn blocks_are_those_of_the_standards_table() {
    // Table 7.1.7.2.1-1: I_TBS 26, 24, 16 and 0 at these widths, in bits.
    for (cqi, blocks, bits) in [
        (15, 25, 18_336),
        (15, 50, 36_696),
        (15, 75, 55_056),
        (15, 100, 75_376),
        (14, 25, 15_264),
        (10, 25, 7_992),
        (12, 24, 11_064),
        (1, 6, 152),
        (1, 1, 16),
    ] {
        let size = Cqi::new(cqi).unwrap().block(blocks);
        assert_eq!(size * 8, bits, "CQI {cqi}, {blocks} blocks");
    }
    let cqi = Cqi::new(10).unwrap();
    for bytes in [1, 100, 700, 999, 5_000] {
        let blocks = cqi.blocks_for(bytes, 25);
        assert!(cqi.block(blocks) >= bytes || blocks == 25);
        assert!(blocks == 1 || cqi.block(blocks - 1) < bytes, "{bytes}");
    }
    assert_eq!(cqi.block(0), 0);
}

#[test]
fn a_better_signal_has_a_higher_cqi_and_each_begins_where_one_in_ten_fails() {
    assert_eq!(Cqi::of_snr(-7.0), None);
    for number in 1..=15 {
        let cqi = Cqi::new(number).unwrap();
        assert_eq!(Cqi::of_snr(cqi.threshold()), Some(cqi));
        assert_ne!(Cqi::of_snr(cqi.threshold() - 0.01), Some(cqi));
    }
    assert_eq!((Cqi::new(0), Cqi::new(16)), (None, None));
}

/// Peak rates with one and with two parallel transport blocks, without headers.
#[test]
fn peak_rates_are_within_two_percent_of_the_tables() {
    for (bandwidth, mbps) in [
        (LteBandwidth::Mhz1_4, 4.392),
        (LteBandwidth::Mhz3, 11.064),
        (LteBandwidth::Mhz5, 18.336),
        (LteBandwidth::Mhz10, 36.696),
        (LteBandwidth::Mhz15, 55.056),
        (LteBandwidth::Mhz20, 75.376),
    ] {
        for rank in 1..=2 {
            for towards in [Towards::Terminals, Towards::BaseStation] {
                let mut spec = cell(&[15], rank);
                spec.bandwidth = bandwidth;
                let mut world = World::new(spec, 1);
                let rates = world.saturate(towards, 2, 27_000);
                let what = format!("{} rank {rank} {towards:?}", bandwidth.name());
                assert_near(&what, rates[0], mbps * f64::from(rank), 0.02);
            }
        }
    }
}

/// Cells of the GCC thesis, by their locations: the IP rates of its TCP flows and calls,
/// section by section (27.7 to 28.1 and 13.9 to 15.2 down, 9.7 to 11.0 up).
#[test]
fn a_cell_of_five_megahertz_has_the_capacity_that_the_thesis_measured() {
    for (towards, cqi, rank, low, high) in [
        (Towards::Terminals, 14, 2, 26.5, 28.1),
        (Towards::Terminals, 10, 2, 13.5, 15.2),
        (Towards::BaseStation, 12, 1, 9.7, 11.0),
    ] {
        let mut spec = cell(&[cqi], rank);
        spec.bandwidth = LteBandwidth::Mhz5;
        spec.errors = 0.1;
        let mut world = World::new(spec, 1);
        let rate = world.saturate(towards, 10, 25_000)[0];
        println!("CQI {cqi}, rank {rank}, {towards:?}: {rate:.2} Mbit/s");
        assert!((low..high).contains(&rate), "{rate}");
    }
}

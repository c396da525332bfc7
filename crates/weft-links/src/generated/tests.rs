use super::{DirectionCorrelation, Generated, GeneratedRates, Motion, Network, Scale, Seeds};
use weft_units::{Rate, Rng};

fn all() -> impl Iterator<Item = Generated> {
    let networks = |motion| {
        Network::ALL.into_iter().map(move |network| Generated {
            motion,
            network,
            ways: DirectionCorrelation::AsMeasured,
            scale: Scale::PROFILE,
            seeds: None,
        })
    };
    Motion::ALL.into_iter().flat_map(networks)
}

fn rates(generated: Generated, seed: u64) -> Vec<Rate> {
    generated.rates(&Rng::new(seed)).take(3_000).collect()
}

#[test]
fn the_text_form_reads_back_the_same() {
    for generated in all() {
        for ways in [
            DirectionCorrelation::AsMeasured,
            DirectionCorrelation::Together,
            DirectionCorrelation::Apart,
        ] {
            for seed in [None, Some(0), Some(u64::MAX)] {
                let seeds = seed.map(|both| Seeds { both, own: both });
                for (rate, dips) in [(100, 100), (35, 100), (100, 1000), (1, 250)] {
                    let generated = Generated {
                        ways,
                        scale: Scale { rate, dips },
                        seeds,
                        ..generated
                    };
                    assert_eq!(generated.to_string().parse(), Ok(generated));
                }
            }
        }
    }
    for text in [
        "walking/lte",
        "generated:walking",
        "generated:flying/lte",
        "generated:walking/5g",
        "generated:walking/lte/x",
        "generated:walking/lte/1/2",
        "generated:walking/lte/7/apart",
        "generated:walking/lte/together/apart",
        "generated:walking/lte/rate=0%",
        "generated:walking/lte/rate=50",
        "generated:walking/lte/dips=1001%",
        "generated:walking/lte/depth=50%",
        "generated:walking/lte/7/rate=50%",
    ] {
        let message = text.parse::<Generated>().unwrap_err().to_string();
        assert!(message.contains(text) && message.contains("generated:walking/lte/7"));
    }
}

#[test]
fn a_seed_gives_the_same_capacity_and_another_one_another() {
    for generated in all() {
        assert_eq!(rates(generated, 1), rates(generated, 1));
        assert_ne!(rates(generated, 1), rates(generated, 2));
        let fixed = Generated {
            seeds: Some(Seeds { both: 1, own: 1 }),
            ..generated
        };
        assert_eq!(rates(fixed, 5), rates(generated, 1));
    }
}

#[test]
fn half_the_capacity_is_half_in_every_slot_and_longer_dips_take_more() {
    for generated in all() {
        let scaled = |rate, dips| {
            let scale = Scale { rate, dips };
            let generated = Generated { scale, ..generated };
            (rates(generated, 3), generated.typical())
        };
        let (whole, typical) = scaled(100, 100);
        let (half, half_typical) = scaled(50, 100);
        assert_eq!(half_typical, typical.mul_f64(0.5));
        for (whole, half) in whole.iter().zip(half) {
            let missed = whole.mul_f64(0.5).as_mbps() - half.as_mbps();
            assert!(missed.abs() < 1e-5, "{generated}");
        }
    }
    let outages = |dips| {
        let generated: Generated = format!("generated:driving/wifi/dips={dips}%")
            .parse()
            .unwrap();
        let slots = (0..20).flat_map(|seed| rates(generated, seed));
        slots.filter(|rate| *rate == Rate::ZERO).count() as f64
    };
    // 4 s of 14 + 4 + ramps become 8 s of 18 + 4 + ramps.
    let share = outages(200) / outages(100);
    assert!((1.4..2.1).contains(&share), "{share}");
}

#[test]
fn capacity_stays_within_its_ceiling() {
    for generated in all() {
        for seed in 0..20 {
            let highest = rates(generated, seed).into_iter().max().unwrap_or_default();
            let ceiling = generated.typical().mul_f64(4.0);
            assert!(highest <= ceiling, "{generated}: {highest:?}");
        }
    }
}

#[test]
fn only_moving_stations_lose_coverage() {
    for generated in all() {
        let slots = (0..20).flat_map(|seed| rates(generated, seed));
        let out = slots.filter(|r| *r == Rate::ZERO).count();
        // Seconds without any capacity in 6,000.
        let seconds = out as f64 * GeneratedRates::SLOT.as_secs_f64();
        let expected = match (generated.motion, generated.network) {
            (Motion::Stationary, _) => 0.0..=0.0,
            (Motion::Walking, Network::Wifi) => 300.0..=1_500.0,
            (Motion::Driving, Network::Wifi) => 600.0..=2_400.0,
            _ => 20.0..=400.0,
        };
        assert!(expected.contains(&seconds), "{generated}: {seconds} s");
    }
}

/// Returns the capacities of both directions of a link with this seed.
fn both_ways(generated: Generated, seed: u64) -> [Vec<Rate>; 2] {
    ["forward", "backward"].map(|direction| {
        let mut generated = generated;
        let link = Rng::new(seed);
        generated.seed_by(&link, &link, direction);
        rates(generated, 0)
    })
}

#[test]
fn both_directions_are_as_similar_as_configured() {
    for generated in all() {
        let told = |ways| both_ways(Generated { ways, ..generated }, 3);
        let [there, back] = told(DirectionCorrelation::Together);
        assert_eq!(there, back, "{generated}");
        let [own_there, own_back] = told(DirectionCorrelation::Apart);
        assert_ne!(own_there, own_back, "{generated}");
        let [there, back] = told(DirectionCorrelation::AsMeasured);
        assert_eq!(there == back, generated.network == Network::Wifi);
        assert_ne!(there, own_there, "{generated}");
    }
}

#[test]
fn a_station_out_of_coverage_has_none_in_either_direction() {
    for network in [Network::Lte, Network::Lte2] {
        for (ways, expected) in [
            (DirectionCorrelation::AsMeasured, 1.0..=1.0),
            // Coincidence: one slot in 100 to 200 is an outage.
            (DirectionCorrelation::Apart, 0.0..=0.1),
        ] {
            let generated = Generated {
                motion: Motion::Walking,
                network,
                ways,
                scale: Scale::PROFILE,
                seeds: None,
            };
            let (mut out, mut both) = (0, 0);
            for seed in 0..20 {
                let [there, back] = both_ways(generated, seed);
                for (there, back) in there.iter().zip(&back) {
                    out += u32::from(*there == Rate::ZERO);
                    both += u32::from((*there, *back) == (Rate::ZERO, Rate::ZERO));
                }
            }
            let share = f64::from(both) / f64::from(out);
            assert!(
                out > 100 && expected.contains(&share),
                "{network:?} {ways:?}: {share}"
            );
        }
    }
}

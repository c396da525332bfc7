use super::{Generated, GeneratedRates, Motion, Network};
use weft_units::{Rate, Rng};

fn all() -> impl Iterator<Item = Generated> {
    let networks = |motion| {
        Network::ALL.into_iter().map(move |network| Generated {
            motion,
            network,
            seed: None,
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
        for seed in [None, Some(0), Some(u64::MAX)] {
            let generated = Generated { seed, ..generated };
            assert_eq!(generated.to_string().parse(), Ok(generated));
        }
    }
    for text in [
        "walking/lte",
        "generated:walking",
        "generated:flying/lte",
        "generated:walking/5g",
        "generated:walking/lte/x",
        "generated:walking/lte/1/2",
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
            seed: Some(1),
            ..generated
        };
        assert_eq!(rates(fixed, 5), rates(generated, 1));
    }
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
fn who_moves_loses_coverage_and_who_stays_does_not() {
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

use super::*;

fn run(samples: &[f64]) -> Percentiles {
    Percentiles::of(samples.to_vec()).unwrap()
}

fn at(all: &Percentiles, percent: usize) -> f64 {
    all.values[percent]
}

#[test]
fn one_run_keeps_its_percentiles() {
    let samples: Vec<f64> = (0..=200).map(|n| f64::from(n * n)).collect();
    let own = run(&samples);
    // Definition 7 of Hyndman and Fan: the 190th of 0 to 200.
    assert_eq!(at(&own, 95), 190.0 * 190.0);
    let together = Percentiles::together(std::slice::from_ref(&own)).unwrap();
    assert_eq!(together.samples, 201);
    for (own, together) in own.values.iter().zip(&together.values) {
        assert!(
            (own - together).abs() < 1e-6 * own.max(1.0),
            "{own} {together}"
        );
    }
    assert_eq!(Percentiles::of(Vec::new()), None);
    assert_eq!(Percentiles::together(&[]), None);
}

#[test]
fn several_runs_count_by_their_samples() {
    // A quarter of all samples is 10, the others 20.
    let (few, many) = (run(&[10.0; 50]), run(&[20.0; 150]));
    for order in [[few.clone(), many.clone()], [many, few]] {
        let together = Percentiles::together(&order).unwrap();
        assert_eq!(together.samples, 200);
        assert_eq!((at(&together, 0), at(&together, 24)), (10.0, 10.0));
        assert_eq!((at(&together, 27), at(&together, 100)), (20.0, 20.0));
    }
    // Two halves of 0 to 100 equal the whole, except for the spacing of the points.
    let half = |from: u32| run(&(from..=from + 50).map(f64::from).collect::<Vec<_>>());
    let whole = Percentiles::together(&[half(0), half(50)]).unwrap();
    for percent in [10, 50, 90] {
        assert!(
            (at(&whole, percent) - percent as f64).abs() < 1.0,
            "{percent}"
        );
    }
}

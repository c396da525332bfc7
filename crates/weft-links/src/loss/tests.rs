use super::{GilbertElliott, Losses};
use crate::DropReason;
use weft_units::Rng;

const PACKETS: usize = 200_000;

fn losses(model: GilbertElliott, seed: u64) -> Vec<bool> {
    let mut losses = Losses::new(0.0, Some(model), &Rng::new(seed));
    (0..PACKETS)
        .map(|_| losses.judge() == Some(DropReason::BurstLoss))
        .collect()
}

fn share(lost: &[bool]) -> f64 {
    lost.iter().filter(|l| **l).count() as f64 / lost.len() as f64
}

/// Returns the mean number of consecutive losses.
fn mean_burst(lost: &[bool]) -> f64 {
    let bursts = lost.chunk_by(|a, b| a == b).filter(|run| run[0]);
    let lengths: Vec<usize> = bursts.map(<[bool]>::len).collect();
    lengths.iter().sum::<usize>() as f64 / lengths.len() as f64
}

#[test]
fn the_model_of_bursts_has_the_probabilities_of_its_arithmetic() {
    // Bursts of 5: to_good = 1/5. 2 % lost: to_bad = 1/5 x 2/98.
    let model = GilbertElliott::of_bursts(0.02, 5.0).unwrap();
    assert!((model.to_good - 0.2).abs() < 1e-12);
    assert!((model.to_bad - 0.2 * 2.0 / 98.0).abs() < 1e-12);
    assert!((model.mean_loss() - 0.02).abs() < 1e-12);
    // Half of all packets in bursts of one: they alternate. Bursts of one
    // cannot lose more.
    let turns = GilbertElliott::of_bursts(0.5, 1.0).unwrap();
    assert_eq!((turns.to_bad, turns.to_good), (1.0, 1.0));
    assert_eq!(GilbertElliott::of_bursts(0.6, 1.0), None);
    assert_eq!(GilbertElliott::of_bursts(0.1, 0.5), None);
    assert_eq!(GilbertElliott::of_bursts(1.0, 5.0), None);
}

#[test]
fn bursts_have_the_share_and_length_that_were_asked_for() {
    let model = GilbertElliott::of_bursts(0.02, 5.0).unwrap();
    for seed in 0..5 {
        let lost = losses(model, seed);
        // 800 bursts with a deviation of about their mean each, so 5 % in their number
        // and length; the bounds are four deviations with both combined.
        let (share, length) = (share(&lost), mean_burst(&lost));
        assert!((0.0155..0.0245).contains(&share), "{share}");
        assert!((4.3..5.7).contains(&length), "{length}");
    }
}

#[test]
fn the_stationary_loss_of_the_full_model_is_that_of_its_chain() {
    // Bad for 1 / (1 + 4) of the packets: 0.2 x 0.5 + 0.8 x 0.01 = 0.108.
    let model = GilbertElliott {
        to_bad: 0.01,
        to_good: 0.04,
        bad_loss: 0.5,
        good_loss: 0.01,
    };
    assert!((model.mean_loss() - 0.108).abs() < 1e-12);
    let shares: Vec<f64> = (0..10).map(|seed| share(&losses(model, seed))).collect();
    let mean = shares.iter().sum::<f64>() / 10.0;
    // 2,000,000 packets with 16,000 bad periods give a deviation of about 1 %; the bounds
    // are four times that.
    assert!((0.1037..0.1123).contains(&mean), "{mean}");
}

#[test]
fn a_link_begins_as_if_it_had_been_running() {
    let model = GilbertElliott::of_bursts(0.3, 1_000.0).unwrap();
    let bad = (0..1_000).filter(|seed| {
        let mut losses = Losses::new(0.0, Some(model), &Rng::new(*seed));
        losses.judge().is_some()
    });
    // 300 of 1,000, deviation 14.5.
    let bad = bad.count();
    assert!((242..358).contains(&bad), "{bad}");
}

#[test]
fn random_losses_stand_beside_bursts_and_draw_for_themselves() {
    let run = |bursts| {
        let mut losses = Losses::new(0.1, bursts, &Rng::new(1));
        let reasons = (0..10_000).map(|_| losses.judge());
        reasons.collect::<Vec<_>>()
    };
    let alone = run(None);
    let both = run(GilbertElliott::of_bursts(0.2, 10.0));
    let mut bursts = 0;
    for (alone, both) in alone.iter().zip(&both) {
        match both {
            Some(DropReason::BurstLoss) => bursts += 1,
            other => assert_eq!(other, alone),
        }
    }
    assert!((1_000..3_000).contains(&bursts), "{bursts}");
}

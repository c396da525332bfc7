use super::*;

fn channel(inherent_loss: f64, kbps: u64) -> Channel {
    Channel {
        inherent_loss,
        bandwidth: Rate::from_kbps(kbps),
    }
}

fn observations(lost: u32, received: u32, kbps: u64) -> Observations {
    let mut observations = Observations::new();
    for _ in 0..30 {
        observations.push(Observation {
            received,
            lost,
            sending_rate: Rate::from_kbps(kbps),
            last_sent: Instant::ZERO,
        });
    }
    observations
}

#[test]
fn excess_rate_is_lost_on_top_of_the_inherent_loss() {
    // A fifth of the rate exceeds the bandwidth: 0.1 + 0.9 * 0.2.
    let p = loss_probability(&channel(0.1, 800), Rate::from_kbps(1000));
    assert!((p - 0.28).abs() < 1e-9);
    let p = loss_probability(&channel(0.1, 800), Rate::from_kbps(700));
    assert!((p - 0.1).abs() < 1e-9);
}

#[test]
fn the_fit_finds_the_inherent_loss_within_its_bound() {
    let few = observations(2, 98, 1000);
    let mut fitted = channel(0.01, 2000);
    for _ in 0..50 {
        few.fit_inherent_loss(&mut fitted);
    }
    assert!((fitted.inherent_loss - 0.02).abs() < 1e-4);
    // At 2 Mbps no more than 0.05 + 75 / 2000 can be inherent.
    let many = observations(30, 70, 1000);
    for _ in 0..50 {
        many.fit_inherent_loss(&mut fitted);
    }
    assert!((fitted.inherent_loss - 0.0875).abs() < 1e-9);
}

#[test]
fn the_likelier_bandwidth_wins() {
    // Half of 1000 kbps is lost: 500 kbps explain it, 1000 kbps do not.
    let half = observations(50, 50, 1000);
    assert!(half.objective(&channel(0.01, 500)) > half.objective(&channel(0.01, 1000)));
    // Nothing is lost: more bandwidth is preferred.
    let none = observations(0, 100, 1000);
    assert!(none.objective(&channel(0.01, 2000)) > none.objective(&channel(0.01, 1500)));
}

#[test]
fn the_average_weighs_recent_observations_more() {
    let mut observations = observations(10, 90, 1000);
    assert!((observations.average_loss() - 0.1).abs() < 1e-9);
    observations.push(Observation {
        received: 100,
        lost: 0,
        sending_rate: Rate::from_kbps(1000),
        last_sent: Instant::ZERO,
    });
    // Weights 0.9^0..0.9^19 sum to 8.784; the newest has 1.
    let expected = 0.1 * (1.0 - 1.0 / 8.784_233_4);
    assert!((observations.average_loss() - expected).abs() < 1e-6);
}

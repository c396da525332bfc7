use super::{Capacity, Player, Schedule};
use crate::ScheduleError;
use weft_units::{Duration, Instant, Rate, Rng};

fn at_ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn steps() -> Vec<(Duration, Rate)> {
    vec![
        (Duration::ZERO, Rate::from_mbps(2)),
        (Duration::from_millis(100), Rate::from_mbps(3)),
        (Duration::from_millis(150), Rate::ZERO),
    ]
}

#[test]
fn a_schedule_gives_the_rate_and_the_next_step() {
    let schedule = Schedule::new(steps()).unwrap();
    let next = Some((at_ms(100), Rate::from_mbps(3)));
    assert_eq!(schedule.at(at_ms(99)), (Rate::from_mbps(2), next));
    let next = Some((at_ms(150), Rate::ZERO));
    assert_eq!(schedule.at(at_ms(100)), (Rate::from_mbps(3), next));
    assert_eq!(schedule.at(at_ms(9_000)), (Rate::ZERO, None));
}

#[test]
fn a_repeated_schedule_begins_again_after_its_period() {
    let schedule = Schedule::new(steps())
        .unwrap()
        .repeat_every(Duration::from_millis(200))
        .unwrap();
    let next = Some((at_ms(1_200), Rate::from_mbps(2)));
    assert_eq!(schedule.at(at_ms(1_199)), (Rate::ZERO, next));
    let next = Some((at_ms(1_300), Rate::from_mbps(3)));
    assert_eq!(schedule.at(at_ms(1_200)), (Rate::from_mbps(2), next));
}

#[test]
fn a_schedule_without_meaning_is_refused() {
    assert_eq!(Schedule::new(vec![]), Err(ScheduleError::NoBeginning));
    let late = Schedule::new(steps().split_off(1));
    assert_eq!(late, Err(ScheduleError::NoBeginning));
    let mut swapped = steps();
    swapped.swap(1, 2);
    let swapped = Schedule::new(swapped);
    assert_eq!(swapped, Err(ScheduleError::NotIncreasing(2)));
    let short = Schedule::new(steps())
        .unwrap()
        .repeat_every(Duration::from_millis(150));
    assert_eq!(short, Err(ScheduleError::PeriodTooShort));
}

#[test]
fn the_highest_rate_is_that_of_the_best_step() {
    let capacity = Capacity::Schedule(Schedule::new(steps()).unwrap());
    assert_eq!(capacity.reference(), Rate::from_mbps(3));
}

#[test]
fn a_player_gives_the_steps_that_the_schedule_has() {
    let once = Schedule::new(steps()).unwrap();
    let again = once.clone().repeat_every(Duration::from_millis(200));
    for schedule in [once, again.unwrap()] {
        let capacity = Capacity::Schedule(schedule.clone());
        let (mut player, mut rate) = Player::new(&capacity, &Rng::new(0));
        let mut at = Instant::ZERO;
        for _ in 0..10 {
            let next = player.next();
            assert_eq!(schedule.at(at), (rate, next));
            let Some(step) = next else { break };
            (at, rate) = step;
        }
    }
}

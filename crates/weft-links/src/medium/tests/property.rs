//! Properties that hold on a medium of any kind; each kind's tests pass its
//! specification.

use crate::medium::{ChannelId, Medium, MediumSpec, StationId};
use crate::{Departure, ServiceTime};
use proptest::prelude::*;
use weft_units::{Bytes, Duration, Instant, Rng};

/// Call for a station.
#[derive(Clone, Debug)]
pub enum Call {
    Enqueue(u64),
    Cut,
    Restore,
    Delay(u64),
    Service,
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        12 => (0_u64..3_000).prop_map(Call::Enqueue),
        1 => Just(Call::Cut),
        2 => Just(Call::Restore),
        1 => (0_u64..100).prop_map(Call::Delay),
        2 => Just(Call::Service),
    ]
}

/// Calls for a medium: the microseconds since the previous call, one of the
/// first two stations, and the call.
pub fn calls() -> impl Strategy<Value = Vec<(u64, u16, Call)>> {
    prop::collection::vec((0_u64..20_000, 0_u16..2, call()), 1..200)
}

/// Checks that every packet ends once, in order and in time, and that the
/// service times add up to the elapsed time.
///
/// # Errors
/// The first violation.
pub fn holds(spec: &MediumSpec, calls: &[(u64, u16, Call)]) -> Result<(), TestCaseError> {
    let mut medium = Medium::new(spec, &Rng::new(1));
    let (mut now, mut next) = (Instant::ZERO, 0_u32);
    let mut latest = [None; 2];
    let mut service = [ServiceTime::default(); 2];
    for (wait_us, station, call) in calls {
        let until = now + Duration::from_micros(*wait_us);
        while let Some((channel, at)) = first(&medium).filter(|(_, at)| *at <= until) {
            now = now.max(at);
            while let Some((from, departure)) = medium.poll(now, channel) {
                if let Departure::Delivered { packet, at, .. } = departure {
                    prop_assert_eq!(at, now, "what arrives is there at its deadline");
                    let before = latest[usize::from(from.0)].replace(packet);
                    prop_assert!(before < Some(packet), "the order of a station");
                }
            }
        }
        now = until;
        let id = StationId(*station);
        match call {
            Call::Enqueue(size) => {
                medium.enqueue(now, id, other(id), Bytes(*size), next);
                next += 1;
            }
            Call::Cut => medium.cut(now, id),
            Call::Restore => medium.restore(now, id),
            Call::Delay(n) => medium.set_delay(now, id, Duration::from_millis(*n)),
            Call::Service => {}
        }
        for id in spec.stations() {
            let counters = *medium.counters(id);
            let ended = counters.delivered + counters.dropped();
            prop_assert_eq!(counters.sent, ended + medium.in_flight(id));
            let earlier = service[usize::from(id.0)];
            if matches!(call, Call::Service) {
                let time = medium.service_time(now, id);
                prop_assert_eq!(time.elapsed(), now.saturating_since(Instant::ZERO));
                let more = [
                    (earlier.used, time.used),
                    (earlier.idle, time.idle),
                    (earlier.blocked, time.blocked),
                ];
                prop_assert!(more.iter().all(|(before, after)| before <= after));
                service[usize::from(id.0)] = time;
            }
        }
        let [first, second] = service;
        if medium.channel_of(StationId(0)) == medium.channel_of(StationId(1)) {
            prop_assert!(first.used <= second.blocked && second.used <= first.blocked);
        }
    }
    let sent: u64 = spec
        .stations()
        .map(|id| medium.counters(id).sent.packets)
        .sum();
    prop_assert_eq!(sent, u64::from(next));
    Ok(())
}

fn other(station: StationId) -> StationId {
    StationId(1 - station.0)
}

/// Returns the channel with the earliest deadline, and the deadline.
pub fn first<P>(medium: &Medium<P>) -> Option<(ChannelId, Instant)> {
    let deadlines = medium.channels();
    let deadlines = deadlines.filter_map(|c| Some((c, medium.poll_timeout(c)?.at)));
    deadlines.min_by_key(|(_, at)| *at)
}

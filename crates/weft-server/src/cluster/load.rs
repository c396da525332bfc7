//! Load of this server's media threads, which determines where newcomers go.

use crate::hub::Hub;
use crate::media_plane::Destination;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval, timeout};

/// Interval of measurements, the same as that of the load itself.
const INTERVAL: Duration = Duration::from_secs(1);

/// Measures the load until the task is aborted.
pub(super) async fn measure(hub: Arc<Hub>) {
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let busy = timeout(INTERVAL, busy(&hub)).await.ok().flatten();
        hub.set_load(busy.as_deref());
    }
}

/// Returns the thousandths of a processor that each media thread uses; `None` if one has
/// ended.
async fn busy(hub: &Hub) -> Option<Vec<u64>> {
    let media = hub.media();
    let ask = |plane| media.ask(Destination::Plane(plane), |media| media.stats());
    let mut all = Vec::new();
    for asked in (0..media.planes()).map(ask).collect::<Vec<_>>() {
        all.push(asked.await.ok()?.busy);
    }
    Some(all)
}

use crate::{ProbeCluster, ProbeId};
use weft_units::{Bytes, Duration, Instant, Rate};

/// Share of a cluster that must be reported: `kMinReceivedProbesRatio`,
/// `kMinReceivedBytesRatio` (libwebrtc `probe_bitrate_estimator.cc`).
const MIN_RECEIVED: f64 = 0.8;
/// Factor between the rates of arrival and sending above which arrivals are a compressed
/// burst and not a capacity: `kMaxValidRatio` (ibid.).
const MAX_RATIO: f64 = 2.0;
/// Factor between the rates of arrival and sending below which arrivals show the
/// capacity: `kMinRatioForUnsaturatedLink` (ibid.). The estimate stays slightly below the
/// capacity: `kTargetUtilizationFraction` (ibid.).
const SATURATED: f64 = 0.9;
const UTILIZATION: f64 = 0.95;
/// `kMaxProbeInterval` (ibid.).
const MAX_INTERVAL: Duration = Duration::from_secs(1);

/// Most clusters in progress; there are rarely more than two.
const CLUSTERS: usize = 8;

/// Measures the rate at which the packets of a probe cluster arrived.
#[derive(Debug, Default)]
pub(super) struct ProbeEstimator {
    clusters: [Option<Cluster>; CLUSTERS],
    next: usize,
    estimate: Option<Rate>,
}

#[derive(Clone, Copy, Debug)]
struct Cluster {
    id: ProbeId,
    min_packets: u32,
    min_size: Bytes,
    packets: u32,
    size: Bytes,
    span: Option<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    first_sent: Instant,
    last_sent: Instant,
    last_sent_size: Bytes,
    first_arrival: Instant,
    first_arrival_size: Bytes,
    last_arrival: Instant,
}

impl ProbeEstimator {
    /// Registers a cluster that will be sent.
    pub(super) fn expect(&mut self, cluster: &ProbeCluster) {
        self.clusters[self.next] = Some(Cluster {
            id: cluster.id,
            min_packets: (f64::from(cluster.packets) * MIN_RECEIVED) as u32,
            min_size: Bytes((cluster.bytes.0 as f64 * MIN_RECEIVED) as u64),
            packets: 0,
            size: Bytes::ZERO,
            span: None,
        });
        self.next = (self.next + 1) % CLUSTERS;
    }

    /// Records a delivered packet of a cluster.
    pub(super) fn on_packet(&mut self, id: ProbeId, sent: Instant, arrival: Instant, size: Bytes) {
        let known = self.clusters.iter_mut().flatten().find(|c| c.id == id);
        let Some(cluster) = known else {
            return; // given up long ago
        };
        cluster.add(sent, arrival, size);
        if cluster.packets >= cluster.min_packets && cluster.size >= cluster.min_size {
            self.estimate = cluster.rate().or(self.estimate);
        }
    }

    /// Takes the newest result.
    pub(super) fn take(&mut self) -> Option<Rate> {
        self.estimate.take()
    }
}

impl Cluster {
    fn add(&mut self, sent: Instant, arrival: Instant, size: Bytes) {
        self.packets = self.packets.saturating_add(1);
        self.size += size;
        let span = self.span.get_or_insert(Span {
            first_sent: sent,
            last_sent: sent,
            last_sent_size: size,
            first_arrival: arrival,
            first_arrival_size: size,
            last_arrival: arrival,
        });
        span.first_sent = span.first_sent.min(sent);
        if sent > span.last_sent {
            span.last_sent = sent;
            span.last_sent_size = size;
        }
        if arrival < span.first_arrival {
            span.first_arrival = arrival;
            span.first_arrival_size = size;
        }
        span.last_arrival = span.last_arrival.max(arrival);
    }

    fn rate(&self) -> Option<Rate> {
        let span = self.span?;
        let valid = Duration::from_nanos(1)..=MAX_INTERVAL;
        let sent = span.last_sent.saturating_since(span.first_sent);
        let received = span.last_arrival.saturating_since(span.first_arrival);
        if !valid.contains(&sent) || !valid.contains(&received) {
            return None;
        }
        // An interval excludes the packet at its open end.
        let send_rate = self.size.saturating_sub(span.last_sent_size) / sent;
        let receive_rate = self.size.saturating_sub(span.first_arrival_size) / received;
        if receive_rate > send_rate.mul_f64(MAX_RATIO) {
            return None;
        }
        if receive_rate < send_rate.mul_f64(SATURATED) {
            return Some(receive_rate.mul_f64(UTILIZATION));
        }
        Some(send_rate.min(receive_rate))
    }
}

#[cfg(test)]
mod tests;

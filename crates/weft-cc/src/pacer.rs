use crate::{ProbeCluster, ProbeId};
use std::collections::VecDeque;
use weft_units::{Bytes, Duration, Instant, Rate};

/// Ratio of pacing rate to target rate: libwebrtc `kDefaultPaceMultiplier`
/// (`goog_cc_network_control.cc`).
pub(crate) const PACING_FACTOR: f64 = 2.5;

/// Time after which a probe that has not sent its packets is abandoned: libwebrtc
/// `kProbeClusterTimeout` (`bitrate_prober.cc`).
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest time that unreported packets delay others. Chosen by us: three pictures.
/// Without a limit, a path whose target is below the rate of its copies would be blocked
/// for seconds.
const MOST_BEHIND: Duration = Duration::from_millis(100);

/// Most waiting clusters; new ones replace the oldest. A controller requests at most two
/// at once.
const MAX_PROBES: usize = 4;

/// Lowest pacing rate, so that a path never stops sending.
const MIN_RATE: Rate = Rate::from_kbps(5);

/// Leaky bucket with a small burst: determines when the next packet may leave.
///
/// The caller owns the packets. It calls [`Pacer::next_send`], sends when the time has
/// come, marks the packet with [`Pacer::probe`] and reports it with [`Pacer::on_sent`].
/// During a probe cluster, the cluster's rate applies, and the caller sends padding if it
/// has nothing else to send.
#[derive(Debug)]
pub struct Pacer {
    rate: Rate,
    /// Burst, as a time at the rate.
    burst: Duration,
    /// Time at which all sent packets would have left at exactly the rate.
    drained_at: Instant,
    probes: VecDeque<Probe>,
}

#[derive(Debug)]
struct Probe {
    id: ProbeId,
    rate: Rate,
    packets_left: u32,
    bytes_left: Bytes,
    expires_at: Instant,
    started: bool,
}

impl Pacer {
    /// Burst of a new pacer, as a time at the rate: libwebrtc's pacer ran every 5 ms
    /// (`PacedSender`), and the receiving side groups bursts of this length
    /// (draft-ietf-rmcat-gcc-02 section 5.2).
    pub const BURST: Duration = Duration::from_millis(5);

    /// Creates a pacer without debt.
    #[must_use]
    pub fn new(rate: Rate) -> Pacer {
        Pacer {
            rate: rate.max(MIN_RATE),
            burst: Pacer::BURST,
            drained_at: Instant::ZERO,
            probes: VecDeque::with_capacity(MAX_PROBES),
        }
    }

    /// Sets the rate from `now` on; the new rate also applies to the remaining debt.
    pub fn set_rate(&mut self, now: Instant, rate: Rate) {
        let before = self.rate();
        self.rate = rate.max(MIN_RATE);
        self.rescale(now, before);
    }

    /// Sets the burst, as a time at the rate.
    pub fn set_burst(&mut self, burst: Duration) {
        self.burst = burst;
    }

    /// Returns the current rate: the pacing rate, or during a probe its rate, even if
    /// that is lower, because a faster probe would measure another rate.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.probes.front().map_or(self.rate, |probe| probe.rate)
    }

    /// Returns the time at which the next packet may leave: `now` or later.
    #[must_use]
    pub fn next_send(&self, now: Instant) -> Instant {
        // Bursts are for late packets; a probe needs even spacing.
        let burst = match self.probes.front() {
            Some(_) => Duration::ZERO,
            None => self.burst,
        };
        self.drained_at.saturating_sub(burst).max(now)
    }

    /// Queues a probe cluster; it starts with the next packet.
    pub fn add_probe(&mut self, now: Instant, cluster: &ProbeCluster) {
        let before = self.rate();
        if self.probes.len() == MAX_PROBES {
            self.probes.pop_front();
        }
        self.probes.push_back(Probe {
            id: cluster.id,
            rate: cluster.rate.max(MIN_RATE),
            packets_left: cluster.packets,
            bytes_left: cluster.bytes,
            expires_at: now + PROBE_TIMEOUT,
            started: false,
        });
        self.rescale(now, before);
    }

    /// Returns the probe that the next packet belongs to. During a probe, send padding if
    /// there is no media.
    #[must_use]
    pub fn probe(&self) -> Option<ProbeId> {
        self.probes.front().map(|probe| probe.id)
    }

    /// Reports that a packet left; it belongs to the current probe, if there is one.
    pub fn on_sent(&mut self, now: Instant, size: Bytes) {
        let before = self.rate();
        let time = before.time_for(size).unwrap_or(Duration::ZERO);
        // A probe catches up after a late timer (the schedule counts from its first
        // packet, as in libwebrtc's prober); media does not catch up.
        if !self.probes.front().is_some_and(|probe| probe.started) {
            self.drained_at = self.drained_at.max(now);
        }
        self.drained_at += time;
        if let Some(probe) = self.probes.front_mut() {
            probe.started = true;
            probe.packets_left = probe.packets_left.saturating_sub(1);
            probe.bytes_left = probe.bytes_left.saturating_sub(size);
        }
        self.end_probes(now);
        self.rescale(now, before);
    }

    /// Reports a packet that left and that feedback does not name as this path's, such as
    /// a copy of another path's packet. It does not count towards a probe: a probe that
    /// lost its packets to copies would have no result. It delays others only for a short
    /// time, because copies leave without asking the pacer.
    pub fn on_unreported(&mut self, now: Instant, size: Bytes) {
        let before = self.rate();
        self.end_probes(now);
        self.rescale(now, before);
        if self.probes.is_empty() {
            let time = self.rate.time_for(size).unwrap_or(Duration::ZERO);
            let most = self.drained_at.max(now + MOST_BEHIND);
            self.drained_at = (self.drained_at.max(now) + time).min(most);
        }
    }

    fn end_probes(&mut self, now: Instant) {
        while let Some(probe) = self.probes.front() {
            let done = probe.packets_left == 0 && probe.bytes_left == Bytes::ZERO;
            if !done && now < probe.expires_at {
                break;
            }
            self.probes.pop_front();
        }
    }

    /// Clears debt and probes, for a path that failed.
    pub fn reset(&mut self) {
        self.drained_at = Instant::ZERO;
        self.probes.clear();
    }

    /// Keeps the debt at an equal number of bytes when the rate changes.
    fn rescale(&mut self, now: Instant, before: Rate) {
        let after = self.rate();
        if after != before && self.drained_at > now {
            let owed = before * (self.drained_at - now);
            self.drained_at = now + after.time_for(owed).unwrap_or(Duration::ZERO);
        }
    }
}

#[cfg(test)]
mod tests;

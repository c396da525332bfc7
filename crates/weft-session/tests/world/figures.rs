//! Measurements of a world.

use super::*;

impl World {
    /// Runs fifteen seconds, with the link dead for five in the middle, and checks that
    /// the picture continues.
    pub fn survives_a_cut(&mut self, link: usize) {
        let seconds = Duration::from_secs;
        self.run(seconds(5));
        self.cut(link);
        self.run(seconds(5));
        self.restore(link);
        self.run(seconds(5));
        let gap = self.longest_gap(seconds(2), seconds(15));
        let most = Duration::from_millis(350);
        assert!(gap <= most, "cut {link}: gap of {gap:?}");
        let shown = self.frames_between(seconds(5), seconds(15));
        assert!(shown >= 290, "cut {link}: {shown} frames in 10 s");
    }

    pub fn frames_between(&self, from: Duration, to: Duration) -> usize {
        let (from, to) = (Instant::ZERO + from, Instant::ZERO + to);
        self.shown
            .iter()
            .filter(|s| (from..to).contains(&s.at))
            .count()
    }

    pub fn longest_gap(&self, from: Duration, to: Duration) -> Duration {
        let (from, to) = (Instant::ZERO + from, Instant::ZERO + to);
        let times: Vec<Instant> = self.shown.iter().map(|s| s.at).collect();
        let within = times.windows(2).filter(|w| w[0] >= from && w[1] < to);
        within
            .map(|w| w[1] - w[0])
            .max()
            .unwrap_or(Duration::from_secs(3600))
    }

    pub fn latency_quantile(&self, q: f64) -> Duration {
        let mut all: Vec<Duration> = self.shown.iter().map(|s| s.at - s.captured).collect();
        all.sort();
        all[((all.len() - 1) as f64 * q) as usize]
    }

    pub fn received_rate(&self, from: Duration, to: Duration) -> Rate {
        let span = to - from;
        let (from, to) = (Instant::ZERO + from, Instant::ZERO + to);
        let bytes: usize = self
            .shown
            .iter()
            .filter(|s| (from..to).contains(&s.at))
            .map(|s| s.bytes)
            .sum();
        Bytes(bytes as u64) / span
    }

    pub fn bytes_per_link(&self) -> Vec<u64> {
        self.links
            .iter()
            .map(|l| l.up.counters().delivered.bytes.0)
            .collect()
    }

    /// Returns the share of each path's packets that the sender detected as lost.
    pub fn lost_parts(&self) -> Vec<f64> {
        let part = |p: &weft_session::PathStats| {
            p.lost_packets as f64 / (p.lost_packets + p.acknowledged_packets).max(1) as f64
        };
        self.sender.stats().paths.iter().map(part).collect()
    }

    pub fn path_stats(&self, link: usize) -> PathStats {
        self.sender.stats().paths[link]
    }

    pub fn marked_on(&self, link: usize) -> u64 {
        self.links[link].up.counters().marked.packets
    }

    pub fn sender_stats(&self) -> SenderStats {
        self.sender.stats().senders[0]
    }

    pub fn receiver_stats(&self) -> ReceiverStats {
        self.receiver.stats().receivers[0].1
    }

    pub fn sender_drops(&self) -> Drops {
        self.sender.stats().drops
    }

    pub fn receiver_drops(&self) -> Drops {
        self.receiver.stats().drops
    }

    pub fn trace(&self) -> Vec<(u64, u64, usize)> {
        self.shown
            .iter()
            .map(|s| (s.at.as_nanos(), s.captured.as_nanos(), s.bytes))
            .collect()
    }
}

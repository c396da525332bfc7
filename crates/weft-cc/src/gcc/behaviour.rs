/// Whether to keep the known weaknesses of libwebrtc.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Behaviour {
    /// As deployed, for comparisons.
    Deployed,
    /// As deployed in 2022, before version 2 of the loss-based half: two thresholds of
    /// loss.
    Deployed2022,
    /// Repaired: probing continues while the rate grows (libwebrtc later probes only when
    /// the application limits, and needs tens of seconds to find a capacity that rose); a
    /// successful probe restarts the throughput window (otherwise an overuse shortly
    /// after would undo the probe); no further decrease while the queue drains (otherwise
    /// the rate would end at 60 to 70 %); feedback after a long silence probes like a new
    /// path; a capacity far above the rate is forgotten (otherwise the rate would grow
    /// towards it by a packet per round trip, for minutes).
    Repaired,
}

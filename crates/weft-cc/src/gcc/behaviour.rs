/// Whether to keep what is known to be weak in libwebrtc.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Behaviour {
    /// As deployed, for comparisons.
    Deployed,
    /// The same as it was in 2022, before version 2 of the loss-based half:
    /// two thresholds of loss.
    Deployed2022,
    /// With these repairs: probing goes on while the rate grows (libwebrtc
    /// probes later on only when the application limits, and needs tens of
    /// seconds to find a capacity that rose); a successful probe restarts the
    /// throughput window (an overuse shortly after would undo the probe); no
    /// further decrease while the queue drains (the rate would end at 60 to
    /// 70 %); feedback after a long silence probes as a new path does; a
    /// capacity far above the rate is forgotten (towards it the rate would
    /// grow by a packet a round trip, for minutes).
    Repaired,
}

//! What a program counted of itself over time, as a client of a call does
//! (W3C webrtc-stats). Counts are from the beginning, so what they say of a
//! time is the difference between its ends.

/// The counts of one end of a flow, in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CounterLog {
    /// One for each time that the program told.
    pub samples: Vec<CounterSample>,
}

/// The counts at one time; what the program does not know is absent.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CounterSample {
    /// When, seconds since the run began; negative before.
    pub at_s: f64,
    /// Round-trip time of the path, milliseconds.
    pub rtt_ms: Option<f64>,
    /// Of the stream that this end sends.
    pub sent: Option<SentCounters>,
    /// Of the stream that it receives.
    pub received: Option<ReceivedCounters>,
}

/// A stream at its sender.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SentCounters {
    /// Frames encoded.
    pub frames: Option<f64>,
    /// Quantiser indices of all of them together.
    pub quantizer_sum: Option<f64>,
    /// What the encoder is told to make, Mbit/s.
    pub target_mbps: Option<f64>,
    /// Keyframes that were asked for.
    pub keyframe_requests: Option<f64>,
    /// For how long the processor was too slow, seconds.
    pub cpu_limited_s: Option<f64>,
}

/// A stream at its receiver.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ReceivedCounters {
    /// Frames shown.
    pub frames: Option<f64>,
    /// Frames a second over the last period.
    pub fps: Option<f64>,
    /// Frames received and not shown.
    pub dropped: Option<f64>,
    /// Freezes that have ended.
    pub freezes: Option<f64>,
    /// Their length together, seconds.
    pub freeze_s: Option<f64>,
    /// Lines of the last picture.
    pub height: Option<f64>,
    /// Time that the frames of the last period waited, mean, milliseconds.
    pub jitter_buffer_ms: Option<f64>,
    /// What the application got to use: of a call encoded frames, of TCP what
    /// it handed over in order.
    pub useful_bytes: Option<f64>,
    /// Pictures whose way is known, of those shown since the last sample: when,
    /// in seconds since the run began, and from capture to display, in
    /// milliseconds.
    pub latencies: Vec<(f64, f64)>,
    /// BRISQUE of single pictures of those shown since the last sample, 0 to
    /// 100.
    pub brisque: Vec<f64>,
}

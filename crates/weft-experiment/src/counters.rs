//! Counters that a program reports about itself over time, as a client of a call does
//! (W3C webrtc-stats). Counts start at the beginning of the call, so the difference
//! between two samples describes the time between them.

/// Counters of one end of a flow, in order of time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CounterLog {
    /// One for each report of the program.
    pub samples: Vec<CounterSample>,
}

/// Counters at one time; a value is absent where the program does not know it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CounterSample {
    /// Time in seconds since the run began; negative before it.
    pub at_s: f64,
    /// Round-trip time of the path, milliseconds.
    pub rtt_ms: Option<f64>,
    /// Counters of the stream that this end sends.
    pub sent: Option<SentCounters>,
    /// Counters of the stream that this end receives.
    pub received: Option<ReceivedCounters>,
}

/// A stream at its sender.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SentCounters {
    /// Frames encoded.
    pub frames: Option<f64>,
    /// Sum of the quantizer indices of these frames.
    pub quantizer_sum: Option<f64>,
    /// Target rate of the encoder, Mbit/s.
    pub target_mbps: Option<f64>,
    /// Keyframes that were requested.
    pub keyframe_requests: Option<f64>,
    /// Time for which the processor was too slow, seconds.
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
    /// Total length of these freezes, seconds.
    pub freeze_s: Option<f64>,
    /// Lines of the last picture.
    pub height: Option<f64>,
    /// Mean time in the jitter buffer of the frames of the last period, milliseconds.
    pub jitter_buffer_ms: Option<f64>,
    /// Bytes that the application could use: encoded frames of a call, ordered data of
    /// TCP.
    pub useful_bytes: Option<f64>,
    /// Latency samples of pictures shown since the last sample: the time in seconds since
    /// the run began, and the time from capture to display in milliseconds.
    pub latencies: Vec<(f64, f64)>,
    /// BRISQUE of some of the pictures shown since the last sample, 0 to 100.
    pub brisque: Vec<f64>,
}

//! Counters that a program reports about itself over time, such as a client of a call
//! (W3C webrtc-stats). Counts start at the beginning of the call, so the difference
//! between two samples describes the time between them.

/// Counters of one end of a flow, in order of time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CounterLog {
    /// One for each report of the program.
    pub samples: Vec<CounterSample>,
}

/// Counters at one time. A value is absent if the program does not have it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CounterSample {
    /// Time in seconds since the start of the run; negative before it.
    pub at_s: f64,
    /// Round-trip time of the path, milliseconds.
    pub rtt_ms: Option<f64>,
    /// Counters of the stream that this end sends.
    pub sent: Option<SentCounters>,
    /// Counters of the stream that this end receives.
    pub received: Option<ReceivedCounters>,
}

/// Stream at its sender.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SentCounters {
    /// Frames encoded.
    pub frames: Option<f64>,
    /// Sum of the quantizer indices of these frames.
    pub quantizer_sum: Option<f64>,
    /// Target rate of the encoder, Mbit/s.
    pub target_mbps: Option<f64>,
    /// Number of requested keyframes.
    pub keyframe_requests: Option<f64>,
    /// Time in seconds for which the processor was too slow.
    pub cpu_limited_s: Option<f64>,
}

/// Stream at its receiver.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ReceivedCounters {
    /// Frames shown.
    pub frames: Option<f64>,
    /// Frames a second over the last period.
    pub fps: Option<f64>,
    /// Frames received but not shown.
    pub dropped: Option<f64>,
    /// Freezes that have ended.
    pub freezes: Option<f64>,
    /// Total length of these freezes, seconds.
    pub freeze_s: Option<f64>,
    /// Height of the last picture in lines.
    pub height: Option<f64>,
    /// Mean time in the jitter buffer for the frames of the last period, in milliseconds.
    pub jitter_buffer_ms: Option<f64>,
    /// Bytes usable by the application: encoded frames of a call, or ordered data of TCP.
    pub useful_bytes: Option<f64>,
    /// Latency samples of pictures shown since the last sample: the time in seconds since
    /// the start of the run, and the time from capture to display in milliseconds.
    pub latencies: Vec<(f64, f64)>,
    /// BRISQUE of some of the pictures shown since the last sample, 0 to 100.
    pub brisque: Vec<f64>,
}

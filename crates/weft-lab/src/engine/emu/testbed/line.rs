//! What clients tell: lines of JSON, as `clients/README.md` has them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A line of a client's output; what it does not have is `None`.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Line {
    /// What the client is, once.
    pub about: Option<Map<String, Value>>,
    /// It takes lines from now on.
    #[serde(default)]
    pub ready: bool,
    /// For the other end.
    pub signal: Option<Value>,
    /// Of the connection.
    pub state: Option<String>,
    /// Statistics.
    pub sample: Option<Sample>,
    /// Why it ends by itself.
    pub error: Option<String>,
    /// What to do about it.
    pub remedy: Option<String>,
}

/// Statistics of one end at one time.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
pub struct Sample {
    /// When, milliseconds since 1970.
    pub unix_ms: f64,
    /// Round-trip time of the path, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ms: Option<f64>,
    /// The stream that this end sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<Sent>,
    /// The stream that it receives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received: Option<Received>,
}

/// A stream at its sender. Counts are from the beginning.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Sent {
    /// With RTP headers, without those of UDP and IP.
    pub bytes: Option<f64>,
    /// Mbit/s over the last period.
    pub mbps: Option<f64>,
    /// Frames encoded.
    pub frames: Option<f64>,
    /// Frames a second over the last period.
    pub fps: Option<f64>,
    /// Pixels of the last picture.
    pub width: Option<f64>,
    /// Lines of the last picture.
    pub height: Option<f64>,
    /// What the encoder is told to make, Mbit/s.
    pub target_mbps: Option<f64>,
    /// Keyframes that were asked for.
    pub plis: Option<f64>,
    /// Why the pictures are not what they could be: `none`, `cpu`,
    /// `bandwidth`, `other`.
    pub limited_by: Option<String>,
    /// For how long it was the processor, seconds.
    pub cpu_limited_s: Option<f64>,
    /// Quantiser indices of all frames together.
    pub quantizer_sum: Option<f64>,
    /// Pictures taken since the last sample: the number in the corner, and
    /// when, milliseconds since 1970.
    pub filmed: Vec<(u32, f64)>,
}

/// One picture without its colours, as video has it: 16 is black, 235 white.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
pub struct Luma {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    /// Row by row, in Base64 (RFC 4648, section 4).
    pub base64: String,
}

/// A stream at its receiver. Counts are from the beginning.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Received {
    /// With RTP headers, without those of UDP and IP.
    pub bytes: Option<f64>,
    /// Mbit/s over the last period.
    pub mbps: Option<f64>,
    /// Frames decoded.
    pub frames: Option<f64>,
    /// Frames a second over the last period.
    pub fps: Option<f64>,
    /// Frames received and not shown.
    pub dropped: Option<f64>,
    /// Freezes (W3C webrtc-stats, freezeCount).
    pub freezes: Option<f64>,
    /// Their length together, seconds.
    pub freeze_s: Option<f64>,
    /// Pixels of the last picture.
    pub width: Option<f64>,
    /// Lines of the last picture.
    pub height: Option<f64>,
    /// Time that the frames of the last period waited, mean, milliseconds.
    pub jitter_buffer_ms: Option<f64>,
    /// Pictures shown since the last sample: the number in the corner, and
    /// when, milliseconds since 1970.
    pub shown: Vec<(u32, f64)>,
    /// Of a client that knows it: from capture to display of the pictures
    /// shown since the last sample, milliseconds.
    pub latencies_ms: Vec<f64>,
    /// Of a client that judges pictures: BRISQUE of some of those shown since
    /// the last sample, 0 to 100.
    pub brisque: Vec<f64>,
    /// Of a client that does not: one of these pictures, to be judged after the
    /// run.
    pub picture: Option<Luma>,
    /// What the application got to use: of a call encoded frames, of TCP what
    /// it handed over in order.
    pub goodput_bytes: Option<f64>,
}

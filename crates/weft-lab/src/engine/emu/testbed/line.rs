//! Output of clients: lines of JSON, as in `clients/README.md`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A line of a client's output; missing fields are `None`.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Line {
    /// Description of the client, sent once.
    pub about: Option<Map<String, Value>>,
    /// Whether it accepts lines from now on.
    #[serde(default)]
    pub ready: bool,
    /// Message for the other end.
    pub signal: Option<Value>,
    /// State of the connection.
    pub state: Option<String>,
    /// Statistics.
    pub sample: Option<Sample>,
    /// Reason why it exits by itself.
    pub error: Option<String>,
    /// Remedy for the error.
    pub remedy: Option<String>,
}

/// Statistics of one end at one time.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
pub struct Sample {
    /// Time in milliseconds since 1970.
    pub unix_ms: f64,
    /// Round-trip time of the path, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ms: Option<f64>,
    /// Stream that this end sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<Sent>,
    /// Stream that it receives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received: Option<Received>,
}

/// Stream at its sender. Counters start at the beginning.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Sent {
    /// Bytes with RTP headers, but without UDP and IP headers.
    pub bytes: Option<f64>,
    /// Mbit/s over the last period.
    pub mbps: Option<f64>,
    /// Frames encoded.
    pub frames: Option<f64>,
    /// Frames a second over the last period.
    pub fps: Option<f64>,
    /// Width of the last picture in pixels.
    pub width: Option<f64>,
    /// Height of the last picture in lines.
    pub height: Option<f64>,
    /// Target rate of the encoder, Mbit/s.
    pub target_mbps: Option<f64>,
    /// Number of requested keyframes.
    pub plis: Option<f64>,
    /// Reason for reduced pictures: `none`, `cpu`, `bandwidth`, `other`.
    pub limited_by: Option<String>,
    /// Time in seconds for which the processor was the reason.
    pub cpu_limited_s: Option<f64>,
    /// Sum of the quantizer indices of all frames.
    pub quantizer_sum: Option<f64>,
    /// Pictures captured since the last sample: the number in the corner, and the time in
    /// milliseconds since 1970.
    pub filmed: Vec<(u32, f64)>,
}

/// Picture without colours, in video levels: 16 is black, 235 is white.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
pub struct Luma {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// Pixels row by row, in Base64 (RFC 4648, section 4).
    pub base64: String,
}

/// Stream at its receiver. Counters start at the beginning.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Received {
    /// Bytes with RTP headers, but without UDP and IP headers.
    pub bytes: Option<f64>,
    /// Mbit/s over the last period.
    pub mbps: Option<f64>,
    /// Frames decoded.
    pub frames: Option<f64>,
    /// Frames a second over the last period.
    pub fps: Option<f64>,
    /// Frames received but not shown.
    pub dropped: Option<f64>,
    /// Freezes (W3C webrtc-stats, freezeCount).
    pub freezes: Option<f64>,
    /// Total length of these freezes, seconds.
    pub freeze_s: Option<f64>,
    /// Width of the last picture in pixels.
    pub width: Option<f64>,
    /// Height of the last picture in lines.
    pub height: Option<f64>,
    /// Mean time in the jitter buffer for the frames of the last period, in milliseconds.
    pub jitter_buffer_ms: Option<f64>,
    /// Pictures shown since the last sample: the number in the corner, and the time in
    /// milliseconds since 1970.
    pub shown: Vec<(u32, f64)>,
    /// Latencies from capture to display of the pictures shown since the last sample, in
    /// milliseconds; only from clients that know them.
    pub latencies_ms: Vec<f64>,
    /// BRISQUE scores of some of the pictures shown since the last sample, 0 to 100; only
    /// from clients that score pictures.
    pub brisque: Vec<f64>,
    /// One of these pictures, to be scored after the run; only from clients that do not
    /// score pictures.
    pub picture: Option<Luma>,
    /// Bytes usable by the application: encoded frames of a call, or ordered data of TCP.
    pub goodput_bytes: Option<f64>,
}

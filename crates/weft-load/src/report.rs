//! Results of a run.

mod build;
mod measured;
mod surroundings;

use serde::Serialize;
use weft_units::{Duration, Histogram};

pub(crate) use build::build;
pub(crate) use measured::Measured;

/// Results of a run, as written by `--json`. Times are in milliseconds.
#[derive(Clone, Debug, Serialize)]
pub struct LoadReport {
    /// Version of weft.
    pub version: &'static str,
    /// Participants and their media.
    pub run: RunDescription,
    /// Participants by outcome.
    pub participants: Participants,
    /// Failures by reason.
    pub failures: Vec<Failures>,
    /// Times from the start of a viewer's request.
    pub setup_ms: SetUp,
    /// Viewers without a slow link; all participants if all publish.
    pub viewers: Group,
    /// Viewers behind a slow link, if there were any.
    pub weak_viewers: Option<Group>,
    /// Publishers.
    pub publishers: Publishers,
    /// Server, if given by `--server-pid` or `--metrics`.
    pub server: Option<ServerUsage>,
    /// Load generator itself.
    pub generator: Generator,
    /// Reasons why the figures may not be due to the server.
    pub warnings: Vec<String>,
    /// Every viewer, in the order of arrival.
    pub each_viewer: Vec<Viewer>,
}

/// Participants and their media.
#[derive(Clone, Debug, Serialize)]
pub struct RunDescription {
    /// Number of rooms.
    pub rooms: u32,
    /// Number of publishers in each room.
    pub publishers: u32,
    /// Number of viewers in each room.
    pub viewers: u32,
    /// Whether all participants publish and receive each other.
    pub everybody: bool,
    /// Codec of the pictures.
    pub codec: &'static str,
    /// Heights of the encodings in pixels.
    pub heights: Vec<usize>,
    /// Pictures per second.
    pub fps: u32,
    /// Maximum rate of a publisher's pictures, in kbit/s.
    pub kbps: f64,
    /// Whether publishers send sound.
    pub sound: bool,
    /// Behaviour of the clients.
    pub clients: &'static str,
    /// Duration of the measurement in seconds.
    pub measured_s: f64,
}

/// Participants by outcome.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Participants {
    /// All participants of the run.
    pub wanted: usize,
    /// Participants who joined.
    pub joined: usize,
    /// Participants who were refused, or lost later.
    pub failed: usize,
    /// Participants who joined to receive, and never had a complete picture.
    pub without_picture: usize,
}

/// Failures with the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failures {
    /// Number of participants.
    pub count: usize,
    /// Reason and remedy.
    pub reason: String,
}

/// Times from the start of a viewer's request, in milliseconds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SetUp {
    /// Until the server's description arrives.
    pub answered: Quantiles,
    /// Until the connection is encrypted.
    pub connected: Quantiles,
    /// Until the first RTP packet.
    pub first_rtp: Quantiles,
    /// Until the first complete picture from any publisher.
    pub first_picture: Quantiles,
    /// Until the first complete picture from each present publisher; for later publishers,
    /// from their first picture.
    pub each_publisher: Quantiles,
}

/// Quantiles of a time, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Quantiles {
    /// Number of values.
    pub count: u64,
    /// Median.
    pub p50: f64,
    /// 95 % do not exceed it.
    pub p95: f64,
    /// 99 % do not exceed it.
    pub p99: f64,
    /// Largest value.
    pub max: f64,
}

impl Quantiles {
    pub(crate) fn of(histogram: &Histogram) -> Quantiles {
        let at = |q| histogram.quantile(q).map_or(0.0, milliseconds);
        Quantiles {
            count: histogram.count(),
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            max: milliseconds(histogram.max()),
        }
    }
}

/// Returns milliseconds with three digits, because the values are exact to 2 %.
fn milliseconds(duration: Duration) -> f64 {
    (duration.as_millis_f64() * 1_000.0).round() / 1_000.0
}

/// Figures of a group of viewers during the measurement.
///
/// More than fifteen fields: each is a separate figure.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Group {
    /// Viewers.
    pub viewers: usize,
    /// Number of publishers that they should see, summed over all viewers.
    pub streams: usize,
    /// Number of publishers of which they saw a picture.
    pub streams_seen: usize,
    /// Pictures that publishers sent to them.
    pub pictures_sent: u64,
    /// Pictures that arrived complete.
    pub pictures_whole: u64,
    /// `pictures_whole` divided by `pictures_sent`; 1 if nothing was sent.
    pub share_whole: f64,
    /// Share of the worst viewer.
    pub worst_share: f64,
    /// Mean number of pictures per second of a stream.
    pub fps: f64,
    /// Freezes since the first picture (W3C webrtc-stats), summed over all streams.
    pub freezes: u64,
    /// Duration of these freezes in seconds.
    pub freeze_s: f64,
    /// Number of streams with freezes.
    pub streams_with_freezes: usize,
    /// Number of streams that were frozen at the end.
    pub frozen_at_the_end: usize,
    /// Longest run of pictures that a viewer lacks.
    pub longest_gap: u32,
    /// Time from capture until the picture is complete.
    pub latency_ms: Quantiles,
    /// Latency before the measurement, while others joined.
    pub latency_before_ms: Quantiles,
    /// Packets since the start.
    pub packets: PacketLoss,
    /// Datagrams lost on the slow links since the start.
    pub lost_on_slow_links: u64,
    /// RTP packets received, including retransmissions and probes.
    pub rtp_packets: u64,
    /// Total received rate in Mbit/s, with IP and UDP headers.
    pub received_mbps: f64,
    /// Total sent rate in Mbit/s.
    pub sent_mbps: f64,
    /// Share of each encoding among the complete pictures, the smallest encoding first.
    pub encodings: Vec<f64>,
}

/// Packets by their sequence numbers.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct PacketLoss {
    /// Packets that arrived in time.
    pub received: u64,
    /// Packets of these that arrived only by repair.
    pub repaired: u64,
    /// Packets that did not arrive.
    pub missing: u64,
    /// Share lost on the path, 0 to 1.
    pub loss_before_repair: f64,
    /// Share that repair did not recover either.
    pub loss_after_repair: f64,
}

impl PacketLoss {
    pub(crate) fn of(received: u64, repaired: u64, missing: u64) -> PacketLoss {
        let all = (received + missing).max(1) as f64;
        PacketLoss {
            received,
            repaired,
            missing,
            loss_before_repair: (repaired + missing) as f64 / all,
            loss_after_repair: missing as f64 / all,
        }
    }
}

/// Figures of the publishers.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Publishers {
    /// Number of connected publishers.
    pub connected: usize,
    /// Mean number of pictures per second of a publisher.
    pub fps: f64,
    /// Total rate in Mbit/s, with IP and UDP headers.
    pub sent_mbps: f64,
    /// Lowest target rate of congestion control at the end, in kbit/s.
    pub lowest_target_kbps: f64,
    /// Keyframes that the server requested.
    pub keyframe_requests: u64,
    /// Pictures skipped since the start, because the generator was late or the rate too
    /// low.
    pub skipped: u64,
    /// Time from the hand-over of a picture until its publisher's pacer has sent its last
    /// packet: a part of the viewers' latency.
    pub leaving_ms: Quantiles,
}

/// Processor time and memory of the server.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ServerUsage {
    /// Processor seconds while the participants joined.
    pub joining_cpu_s: f64,
    /// Processor seconds during the measurement.
    pub cpu_s: f64,
    /// Mean number of cores in use.
    pub cores: f64,
    /// RTP packets received by viewers per processor second.
    pub packets_per_cpu_s: f64,
    /// Resident memory before the first participant, in MB.
    pub memory_before_mb: f64,
    /// Resident memory at the end, in MB.
    pub memory_mb: f64,
    /// Growth per participant, in kB.
    pub memory_per_participant_kb: f64,
}

/// Limits of the load generator.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Generator {
    /// Network threads.
    pub threads: Vec<ThreadUsage>,
    /// Processor seconds during the measurement, all threads.
    pub cpu_s: f64,
    /// Resident memory at the end, in MB.
    pub memory_mb: f64,
    /// Delay of publishers' pictures after their due times.
    pub late_ms: Quantiles,
    /// Datagrams that the system did not accept.
    pub unsent: u64,
    /// Number of processors of this machine.
    pub processors: usize,
    /// Share of the time in which they were idle, 0 to 1.
    pub machine_idle: f64,
}

/// Network thread of the load generator.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ThreadUsage {
    /// Share of the measurement in which it used a processor.
    pub busy: f64,
    /// Share in the worst second.
    pub busiest: f64,
    /// Longest iteration of its loop, in milliseconds.
    pub lag_ms: f64,
}

/// Figures of one viewer during the measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Viewer {
    /// Name in the room.
    pub name: String,
    /// Whether it is behind a slow link.
    pub weak: bool,
    /// Number of publishers that it saw.
    pub streams_seen: usize,
    /// Share of the pictures that arrived complete.
    pub share_whole: f64,
    /// Mean number of pictures per second of a stream.
    pub fps: f64,
    /// Received rate in kbit/s, with IP and UDP headers.
    pub kbps: f64,
    /// Share of each encoding among its pictures, the smallest first.
    pub encodings: Vec<f64>,
    /// Freezes since the first picture.
    pub freezes: u64,
    /// Time from capture until the picture is complete that 99 % do not exceed.
    pub latency_p99_ms: f64,
    /// Time to the first picture; `None` without one.
    pub first_picture_ms: Option<f64>,
}

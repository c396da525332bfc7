//! Results of a run.

mod build;
mod measured;
mod surroundings;

use serde::Serialize;
use weft_units::{Duration, Histogram};

pub(crate) use build::build;
pub(crate) use measured::Measured;

/// Results of a run, as `--json` writes them. Times are in milliseconds.
#[derive(Clone, Debug, Serialize)]
pub struct LoadReport {
    /// Version of weft.
    pub version: &'static str,
    /// Participants and their media.
    pub run: RunDescription,
    /// Participants by what became of them.
    pub participants: Participants,
    /// Failures by reason.
    pub failures: Vec<Failures>,
    /// Times from the beginning of a viewer's request.
    pub setup_ms: SetUp,
    /// Viewers without a slow link; everybody where all publish.
    pub viewers: Group,
    /// Viewers behind a slow link, if there were some.
    pub weak_viewers: Option<Group>,
    /// Publishers.
    pub publishers: Publishers,
    /// Server, if `--server-pid` or `--metrics` named it.
    pub server: Option<ServerUsage>,
    /// Load generator itself.
    pub generator: Generator,
    /// Reasons why the figures may not be the server's.
    pub warnings: Vec<String>,
    /// Every viewer, in the order of arrival.
    pub each_viewer: Vec<Viewer>,
}

/// Participants and their media.
#[derive(Clone, Debug, Serialize)]
pub struct RunDescription {
    /// Rooms.
    pub rooms: u32,
    /// Publishers of each room.
    pub publishers: u32,
    /// Viewers of each room.
    pub viewers: u32,
    /// Whether everybody publishes and receives everybody.
    pub everybody: bool,
    /// Codec of the pictures.
    pub codec: &'static str,
    /// Heights of the encodings in pixels.
    pub heights: Vec<usize>,
    /// Pictures per second.
    pub fps: u32,
    /// Highest rate of a publisher's pictures, in kbit/s.
    pub kbps: f64,
    /// Whether publishers send sound.
    pub sound: bool,
    /// Behaviour of the clients.
    pub clients: &'static str,
    /// Duration of the measurement in seconds.
    pub measured_s: f64,
}

/// Participants by what became of them.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Participants {
    /// All of the run.
    pub wanted: usize,
    /// Joined.
    pub joined: usize,
    /// Were refused, or lost later.
    pub failed: usize,
    /// Joined to receive, and never had a whole picture.
    pub without_picture: usize,
}

/// Failures of one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failures {
    /// Number of participants.
    pub count: usize,
    /// Reason, and the remedy.
    pub reason: String,
}

/// Times from the beginning of a viewer's request, in milliseconds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SetUp {
    /// Until the server's description is there.
    pub answered: Quantiles,
    /// Until the connection is encrypted.
    pub connected: Quantiles,
    /// Until the first RTP packet.
    pub first_rtp: Quantiles,
    /// Until the first whole picture of anybody.
    pub first_picture: Quantiles,
    /// Until the first whole picture of each publisher that was there; for later publishers
    /// from their first picture on.
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

/// Milliseconds with three digits: the values are exact to 2 %.
fn milliseconds(duration: Duration) -> f64 {
    (duration.as_millis_f64() * 1_000.0).round() / 1_000.0
}

/// Figures of a group of viewers, during the measurement.
///
/// More than fifteen fields: each is a figure of its own.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Group {
    /// Viewers.
    pub viewers: usize,
    /// Publishers that they should see, all viewers together.
    pub streams: usize,
    /// Publishers of which they saw a picture.
    pub streams_seen: usize,
    /// Pictures that the publishers sent to them.
    pub pictures_sent: u64,
    /// Pictures that arrived whole.
    pub pictures_whole: u64,
    /// `pictures_whole` of `pictures_sent`; 1 if nothing was sent.
    pub share_whole: f64,
    /// Share of the worst viewer.
    pub worst_share: f64,
    /// Pictures per second of each stream, mean.
    pub fps: f64,
    /// Freezes since the first picture (W3C webrtc-stats), all streams together.
    pub freezes: u64,
    /// Seconds of those.
    pub freeze_s: f64,
    /// Streams that had any.
    pub streams_with_freezes: usize,
    /// Streams that were frozen at the end.
    pub frozen_at_the_end: usize,
    /// Longest run of pictures that a viewer lacks.
    pub longest_gap: u32,
    /// From capture until the picture is whole.
    pub latency_ms: Quantiles,
    /// Latency before the measurement, while others joined.
    pub latency_before_ms: Quantiles,
    /// Packets since the beginning.
    pub packets: PacketLoss,
    /// Datagrams that the slow links lost since the beginning.
    pub lost_on_slow_links: u64,
    /// RTP packets received, retransmissions and probes included.
    pub rtp_packets: u64,
    /// Received rate of all together in Mbit/s, with the headers of IP and UDP.
    pub received_mbps: f64,
    /// Sent rate of all together in Mbit/s.
    pub sent_mbps: f64,
    /// Share of each encoding among the whole pictures, the smallest encoding first.
    pub encodings: Vec<f64>,
}

/// Packets by their sequence numbers.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct PacketLoss {
    /// Arrived in time.
    pub received: u64,
    /// Those of them that arrived by repair only.
    pub repaired: u64,
    /// Did not arrive.
    pub missing: u64,
    /// Share lost on the way, 0 to 1.
    pub loss_before_repair: f64,
    /// Share that repair did not bring, either.
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
    /// Publishers that were connected.
    pub connected: usize,
    /// Pictures per second of each, mean.
    pub fps: f64,
    /// Rate of all together in Mbit/s, with the headers of IP and UDP.
    pub sent_mbps: f64,
    /// Lowest target rate of congestion control at the end, in kbit/s.
    pub lowest_target_kbps: f64,
    /// Keyframes that the server requested.
    pub keyframe_requests: u64,
    /// Pictures left out since the beginning: the generator was late, or the rate too low.
    pub skipped: u64,
    /// From the hand-over of a picture until its last packet leaves its publisher, whose
    /// pacer spreads it: a part of the viewers' latency.
    pub leaving_ms: Quantiles,
}

/// Processor time and memory of the server.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ServerUsage {
    /// Processor seconds while everybody joined.
    pub joining_cpu_s: f64,
    /// Processor seconds of the measurement.
    pub cpu_s: f64,
    /// Cores that this is, on average.
    pub cores: f64,
    /// RTP packets that viewers received for each processor second.
    pub packets_per_cpu_s: f64,
    /// Resident memory before the first participant, in MB.
    pub memory_before_mb: f64,
    /// Resident memory at the end, in MB.
    pub memory_mb: f64,
    /// Growth for each participant, in kB.
    pub memory_per_participant_kb: f64,
}

/// Limits of the load generator.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Generator {
    /// Network threads.
    pub threads: Vec<ThreadUsage>,
    /// Processor seconds of the measurement, all threads.
    pub cpu_s: f64,
    /// Resident memory at the end, in MB.
    pub memory_mb: f64,
    /// Delay of publishers' pictures behind their times.
    pub late_ms: Quantiles,
    /// Datagrams that the system did not take.
    pub unsent: u64,
    /// Processors of this machine.
    pub processors: usize,
    /// Share of their time in which they had nothing to do, 0 to 1.
    pub machine_idle: f64,
}

/// Network thread of the load generator.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ThreadUsage {
    /// Share of the measurement in which it had a processor.
    pub busy: f64,
    /// Share of the worst second.
    pub busiest: f64,
    /// Longest turn of its loop, in milliseconds.
    pub lag_ms: f64,
}

/// Figures of one viewer, during the measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Viewer {
    /// Name in the room.
    pub name: String,
    /// Whether it is behind a slow link.
    pub weak: bool,
    /// Publishers that it saw.
    pub streams_seen: usize,
    /// Share of the pictures that arrived whole.
    pub share_whole: f64,
    /// Pictures per second of each stream, mean.
    pub fps: f64,
    /// Received rate in kbit/s, with the headers of IP and UDP.
    pub kbps: f64,
    /// Share of each encoding among its pictures, the smallest first.
    pub encodings: Vec<f64>,
    /// Freezes since the first picture.
    pub freezes: u64,
    /// From capture until the picture is whole: 99 % do not exceed it.
    pub latency_p99_ms: f64,
    /// Time to the first picture; `None` without one.
    pub first_picture_ms: Option<f64>,
}

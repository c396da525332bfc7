//! Statistics file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Value, json};
use weft_media::metrics::Brisque;
use weft_net::Clock;
use weft_session::{Metering, PathStats, Standing};
use weft_units::StreamId;

use crate::exit::Failure;
use weft_endpoint::caller::{PeerReport, Track};
use weft_endpoint::links::{LinkFigures, LinkTrouble};
use weft_endpoint::sources::video::CameraReport;
use weft_endpoint::watch::Watcher;
use weft_endpoint::{Event, PlayedFrame, Received, ReceivedCamera, Statistics};

/// Reasons why links carry no packets, by link name.
type Troubles = BTreeMap<String, LinkTrouble>;

/// Returns the policy of a link, and its remaining budget.
fn policy(link: &LinkFigures, troubles: &Troubles) -> Value {
    let LinkFigures { policy, left, .. } = link;
    json!({
        "name": link.name,
        "metered": policy.metering == Metering::Metered,
        "backup": policy.standing == Standing::Backup,
        "weight": policy.weight.value(),
        "budget_left_mb": left.map(|left| round(left.0 as f64 / 1e6)),
        "carried_mb": round(link.carried.0 as f64 / 1e6),
        "trouble": troubles.get(&link.name).map(|t| t.kind().name()),
    })
}

fn extend(figures: &mut Value, more: Value) {
    if let (Value::Object(figures), Value::Object(more)) = (figures, more) {
        figures.extend(more);
    }
}

/// Rounds to three decimals; more would be noise.
pub fn round(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// File with one line of JSON per second, until a write fails.
pub struct StatsFile {
    path: PathBuf,
    file: BufWriter<File>,
    /// Error that ended the file.
    failed: Option<String>,
    watching: Option<Watching>,
    /// Decoded cameras, by participant and index.
    watched: BTreeMap<(String, usize), Watched>,
}

/// State for decoding pictures: the clock for their times and, if installed, the model
/// for their scores.
struct Watching {
    clock: Clock,
    judge: Option<Arc<Brisque>>,
}

/// Camera with decoded pictures, now or earlier.
#[derive(Default)]
struct Watched {
    /// `None` after its participant's playback has ended.
    watcher: Option<Watcher>,
    shown: usize,
    undecodable: u64,
    height: Option<usize>,
}

/// Maximum number of cameras decoded at once: twice as many as a machine of
/// eight cores can decode. Chosen by us.
const MAX_WATCHED: usize = 32;

impl StatsFile {
    pub fn create(path: &Path) -> Result<StatsFile, Failure> {
        let file = File::create(path).map_err(|error| {
            Failure::Usage(format!(
                "--stats {}: {error}; choose a directory that exists and may be written",
                path.display()
            ))
        })?;
        let (path, file) = (path.to_owned(), BufWriter::new(file));
        Ok(StatsFile {
            path,
            file,
            failed: None,
            watching: None,
            watched: BTreeMap::new(),
        })
    }

    /// Decodes received pictures from now on.
    pub fn watch(&mut self, clock: Clock) {
        // Without a model there are no scores, as `--help` says.
        let judge = Brisque::installed().ok().map(Arc::new);
        self.watching = Some(Watching { clock, judge });
    }

    /// Decodes the pictures of an event, if enabled.
    pub fn on_event(&mut self, event: &Event) {
        match event {
            Event::Frame(played) => self.on_frame(played),
            Event::PlayingEnded { id } => self.on_playing_ended(id),
            _ => {}
        }
    }

    /// Decodes a frame, if enabled. Does nothing if the decoder is missing.
    fn on_frame(&mut self, played: &PlayedFrame) {
        let (Some(watching), Track::Camera(place)) = (&self.watching, played.track) else {
            return;
        };
        let at_once = self
            .watched
            .values()
            .filter(|w| w.watcher.is_some())
            .count();
        let entry = self.watched.entry((played.from.clone(), place));
        let watched = entry.or_default();
        if watched.watcher.is_none() && at_once < MAX_WATCHED {
            let Watching { clock, judge } = watching;
            watched.watcher = Watcher::start(*clock, played.frame.codec, judge.clone()).ok();
        }
        if let Some(watcher) = &watched.watcher {
            watcher.show(played.frame.clone());
        }
    }

    /// Keeps the results of a participant.
    fn on_playing_ended(&mut self, id: &str) {
        for (_, watched) in self.watched.iter_mut().filter(|((from, _), _)| from == id) {
            watched.undecodable = watched.undecodable();
            watched.shown += watched.watcher.take().map_or(0, |w| w.take().len());
        }
    }

    /// Writes a line. If writing fails, the file ends and the call continues; the error
    /// is printed once here, and returned by [`StatsFile::finish`].
    pub fn write(&mut self, figures: &Statistics) {
        if self.failed.is_some() {
            return;
        }
        self.watched
            .retain(|(id, _), _| figures.received.contains_key(id));
        let received = figures.received.iter();
        let received: BTreeMap<&String, Value> = received
            .map(|(id, received)| (id, self.received(id, received)))
            .collect();
        let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let line = json!({
            "t": figures.elapsed.as_secs_f64(),
            "unix_ms": unix.map_or(0.0, |since| round(since.as_secs_f64() * 1e3)),
            "peers": figures.peers.iter().map(|p| peer(p, &figures.troubles)).collect::<Vec<Value>>(),
            "received": received,
            "dropped": {
                "frames": figures.dropped_frames,
                "requests": figures.refused_requests,
            },
        });
        let written = writeln!(self.file, "{line}").and_then(|()| self.file.flush());
        if let Err(error) = written {
            let failed = format!("--stats {}: {error}", self.path.display());
            complain!("weft: {failed}; the statistics end here, the call continues");
            self.failed = Some(failed);
        }
    }

    /// Returns an error unless every line was written.
    pub fn finish(self) -> Result<(), Failure> {
        match self.failed {
            Some(failed) => Err(Failure::Run(format!("the figures are not whole: {failed}"))),
            None => Ok(()),
        }
    }
}

impl StatsFile {
    fn received(&mut self, id: &str, received: &Received) -> Value {
        let cameras = received.cameras.iter().enumerate();
        let each: Vec<Value> = cameras
            .map(|(place, camera)| {
                let mut figures = self::camera(camera);
                if let Some(watched) = self.watched.get_mut(&(id.to_owned(), place)) {
                    extend(&mut figures, watched.figures());
                }
                figures
            })
            .collect();
        let cameras = || received.cameras.iter();
        json!({
            "frames": cameras().map(|c| c.frames).sum::<u64>(),
            "audio_packets": received.audio_packets,
            "bytes": received.bytes,
            "freezes": cameras().map(|c| c.freezes.count()).sum::<u32>(),
            "freeze_s": cameras().map(|c| c.freezes.total().as_secs_f64()).sum::<f64>(),
            "cameras": each,
        })
    }
}

fn camera(received: &ReceivedCamera) -> Value {
    json!({
        "frames": received.frames,
        "bytes": received.bytes,
        "freezes": received.freezes.count(),
        "freeze_s": received.freezes.total().as_secs_f64(),
    })
}

impl Watched {
    fn undecodable(&self) -> u64 {
        let now = self.watcher.as_ref().map(|w| w.look(|s| s.undecodable));
        self.undecodable + now.unwrap_or_default()
    }

    fn figures(&mut self) -> Value {
        let watcher = self.watcher.as_ref();
        let new = watcher.map(Watcher::take).unwrap_or_default();
        let scores = watcher.map(Watcher::take_scores).unwrap_or_default();
        self.shown += new.len();
        self.height = new.last().map(|picture| picture.height).or(self.height);
        let latencies = new.iter().filter_map(|picture| picture.latency);
        let latencies = latencies.map(|latency| round(latency.as_millis_f64()));
        json!({
            "shown": self.shown,
            "undecodable": self.undecodable(),
            "height": self.height,
            "latencies_ms": latencies.collect::<Vec<f64>>(),
            "brisque": scores.into_iter().map(round).collect::<Vec<f64>>(),
        })
    }
}

fn peer(report: &PeerReport, troubles: &Troubles) -> Value {
    let stream = |id: &StreamId| report.tracks.get(id).map(ToString::to_string);
    let path = |p: &PathStats| {
        json!({
            "path": p.path.0,
            "link": report.links.get(&p.path),
            "state": p.state.name(),
            "rtt_ms": round(p.rtt.as_millis_f64()),
            "target_mbps": round(p.target_rate.as_mbps()),
            "acknowledged_mbps": p.acknowledged_rate.map(|r| round(r.as_mbps())),
            "loss": round(p.loss),
            "controller": p.controller_state,
            "sent_packets": p.sent_packets,
            "sent_bytes": p.sent_bytes.0,
            "lost_packets": p.lost_packets,
            "ecn": p.ecn.to_string(),
            "marked_packets": p.marked_packets,
            "received_packets": p.received_packets,
            "received_bytes": p.received_bytes.0,
            "queued_bytes": p.queued.0,
        })
    };
    let sender = |s: &weft_session::SenderStats| {
        json!({
            "stream": stream(&s.stream),
            "frames": s.frames,
            "packets": s.packets,
            "retransmissions": s.retransmissions,
            "repair_packets": s.repair_packets,
            "nacked": s.nacked,
            "nacks_ignored": s.nacks_ignored,
            "keyframes_requested": s.keyframes_requested,
        })
    };
    let camera = |c: &CameraReport| {
        json!({
            "width": c.width,
            "height": c.height,
            "fps": round(c.fps),
            "quantizer": c.quantizer,
            "encoded": c.encoded,
            "dropped": c.dropped,
            "skipped": c.skipped,
            "missed": c.missed,
        })
    };
    let receiver = |(id, r): &(StreamId, weft_session::ReceiverStats)| {
        json!({
            "stream": stream(id),
            "packets": r.packets.received,
            "recovered": r.packets.recovered,
            "missing": r.packets.missing,
            "late": r.packets.late,
            "repair_received": r.protection.received,
            "repair_used": r.protection.used,
            "requested": r.repair.requested,
            "frames": r.frames.released,
            "frames_dropped": r.frames.dropped,
            "keyframe_requests": r.repair.keyframes,
            "fcd_ms": round(r.delays.construction.mean().as_millis_f64()),
            "ifd_ms": round(r.delays.inter_frame.mean().as_millis_f64()),
            "playout_ms": round(r.delays.playout.as_millis_f64()),
        })
    };
    json!({
        "connected": report.connected,
        "level": report.level.name(),
        "links": report.all_links.iter().map(|l| policy(l, troubles)).collect::<Vec<Value>>(),
        "target_mbps": round(report.stats.target_rate.as_mbps()),
        "paths": report.stats.paths.iter().map(path).collect::<Vec<Value>>(),
        "cameras": report.cameras.iter().map(camera).collect::<Vec<Value>>(),
        "sent": report.stats.senders.iter().map(sender).collect::<Vec<Value>>(),
        "received": report.stats.receivers.iter().map(receiver).collect::<Vec<Value>>(),
    })
}

#[cfg(test)]
mod tests;

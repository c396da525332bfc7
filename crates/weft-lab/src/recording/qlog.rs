//! Events of weft, as written by `--qlog`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Read};

use serde::Deserialize;
use serde_json::Value as Json;
use weft_experiment::ShownPicture;
use weft_trace::qlog::SCHEMA;
use weft_units::{Codec, Duration, Instant};

use super::error::ImportError;
use super::periods::{MAX_SECONDS, MBIT, PERIOD_S, Periods};
use super::record::{Format, Recording};
use super::track::{Owner, Span, Track, held};
use super::values;
use crate::measure::view::{View, of_pictures};
use crate::statistics::mean;

/// Maximum length of a text of a sequence. Events have at most a few kilobytes; chosen by
/// us.
const MAX_EVENT: u64 = 1 << 20;
/// Maximum number of events; chosen by us: 100 pictures and values a second for a day.
const MAX_SAMPLES: usize = 8_640_000;
const SEPARATOR: u8 = 0x1E;
/// Maximum time for which a value of a path is valid. It is written when it changes, at
/// most every 100 ms; an unchanged value is not written again, so it is valid for long.
const HOLDS_S: f64 = 60.0;
/// Maximum time for which the target rate is valid; it is written every 100 ms.
const TARGET_HOLDS_S: f64 = 1.0;

#[derive(Deserialize)]
struct Event {
    /// Milliseconds.
    time: f64,
    name: String,
    #[serde(default)]
    data: Json,
    /// Connection.
    #[serde(default)]
    group_id: Option<String>,
}

/// Stream or path of a connection.
type Of = (String, u64);

/// Events of the call so far.
#[derive(Default)]
struct Call {
    /// Time of the first event, unless the times are those of a run.
    epoch_s: Option<f64>,
    last_s: f64,
    received: Periods,
    sent: Periods,
    counts: [u64; 2],
    links: BTreeMap<Of, String>,
    by_link: BTreeMap<String, [Periods; 2]>,
    /// Mbit/s of the encoders of each connection.
    targets: BTreeMap<String, Vec<(f64, f64)>>,
    /// Milliseconds of each path.
    round_trips: BTreeMap<Of, Vec<(f64, f64)>>,
    pictures: BTreeMap<Of, Pictures>,
    /// Streams of sound, whose packets also are frames.
    sound: BTreeSet<Of>,
    dropped: u64,
    samples: usize,
}

#[derive(Default)]
struct Pictures {
    shown: Vec<ShownPicture>,
    /// Milliseconds in the jitter buffer.
    waited: (f64, u64),
    bytes: f64,
    /// Whether the capture time is known.
    has_latency: bool,
    /// Time in seconds at which the stream ended, if it did.
    ended: Option<f64>,
}

/// Reads a file.
pub fn read(mut reader: impl BufRead, place: &str, name: &str) -> Result<Recording, ImportError> {
    let mut call = Call::default();
    let mut text = Vec::new();
    let (mut line, mut title) = (0_u64, String::new());
    let mut cut = None;
    let failed = |error: std::io::Error| ImportError::unreadable(place, &error);
    // The separator in front of the first text.
    reader.read_until(SEPARATOR, &mut text).map_err(failed)?;
    loop {
        text.clear();
        let mut limited = reader.by_ref().take(MAX_EVENT + 1);
        if limited.read_until(SEPARATOR, &mut text).map_err(failed)? == 0 {
            break;
        }
        line += 1;
        let is_last = text.last() != Some(&SEPARATOR);
        let own = text.strip_suffix(&[SEPARATOR]).unwrap_or(&text);
        if own.len() as u64 > MAX_EVENT {
            return Err(wrong(place, line, "an event is longer than 1 MiB"));
        }
        if line == 1 {
            title = head(own, place)?;
            continue;
        }
        match serde_json::from_slice::<Event>(own) {
            Ok(event) => call.add(&event),
            // RFC 7464 section 2.4: a truncated text ends without a line feed.
            Err(_) if is_last && own.last() != Some(&b'\n') => {
                cut = Some(format!(
                    "line {line}: the file ends within an event; those before it were read: stop the \
                     call properly for a whole file"
                ));
            }
            Err(error) => return Err(wrong(place, line, &error.to_string())),
        }
    }
    if call.is_empty() {
        return Err(ImportError::new(
            place,
            "it has no packets, pictures or values of a path",
            "record a call with `--qlog` that lasts some seconds",
        ));
    }
    Ok(call.recording(name, title, cut))
}

fn wrong(place: &str, line: u64, what: &str) -> ImportError {
    let place = format!("{place}:{line}");
    ImportError::new(&place, what, "give the file as weft wrote it")
}

/// Checks the first text, and returns its title.
fn head(text: &[u8], place: &str) -> Result<String, ImportError> {
    let head: Json =
        serde_json::from_slice(text).map_err(|error| wrong(place, 1, &error.to_string()))?;
    let schemas = head["trace"]["event_schemas"].as_array();
    let names: Vec<&str> = schemas
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    if names.contains(&SCHEMA) {
        return Ok(head["title"].as_str().unwrap_or("").to_owned());
    }
    let what = match names.is_empty() {
        true => "it names no schema".to_owned(),
        false => format!("it has events of {}", names.join(", ")),
    };
    Err(ImportError::new(
        place,
        what,
        format!("give a file of weft's --qlog, whose events are of {SCHEMA}"),
    ))
}

impl Call {
    fn add(&mut self, event: &Event) {
        let time_s = event.time / 1e3;
        // Times of simulated runs start at zero.
        let epoch = *self.epoch_s.get_or_insert(match time_s < MAX_SECONDS {
            true => 0.0,
            false => time_s,
        });
        let at = (time_s - epoch).clamp(0.0, MAX_SECONDS);
        self.last_s = self.last_s.max(at);
        let group = event.group_id.clone().unwrap_or_default();
        let number = |name: &str| event.data[name].as_f64();
        let of = |name: &str| Some((group.clone(), event.data[name].as_u64()?));
        match event.name.as_str() {
            "call:path_assigned" => {
                let link = event.data["links"].as_str();
                if let (Some(of), Some(link)) = (of("path"), link) {
                    self.links.insert(of, link.to_owned());
                }
            }
            "call:connection_started" => self.started(&group, &event.data),
            "call:stream_ended" => self.ended(at, |known| Some(known) == of("stream").as_ref()),
            "call:connection_closed" => self.ended(at, |(known, _)| *known == group),
            "call:packet_received" => self.packet(0, at, of("path"), number("bytes")),
            "call:packet_sent" => self.packet(1, at, of("path"), number("bytes")),
            "call:events_dropped" => self.dropped += event.data["count"].as_u64().unwrap_or(0),
            _ if self.samples >= MAX_SAMPLES => self.dropped += 1,
            "call:encoders_updated" => {
                if let Some(rate) = number("target_rate") {
                    self.samples += 1;
                    self.targets
                        .entry(group)
                        .or_default()
                        .push((at, rate / 1e6));
                }
            }
            "call:path_metrics_updated" => {
                // Zero before the first measurement.
                let rtt = number("smoothed_rtt").filter(|rtt| *rtt > 0.0);
                if let (Some(of), Some(rtt)) = (of("path"), rtt) {
                    self.samples += 1;
                    self.round_trips.entry(of).or_default().push((at, rtt));
                }
            }
            "call:frame_shown" => {
                if event.data["kind"].as_str() == Some("audio") {
                    self.sound.extend(of("stream"));
                }
                if let Some(of) = of("stream").filter(|of| !self.sound.contains(of)) {
                    self.samples += 1;
                    self.pictures.entry(of).or_default().add(at, &event.data);
                }
            }
            _ => {}
        }
    }

    /// Reads the streams of a connection.
    fn started(&mut self, group: &str, data: &Json) {
        for stream in data["streams"].as_array().into_iter().flatten() {
            let codec = stream["codec"].as_str().and_then(Codec::named);
            let is_received = stream["direction"].as_str() == Some("receive");
            if let (Some(number), true, Some(Codec::Opus)) =
                (stream["stream"].as_u64(), is_received, codec)
            {
                self.sound.insert((group.to_owned(), number));
            }
        }
    }

    fn ended(&mut self, at: f64, which: impl Fn(&Of) -> bool) {
        let streams = self.pictures.iter_mut().filter(|(of, _)| which(of));
        streams.for_each(|(_, pictures)| pictures.ended = Some(at));
    }

    fn packet(&mut self, way: usize, at: f64, path: Option<Of>, bytes: Option<f64>) {
        let bytes = bytes.unwrap_or(0.0);
        let all = if way == 0 {
            &mut self.received
        } else {
            &mut self.sent
        };
        all.add(at, bytes);
        self.counts[way] += 1;
        if let Some(link) = path.and_then(|path| self.links.get(&path)) {
            let link = self.by_link.entry(link.clone()).or_default();
            link[way].add(at, bytes);
        }
    }

    fn is_empty(&self) -> bool {
        self.received.is_empty() && self.sent.is_empty() && self.samples == 0
    }

    fn recording(self, name: &str, title: String, cut: Option<String>) -> Recording {
        let end = self.last_s.max(PERIOD_S);
        let views = self.views(end);
        let mut own = values::of_views(&views);
        let counts = ["packets_received", "packets_sent"]
            .into_iter()
            .zip(self.counts);
        let counts = counts.filter(|(_, count)| *count > 0);
        own.extend(counts.map(|(name, count)| (name.to_owned(), count as f64)));
        let tracks = self.tracks(end);
        own.extend(values::of_rates(&tracks));
        let rtts = self.round_trips.values().filter_map(|samples| {
            let spans = held(samples, HOLDS_S);
            Track::new(("rtt_ms", "ms"), Owner::Call, spans)?.mean()
        });
        own.extend(mean(rtts).map(|rtt| ("rtt_ms_mean".to_owned(), rtt)));
        let latencies = views.iter().flat_map(|view| view.latency.iter().copied());
        let latencies = latencies.collect();
        let mut notes = Vec::new();
        if !self.received.is_empty() || !self.sent.is_empty() {
            notes.push(
                "rates are of RTP, without the headers of UDP and IP, encryption and RTCP"
                    .to_owned(),
            );
        }
        if views.is_empty() {
            notes.push("this end showed no pictures, so there are no freezes".to_owned());
        }
        if self.dropped > 0 {
            notes.push(format!("{} events are missing", self.dropped));
        }
        Recording {
            name: name.to_owned(),
            format: Format::Qlog,
            about: title,
            seconds: end,
            step: PERIOD_S,
            tracks,
            values: values::sorted(own),
            freezes: values::frozen(&views),
            latencies,
            notes,
            cut,
        }
    }

    /// Returns the views of the video streams: from the start of a run, or from the first
    /// picture of a person who joined later, until the end of the stream.
    fn views(&self, end: f64) -> Vec<View> {
        let is_run = self.epoch_s == Some(0.0);
        let views = self.pictures.values().filter_map(|pictures| {
            let first = pictures.shown.first()?.shown_at;
            let from = if is_run { Instant::ZERO } else { first };
            let end = Duration::from_secs_f64(pictures.ended.unwrap_or(end));
            Some(pictures.view((from, Instant::ZERO + end)))
        });
        views.collect()
    }

    fn tracks(&self, end: f64) -> Vec<Track> {
        let rate = |bytes: &Periods| match bytes.is_empty() {
            true => Vec::new(),
            false => bytes.rates(end, MBIT),
        };
        let mut tracks = vec![
            Track::new(("rate_mbps", "Mbit/s"), Owner::Call, rate(&self.received)),
            Track::new(("sent_mbps", "Mbit/s"), Owner::Call, rate(&self.sent)),
        ];
        // Only one connection at a time has encoders.
        let targets = self.targets.values().max_by_key(|samples| samples.len());
        let targets = targets
            .map(|samples| held(samples, TARGET_HOLDS_S))
            .unwrap_or_default();
        tracks.push(Track::new(("target_mbps", "Mbit/s"), Owner::Call, targets));
        let mut frames = Periods::default();
        let videos = self.pictures.len();
        for picture in self.pictures.values().flat_map(|pictures| &pictures.shown) {
            frames.add(picture.shown_at.as_secs_f64(), 1.0);
        }
        if videos > 0 {
            let spans = frames.rates(end, 1.0 / videos as f64);
            tracks.push(Track::new(("fps", "1/s"), Owner::Call, spans));
        }
        tracks.push(self.latency(end));
        for (of, samples) in &self.round_trips {
            let name = self.links.get(of).cloned();
            let owner = name.map_or(Owner::Call, Owner::Link);
            let is_known = tracks
                .iter()
                .flatten()
                .any(|t| t.quantity == "rtt_ms" && t.owner == owner);
            if !is_known {
                let spans = held(samples, HOLDS_S);
                tracks.push(Track::new(("rtt_ms", "ms"), owner, spans));
            }
        }
        for (name, [back, there]) in &self.by_link {
            for (of, bytes) in [(name.clone(), there), (format!("{name}-back"), back)] {
                let owner = Owner::Link(of);
                tracks.push(Track::new(("link_mbps", "Mbit/s"), owner, rate(bytes)));
            }
        }
        tracks.into_iter().flatten().collect()
    }

    /// Returns the mean latency of the pictures shown in each period.
    fn latency(&self, end: f64) -> Option<Track> {
        let (mut sums, mut counts) = (Periods::default(), Periods::default());
        let known = self
            .pictures
            .values()
            .filter(|pictures| pictures.has_latency);
        for picture in known.flat_map(|pictures| &pictures.shown) {
            let at = picture.shown_at.as_secs_f64();
            sums.add(at, picture.latency().as_millis_f64());
            counts.add(at, 1.0);
        }
        if counts.is_empty() {
            return None;
        }
        let pairs = sums.rates(end, 1.0).into_iter().zip(counts.rates(end, 1.0));
        let means = pairs.filter(|(_, count)| count.value > 0.0);
        let means = means.map(|(sum, count)| Span {
            value: sum.value / count.value,
            ..sum
        });
        Track::new(("e2e_ms", "ms"), Owner::Call, means.collect())
    }
}

impl Pictures {
    fn add(&mut self, at: f64, data: &Json) {
        let shown_at = Instant::ZERO + Duration::from_secs_f64(at);
        let latency = data["latency"].as_f64();
        self.has_latency |= latency.is_some();
        let latency = Duration::from_secs_f64(latency.unwrap_or(0.0).max(0.0) / 1e3);
        let captured = shown_at
            .saturating_since(Instant::ZERO)
            .saturating_sub(latency);
        self.shown.push(ShownPicture {
            captured_at: Instant::ZERO + captured,
            shown_at,
        });
        if let Some(waited) = data["waited"].as_f64() {
            self.waited = (self.waited.0 + waited, self.waited.1 + 1);
        }
        self.bytes += data["bytes"].as_f64().unwrap_or(0.0);
    }

    fn view(&self, window: (Instant, Instant)) -> View {
        let mut view = of_pictures(self.shown.iter().copied(), window);
        if !self.has_latency {
            view.latency.clear();
            view.latency_by_second.clear();
        }
        view.client.jitter_buffer_ms =
            (self.waited.1 > 0).then(|| self.waited.0 / self.waited.1 as f64);
        view
    }
}

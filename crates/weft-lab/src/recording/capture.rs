//! Captures of calls: RTP and RTCP as pcap or pcapng.
//!
//! SRTP leaves the RTP headers readable, so rates, losses and frames are known without
//! keys. The file is read twice, because only its end shows which packets are RTP and who
//! recorded them, and a capture may be larger than the memory.

mod ends;
mod packets;
mod reports;
mod survey;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use weft_trace::pcapng::Direction;

use super::error::ImportError;
use super::input::Source;
use super::periods::{MAX_SECONDS, MBIT, PERIOD_S, Periods};
use super::record::{Format, Recording};
use super::streams::{MAX_STREAMS, RtpFields, Stream};
use super::track::{Owner, Track, held};
use super::values;
use crate::statistics::mean;
use ends::Ends;
use packets::{Datagram, each_frame, rtp};
use reports::Reports;
use survey::Survey;

/// Maximum time in seconds for which a round-trip time is valid; reports arrive at least
/// every 5 s.
const RTT_HOLDS_S: f64 = 5.0;
/// Maximum number of interfaces whose rates are shown; chosen by us.
const MAX_LINKS: usize = 32;
/// Time below which the first packet of a capture means a simulated run, whose clock
/// starts at zero.
const SIMULATED_S: f64 = 86_400.0;

/// Reads a file.
pub fn read(source: Source<'_>, name: &str, local: &[IpAddr]) -> Result<Recording, ImportError> {
    let place = source.place();
    let mut survey = Survey::default();
    let cut = each_frame(source, |datagram, _| survey.add(datagram))?;
    let ends = survey
        .sources(cut.as_deref())
        .and_then(|sources| Ends::find(&survey, sources, local));
    let ends = ends.map_err(|(what, remedy)| ImportError::new(&place, what, remedy))?;
    let mut call = Call::new(&ends);
    each_frame(source, |datagram, interface| call.add(datagram, interface))?;
    Ok(call.recording(name, &survey, cut))
}

/// Direction as an index: 0 is received, 1 sent.
fn index(direction: Direction) -> usize {
    match direction {
        Direction::Inbound => 0,
        Direction::Outbound => 1,
    }
}

/// Call, as recorded by one end.
struct Call<'a> {
    ends: &'a Ends,
    /// Time of the first packet.
    epoch_s: Option<f64>,
    last_s: f64,
    /// Bytes of IP packets, by direction.
    bytes: [Periods; 2],
    /// Bytes by interface and direction.
    links: BTreeMap<String, [Periods; 2]>,
    streams: [BTreeMap<u32, Stream>; 2],
    /// Number of RTP and RTCP packets, by direction.
    packets: [u64; 2],
    reports: Reports,
    dropped: u64,
    /// Packets after the maximum duration, or of more streams than are counted.
    ignored: u64,
}

impl<'a> Call<'a> {
    fn new(ends: &'a Ends) -> Call<'a> {
        Call {
            ends,
            epoch_s: None,
            last_s: 0.0,
            bytes: Default::default(),
            links: BTreeMap::new(),
            streams: Default::default(),
            packets: [0; 2],
            reports: Reports::default(),
            dropped: 0,
            ignored: 0,
        }
    }

    fn add(&mut self, datagram: Option<&Datagram<'_>>, interface: Option<&str>) {
        let Some(datagram) = datagram else { return };
        self.dropped += datagram.dropped;
        let content = datagram.udp.content;
        let rtp = rtp(content).filter(|rtp| self.ends.sources.contains(&rtp.ssrc));
        let is_report = weft_wire::rtcp::is_rtcp(content) && self.ends.has(&datagram.udp);
        if rtp.is_none() && !is_report {
            return;
        }
        let Some(direction) = self.ends.direction(&datagram.udp) else {
            return;
        };
        let start = *self
            .epoch_s
            .get_or_insert(match datagram.at_s < SIMULATED_S {
                true => 0.0,
                false => datagram.at_s,
            });
        let at = (datagram.at_s - start).max(0.0);
        if at > MAX_SECONDS {
            self.ignored += 1;
            return;
        }
        self.last_s = self.last_s.max(at);
        let way = index(direction);
        let length = datagram.udp.ip_length as f64;
        self.bytes[way].add(at, length);
        self.packets[way] += 1;
        let name = interface.unwrap_or("");
        let has_room = self.links.len() < MAX_LINKS;
        if let Some(link) = self.links.get_mut(name) {
            link[way].add(at, length);
        } else if has_room {
            let link = self.links.entry(name.to_owned()).or_default();
            link[way].add(at, length);
        }
        match rtp {
            Some(rtp) => self.add_rtp(way, at, rtp),
            None => self.reports.add(direction, at, content),
        }
    }

    fn add_rtp(&mut self, way: usize, at: f64, rtp: RtpFields) {
        let streams = &mut self.streams[way];
        if !streams.contains_key(&rtp.ssrc) && streams.len() == MAX_STREAMS {
            self.ignored += 1;
            return;
        }
        let is_new = streams.entry(rtp.ssrc).or_default().on_packet(at, rtp);
        let others = || streams.iter().filter(|(ssrc, _)| **ssrc != rtp.ssrc);
        if is_new && others().any(|(_, stream)| stream.has_timestamp(rtp.timestamp)) {
            let stream = streams.entry(rtp.ssrc).or_default();
            stream.on_borrowed();
        }
    }

    fn recording(self, name: &str, survey: &Survey, cut: Option<String>) -> Recording {
        let end = self.last_s.max(PERIOD_S);
        let [received, sent] = &self.streams;
        let videos: Vec<&Stream> = received.values().filter(|s| s.is_video()).collect();
        let rtt = self.reports.round_trips();
        let mut own = Vec::new();
        let mut add = |name: &str, value: Option<f64>| {
            own.extend(value.map(|value| (name.to_owned(), value)));
        };
        for (metric, bytes) in ["throughput_mbps", "sent_mbps"]
            .into_iter()
            .zip(&self.bytes)
        {
            add(
                metric,
                (!bytes.is_empty()).then(|| bytes.total() * MBIT / end),
            );
        }
        for (metric, packets) in ["packets_received", "packets_sent"]
            .into_iter()
            .zip(self.packets)
        {
            add(metric, (packets > 0).then_some(packets as f64));
        }
        let loss = loss(received).or_else(|| self.reports.loss());
        add("loss", loss);
        add("rtt_ms_mean", mean(rtt.iter().map(|(_, ms)| *ms)));
        add(
            "fps_received",
            mean(videos.iter().filter_map(|s| s.frame_rate())),
        );
        Recording {
            name: name.to_owned(),
            format: Format::Capture,
            about: format!(
                "{} packets of {} received and {} sent streams",
                survey.packets,
                received.len(),
                sent.len()
            ),
            seconds: end,
            step: PERIOD_S,
            tracks: self.tracks(end, &videos, rtt),
            values: values::sorted(own),
            freezes: None,
            latencies: Vec::new(),
            notes: self.notes(&videos),
            cut,
        }
    }

    fn tracks(&self, end: f64, videos: &[&Stream], rtt: &[(f64, f64)]) -> Vec<Track> {
        let rate = |bytes: &Periods| match bytes.is_empty() {
            true => Vec::new(),
            false => bytes.rates(end, MBIT),
        };
        let [received, sent] = &self.bytes;
        let mut tracks = vec![
            Track::new(("rate_mbps", "Mbit/s"), Owner::Call, rate(received)),
            Track::new(("sent_mbps", "Mbit/s"), Owner::Call, rate(sent)),
            Track::new(("rtt_ms", "ms"), Owner::Call, held(rtt, RTT_HOLDS_S)),
        ];
        if !videos.is_empty() {
            let mut frames = Periods::default();
            videos
                .iter()
                .for_each(|stream| frames.merge(&stream.frames));
            let spans = frames.rates(end, 1.0 / videos.len() as f64);
            tracks.push(Track::new(("fps_received", "1/s"), Owner::Call, spans));
        }
        // With one interface, its rates are those of the call.
        for (name, [back, there]) in self.links.iter().filter(|_| self.links.len() > 1) {
            for (of, bytes) in [(name.clone(), there), (format!("{name}-back"), back)] {
                let owner = Owner::Link(of);
                tracks.push(Track::new(("link_mbps", "Mbit/s"), owner, rate(bytes)));
            }
        }
        tracks.into_iter().flatten().collect()
    }

    fn notes(&self, videos: &[&Stream]) -> Vec<String> {
        let [received, sent] = &self.streams;
        let mut notes = vec![
            "a capture does not show when pictures were displayed, so there are no freezes and \
             latencies"
                .to_owned(),
        ];
        notes.extend(self.reports.note());
        if received.is_empty() && !sent.is_empty() {
            notes
                .push("this end only sent: loss is that of the receiver's last reports".to_owned());
        }
        if !received.is_empty() && videos.is_empty() {
            notes.push("no received stream of 2 s or more has the clock of video".to_owned());
        }
        if self.dropped > 0 {
            let dropped = self.dropped;
            notes.push(format!(
                "the recording program missed {dropped} packets: losses include them"
            ));
        }
        if self.ignored > 0 {
            notes.push(format!(
                "{} packets are left out: later than a day after the first, or of more than \
                 {MAX_STREAMS} streams",
                self.ignored
            ));
        }
        if self.links.len() > 1 {
            let names: BTreeSet<&str> = self.links.keys().map(String::as_str).collect();
            let names = names.into_iter().collect::<Vec<_>>().join(", ");
            notes.push(format!("links are the interfaces of the file: {names}"));
        }
        notes
    }
}

/// Returns the share of the packets that never arrived.
fn loss(streams: &BTreeMap<u32, Stream>) -> Option<f64> {
    let (expected, arrived) = streams
        .values()
        .map(Stream::expected_and_arrived)
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (expected > 0).then(|| 1.0 - arrived.min(expected) as f64 / expected as f64)
}

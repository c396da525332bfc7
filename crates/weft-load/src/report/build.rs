//! Computes the figures from the counters of all connections.

use std::collections::BTreeMap;

use weft_units::{Duration, Histogram, Instant};

use super::measured::Measured;
use super::surroundings::{description, failures, generator, server, warnings};
use super::*;
use crate::clip::Clip;
use crate::member::{Member, Part};
use crate::node::{ConnectionReport, RoleReport};
use crate::received::{ENCODINGS, FromPublisher, Received, Span};

/// Pictures of a publisher.
struct Sent {
    room: u32,
    at: Vec<Instant>,
}

pub(crate) fn build(measured: Measured<'_>) -> LoadReport {
    let all: Vec<&ConnectionReport> = measured.nodes.iter().flat_map(|n| &n.connections).collect();
    let seconds = measured.seconds();
    let sent = sent_pictures(&measured, &all);
    let mut viewers = Vec::new();
    let mut setup = SetUpTimes::default();
    for connection in &all {
        if let RoleReport::Viewer { received, .. } = &connection.role {
            setup.add(connection, received, &sent);
            viewers.push(*connection);
        }
    }
    let member = |c: &ConnectionReport| &measured.members[c.new.member as usize];
    let (weak, strong): (Vec<_>, Vec<_>) = viewers
        .iter()
        .copied()
        .partition(|c| member(c).weak.is_some());
    let groups = Groups {
        measured: &measured,
        sent: &sent,
        seconds,
    };
    let has_picture = |c: &&&ConnectionReport| match &c.role {
        RoleReport::Viewer { received, .. } => first_picture(received).is_some(),
        RoleReport::Publisher { .. } => true,
    };
    let with_picture = viewers.iter().filter(has_picture).count();
    let receiving = |m: &&Member| m.part != Part::Publish && !measured.failed.contains_key(&m.id);
    let should_see = measured.members.iter().filter(receiving).count();
    let rtp = viewers.iter().map(|c| c.received.rtp).sum();
    let generator = generator(&measured);
    let participants = Participants {
        wanted: measured.members.len(),
        joined: measured.joined,
        failed: measured.failed.len(),
        without_picture: should_see.saturating_sub(with_picture),
    };
    LoadReport {
        version: env!("CARGO_PKG_VERSION"),
        run: description(&measured),
        participants,
        failures: failures(&measured.failed),
        setup_ms: setup.quantiles(),
        viewers: groups.group(&strong),
        weak_viewers: (!weak.is_empty()).then(|| groups.group(&weak)),
        publishers: groups.publishers(&all),
        server: measured.server.map(|usage| server(usage, &measured, rtp)),
        warnings: warnings(&generator, &measured),
        generator,
        each_viewer: viewers
            .iter()
            .map(|c| groups.viewer(c, member(c)))
            .collect(),
    }
}

fn sent_pictures(measured: &Measured<'_>, all: &[&ConnectionReport]) -> BTreeMap<u32, Sent> {
    let sent = all.iter().filter_map(|connection| match &connection.role {
        RoleReport::Publisher { sent_at, .. } => {
            let id = connection.new.member;
            let room = measured.members[id as usize].room;
            let at = sent_at.clone();
            Some((id, Sent { room, at }))
        }
        RoleReport::Viewer { .. } => None,
    });
    sent.collect()
}

fn first_picture(received: &Received) -> Option<Instant> {
    let firsts = received.by_publisher.values().filter_map(|from| from.first);
    firsts.map(|(_, at)| at).min()
}

#[derive(Default)]
struct SetUpTimes {
    answered: Histogram,
    connected: Histogram,
    first_rtp: Histogram,
    first_picture: Histogram,
    each_publisher: Histogram,
}

impl SetUpTimes {
    fn add(
        &mut self,
        connection: &ConnectionReport,
        received: &Received,
        sent: &BTreeMap<u32, Sent>,
    ) {
        let since = connection.new.requested_at;
        let times = [
            (&mut self.answered, Some(connection.answered_at)),
            (&mut self.connected, connection.connected_at),
            (&mut self.first_rtp, connection.first_rtp_at),
            (&mut self.first_picture, first_picture(received)),
        ];
        for (histogram, at) in times {
            if let Some(at) = at {
                histogram.add(at.saturating_since(since));
            }
        }
        for (publisher, from) in &received.by_publisher {
            let begun = sent.get(publisher).and_then(|sent| sent.at.first());
            if let (Some((_, at)), Some(begun)) = (from.first, begun) {
                self.each_publisher
                    .add(at.saturating_since(since.max(*begun)));
            }
        }
    }

    fn quantiles(&self) -> SetUp {
        SetUp {
            answered: Quantiles::of(&self.answered),
            connected: Quantiles::of(&self.connected),
            first_rtp: Quantiles::of(&self.first_rtp),
            first_picture: Quantiles::of(&self.first_picture),
            each_publisher: Quantiles::of(&self.each_publisher),
        }
    }
}

/// Figures of groups of connections.
struct Groups<'a> {
    measured: &'a Measured<'a>,
    sent: &'a BTreeMap<u32, Sent>,
    seconds: f64,
}

/// Sums of a group, or of one viewer.
#[derive(Default)]
struct Sums {
    pictures_sent: u64,
    pictures_whole: u64,
    encodings: [u64; ENCODINGS],
    freezes: u64,
    freeze_time: Duration,
    streams_seen: usize,
    streams_with_freezes: usize,
    longest_gap: u32,
    latency: Histogram,
    latency_before: Histogram,
}

impl Sums {
    fn add(&mut self, from: &FromPublisher, sent_at: &[Instant], span: Span) {
        self.streams_seen += usize::from(from.first.is_some());
        self.pictures_sent += from.expected(sent_at, span);
        self.pictures_whole += from.pictures;
        for (sum, count) in self.encodings.iter_mut().zip(from.encodings) {
            *sum += count;
        }
        self.freezes += u64::from(from.freezes.count());
        self.freeze_time += from.freezes.total();
        self.streams_with_freezes += usize::from(from.freezes.count() > 0);
        self.longest_gap = self.longest_gap.max(from.longest_gap);
        self.latency.merge(&from.latency);
        self.latency_before.merge(&from.latency_before);
    }

    fn share(&self) -> f64 {
        match self.pictures_sent {
            0 => 1.0,
            sent => self.pictures_whole as f64 / sent as f64,
        }
    }

    fn fps(&self, seconds: f64) -> f64 {
        self.pictures_whole as f64 / seconds / self.streams_seen.max(1) as f64
    }

    /// Returns the share of each encoding of the clip.
    fn encodings(&self, clip: &Clip) -> Vec<f64> {
        let all = self.pictures_whole.max(1) as f64;
        let counts = self.encodings.iter().take(clip.encodings.len());
        counts.map(|count| *count as f64 / all).collect()
    }
}

impl Groups<'_> {
    fn sums(&self, received: &Received) -> Sums {
        let mut sums = Sums::default();
        for (publisher, from) in &received.by_publisher {
            if let Some(sent) = self.sent.get(publisher) {
                sums.add(from, &sent.at, self.measured.span);
            }
        }
        sums
    }

    /// Returns the number of publishers that a viewer should see.
    fn wanted_streams(&self, member: &Member) -> usize {
        match &member.part {
            Part::View { publisher } if !publisher.is_empty() => 1,
            _ => {
                let others = self.sent.iter();
                let others = others.filter(|(id, s)| s.room == member.room && **id != member.id);
                others.count().min(crate::MAX_CAMERAS)
            }
        }
    }

    fn group(&self, connections: &[&ConnectionReport]) -> Group {
        let mut sums = Sums::default();
        let mut group = Group {
            viewers: connections.len(),
            worst_share: 1.0,
            ..Group::default()
        };
        let (mut received_bytes, mut sent_bytes) = (0, 0);
        let mut loss = (0, 0, 0);
        for connection in connections {
            let RoleReport::Viewer {
                received,
                packets,
                frozen,
            } = &connection.role
            else {
                continue;
            };
            group.streams +=
                self.wanted_streams(&self.measured.members[connection.new.member as usize]);
            group.frozen_at_the_end += frozen.len();
            group.lost_on_slow_links += connection.weak_lost;
            group.rtp_packets += connection.received.rtp;
            received_bytes += connection.received.bytes;
            sent_bytes += connection.sent.bytes;
            loss.0 += packets.received;
            loss.1 += packets.repaired;
            loss.2 += packets.missing;
            let own = self.sums(received);
            group.worst_share = group.worst_share.min(own.share());
            sums.merge(&own);
        }
        let mbps = |bytes: u64| bytes as f64 * 8.0 / 1e6 / self.seconds;
        Group {
            streams_seen: sums.streams_seen,
            pictures_sent: sums.pictures_sent,
            pictures_whole: sums.pictures_whole,
            share_whole: sums.share(),
            fps: sums.fps(self.seconds),
            freezes: sums.freezes,
            freeze_s: sums.freeze_time.as_secs_f64(),
            streams_with_freezes: sums.streams_with_freezes,
            longest_gap: sums.longest_gap,
            latency_ms: Quantiles::of(&sums.latency),
            latency_before_ms: Quantiles::of(&sums.latency_before),
            packets: PacketLoss::of(loss.0, loss.1, loss.2),
            received_mbps: mbps(received_bytes),
            sent_mbps: mbps(sent_bytes),
            encodings: sums.encodings(self.measured.clip),
            ..group
        }
    }

    fn viewer(&self, connection: &ConnectionReport, member: &Member) -> Viewer {
        let empty = Received::default();
        let received = match &connection.role {
            RoleReport::Viewer { received, .. } => received,
            RoleReport::Publisher { .. } => &empty,
        };
        let sums = self.sums(received);
        let first = first_picture(received);
        let first = first.map(|at| at.saturating_since(connection.new.requested_at));
        Viewer {
            name: member.name.clone(),
            weak: member.weak.is_some(),
            streams_seen: sums.streams_seen,
            share_whole: sums.share(),
            fps: sums.fps(self.seconds),
            kbps: connection.received.bytes as f64 * 8.0 / 1e3 / self.seconds,
            encodings: sums.encodings(self.measured.clip),
            freezes: sums.freezes,
            latency_p99_ms: Quantiles::of(&sums.latency).p99,
            first_picture_ms: first.map(super::milliseconds),
        }
    }

    fn publishers(&self, all: &[&ConnectionReport]) -> Publishers {
        let mut publishers = Publishers {
            lowest_target_kbps: f64::INFINITY,
            ..Publishers::default()
        };
        let (mut pictures, mut bytes) = (0, 0);
        for connection in all {
            let RoleReport::Publisher {
                sent_at,
                skipped,
                keyframe_requests,
                target,
            } = &connection.role
            else {
                continue;
            };
            publishers.connected += usize::from(connection.connected_at.is_some());
            publishers.keyframe_requests += keyframe_requests;
            publishers.skipped += skipped;
            publishers.lowest_target_kbps = publishers.lowest_target_kbps.min(target.as_kbps());
            pictures += sent_at
                .iter()
                .filter(|at| self.measured.span.has(**at))
                .count();
            bytes += connection.sent.bytes;
        }
        let mut leaving = Histogram::default();
        for node in &self.measured.nodes {
            leaving.merge(&node.load.leaving);
        }
        publishers.leaving_ms = Quantiles::of(&leaving);
        if publishers.connected == 0 {
            publishers.lowest_target_kbps = 0.0;
        }
        publishers.fps = pictures as f64 / self.seconds / publishers.connected.max(1) as f64;
        publishers.sent_mbps = bytes as f64 * 8.0 / 1e6 / self.seconds;
        publishers
    }
}

impl Sums {
    fn merge(&mut self, other: &Sums) {
        self.pictures_sent += other.pictures_sent;
        self.pictures_whole += other.pictures_whole;
        for (sum, count) in self.encodings.iter_mut().zip(other.encodings) {
            *sum += count;
        }
        self.freezes += other.freezes;
        self.freeze_time += other.freeze_time;
        self.streams_seen += other.streams_seen;
        self.streams_with_freezes += other.streams_with_freezes;
        self.longest_gap = self.longest_gap.max(other.longest_gap);
        self.latency.merge(&other.latency);
        self.latency_before.merge(&other.latency_before);
    }
}

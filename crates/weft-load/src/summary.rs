//! Summary of a run in plain text.

use std::fmt::Write as _;

use crate::report::{Generator, Group, LoadReport, Quantiles, ServerUsage};

/// Returns the results as lines for a terminal; warnings come last.
#[must_use]
pub fn summary(report: &LoadReport) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}", description(report));
    for (name, value) in rows(report) {
        let _ = writeln!(text, "  {name:<19}{value}");
    }
    for failures in &report.failures {
        let _ = writeln!(text, "failed: {} x {}", failures.count, failures.reason);
    }
    for warning in &report.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    text.trim_end().to_owned()
}

/// Returns a sentence that describes the run.
pub(crate) fn description(report: &LoadReport) -> String {
    let run = &report.run;
    let rooms = match run.rooms {
        1 => "1 room".to_owned(),
        n => format!("{n} rooms"),
    };
    let people = match run.everybody {
        true => format!("{} people who publish and see each other", run.publishers),
        false => format!("{} publishers and {} viewers", run.publishers, run.viewers),
    };
    let heights: Vec<String> = run.heights.iter().map(|h| format!("{h}p")).collect();
    let sound = if run.sound { " and sound" } else { "" };
    format!(
        "{rooms} of {people}; {} {} at {} pictures/s and {:.0} kbit/s{sound}; clients like {}; \
         measured for {:.0} s",
        run.codec,
        heights.join(" + "),
        run.fps,
        run.kbps,
        run.clients,
        run.measured_s
    )
}

/// Returns names and values of the figures.
pub(crate) fn rows(report: &LoadReport) -> Vec<(&'static str, String)> {
    let people = report.participants;
    let mut rows = vec![(
        "participants",
        format!(
            "{} of {} joined, {} failed, {} without a picture",
            people.joined, people.wanted, people.failed, people.without_picture
        ),
    )];
    let setup = &report.setup_ms;
    for (name, times) in [
        ("answered", setup.answered),
        ("connected", setup.connected),
        ("first RTP", setup.first_rtp),
        ("first picture", setup.first_picture),
        ("each publisher", setup.each_publisher),
    ] {
        let Quantiles { p50, p95, max, .. } = times;
        rows.push((name, format!("p50 {p50:.0}, p95 {p95:.0}, max {max:.0} ms")));
    }
    rows.extend(group("", &report.viewers, report.run.heights.len()));
    if let Some(weak) = &report.weak_viewers {
        rows.extend(group("weak: ", weak, report.run.heights.len()));
    }
    let publishers = &report.publishers;
    rows.push((
        "publishers",
        format!(
            "{:.1} pictures/s each, {:.1} Mbit/s together, {} keyframes requested, {} pictures left \
             out; pictures leave within p50 {:.1}, p99 {:.1} ms",
            publishers.fps,
            publishers.sent_mbps,
            publishers.keyframe_requests,
            publishers.skipped,
            publishers.leaving_ms.p50,
            publishers.leaving_ms.p99
        ),
    ));
    rows.extend(report.server.as_ref().map(server));
    rows.push(("load generator", generator(&report.generator)));
    rows
}

fn group(prefix: &'static str, group: &Group, encodings: usize) -> Vec<(&'static str, String)> {
    let name = |strong, weak| if prefix.is_empty() { strong } else { weak };
    let mut rows = vec![
        (
            name("pictures", "weak: pictures"),
            format!(
                "{:.2} % whole (worst viewer {:.2} %), {:.1}/s, longest gap {}; {} of {} streams seen",
                group.share_whole * 100.0,
                group.worst_share * 100.0,
                group.fps,
                group.longest_gap,
                group.streams_seen,
                group.streams
            ),
        ),
        (
            name("freezes", "weak: freezes"),
            format!(
                "{} ({:.1} s) on {} streams; {} frozen at the end",
                group.freezes, group.freeze_s, group.streams_with_freezes, group.frozen_at_the_end
            ),
        ),
        (
            name("latency", "weak: latency"),
            format!(
                "p50 {:.1}, p99 {:.1}, max {:.0} ms; while others joined p99 {:.1} ms",
                group.latency_ms.p50,
                group.latency_ms.p99,
                group.latency_ms.max,
                group.latency_before_ms.p99
            ),
        ),
        (
            name("packets lost", "weak: packets lost"),
            format!(
                "{:.3} %, after repair {:.3} %",
                group.packets.loss_before_repair * 100.0,
                group.packets.loss_after_repair * 100.0
            ),
        ),
        (
            name("received", "weak: received"),
            format!(
                "{:.1} Mbit/s, {} RTP packets",
                group.received_mbps, group.rtp_packets
            ),
        ),
    ];
    if encodings > 1 {
        let shares = group
            .encodings
            .iter()
            .map(|share| format!("{:.0} %", share * 100.0));
        let shares: Vec<String> = shares.collect();
        rows.push((
            name("encodings", "weak: encodings"),
            format!("{} (the smallest first)", shares.join(", ")),
        ));
    }
    rows
}

fn server(server: &ServerUsage) -> (&'static str, String) {
    let text = format!(
        "{:.2} cores, {:.1}k packets per CPU second, {:.2} CPU s to set up; {:.1} MB ({:.0} kB per \
         participant)",
        server.cores,
        server.packets_per_cpu_s / 1e3,
        server.joining_cpu_s,
        server.memory_mb,
        server.memory_per_participant_kb
    );
    ("server", text)
}

fn generator(generator: &Generator) -> String {
    let threads = generator.threads.iter();
    let threads: Vec<String> = threads
        .map(|t| format!("{:.0} % busy (lag {:.0} ms)", t.busy * 100.0, t.lag_ms))
        .collect();
    format!(
        "{}; pictures late p99 {:.1} ms; machine idle {:.0} %",
        threads.join(", "),
        generator.late_ms.p99,
        generator.machine_idle * 100.0
    )
}

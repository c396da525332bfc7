//! Receivers of a system, and the parts of a session that it omits.

use std::ops::RangeInclusive;

use toml::Spanned;
use weft_session::{Ablation, Ablations, ReceiverProfile, Reordering, SchedulerKind};
use weft_units::Duration;

use super::file::{OneOrMore, System};
use super::place::{ScenarioError, Source};
use super::quantity::Time;
use crate::names::unknown_name;

/// A system's receivers by name.
const RECEIVERS: [(&str, ReceiverProfile); 2] = [
    (
        "weft",
        ReceiverProfile {
            keyframe_patience: None,
            reordering: Reordering::Fixed,
            packet_buffer: None,
            frame_buffer: None,
        },
    ),
    ("libwebrtc-2022", ReceiverProfile::LIBWEBRTC_2022),
];
/// Bounds chosen by us: from about one frame interval to longer than any call waits.
const PATIENCE: RangeInclusive<Duration> = Duration::from_millis(50)..=Duration::from_secs(60);
/// A large frame has some tens of packets; a receiver remembers 2048.
const PACKETS: RangeInclusive<u32> = 64..=2048;
/// Chosen by us: half a second at 30 Hz, and the maximum that libwebrtc keeps, rounded
/// up.
const FRAMES: RangeInclusive<u32> = 16..=1000;
/// Chosen by us: repair packets that take longer stop every call.
const DECODING: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_millis(100);

/// Returns the parts that a system omits.
pub fn without(
    source: &Source,
    parts: &Spanned<OneOrMore>,
    scheduler: SchedulerKind,
) -> Result<Ablations, ScenarioError> {
    let wrong = |message: String| Err(source.error(parts.span(), message));
    let names = parts.get_ref().as_slice();
    if names.is_empty() {
        return wrong("`without` is empty: name at least one part, or remove it".to_owned());
    }
    if names == ["nothing"] {
        return Ok(Ablations::NONE);
    }
    let mut left_out = Ablations::NONE;
    for name in names {
        if name == "nothing" {
            return wrong("`nothing` stands beside other parts: remove it".to_owned());
        }
        let part = match name.parse::<Ablation>() {
            Ok(part) => part,
            Err(error) => return wrong(format!("{error}, or nothing")),
        };
        if let Some(owner) = SchedulerKind::owner(part).filter(|owner| *owner != scheduler) {
            return wrong(format!(
                "`{name}` is a part of the scheduler {owner}, and this system has {scheduler}: \
                 remove it, or change the scheduler"
            ));
        }
        if left_out.contains(part) {
            return wrong(format!("`{name}` is named twice: remove one"));
        }
        left_out = left_out.with(part);
    }
    Ok(left_out)
}

/// Returns the receiver that a system names, or describes part by part.
pub fn profile(source: &Source, entry: &System) -> Result<ReceiverProfile, ScenarioError> {
    let parts = [
        (
            "keyframe-patience",
            entry.keyframe_patience.as_ref().map(Spanned::span),
        ),
        ("reordering", entry.reordering.as_ref().map(Spanned::span)),
        (
            "packet-buffer",
            entry.packet_buffer.as_ref().map(Spanned::span),
        ),
        (
            "frame-buffer",
            entry.frame_buffer.as_ref().map(Spanned::span),
        ),
    ];
    if let Some(name) = &entry.receiver {
        if let Some((part, span)) = parts
            .into_iter()
            .find_map(|(part, span)| Some((part, span?)))
        {
            let message = format!(
                "`receiver = \"{}\"` sets `{part}`, too: remove one of the two",
                name.get_ref()
            );
            return Err(source.error(span, message));
        }
        let found = RECEIVERS.iter().find(|(known, _)| known == name.get_ref());
        return found.map(|(_, profile)| *profile).ok_or_else(|| {
            let known = RECEIVERS.iter().map(|(known, _)| *known);
            let message = unknown_name("there is no receiver", name.get_ref(), known);
            source.error(name.span(), message)
        });
    }
    let reordering = match &entry.reordering {
        None => Reordering::Fixed,
        Some(text) => match text.get_ref().as_str() {
            "fixed" => Reordering::Fixed,
            "measured" => Reordering::Measured,
            other => {
                let known = ["fixed", "measured"].into_iter();
                let message = unknown_name("there is no reordering", other, known);
                return Err(source.error(text.span(), message));
            }
        },
    };
    Ok(ReceiverProfile {
        keyframe_patience: time(
            source,
            "keyframe-patience",
            entry.keyframe_patience.as_ref(),
            PATIENCE,
        )?,
        reordering,
        packet_buffer: number(
            source,
            "packet-buffer",
            "packets",
            entry.packet_buffer.as_ref(),
            PACKETS,
        )?,
        frame_buffer: number(
            source,
            "frame-buffer",
            "frames",
            entry.frame_buffer.as_ref(),
            FRAMES,
        )?,
    })
}

/// Returns the time that a system's receiver takes to decode a repair packet.
pub fn repair_decoding(source: &Source, entry: &System) -> Result<Option<Duration>, ScenarioError> {
    time(
        source,
        "repair-decoding",
        entry.repair_decoding.as_ref(),
        DECODING,
    )
}

fn time(
    source: &Source,
    key: &str,
    written: Option<&Spanned<Time>>,
    range: RangeInclusive<Duration>,
) -> Result<Option<Duration>, ScenarioError> {
    let Some(written) = written else {
        return Ok(None);
    };
    let time = written.get_ref().0;
    if !range.contains(&time) {
        let (least, most) = (range.start().as_millis_f64(), range.end().as_millis_f64());
        let message =
            format!("`{key}` is {least} to {most} ms: write for example {key} = \"{most}ms\"");
        return Err(source.error(written.span(), message));
    }
    Ok(Some(time))
}

fn number(
    source: &Source,
    key: &str,
    unit: &str,
    written: Option<&Spanned<u32>>,
    range: RangeInclusive<u32>,
) -> Result<Option<u16>, ScenarioError> {
    let Some(written) = written else {
        return Ok(None);
    };
    let number = *written.get_ref();
    if !range.contains(&number) {
        let (least, most) = (range.start(), range.end());
        let message =
            format!("`{key}` is {least} to {most} {unit}: write for example {key} = {most}");
        return Err(source.error(written.span(), message));
    }
    Ok(u16::try_from(number).ok())
}

//! Table of metrics: names, units and definitions.

use serde::Serialize;

use crate::names::unknown_name;

/// Direction of an improvement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither: it depends.
    Neither,
}

/// Runs that a metric needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequiredRuns {
    /// The run with all flows.
    AllFlows,
    /// In addition, a run in which its flows are alone on the links.
    AndFlowsAlone,
}

/// Metric.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Metric {
    /// Name in snake case, with its unit if it has one.
    pub name: &'static str,
    /// Display name.
    pub title: &'static str,
    /// Unit; `1` for plain numbers and shares.
    pub unit: &'static str,
    /// Direction of an improvement.
    pub better: Better,
    /// Definition and computation.
    pub formula: &'static str,
    /// Source of the definition.
    pub source: &'static str,
    /// Runs that it needs.
    #[serde(skip)]
    pub required_runs: RequiredRuns,
}

macro_rules! required_runs {
    () => {
        RequiredRuns::AllFlows
    };
    (alone) => {
        RequiredRuns::AndFlowsAlone
    };
}

macro_rules! metrics {
    ($($name:ident $title:literal [$unit:literal] $better:ident $($required_runs:ident)?: $formula:literal, $source:literal;)*) => {
        /// Every metric, in the order of reports.
        pub const ALL: &[Metric] = &[$(Metric {
            name: stringify!($name),
            title: $title,
            unit: $unit,
            better: Better::$better,
            formula: $formula,
            source: $source,
            required_runs: required_runs!($($required_runs)?),
        }),*];

        /// Harm to each of them, in the same order.
        const HARM: &[Metric] = &[$(Metric {
            name: concat!("harm_", stringify!($name)),
            title: concat!("Harm: ", $title),
            unit: "1",
            better: Better::Lower,
            formula: concat!("of `", stringify!($name), "`: (alone - together) / alone where more is better, \
                (together - alone) / together where less is; alone: the same flows with the same seed alone on the links"),
            source: "Ware et al. 2019, section 4.1",
            required_runs: RequiredRuns::AndFlowsAlone,
        }),*];
    };
}

metrics! {
    throughput_mbps "Throughput" ["Mbit/s"] Neither:
        "bits that reached the receiver, including headers, copies and repair, over the flow's duration; sum of the flows",
        "RFC 8868 section 3";
    sent_mbps "Rate sent" ["Mbit/s"] Neither:
        "bits that the sender passed to the network, including headers, copies and repair, over the flow's duration; sum of the flows",
        "Boyaci et al., section 4.2: rates of senders";
    goodput_mbps "Goodput" ["Mbit/s"] Higher:
        "useful bits, over the flow's duration: of TCP, the data delivered in order to the application; of a call, the encoded frames that were shown; sum of the flows",
        "RFC 2647 section 3.17";
    transfer_s "Transfer time" ["s"] Lower:
        "mean time from the opening of a connection to the acknowledgement of the last byte of its transfer",
        "RFC 6349 section 4.1";
    throughput_norm "Throughput, normalised" ["1"] Higher:
        "throughput over the highest rate of all cameras together",
        "Converge, section 6: over 10 Mbps a camera";
    fps "Frames shown" ["1/s"] Higher:
        "frames shown, over the call's duration; mean of the cameras",
        "W3C webrtc-stats, framesRendered";
    fps_seen "Frames seen" ["1/s"] Higher:
        "refreshes of a 60 Hz display that show a new frame, over the call's duration; frames that are shown together after a stall count once; mean of the cameras",
        "chosen by us";
    fps_received "Frames received" ["1/s"] Higher:
        "frames of video of which a packet arrived, over the time from the first to the last; mean of the streams; of captures only, which do not show what was displayed",
        "chosen by us";
    fps_norm "Frames shown, normalised" ["1"] Higher:
        "frames shown a second, over 24",
        "Converge, section 6";
    freeze_s "Frozen" ["s"] Lower:
        "sum of the intervals between two pictures that are at least max(3 d, d + 150 ms), d being the mean of the last 30 intervals, within the measured time; mean of the cameras; includes a picture frozen at the end, and the time before a call's first picture if it exceeds 1 s; a call without pictures is one freeze",
        "W3C webrtc-stats, totalFreezesDuration; the beginning of a call chosen by us";
    freeze_s_worst "Frozen, worst tile" ["s"] Lower:
        "the time frozen of the tile that froze longest, of all people of a conference",
        "chosen by us";
    paused_s "Paused" ["s"] Lower:
        "time for which the server paused a tile because the viewer's paths had no room for it; it does not count as frozen; mean of the tiles",
        "chosen by us";
    first_picture_ms "First picture" ["ms"] Lower:
        "from the time at which a tile appeared on the viewer's screen to its first picture; mean of the tiles that have one",
        "chosen by us";
    freeze_count "Freezes" ["1"] Lower:
        "number of these intervals; mean of the cameras",
        "W3C webrtc-stats, freezeCount";
    freeze_ms_mean "Freezes, mean length" ["ms"] Lower:
        "time frozen over the number of freezes, where there are any; mean of the cameras",
        "Converge, table 4";
    e2e_ms_mean "Latency, mean" ["ms"] Lower:
        "from the capture of a frame to its display, over the frames shown; mean of the cameras",
        "Converge, section 5";
    e2e_ms_p95 "Latency, 95 %" ["ms"] Lower:
        "95 % of the frames shown took no longer than this",
        "Converge, section 5";
    e2e_ms_p99 "Latency, 99 %" ["ms"] Lower:
        "99 % of the frames shown took no longer than this",
        "chosen by us, as of 95 %";
    e2e_ms_worst_s "Latency, worst second" ["ms"] Lower:
        "highest mean latency of the frames captured within one second; mean of the cameras",
        "chosen by us";
    frames_dropped "Frames never shown" ["1"] Lower:
        "frames that were encoded and never shown, except those of the last second; mean of the cameras",
        "W3C webrtc-stats, framesDropped";
    keyframe_requests "Keyframe requests" ["1"] Lower:
        "requests of the receiver for a keyframe; mean of the cameras",
        "RFC 4585 section 6.3.1";
    fcd_ms "Frame construction delay" ["ms"] Lower:
        "from the first packet of a frame to its last, over the frames shown; mean of the cameras",
        "Converge, section 4.2";
    ifd_ms "Inter-frame delay" ["ms"] Lower:
        "time between two frames on display; mean of the cameras",
        "Converge, section 4.2";
    qp "Quantiser" ["1"] Lower:
        "quantiser index of the frames shown, mean; 0 to 127 for VP8, 0 to 51 for H.264; mean of the cameras",
        "W3C webrtc-stats, qpSum";
    qp_norm "Quantiser, normalised" ["1"] Lower:
        "quantiser over the coarsest one of the codec: 127 for VP8, 51 for H.264",
        "Converge, section 6, which divides by 60";
    psnr_db "PSNR" ["dB"] Higher:
        "mean luma peak signal to noise ratio of the frames shown against the captured pictures, by the encoder's model; mean of the cameras",
        "ITU-T J.340";
    ssim "SSIM" ["1"] Higher:
        "mean structural similarity of the luma of the frames shown and the captured pictures, by the encoder's model; mean of the cameras",
        "Wang et al. 2004, equation 13";
    brisque "BRISQUE" ["1"] Lower:
        "mean quality of the last 10 pictures shown, judged without the originals, 0 best and 100 worst, by the encoder's model; of real clients one picture every two seconds; a frozen picture may be good, so `freeze_s` is always measured with it; mean of the cameras",
        "Mittal, Moorthy, Bovik 2012; of the last 10 pictures: Grote et al., section V";
    rtt_ms_mean "Round-trip time, mean" ["ms"] Lower:
        "round-trip time of the selected path as the client measures it, mean over its samples; mean of the ends; of real clients and recordings only",
        "W3C webrtc-stats, currentRoundTripTime";
    jitter_buffer_ms "Jitter buffer" ["ms"] Lower:
        "time that frames waited in the jitter buffer, mean over the client's samples; mean of the cameras; of real clients and recordings only",
        "W3C webrtc-stats, jitterBufferDelay over jitterBufferEmittedCount";
    cpu_limited_s "Limited by the processor" ["s"] Lower:
        "time in which the client made smaller or fewer pictures because the processor was too slow; mean of the cameras; of real clients and recordings only",
        "W3C webrtc-stats, qualityLimitationDurations";
    sound_loss "Sound missing" ["1"] Lower:
        "packets of sound that were never played, over those recorded; mean of the microphones",
        "RFC 3611 section 4.1, loss and discards together";
    sound_ms_mean "Sound latency" ["ms"] Lower:
        "from the recording of a packet of sound to its release for playing, mean; mean of the microphones",
        "ITU-T G.114";
    sound_gap_ms "Longest gap in the sound" ["ms"] Lower:
        "longest time from the play-out of a packet of sound to that of the next, within the measured time, including the packet's 20 ms; mean of the microphones; includes the time after the last packet, and before a call's first one if it exceeds 1 s",
        "chosen by us, as freezes are counted of pictures";
    sound_gaps "Gaps in the sound" ["1"] Lower:
        "number of these times above 60 ms; mean of the microphones",
        "ITU-T G.711 Appendix I: after 60 ms concealed sound is silent";
    height_px "Picture height" ["px"] Higher:
        "lines of the frames shown, mean; mean of the cameras",
        "W3C webrtc-stats, frameHeight";
    fec_overhead "Repair packets" ["1"] Lower:
        "repair packets sent over media packets sent for the first time, of all cameras, over the whole run",
        "Converge, section 2.3";
    fec_utilisation "Repair packets of use" ["1"] Higher:
        "repair packets that restored a packet over repair packets received, of all cameras, over the whole run; no value if none was received",
        "Converge, section 6";
    utilisation "Utilisation" ["1"] Higher:
        "bits delivered by the flow's links, over the bits that their capacity allowed",
        "RFC 8867 section 4";
    convergence_s "Convergence time" ["s"] Lower:
        "time after the start, and after each step of capacity, until the rate stays within 15 % of where it settles; mean",
        "the GCC thesis, section 4; tolerance chosen by us";
    rate_variation "Variation of the rate" ["1"] Lower:
        "mean difference of the rates of successive seconds, over the mean rate; mean of the flows",
        "RFC 8867 section 4.1, variation in throughput; formula chosen by us";
    feedback_overhead "Feedback" ["1"] Lower:
        "bits that the receiver of a call sends, over the bits sent to it; mean of the calls; only of calls with media one way",
        "RFC 8867 section 4.1";
    loss "Loss" ["1"] Lower:
        "packets that were lost, over packets that were lost or arrived",
        "RFC 8868 section 3";
    packets_sent "Packets sent" ["1"] Neither:
        "packets sent within the measured time; sum of the flows",
        "Sander et al., table 2: received and dropped";
    packets_received "Packets received" ["1"] Neither:
        "packets that arrived within the measured time; sum of the flows",
        "Sander et al., table 2";
    queue_ms_mean "Queueing delay, mean" ["ms"] Lower:
        "time that delivered packets waited in queues, mean",
        "RFC 8867 section 4";
    queue_ms_p95 "Queueing delay, 95 %" ["ms"] Lower:
        "95 % of the delivered packets waited no longer than this",
        "RFC 8867 section 4";
    queue_share "Queueing delay over the longest" ["1"] Lower:
        "mean time that delivered packets waited in queues, over the longest possible wait: the limit at the link's rate; only if that is known and constant",
        "Sander et al., section 4.2";
    owd_ms_mean "One-way delay, mean" ["ms"] Lower:
        "time from sending to delivery of a packet, mean",
        "RFC 7679 section 5";
    owd_ms_p95 "One-way delay, 95 %" ["ms"] Lower:
        "95 % of the delivered packets took no longer than this",
        "RFC 7679 section 5";
    rate_sd_mbps "Deviation of the rate" ["Mbit/s"] Lower:
        "standard deviation of the rates of half a second, while the flow runs",
        "the GCC thesis, section 5.3.4: beside its rates";
    loss_max "Loss, largest" ["1"] Lower:
        "largest loss of half a second, while the flow runs",
        "the GCC thesis, section 5.3.4: its maximum";
    rtt_rise_ms_mean "Round trip above its least, mean" ["ms"] Lower:
        "the sender's smoothed round trip of a call's paths, each 200 ms, less the smallest of the run; mean",
        "the GCC thesis, section 5.3.4: its delay";
    rtt_rise_ms_p95 "Round trip above its least, 95 %" ["ms"] Lower:
        "95 % of these are no longer than this",
        "the GCC thesis, section 5.3.4: its delay";
    retransmissions "Retransmissions" ["1"] Lower:
        "TCP segments that were sent again, over segments sent",
        "RFC 5681";
    airtime "Airtime" ["1"] Neither:
        "share of the time in which a cell carried one exchange of frames, mean of the cells; of a station, the share of its exchanges",
        "Hoiland-Jorgensen et al. 2017, section 4.1";
    collisions "Collisions" ["1"] Lower:
        "transmissions of a cell's stations that collided, over transmissions",
        "Bianchi 2000, section IV: p";
    retries "Frames sent again" ["1"] Lower:
        "frames that a cell's stations sent again, over frames sent",
        "IEEE 802.11-2016, 10.3.4.4";
    aggregate "Frames together" ["1"] Neither:
        "frames in a transmission of a cell's stations, mean",
        "IEEE 802.11-2016, 10.13";
    prb_share "Resource blocks" ["1"] Neither:
        "share of an LTE cell's resource blocks that were used, mean of up and down; of a terminal, the blocks in which it sent, and `-back` those in which it received",
        "3GPP TS 36.314, 4.1.1: PRB usage";
    harq_errors "HARQ errors" ["1"] Lower:
        "transport blocks that were not decoded, over transport blocks sent, including repetitions",
        "3GPP TS 36.321, 5.3.2";
    jain_index "Jain's index" ["1"] Higher:
        "(sum of the rates)^2 / (n * sum of their squares): 1 if all are equal, 1/n if one takes all",
        "Jain, Chiu, Hawe 1984";
    fair_1s "Fair within a second" ["1"] Higher:
        "share of the seconds in which no flow has more than three times the rate of another",
        "RFC 8868 section 3: rates within 1/3 and 3 of each other";
    fair_5s "Fair within 5 s" ["1"] Higher:
        "the same for spans of 5 s",
        "RFC 8868 section 3";
    fair_20s "Fair within 20 s" ["1"] Higher:
        "the same for spans of 20 s",
        "RFC 8868 section 3";
    flow_rate_equality "Flow-rate equality" ["1"] Neither:
        "1 - TCP/call bytes if the call has more, else call/TCP bytes - 1: 0 equal, 1 the call alone, -1 TCP alone; `flow_rate_equality.A/B` compares flow A with flow B, while both run",
        "Sander et al., section 3";
    harm "Harm" ["1"] Lower alone:
        "(demand - rate) / demand; the demand is the rate of the same flows with the same seed alone on the links",
        "Grote et al., section IV-B, after Ware et al. 2019";
}

/// The most important metrics, the most informative first: quality, latency, rate, effect
/// on the links. Chosen by us.
pub const KEY: [&str; 10] = [
    "fps",
    "freeze_s",
    "freeze_count",
    "e2e_ms_p95",
    "goodput_mbps",
    "throughput_mbps",
    "utilisation",
    "queue_ms_p95",
    "loss",
    "jain_index",
];

/// Metrics of a section of a run; chosen by us: those computed from samples over time,
/// because a run keeps no counters per section.
pub(super) const SECTIONED: [&str; 14] = [
    "throughput_mbps",
    "sent_mbps",
    "goodput_mbps",
    "rate_sd_mbps",
    "loss",
    "loss_max",
    "retransmissions",
    "rate_variation",
    "fps",
    "freeze_s",
    "e2e_ms_p95",
    "height_px",
    "rtt_rise_ms_mean",
    "rtt_rise_ms_p95",
];

/// Metric that a scenario can request for any two flows: `NAME.FIRST/SECOND`.
pub(super) const EQUALITY: &str = "flow_rate_equality";

/// Returns the pair of flows in a name, such as `first/second`.
#[must_use]
pub fn pair(name: &str) -> Option<&str> {
    let of = name.strip_prefix(EQUALITY)?.strip_prefix('.')?;
    of.contains('/').then_some(of)
}

/// Returns the display rank of a metric: those of [`KEY`] first, then the order of
/// [`ALL`]; ignores the suffix.
#[must_use]
pub fn rank(name: &str) -> (usize, Option<usize>) {
    let key = KEY.iter().position(|key| *key == base(name));
    (key.unwrap_or(KEY.len()), position(name))
}

/// Returns the metric of this name, ignoring its suffix.
#[must_use]
pub fn find(name: &str) -> Option<&'static Metric> {
    let own = ALL.iter().find(|metric| metric.name == base(name));
    own.or_else(|| {
        let of = ALL
            .iter()
            .position(|metric| metric.name == harmed(name).unwrap_or(""))?;
        let is_harmed =
            ALL[of].better != Better::Neither && ALL[of].required_runs == RequiredRuns::AllFlows;
        is_harmed.then_some(&HARM[of])
    })
}

/// Returns the metric whose harm is `harm_METRIC`.
pub fn harmed(name: &str) -> Option<&str> {
    base(name).strip_prefix("harm_")
}

/// Returns the position of a metric among all, ignoring its suffix; harm metrics come
/// last.
#[must_use]
pub fn position(name: &str) -> Option<usize> {
    let metric = find(name)?;
    let mut all = ALL.iter().chain(HARM);
    all.position(|each| each.name == metric.name)
}

/// Removes owner and section.
fn base(name: &str) -> &str {
    name.split(['.', '#']).next().unwrap_or(name)
}

/// Names of the possible owners of a metric.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Owners {
    /// Flows, in the order of the scenario.
    pub flows: Vec<String>,
    /// Links, in the order of the scenario.
    pub links: Vec<String>,
    /// Number of sections of the run.
    pub sections: usize,
}

/// Adds metrics that belong together: frozen time if picture quality is reported.
pub fn complete(names: &mut Vec<String>) {
    let needs = names.iter().any(|name| base(name) == "brisque");
    if needs && !names.iter().any(|name| name == "freeze_s") {
        names.push("freeze_s".to_owned());
    }
}

/// Checks that the metric exists, in total or for one of these flows and links; the error
/// lists the valid names. Comparisons with a run of flows alone exist only for flows.
///
/// # Errors
/// The valid names.
pub fn check_name(name: &str, owners: &Owners) -> Result<(), String> {
    let name = &whole_name(name, owners.sections)?;
    let (base, owner) = match name.split_once('.') {
        Some((base, owner)) => (base, Some(owner)),
        None => (name.as_str(), None),
    };
    let Some(metric) = find(base) else {
        let known = ALL.iter().map(|metric| metric.name);
        return Err(unknown_name("there is no metric", base, known));
    };
    let is_flow = |name: &str| owners.flows.iter().any(|each| each == name);
    let owner = owner.and_then(
        |owner| match pair(name).and_then(|pair| pair.split_once('/')) {
            Some((first, second)) => [first, second].into_iter().find(|each| !is_flow(each)),
            None => Some(owner).filter(|owner| !is_flow(owner)),
        },
    );
    let Some(owner) = owner else {
        return Ok(());
    };
    let there = owner.strip_suffix("-back").unwrap_or(owner);
    let mut links = owners.links.iter();
    let is_link = links.any(|each| each == owner || each == there);
    let flows = owners.flows.iter().map(String::as_str);
    match metric.required_runs {
        RequiredRuns::AllFlows if is_link => Ok(()),
        RequiredRuns::AllFlows => {
            let known = flows.chain(owners.links.iter().map(String::as_str));
            Err(unknown_name("there is no flow or link", owner, known))
        }
        RequiredRuns::AndFlowsAlone => {
            let what = match is_link {
                true => format!(
                    "`{base}` compares flows with themselves alone, and `{owner}` is a link: there is \
                     no flow"
                ),
                false => "there is no flow".to_owned(),
            };
            Err(unknown_name(&what, owner, flows))
        }
    }
}

/// Removes the number of a section from a name, after checking that the section exists.
///
/// # Errors
/// The error in the number, or in the metric for a section.
fn whole_name(name: &str, sections: usize) -> Result<String, String> {
    let Some((base, rest)) = name.split_once('#') else {
        return Ok(name.to_owned());
    };
    let (number, owner) = match rest.split_once('.') {
        Some((number, owner)) => (number, format!(".{owner}")),
        None => (rest, String::new()),
    };
    if sections == 0 {
        return Err(format!(
            "`{name}` is of a section, and there are none: add sections = [\"60s\"], or remove `#{number}`"
        ));
    }
    if !number
        .parse::<usize>()
        .is_ok_and(|number| (1..=sections).contains(&number))
    {
        return Err(format!(
            "there is no section `{number}`: they are 1 to {sections}"
        ));
    }
    if find(base).is_some() && !SECTIONED.contains(&base) {
        let known = SECTIONED.join(", ");
        return Err(format!(
            "`{base}` is of whole runs only; sections have {known}"
        ));
    }
    Ok(format!("{base}{owner}"))
}

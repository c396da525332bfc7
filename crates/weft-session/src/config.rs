use weft_cc::{ControllerKind, Limits};
use weft_units::{Bytes, Codec, Duration, Rate, Ssrc};
use weft_wire::rtp::{ExtensionMap, Mid, Rid};

use crate::ablation::Ablations;
use crate::preference::Preference;
use crate::protection::ProtectionKind;
use crate::receive::{Delivery, ReceiverProfile};
use crate::schedule::SchedulerKind;

/// Settings of a session, and the results of its negotiation.
///
/// More than fifteen fields: each is an independent setting.
#[derive(Clone, Debug)]
pub struct Config {
    /// Negotiated header extension ids; they decide the [`Level`].
    pub extensions: ExtensionMap,
    /// Format of the feedback from a peer without multipath support. Default:
    /// transport-wide numbers.
    pub feedback_format: FeedbackFormat,
    /// Frequency and paths of the feedback to the peer. Default: quick.
    pub reporting: Reporting,
    /// Scheduler: chooses the path of each packet.
    pub scheduler: SchedulerKind,
    /// Fault that the call avoids first: freezes, or coarse pictures. Default: balanced.
    pub preference: Preference,
    /// Parts that the session leaves out, for experiments. Default: none.
    pub ablations: Ablations,
    /// Time limits and buffer bounds of the receive side, for experiments. Default:
    /// weft's own.
    pub receiver: ReceiverProfile,
    /// Rule for the number of repair packets on streams that negotiated them
    /// ([`SendStreamConfig::fec`]). Default: by the losses of each path.
    pub protection: ProtectionKind,
    /// Congestion controller; every path gets its own instance.
    pub controller: ControllerKind,
    /// Share of this call relative to others with the same controller: a call with twice
    /// the weight aims at twice the rate, if the controller supports weights
    /// ([`weft_cc::Controller::set_weight`]). Default: 1.
    pub weight: f64,
    /// Bounds of one path's rate. The path sends at the start rate before anything is
    /// measured: a value that is too high floods a slow link, one that is too low delays
    /// a sharp picture by a probe or two. The highest rate is raised to a quarter more
    /// than `max_rate`, because one path may have to carry everything.
    pub path_limits: Limits,
    /// Treatment of packets that wait for a path's pacer. Default: they are sent soon.
    pub backlog: Backlog,
    /// Highest rate of the application's media over all paths, pictures and sound together.
    pub max_rate: Rate,
    /// Bound on everything sent over all paths together: media, copies, repair,
    /// retransmissions, probes and reports, with the headers of IP and UDP. Any second may
    /// exceed it by a twentieth or 4 kB. It lowers the rate of the media accordingly.
    /// Default: only `max_rate` and the paths bound it.
    pub send_limit: Option<Rate>,
    /// Maximum length of RTP packets (header, extensions, payload; without SRTP tag, UDP
    /// and IP). Default: 1200 bytes, libwebrtc's packet size, which fits IPv6's minimum MTU
    /// of 1280.
    pub max_packet: Bytes,
    /// RTCP canonical name of this endpoint (RFC 3550 section 6.5.1).
    pub cname: String,
    /// SSRC for RTCP that belongs to none of our streams.
    pub feedback_ssrc: Ssrc,
    /// Wall clock as one explicit input: the NTP time (32.32 bits, RFC 5905) at
    /// `Instant::ZERO`.
    pub ntp_at_zero: u64,
}

impl Config {
    /// Returns the defaults for a video call over the negotiated extensions.
    #[must_use]
    pub fn new(extensions: ExtensionMap, feedback_ssrc: Ssrc) -> Config {
        Config {
            extensions,
            feedback_format: FeedbackFormat::Transport,
            reporting: Reporting::default(),
            scheduler: SchedulerKind::default(),
            preference: Preference::default(),
            ablations: Ablations::NONE,
            receiver: ReceiverProfile::default(),
            protection: ProtectionKind::default(),
            controller: ControllerKind::Gcc,
            weight: 1.0,
            path_limits: Limits {
                min: Rate::from_kbps(50),
                start: Rate::from_kbps(600),
                max: Rate::from_mbps(20),
            },
            backlog: Backlog::LeavesSoon,
            max_rate: Rate::from_mbps(4),
            send_limit: None,
            max_packet: Bytes(1200),
            cname: String::from("weft"),
            feedback_ssrc,
            ntp_at_zero: 0,
        }
    }

    /// Returns the level that both sides agreed on, by the extensions and the feedback
    /// format.
    #[must_use]
    pub fn level(&self) -> Level {
        let transport = self.extensions.transport_sequence;
        match (self.extensions.path, self.feedback_format, transport) {
            (Some(_), ..) => Level::Full,
            (None, FeedbackFormat::Stream, _) | (None, _, Some(_)) => Level::SenderSide,
            (None, FeedbackFormat::Transport, None) => Level::Single,
        }
    }
}

/// Treatment of packets that wait for a path's pacer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Backlog {
    /// Packets leave within a quarter of a second, if necessary faster than the
    /// controller's rate. An encoder that gets the new rate produces less at once.
    LeavesSoon,
    /// Packets leave at the controller's rate, and the application sends less while they
    /// wait ([`Session::queue_time`](crate::Session::queue_time)). This suits a
    /// forwarder, which cannot make pictures smaller.
    Waits {
        /// Lowest rate at which the backlog leaves: the known capacity of all paths
        /// together, or zero if it is unknown.
        known: Rate,
    },
}

weft_units::named! {
    /// Level of multipath that the two sides negotiated.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Level: "level" {
        /// Both sides support paths: per-path numbers, and feedback for every path.
        Full = "full",
        /// The peer's feedback does not name paths: the sender remembers the path of each
        /// number.
        SenderSide = "sender-side",
        /// No per-packet feedback: one path carries everything.
        Single = "single",
    }
}

/// Identification of packets in the feedback from a peer without multipath support.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FeedbackFormat {
    /// A number that counts the packets of all streams, in a header extension
    /// (transport-wide feedback).
    Transport,
    /// The stream and its own sequence number (RFC 8888). This feedback has
    /// room for ECN marks.
    Stream,
}

weft_units::named! {
    /// Frequency and paths of a receiver's feedback.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum Reporting: "reporting" {
        /// Every 10 ms with several paths, otherwise every 25 ms; over two paths if there
        /// are two.
        #[default]
        Quick = "quick",
        /// Sixteen times a second over one path, as browsers send it. For experiments
        /// only.
        Browser = "browser",
    }
}

/// Stream that this side sends.
#[derive(Clone, Debug)]
pub struct SendStreamConfig {
    /// SSRC of the media packets.
    pub ssrc: Ssrc,
    /// Retransmission of lost packets.
    pub retransmission: Retransmission,
    /// SSRC and payload type of repair packets (RFC 8627). Without it, or without feedback
    /// on each packet, the stream has no repair packets.
    pub fec: Option<(Ssrc, u8)>,
    /// Payload type of the media packets.
    pub payload_type: u8,
    /// Codec and packet format.
    pub codec: Codec,
    /// Media identification (RFC 8843), sent with every packet if negotiated.
    pub mid: Option<Mid>,
    /// Encoding of the media section, if it has several; sent like `mid`.
    pub rid: Option<Rid>,
    /// Feedback that the peer gives on this stream's packets.
    pub feedback: Feedback,
}

/// Retransmission of a stream's lost packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Retransmission {
    /// No retransmission: the peer does not send NACKs (no `nack`).
    None,
    /// Repetition of the lost bytes (`Output::Repeat`): the peer sends NACKs (`nack`) but
    /// does not support RTX.
    SamePacket,
    /// Retransmission with its own SSRC and payload type (RTX, RFC 4588).
    Rtx(Ssrc, u8),
}

impl Retransmission {
    pub(crate) fn rtx(self) -> Option<(Ssrc, u8)> {
        match self {
            Retransmission::Rtx(ssrc, payload_type) => Some((ssrc, payload_type)),
            Retransmission::None | Retransmission::SamePacket => None,
        }
    }
}

/// Feedback from the peer on a stream's packets, negotiated for each media section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feedback {
    /// Arrival or loss of each packet, by the numbers of the session's [`Level`].
    EachPacket,
    /// Receiver reports only: the stream's packets get no numbers. Measurements from the
    /// other streams of a bundle apply to it, too.
    Reports,
}

/// Stream that this side receives.
#[derive(Clone, Debug)]
pub struct ReceiveStreamConfig {
    /// SSRC as signalled; without it, the first packet identifies the stream by `mid` or
    /// payload type.
    pub ssrc: Option<Ssrc>,
    /// Media identification (RFC 8843).
    pub mid: Option<Mid>,
    /// Encoding of the media section, if it has several. Packets carry it until their SSRC
    /// is known.
    pub rid: Option<Rid>,
    /// Payload type of the media packets.
    pub payload_type: u8,
    /// SSRC (if signalled) and payload type of retransmissions.
    pub rtx: Option<(Option<Ssrc>, u8)>,
    /// SSRC (if signalled) and payload type of repair packets (RFC 8627).
    pub fec: Option<(Option<Ssrc>, u8)>,
    /// Codec and packet format.
    pub codec: Codec,
    /// Whole frames in play-out order, or packets in the order of arrival.
    pub delivery: Delivery,
}

/// Age above which a retransmission helps no frame: the jitter buffer's maximum plus a
/// round trip. Chosen by us.
pub(crate) const RETRANSMISSION_AGE: Duration = Duration::from_millis(1000);

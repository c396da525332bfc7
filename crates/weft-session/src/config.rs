use weft_cc::{ControllerKind, Limits};
use weft_units::{Bytes, Codec, Duration, Rate, Ssrc};
use weft_wire::rtp::{ExtensionMap, Mid, Rid};

use crate::ablation::Ablations;
use crate::preference::Preference;
use crate::protection::ProtectionKind;
use crate::receive::{Delivery, ReceiverProfile};
use crate::schedule::SchedulerKind;

/// How a session sends and what was negotiated for it.
///
/// More than fifteen fields: each is a setting of its own.
#[derive(Clone, Debug)]
pub struct Config {
    /// Negotiated header extension ids; they decide the [`Level`].
    pub extensions: ExtensionMap,
    /// Format of the feedback of a peer that knows no paths. Default: transport-wide numbers.
    pub feedback_format: FeedbackFormat,
    /// How the peer is told of the packets that come. Default: quickly.
    pub reporting: Reporting,
    /// Scheduler: chooses the path of each packet.
    pub scheduler: SchedulerKind,
    /// Fault that the call avoids first. Default: balanced.
    pub preference: Preference,
    /// Parts that are left out, for experiments. Default: nothing.
    pub ablations: Ablations,
    /// Patience and bounds of the receive side, for experiments. Default: ours.
    pub receiver: ReceiverProfile,
    /// How many repair packets there are, on streams that have some negotiated
    /// ([`SendStreamConfig::fec`]). Default: by what each path loses.
    pub protection: ProtectionKind,
    /// The congestion controller that every path gets one of.
    pub controller: ControllerKind,
    /// This call's share beside others with the same controller: twice the
    /// weight asks for twice the rate, where the controller knows of weights
    /// ([`weft_cc::Controller::set_weight`]). Default 1.
    pub weight: f64,
    /// Bounds of one path's rate. The start rate is spent before anything is
    /// known of a path: too high floods a slow link, too low delays a sharp
    /// picture by a probe or two. The highest rate gives way to a quarter more
    /// than `max_rate`: a path may have to carry everything alone.
    pub path_limits: Limits,
    /// Treatment of packets that wait for a path's pacer. Default: they leave
    /// soon.
    pub backlog: Backlog,
    /// Most that the application sends over all paths, media and audio together.
    pub max_rate: Rate,
    /// Bounds everything that is sent over all paths together, in any second by a
    /// twentieth or 4 kB: media, copies, repair, retransmissions, probes and
    /// reports, with the headers of IP and UDP. What the media may have is less
    /// then. Default: nothing bounds it but `max_rate` and the paths.
    pub send_limit: Option<Rate>,
    /// RTP packets (header, extensions, payload; without SRTP tag, UDP and IP)
    /// are at most this long. Default: 1200 bytes, libwebrtc's packet size,
    /// which passes IPv6's minimum MTU of 1280.
    pub max_packet: Bytes,
    /// RTCP canonical name of this endpoint (RFC 3550 section 6.5.1).
    pub cname: String,
    /// SSRC of RTCP that belongs to no stream of ours.
    pub feedback_ssrc: Ssrc,
    /// The wall clock as one explicit input: NTP time (32.32 bits, RFC 5905)
    /// at `Instant::ZERO`.
    pub ntp_at_zero: u64,
}

impl Config {
    /// The defaults for a video call over the negotiated extensions.
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

    /// Returns the level that both sides agreed on, read off the extensions and
    /// the feedback format.
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
    /// They leave within a quarter of a second, faster than the controller has
    /// it if need be: an encoder that hears of the rate makes less at once.
    LeavesSoon,
    /// They leave at the controller's pace, and the application sends less while
    /// they wait ([`Session::queue_time`](crate::Session::queue_time)): a
    /// forwarder, which cannot make pictures smaller.
    ///
    Waits {
        /// Rate that the paths together are known to carry, zero where nothing is
        /// known: the backlog leaves at no less than this.
        known: Rate,
    },
}

weft_units::named! {
    /// How much of multipath the two sides negotiated.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Level: "level" {
        /// Both sides know paths: per-path numbers and feedback on every path.
        Full = "full",
        /// The peer gives feedback that knows no paths: the sender remembers the
        /// path of each number.
        SenderSide = "sender-side",
        /// No per-packet feedback: one path carries everything.
        Single = "single",
    }
}

/// Identification of packets in the feedback of a peer that knows no paths.
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
    /// How a receiver tells of the packets that come.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum Reporting: "reporting" {
        /// Every 10 ms where there is a choice of paths, else every 25, and over two
        /// paths if it can.
        #[default]
        Quick = "quick",
        /// As browsers do: sixteen times a second, over one path. For experiments;
        /// real peers are told quickly.
        Browser = "browser",
    }
}

/// One stream that this side sends.
#[derive(Clone, Debug)]
pub struct SendStreamConfig {
    /// SSRC of the media packets.
    pub ssrc: Ssrc,
    /// How lost packets are sent again.
    pub retransmission: Retransmission,
    /// SSRC and payload type of repair packets (RFC 8627). Without it, or
    /// without feedback on each packet, there are none.
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

/// How a stream's lost packets are sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Retransmission {
    /// The peer never asks (no `nack`): they are not sent again.
    None,
    /// The peer asks (`nack`), but knows no RTX: the bytes that were lost go
    /// out once more (`Output::Repeat`).
    SamePacket,
    /// Under an SSRC and with a payload type of their own (RTX, RFC 4588).
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

/// Feedback that a peer gives on a stream's packets: negotiated for each media
/// section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feedback {
    /// Fate of each packet, by the numbers of the session's [`Level`].
    EachPacket,
    /// Nothing but receiver reports: the stream's packets get no numbers.
    /// What a bundle's other streams measure counts for it too.
    Reports,
}

/// One stream that this side receives.
#[derive(Clone, Debug)]
pub struct ReceiveStreamConfig {
    /// SSRC as signalled; without it the stream is recognised by `mid` or
    /// payload type at its first packet.
    pub ssrc: Option<Ssrc>,
    /// Media identification (RFC 8843).
    pub mid: Option<Mid>,
    /// Encoding of the media section, if it has several: its packets say it until their
    /// SSRC is known.
    pub rid: Option<Rid>,
    /// Payload type of the media packets.
    pub payload_type: u8,
    /// SSRC (if signalled) and payload type of retransmissions.
    pub rtx: Option<(Option<Ssrc>, u8)>,
    /// SSRC (if signalled) and payload type of repair packets (RFC 8627).
    pub fec: Option<(Option<Ssrc>, u8)>,
    /// Codec and packet format.
    pub codec: Codec,
    /// Whole frames in play-out order, or packets as they come.
    pub delivery: Delivery,
}

/// Retransmissions older than this help no frame: the jitter buffer's cap plus
/// a round trip. Chosen by us.
pub(crate) const RETRANSMISSION_AGE: Duration = Duration::from_millis(1000);

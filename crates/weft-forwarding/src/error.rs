use thiserror::Error;
use weft_rooms::MAX_CAMERAS;
use weft_units::MediaKind;

/// Why the media plane does not do what it was asked to.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MediaError {
    /// The session description makes no sense.
    #[error("the session description cannot be used: {reason}")]
    BadDescription {
        /// Fault, with its place.
        reason: String,
    },
    /// The description has more cameras than a publication may have.
    #[error("the session description has {0} cameras, and {MAX_CAMERAS} are forwarded")]
    TooManyCameras(usize),
    /// The offer has more sound than is forwarded.
    #[error("the session description has {0} audio sections, and one is forwarded")]
    TooManySounds(usize),
    /// A kind of media in the offer has no codec that can be forwarded.
    #[error("the offer's {} is {offered}, and weft forwards {forwarded}", name_of(*.kind))]
    NoCodec {
        /// Sound or pictures.
        kind: MediaKind,
        /// Codecs that the offer lists, for people.
        offered: String,
        /// Codecs that would do, for people.
        forwarded: String,
    },
    /// The player does not take a codec that is published.
    #[error("this participant sends {sent}, and the player's {} is {listed}", name_of(*.kind))]
    CodecNotTaken {
        /// Sound or pictures.
        kind: MediaKind,
        /// Codec that is published, for people.
        sent: String,
        /// Codecs that the player lists, for people.
        listed: String,
    },
    /// The participant has nothing of the kinds that the player takes.
    #[error("this participant sends no {}, and the player takes nothing else", name_of(*.0))]
    KindNotSent(MediaKind),
    /// An offer to publish that sends nothing.
    #[error("the offer sends nothing: {0}")]
    SendsNothing(String),
    /// An offer to play that receives nothing.
    #[error("the offer receives nothing: {0}")]
    ReceivesNothing(String),
    /// Media sections that want a transport each.
    #[error("the offer does not put its media sections into one BUNDLE group (a=group:BUNDLE)")]
    NotBundled,
    /// RTCP that wants a port of its own.
    #[error("the offer has a media section without a=rtcp-mux")]
    NoRtcpMux,
    /// The participant publishes nothing now.
    #[error("this participant publishes nothing at the moment")]
    NothingPublished,
    /// No such connection.
    #[error("there is no such connection")]
    UnknownResource,
    /// The connection cannot take this now.
    #[error("the connection does not expect this: {reason}")]
    WrongState {
        /// Value that it expects.
        reason: String,
    },
    /// An ICE fragment that is meant for another session of the connection.
    #[error("the ICE session that If-Match names is over")]
    OtherIceSession,
    /// Other ICE credentials, without a word about a restart.
    #[error("the fragment has other ICE credentials, and no If-Match")]
    RestartUnsaid,
    /// ICE cannot be restarted here.
    #[error("this connection does not restart ICE")]
    NoRestart,
    /// No room for another connection.
    #[error("too many media connections")]
    Busy,
    /// The media plane has ended.
    #[error("the media side of the server has stopped")]
    Gone,
}

/// For people.
fn name_of(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Audio => "sound",
        MediaKind::Video => "video",
    }
}

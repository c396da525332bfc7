use thiserror::Error;
use weft_rooms::MAX_CAMERAS;
use weft_units::MediaKind;

/// Reason why the media plane refuses a request.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MediaError {
    /// The session description is invalid.
    #[error("the session description cannot be used: {reason}")]
    BadDescription {
        /// Fault and its location.
        reason: String,
    },
    /// The description has more cameras than a publication may have.
    #[error("the session description has {0} cameras, and {MAX_CAMERAS} are forwarded")]
    TooManyCameras(usize),
    /// The offer has more audio streams than are forwarded.
    #[error("the session description has {0} audio sections, and one is forwarded")]
    TooManySounds(usize),
    /// A kind of media in the offer has no codec that can be forwarded.
    #[error("the offer's {} is {offered}, and weft forwards {forwarded}", name_of(*.kind))]
    NoCodec {
        /// Kind of media.
        kind: MediaKind,
        /// Codecs that the offer lists, as text for people.
        offered: String,
        /// Codecs that can be forwarded, as text for people.
        forwarded: String,
    },
    /// The player does not support a published codec.
    #[error("this participant sends {sent}, and the player's {} is {listed}", name_of(*.kind))]
    CodecNotTaken {
        /// Kind of media.
        kind: MediaKind,
        /// Published codec, as text for people.
        sent: String,
        /// Codecs that the player lists, as text for people.
        listed: String,
    },
    /// The participant publishes none of the kinds that the player receives.
    #[error("this participant sends no {}, and the player takes nothing else", name_of(*.0))]
    KindNotSent(MediaKind),
    /// An offer to publish sends nothing.
    #[error("the offer sends nothing: {0}")]
    SendsNothing(String),
    /// An offer to play receives nothing.
    #[error("the offer receives nothing: {0}")]
    ReceivesNothing(String),
    /// Media sections each need their own transport.
    #[error("the offer does not put its media sections into one BUNDLE group (a=group:BUNDLE)")]
    NotBundled,
    /// RTCP needs its own port.
    #[error("the offer has a media section without a=rtcp-mux")]
    NoRtcpMux,
    /// The participant publishes nothing at present.
    #[error("this participant publishes nothing at the moment")]
    NothingPublished,
    /// The connection does not exist.
    #[error("there is no such connection")]
    UnknownResource,
    /// The request does not fit the state of the connection.
    #[error("the connection does not expect this: {reason}")]
    WrongState {
        /// Request that the connection expects.
        reason: String,
    },
    /// An ICE fragment is for another session of the connection.
    #[error("the ICE session that If-Match names is over")]
    OtherIceSession,
    /// The ICE credentials are new, but the request does not announce a restart.
    #[error("the fragment has other ICE credentials, and no If-Match")]
    RestartUnsaid,
    /// ICE cannot be restarted on this connection.
    #[error("this connection does not restart ICE")]
    NoRestart,
    /// There is no room for another connection.
    #[error("too many media connections")]
    Busy,
    /// The media plane has ended.
    #[error("the media side of the server has stopped")]
    Gone,
}

/// Name for people.
fn name_of(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Audio => "sound",
        MediaKind::Video => "video",
    }
}

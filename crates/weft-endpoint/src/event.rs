//! Events of a call, for the embedding program.

use std::fmt;
use std::time::Duration;

use weft_peer::data::Message;
use weft_publish::EncoderPace;
use weft_session::{Level, ReceivedFrame};
use weft_units::Instant;

use crate::caller::Track;
use crate::connect::ConnectError;
use crate::links::{LinkChange, LinkTrouble};
use crate::notice::Notice;
use crate::signalling::{Participant, SignallingError};

/// Event of a call. Its text is a sentence for users, with the remedy if something is
/// wrong; [`Event::is_for_people`] says whether to show it. No event ends the call:
/// failed operations are retried.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// The room has admitted us, for the first time or after a restart of the
    /// server.
    Joined {
        /// Our id in the room.
        id: String,
    },
    /// We are in the waiting room until a moderator admits us.
    WaitingForAdmission,
    /// A moderator has admitted us; [`Event::Joined`] follows.
    Admitted,
    /// A moderator has muted us. Our sound is not sent until
    /// [`Call::unmute`](crate::Call::unmute).
    Muted,
    /// We are no longer muted.
    Unmuted,
    /// The server refused to end our mute; try [`Call::unmute`](crate::Call::unmute)
    /// again.
    UnmuteFailed(SignallingError),
    /// A participant joined, or was already present.
    ParticipantCame(Participant),
    /// A participant changed their publication.
    ParticipantChanged(Participant),
    /// A participant left the room.
    ParticipantLeft(Participant),
    /// Our publication reaches the server.
    Publishing {
        /// Name of the publication.
        name: String,
    },
    /// Our publication reaches a server outside of a room.
    Published {
        /// Address of the endpoint without its query.
        url: String,
        /// Level of multipath that the server supports, if known.
        level: Option<Level>,
    },
    /// The server answers requests, but no UDP packets have returned on any link for some
    /// seconds. Attempts continue. Reported once, and only before the first connection. A
    /// call that ends in this state returns [`ConnectError::Unanswered`].
    Unanswered,
    /// A server outside of a room sends a stream.
    PlayingStream {
        /// Address of the endpoint without its query.
        url: String,
        /// Number of cameras in the stream.
        cameras: usize,
        /// Whether the stream has sound.
        sound: bool,
        /// Level of multipath that the server supports, if known.
        level: Option<Level>,
    },
    /// The connection to a stream works, but no media arrives over it. Reported once per
    /// silence.
    StreamSilent {
        /// Seconds without a frame.
        seconds: u64,
    },
    /// The publishing connection failed and is being replaced.
    PublishingFailed {
        /// Reason for display: a sentence without its full stop.
        reason: String,
    },
    /// A data channel of the configuration is open: messages reach the room.
    ChannelOpened {
        /// Label of the channel.
        label: String,
    },
    /// A data channel is closed until the next connection opens it again.
    ChannelClosed {
        /// Label of the channel.
        label: String,
    },
    /// A participant in the room has sent a message on a data channel.
    Message {
        /// Label of the channel.
        label: String,
        /// The message.
        message: Message,
    },
    /// The server ended our publication; it is being published again.
    PublicationEnded,
    /// A link of our publication came up, went down, or became suspect.
    Link {
        /// Configured name of the link, or name of its interface.
        link: String,
        /// Change of the link for the publishing connection.
        change: LinkChange,
    },
    /// One of our links has carried no packets for some seconds, or a captive portal was
    /// found on it. Reported once per outage.
    LinkTrouble {
        /// Configured name of the link, or name of its interface.
        link: String,
        /// Reason and remedy.
        trouble: LinkTrouble,
    },
    /// Media of a participant is being received.
    Playing(Participant),
    /// The other participants cannot be received; the call retries.
    CannotReceive {
        /// Refusal by the server or by this endpoint.
        error: ConnectError,
    },
    /// The room has more cameras than a call receives at once. Reported once.
    Crowded {
        /// Number of cameras received.
        cameras: usize,
    },
    /// The receiving connection failed and is being replaced.
    ReceivingFailed {
        /// Reason for display: a sentence without its full stop.
        reason: String,
    },
    /// Playback of a participant has ended.
    PlayingEnded {
        /// Id of the participant in the room, which is unique.
        id: String,
    },
    /// A frame was released: pictures are encoded ([`ReceivedFrame::codec`]), sound is
    /// Opus.
    Frame(PlayedFrame),
    /// The server is about to stop. The call moves to another one of its cluster, and
    /// leaves the present one when media flows there.
    Moving {
        /// URL of the other server.
        url: String,
    },
    /// The move is complete.
    Moved,
    /// The server cannot be reached or misbehaves; requests are retried. Reported at the
    /// start of the fault and when its kind changes.
    Fault(SignallingError),
    /// The room's event stream was silent for a while and is being reopened.
    RoomSilent,
    /// The server answers again.
    FaultEnded {
        /// Duration of the fault.
        lasted: Duration,
    },
    /// An encoder is connected to a relay.
    EncoderConnected {
        /// Names of its codecs, for display.
        codecs: String,
    },
    /// The encoder of a relay has left, or never connected.
    EncoderLeft {
        /// Reason for display: a sentence without its full stop.
        reason: String,
    },
    /// The encoder of a relay exceeds the rate of the links, or respects it again.
    EncoderPace(EncoderPace),
    /// Report about our own links, cameras or sound.
    Notice(Notice),
    /// Events were dropped, because too many were waiting for
    /// [`Call::next_event`](crate::Call::next_event).
    /// [`Call::statistics`](crate::Call::statistics) returns the resulting state of
    /// participants and links.
    Missed {
        /// Number of events dropped since the last report.
        events: u64,
    },
}

/// Released frame of a participant.
#[derive(Debug)]
pub struct PlayedFrame {
    /// Id of the participant.
    pub from: String,
    /// Stream of the frame.
    pub track: Track,
    /// Time of its release from the jitter buffer, on
    /// [`Call::clock`](crate::Call::clock).
    pub at: Instant,
    /// Complete encoded frame, in decoding order.
    pub frame: ReceivedFrame,
    /// Links that delivered it, without duplicates.
    pub links: Vec<String>,
}

impl Event {
    /// Whether to show its text to the user of the program.
    #[must_use]
    pub fn is_for_people(&self) -> bool {
        !matches!(
            self,
            Event::Joined { .. }
                | Event::ParticipantCame(_)
                | Event::ParticipantChanged(_)
                | Event::ParticipantLeft(_)
                | Event::Playing(_)
                | Event::PlayingEnded { .. }
                | Event::Frame(_)
                | Event::ChannelOpened { .. }
                | Event::ChannelClosed { .. }
                | Event::Message { .. }
                | Event::Link {
                    change: LinkChange::Suspect | LinkChange::Trusted,
                    ..
                }
        )
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Joined { id } => write!(f, "in the room as {id}"),
            Event::WaitingForAdmission => {
                f.write_str("in the waiting room, until a moderator lets you in")
            }
            Event::Admitted => f.write_str("a moderator has let you in"),
            Event::Muted => f.write_str("a moderator has muted you: nobody hears you"),
            Event::ChannelOpened { label } => write!(f, "the data channel `{label}` is open"),
            Event::ChannelClosed { label } => write!(f, "the data channel `{label}` is closed"),
            Event::Message { label, .. } => write!(f, "a message on the data channel `{label}`"),
            Event::Unmuted => f.write_str("you are no longer muted"),
            Event::UnmuteFailed(error) => write!(f, "still muted: {error}"),
            Event::ParticipantCame(who) => write!(f, "`{}` is in the room", who.name),
            Event::ParticipantChanged(who) => write!(f, "`{}` changed what they publish", who.name),
            Event::ParticipantLeft(who) => write!(f, "`{}` has left the room", who.name),
            Event::Publishing { name } => write!(f, "connected, publishing as `{name}`"),
            Event::Published { url, level } => {
                write!(f, "connected, publishing to {url}")?;
                match level {
                    Some(Level::Full | Level::SenderSide) => {
                        f.write_str("; packets go over all links")
                    }
                    Some(Level::Single) => f.write_str(
                        "; packets go over one link at a time, because the server reports no \
                         arrival times (transport-wide feedback)",
                    ),
                    None => Ok(()),
                }
            }
            Event::PlayingStream {
                url,
                cameras,
                sound,
                level,
            } => {
                let sound = if *sound { "sound" } else { "no sound" };
                let cameras = match cameras {
                    0 => "no camera".to_owned(),
                    1 => "1 camera".to_owned(),
                    more => format!("{more} cameras"),
                };
                write!(f, "connected, playing {url}: {cameras}, {sound}")?;
                match level {
                    Some(Level::Full) => f.write_str("; packets come over all links"),
                    Some(Level::SenderSide | Level::Single) => {
                        f.write_str("; packets come over one link at a time")
                    }
                    None => Ok(()),
                }
            }
            Event::StreamSilent { seconds } => write!(
                f,
                "nothing has arrived for {seconds} s over the connection; does anybody publish \
                 there?"
            ),
            Event::Unanswered => f.write_str(
                "the server accepted the call, but nothing comes back over UDP on any link; \
                 still trying (does a firewall block UDP, here or at the server? A TURN server can \
                 relay over TCP)",
            ),
            Event::PublishingFailed { reason } => {
                write!(f, "publishing failed ({reason}); retrying")
            }
            Event::PublicationEnded => {
                f.write_str("the server ended the publication; publishing again")
            }
            Event::Link { link, change } => change.describe(link, f),
            Event::LinkTrouble { link, trouble } => {
                write!(f, "link `{link}` carries nothing: {trouble}")
            }
            Event::Playing(who) => write!(f, "receiving `{}`", who.name),
            Event::CannotReceive { error } => {
                write!(f, "cannot receive the others: {error}; retrying")
            }
            Event::Crowded { cameras } => write!(
                f,
                "the room has more cameras than a call can receive; receiving {cameras}"
            ),
            Event::ReceivingFailed { reason } => {
                write!(f, "receiving failed ({reason}); retrying")
            }
            Event::PlayingEnded { id } => write!(f, "stopped receiving participant {id}"),
            Event::Frame(frame) => write!(f, "a frame of {} from {}", frame.track, frame.from),
            Event::Moving { url } => write!(f, "the server is about to stop; moving to {url}"),
            Event::Moved => f.write_str("moved to the other server"),
            Event::Fault(error) => write!(f, "{error}; retrying"),
            Event::RoomSilent => f.write_str("no events from the room for a while; reconnecting"),
            Event::FaultEnded { lasted } => {
                let seconds = lasted.as_secs_f64();
                write!(f, "the server answers again after {seconds:.0} s")
            }
            Event::EncoderConnected { codecs } => {
                write!(f, "an encoder is connected, with {codecs}")
            }
            Event::EncoderLeft { reason } => write!(
                f,
                "the encoder has left ({reason}); the publication ends in 10 s if none comes back"
            ),
            Event::EncoderPace(EncoderPace::TooFast { sent, carried }) => write!(
                f,
                "the encoder sends {:.1} Mbit/s of pictures, but the links carry {:.1}: frames are \
                 dropped; lower the encoder's rate, or let it follow (REMB)",
                sent.as_mbps(),
                carried.as_mbps()
            ),
            Event::EncoderPace(EncoderPace::Fits) => {
                f.write_str("the links carry everything that the encoder sends again")
            }
            Event::Notice(notice) => notice.fmt(f),
            Event::Missed { events } => write!(
                f,
                "{events} events were dropped, because they were not read in time"
            ),
        }
    }
}

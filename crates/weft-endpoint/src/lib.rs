//! Embeddable call over several links: sends cameras and sound to a room of a weft server
//! and receives the other participants.
//!
//! [`Call`] is the entry point. It takes a [`CallConfig`], runs on its own threads and
//! reports [`Event`]s. It tracks links that appear and disappear, adapts pictures to the
//! links' capacity, and recovers from every temporary fault of a link, the server or the
//! room. It prints nothing, never exits the process and keeps no global state except the
//! process-wide TLS provider.
//!
//! ```no_run
//! use std::time::Duration;
//! use weft_endpoint::{Call, CallConfig, Event, NoEvent};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut config = CallConfig::new("https://server:8443", "ride");
//! config.send.name = "Van".to_owned();
//! config.send.links = vec!["wlan0".parse()?, "5G=wwan0,metered,budget=2GB".parse()?];
//! config.send.cameras = vec!["Front=/dev/video0:720p".parse()?];
//! config.send.microphone = Some("alsa".parse()?);
//!
//! let call = Call::start(config)?;
//! loop {
//!     match call.next_event(Duration::from_secs(1)) {
//!         Ok(Event::Frame(played)) => println!("{} bytes", played.frame.data.len()),
//!         Ok(event) if event.is_for_people() => println!("{event}"),
//!         Ok(_) | Err(NoEvent::TimedOut) => {}
//!         Err(NoEvent::Ended) => break,
//!     }
//! }
//! call.leave()?;
//! # Ok(())
//! # }
//! ```
//!
//! Received media stays encoded; [`Recording`] stores it, and `weft_media` has decoders.
//! The program can also provide pictures and sound itself ([`OwnSources`]).
//! [`Call::statistics`] returns the statistics of every path and the totals per
//! participant. A program that reads events too slowly misses some and learns how many
//! ([`Event::Missed`]); the call never waits.
//!
//! [`WhipClient`] publishes to any WHIP server, and [`Relay`] publishes the stream of another
//! program. [`WhepClient`] plays a stream of any WHEP server. [`Direct`] sends without a room:
//! viewers connect directly, and may send sound and pictures back; the program transports offers
//! and answers.
//!
//! # Below a call
//!
//! To make connections outside a room of a weft server, use the parts of
//! [`Call`]: [`caller`] turns offers and answers into connections over all
//! links, [`sources`] feeds them with cameras and sound, [`signalling`]
//! implements WHIP and WHEP, [`watch`] decodes and measures.
//!
//! Threads: one each for the call, every camera, every encoder, every microphone and the
//! requests, and the network driver. They communicate through channels; no lock is held
//! longer than for a copy.

#![forbid(unsafe_code)]

mod call;
pub mod caller;
mod config;
pub mod connect;
mod direct;
mod error;
mod event;
pub mod links;
mod notice;
mod persistent;
mod playout;
mod received;
mod recording;
mod relay;
pub mod signalling;
pub mod sources;
mod start;
mod switches;
mod turn;
pub mod watch;
mod whep;
mod whip;

pub use call::{Call, NoEvent, Statistics, Stopper};
pub use caller::ChannelError;
pub use config::{
    CallConfig, DirectConfig, EchoCancellation, OpenSpeaker, OwnSources, Receiving, SendConfig,
    ViewerCameras,
};
pub use direct::{AnswerError, Direct, DirectEvent};
pub use error::{Blame, StartError};
pub use event::{Event, PlayedFrame};
pub use links::{LinkChange, LinkUse};
pub use notice::{Notice, Notices};
pub use persistent::EndpointStopper;
pub use received::{Received, ReceivedCamera};
pub use recording::{Recording, RecordingError};
pub use relay::{Relay, RelayError, RelayEvent, RelayInlet, Relayed};
pub use switches::{Switch, Switches};
pub use turn::{TurnServer, TurnServerError, TurnTransport};
/// Messages and data channels ([`Call::send_message`]).
pub use weft_peer::data::{ChannelConfig, Message, Ordering, Persistence, SendError, Urgency};
pub use whep::WhepClient;
pub use whip::WhipClient;

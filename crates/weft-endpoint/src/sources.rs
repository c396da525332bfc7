//! Cameras and a microphone on an endpoint.

pub mod cameras;
pub mod feed;
pub mod sound;
pub mod video;

use std::net::IpAddr;
use std::sync::Arc;

use weft_media::{CameraError, MicrophoneSpec, VideoError};
use weft_net::{Clock, Driver, LinkError, LinkSpec, Target};
use weft_peer::{Direction, Section};
use weft_publish::Degradation;
use weft_sfu::{Camera, Publishing};
use weft_units::{Codec, MediaKind};

use crate::caller::{self, Command, Sending};
use crate::links::{Links, Scope};
use crate::notice::{Notice, Notices};
use cameras::{CamerasError, NamedCamera};
use feed::Feed;
use sound::SoundError;
use video::{VideoControl, VideoSetup};

/// What to send.
pub struct Sources {
    pub feeds: Vec<Feed>,
    /// What the others shall read at each picture.
    pub names: Vec<Option<String>>,
    pub microphone: Option<MicrophoneSpec>,
    pub codec: Codec,
    /// Temporal layers, where the codec has them: three where a server may
    /// thin them out.
    pub layers: u8,
    /// What gives way when the rate is low.
    pub degradation: Degradation,
}

impl Sources {
    pub fn open(
        cameras: &[NamedCamera],
        microphone: Option<MicrophoneSpec>,
        codec: Codec,
        layers: u8,
        degradation: Degradation,
        clock: Clock,
    ) -> Result<Sources, SourcesError> {
        cameras::check(cameras)?;
        let open = |camera: &NamedCamera| Feed::open(&camera.spec, clock);
        let feeds = cameras.iter().map(open).collect::<Result<_, _>>()?;
        Ok(Sources {
            feeds,
            names: cameras.iter().map(|c| c.name.clone()).collect(),
            microphone,
            codec,
            layers,
            degradation,
        })
    }

    /// The sections to offer: cameras in order, then the microphone.
    pub fn sections(&self) -> Vec<Section> {
        let video = self.names.iter().map(|name| Section {
            title: name.clone(),
            ..Section::new(MediaKind::Video, Direction::Send)
        });
        let sound = || Section::new(MediaKind::Audio, Direction::Send);
        video
            .chain(self.microphone.as_ref().map(|_| sound()))
            .collect()
    }

    /// The same as it is shown in a room.
    pub fn publishing(&self) -> Publishing {
        let camera = |name: &Option<String>| Camera { name: name.clone() };
        Publishing {
            cameras: self.names.iter().map(camera).collect(),
            audio: self.microphone.is_some(),
        }
    }
}

/// Starts the endpoint, then everything that feeds it.
pub fn start(
    clock: Clock,
    links: Links,
    sending: Sending,
    sources: Sources,
    notices: Notices,
) -> Result<Driver<Command>, StartError> {
    let controls: Vec<Arc<VideoControl>> = sources.feeds.iter().map(|_| Arc::default()).collect();
    let driver = caller::start(clock, links, sending, controls.clone(), notices.clone())?;
    for (camera, (mut feed, control)) in sources.feeds.into_iter().zip(controls).enumerate() {
        let remote = driver.remote.clone();
        let setup = VideoSetup {
            format: feed.format(),
            codec: sources.codec,
            layers: sources.layers,
            degradation: sources.degradation,
        };
        let shots = feed.subscribe();
        let send = move |frame| remote.send(Command::Video { camera, frame });
        video::start(setup, control, shots, notices.clone(), send)?;
        let notices = notices.clone();
        feed.start(move |error| notices.tell(Notice::CameraEnded(error)));
    }
    if let Some(microphone) = sources.microphone {
        let remote = driver.remote.clone();
        let send = move |frame| remote.send(Command::Sound(frame));
        let on_end = move |error| notices.tell(Notice::SoundEnded(error));
        sound::start(&microphone, clock, send, on_end).map_err(StartError::Sound)?;
    }
    Ok(driver)
}

/// The links that were named; or where the peer is on this machine, the address
/// at which it is; or every interface that has an address, and those to come.
pub fn links_or_all(
    named: &[LinkSpec],
    loopback: Option<IpAddr>,
) -> Result<(Vec<LinkSpec>, Scope), ChoiceError> {
    if !named.is_empty() {
        for (index, link) in named.iter().enumerate() {
            let same = |other: &&LinkSpec| other.name == link.name || other.target == link.target;
            if let Some(other) = named[..index].iter().find(same) {
                return Err(same_link(other, link));
            }
        }
        return Ok((named.to_vec(), Scope::Named));
    }
    if let Some(address) = loopback {
        let name = address.to_string();
        let link = LinkSpec::new(name, Target::Address(address));
        return Ok((vec![link], Scope::Named));
    }
    let names = weft_net::interface_names().map_err(ChoiceError::System)?;
    if names.is_empty() {
        return Err(ChoiceError::NoInterface);
    }
    let spec = |name: String| LinkSpec::new(name.clone(), Target::Interface(name));
    Ok((names.into_iter().map(spec).collect(), Scope::Every))
}

/// Two paths over one link are no two links, and figures are told by name.
fn same_link(one: &LinkSpec, other: &LinkSpec) -> ChoiceError {
    let name = other.name.clone();
    if one.target == other.target {
        let first = one.name.clone();
        ChoiceError::Twice { name, first }
    } else {
        ChoiceError::SameName(name)
    }
}

/// Links that cannot be had together, or none at all.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    #[error("link `{name}` is link `{first}` once more; name it once")]
    Twice { name: String, first: String },
    #[error("two links are called `{0}`; give one another name: --link NAME=INTERFACE")]
    SameName(String),
    #[error("no network interface has an address; connect one, or name a --link")]
    NoInterface,
    #[error(transparent)]
    System(LinkError),
}

/// Cameras that cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum SourcesError {
    #[error(transparent)]
    Cameras(#[from] CamerasError),
    #[error(transparent)]
    Camera(#[from] CameraError),
}

/// An endpoint or what feeds it cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Caller(#[from] caller::StartError),
    #[error(transparent)]
    Encoder(#[from] VideoError),
    #[error(transparent)]
    Sound(SoundError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_named_once() {
        let all = |texts: [&str; 2]| {
            let links = texts.map(|text| text.parse().expect("a link"));
            links_or_all(&links, None).map_err(|e| e.to_string())
        };
        let twice = all(["127.0.0.1", "127.0.0.1"]).unwrap_err();
        assert!(twice.contains("once more"), "{twice}");
        let renamed = all(["a=127.0.0.1", "b=127.0.0.1"]).unwrap_err();
        assert!(renamed.contains("`b` is link `a`"), "{renamed}");
        let namesakes = all(["a=127.0.0.1", "a=127.0.0.2"]).unwrap_err();
        assert!(
            namesakes.contains("two links are called `a`"),
            "{namesakes}"
        );
        assert!(all(["127.0.0.1", "127.0.0.2"]).is_ok());
    }
}

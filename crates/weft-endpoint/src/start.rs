//! Start of a sending endpoint: sources and network together.

use std::sync::Arc;

use weft_media::{Microphone, MicrophoneSpec};
use weft_net::{Clock, Driver};
use weft_peer::{Section, StreamDirection};
use weft_rooms::{Camera, MAX_CAMERAS, Publishing};
use weft_units::MediaKind;

use crate::caller::{self, Command, Sending};
use crate::config::{OwnSources, SendConfig};
use crate::error::StartError;
use crate::links::Links;
use crate::notice::{Notice, Notices};
use crate::sources::cameras::{self, CamerasError, NamedCamera};
use crate::sources::feed::{Feed, Preview};
use crate::sources::sound;
use crate::sources::video::{self, VideoControl, VideoSetup};

/// Running endpoint that sends.
pub struct Started {
    /// Driver, which runs until it is stopped.
    pub driver: Driver<Command>,
    /// Sections to offer: cameras in order, then the microphone.
    pub sections: Vec<Section>,
    /// Latest picture of each camera, in order.
    pub previews: Vec<Preview>,
    /// Tracks in the form that a room shows.
    pub publishing: Publishing,
}

/// Sources to send.
struct Sources {
    /// Cameras, in order.
    feeds: Vec<Feed>,
    /// Caption of each camera.
    names: Vec<Option<String>>,
    /// Source of the sound, if any.
    microphone: Option<Box<dyn Microphone>>,
}

impl Sources {
    /// Opens the named cameras, followed by those of the embedding program.
    fn open(
        cameras: &[NamedCamera],
        microphone: Option<&MicrophoneSpec>,
        own: OwnSources,
        clock: Clock,
    ) -> Result<Sources, StartError> {
        cameras::check(cameras)?;
        let all = cameras.len() + own.cameras.len();
        if all > MAX_CAMERAS {
            return Err(CamerasError::TooMany(all).into());
        }
        let mut feeds = Vec::new();
        let mut names = Vec::new();
        for camera in cameras {
            feeds.push(Feed::open(&camera.spec, clock)?);
            names.push(camera.name.clone());
        }
        for (name, camera) in own.cameras {
            feeds.push(Feed::of(camera, clock));
            names.push(name);
        }
        let microphone = match (own.microphone, microphone) {
            (None, Some(named)) => Some(named.open()?),
            (own, _) => own,
        };
        Ok(Sources {
            feeds,
            names,
            microphone,
        })
    }

    fn sections(&self) -> Vec<Section> {
        let video = self.names.iter().map(|name| Section {
            title: name.clone(),
            ..Section::new(MediaKind::Video, StreamDirection::Send)
        });
        let sound = || Section::new(MediaKind::Audio, StreamDirection::Send);
        video
            .chain(self.microphone.as_ref().map(|_| sound()))
            .collect()
    }

    fn publishing(&self) -> Publishing {
        let camera = |name: &Option<String>| Camera {
            name: name.clone(),
            ..Camera::default()
        };
        Publishing {
            cameras: self.names.iter().map(camera).collect(),
            audio: self.microphone.is_some(),
        }
    }
}

/// Opens cameras and microphone, starts the endpoint and its encoders. If the
/// codec has temporal layers, pictures get this many: three where a server may
/// drop some.
///
/// # Errors
/// If a source cannot be opened, the system provides no sockets or threads, or
/// a codec has no encoder.
pub fn start(
    clock: Clock,
    links: Links,
    config: SendConfig,
    layers: u8,
    notices: Notices,
) -> Result<Started, StartError> {
    let sending = Sending::from(&config);
    let microphone = config.microphone.as_ref();
    let sources = Sources::open(&config.cameras, microphone, config.own, clock)?;
    let (sections, publishing) = (sources.sections(), sources.publishing());
    let previews = sources.feeds.iter().map(Feed::preview).collect();
    let controls: Vec<Arc<VideoControl>> = sources.feeds.iter().map(|_| Arc::default()).collect();
    let driver = caller::start(clock, links, sending, controls.clone(), notices.clone())?;
    for (camera, (mut feed, control)) in sources.feeds.into_iter().zip(controls).enumerate() {
        let remote = driver.remote.clone();
        let setup = VideoSetup {
            format: feed.format(),
            codec: config.codec,
            layers,
            degradation: config.degradation,
        };
        let captured = feed.subscribe();
        let send = move |frame| remote.send(Command::Video { camera, frame });
        let slow = notices.clone();
        let on_load = move |load: video::Load| slow.send(load.into());
        video::start(setup, control, captured, on_load, send)?;
        let notices = notices.clone();
        feed.start(move |error| notices.send(Notice::CameraEnded(error)));
    }
    if let Some(microphone) = sources.microphone {
        let remote = driver.remote.clone();
        let send = move |frame| remote.send(Command::Sound(frame));
        let on_end = move |error| notices.send(Notice::SoundEnded(error));
        sound::start(microphone, clock, send, on_end)?;
    }
    Ok(Started {
        driver,
        sections,
        previews,
        publishing,
    })
}

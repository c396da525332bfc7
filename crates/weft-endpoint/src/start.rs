//! Start of a sending endpoint: sources and network together.

use std::sync::Arc;

use weft_media::{Microphone, MicrophoneSpec};
use weft_net::{Clock, Driver};
use weft_peer::{Section, StreamDirection};
use weft_rooms::{Camera, MAX_CAMERAS, Publishing};
use weft_units::MediaKind;

use crate::caller::{self, Command, Encoders, Sending};
use crate::config::{OwnSources, SendConfig};
use crate::error::StartError;
use crate::links::Links;
use crate::notice::{Notice, Notices};
use crate::sources::cameras::{self, CamerasError, NamedCamera};
use crate::sources::feed::{Feed, Preview};
use crate::sources::smaller::{self, CameraEncoders, EncodingSize, SmallerEncoder};
use crate::sources::sound;
use crate::sources::video::{self, VideoSetup};

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

/// Forwarding of the pictures to viewers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forwarding {
    /// A room of weft's server, which drops temporal layers for slow viewers and sends
    /// them the smaller encoding.
    Room,
    /// No server, or one that may support neither: one encoding with one layer.
    Whole,
}

impl Forwarding {
    /// Number of temporal layers, if the codec supports them. Three: a server may drop
    /// half or three quarters of the pictures. Chosen by us.
    const fn layers(self) -> u8 {
        match self {
            Forwarding::Room => 3,
            Forwarding::Whole => 1,
        }
    }
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

    /// Encoders of the cameras, in order.
    fn encoders(&self, forwarding: Forwarding) -> Encoders {
        let smaller = |feed: &Feed| match forwarding {
            Forwarding::Room => SmallerEncoder::of(feed.format()),
            Forwarding::Whole => None,
        };
        let encoders = |feed| CameraEncoders {
            full: Arc::default(),
            smaller: smaller(feed),
        };
        self.feeds.iter().map(encoders).collect()
    }

    fn sections(&self, encoders: &Encoders) -> Vec<Section> {
        let cameras = self.names.iter().zip(encoders);
        let video = cameras.map(|(name, encoders)| Section {
            title: name.clone(),
            encodings: match encoders.smaller {
                Some(_) => smaller::rids(),
                None => Vec::new(),
            },
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

/// Opens cameras and microphone, starts the endpoint and its encoders.
///
/// # Errors
/// If a source cannot be opened, the system cannot provide sockets or threads, or a codec
/// has no encoder.
pub fn start(
    clock: Clock,
    links: Links,
    config: SendConfig,
    forwarding: Forwarding,
    notices: Notices,
) -> Result<Started, StartError> {
    let sending = Sending::from(&config);
    let microphone = config.microphone.as_ref();
    let sources = Sources::open(&config.cameras, microphone, config.own, clock)?;
    let encoders = sources.encoders(forwarding);
    let (sections, publishing) = (sources.sections(&encoders), sources.publishing());
    let previews = sources.feeds.iter().map(Feed::preview).collect();
    let driver = caller::start(clock, links, sending, encoders.clone(), notices.clone())?;
    if let Some(tracer) = config.tracer {
        driver.remote.send(Command::Trace(tracer));
    }
    for (camera, (mut feed, encoders)) in sources.feeds.into_iter().zip(encoders).enumerate() {
        let full = (EncodingSize::Full, feed.format(), encoders.full);
        let smaller = encoders.smaller;
        let smaller = smaller.map(|s| (EncodingSize::Smaller, s.format, s.control));
        for (size, format, control) in [full].into_iter().chain(smaller) {
            let remote = driver.remote.clone();
            let setup = VideoSetup {
                format,
                codec: config.codec,
                layers: forwarding.layers(),
                degradation: config.degradation,
            };
            let captured = feed.subscribe();
            let send = move |frame| {
                remote.send(Command::Video {
                    camera,
                    size,
                    frame,
                })
            };
            let slow = notices.clone();
            let on_load = move |load: video::Load| slow.send(load.into());
            video::start(setup, control, captured, on_load, send)?;
        }
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

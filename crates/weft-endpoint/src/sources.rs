//! Cameras and a microphone on an endpoint.

pub mod cameras;
pub mod feed;
pub mod sound;
pub mod video;

use std::sync::Arc;

use weft_media::Microphone;
use weft_net::{Clock, Driver};
use weft_peer::{Direction, Section};
use weft_publish::Degradation;
use weft_sfu::{Camera, MAX_CAMERAS, Publishing};
use weft_units::{Codec, MediaKind};

use crate::caller::{self, Command, Sending};
use crate::config::OwnSources;
use crate::error::StartError;
use crate::links::Links;
use crate::notice::{Notice, Notices};
use cameras::{CamerasError, NamedCamera};
use feed::Feed;
use video::{VideoControl, VideoSetup};

/// What to send.
pub struct Sources {
    /// The cameras, in order.
    pub feeds: Vec<Feed>,
    /// What the others shall read at each picture.
    pub names: Vec<Option<String>>,
    /// The sound.
    pub microphone: Option<Box<dyn Microphone>>,
}

/// How every camera is encoded.
#[derive(Clone, Copy, Debug)]
pub struct Encoding {
    /// Which codec.
    pub codec: Codec,
    /// Temporal layers, where the codec has them: three where a server may
    /// thin them out.
    pub layers: u8,
    /// What gives way when the rate is low.
    pub degradation: Degradation,
}

impl Sources {
    /// Opens these cameras; those that the program makes itself come after.
    ///
    /// # Errors
    /// If they cannot be had together, or one cannot be opened.
    pub fn open(
        cameras: &[NamedCamera],
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
        Ok(Sources {
            feeds,
            names,
            microphone: own.microphone,
        })
    }

    /// The sections to offer: cameras in order, then the microphone.
    #[must_use]
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
    #[must_use]
    pub fn publishing(&self) -> Publishing {
        let camera = |name: &Option<String>| Camera { name: name.clone() };
        Publishing {
            cameras: self.names.iter().map(camera).collect(),
            audio: self.microphone.is_some(),
        }
    }
}

/// Starts the endpoint, then everything that feeds it.
///
/// # Errors
/// If the system gives no sockets or threads, or there is no encoder.
pub fn start(
    clock: Clock,
    links: Links,
    sending: Sending,
    sources: Sources,
    encoding: Encoding,
    notices: Notices,
) -> Result<Driver<Command>, StartError> {
    let controls: Vec<Arc<VideoControl>> = sources.feeds.iter().map(|_| Arc::default()).collect();
    let driver = caller::start(clock, links, sending, controls.clone(), notices.clone())?;
    for (camera, (mut feed, control)) in sources.feeds.into_iter().zip(controls).enumerate() {
        let remote = driver.remote.clone();
        let setup = VideoSetup {
            format: feed.format(),
            codec: encoding.codec,
            layers: encoding.layers,
            degradation: encoding.degradation,
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
        sound::start(microphone, clock, send, on_end)?;
    }
    Ok(driver)
}

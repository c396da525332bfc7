//! Cameras and a microphone on an endpoint: what `join`, `call` and the demo
//! have in common.

use std::net::IpAddr;
use std::sync::Arc;

use weft_media::MicrophoneSpec;
use weft_net::{Clock, Driver, LinkSpec, Target};
use weft_peer::{Direction, Section};
use weft_publish::Degradation;
use weft_server::{Camera, Publishing};
use weft_session::MediaKind;
use weft_units::{Rate, VideoCodec};

use crate::cameras::{self, NamedCamera};
use crate::cli::SendArgs;
use crate::endpoint::caller::{self, Command, Sending};
use crate::endpoint::feed::Feed;
use crate::endpoint::links::{Links, Scope};
use crate::endpoint::sound;
use crate::endpoint::video::{self, VideoControl, VideoSetup};
use crate::exit::Failure;

/// What to send.
pub struct Sources {
    pub feeds: Vec<Feed>,
    /// What the others shall read at each picture.
    pub names: Vec<Option<String>>,
    pub microphone: Option<MicrophoneSpec>,
    pub codec: VideoCodec,
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
        codec: VideoCodec,
        layers: u8,
        degradation: Degradation,
        clock: Clock,
    ) -> Result<Sources, Failure> {
        cameras::check(cameras).map_err(Failure::usage)?;
        let open = |camera: &NamedCamera| Feed::open(&camera.spec, clock).map_err(Failure::usage);
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

/// How it is sent, as the command line asks.
pub fn sending(args: &SendArgs) -> Sending {
    Sending {
        scheduler: args.scheduler,
        protection: args.protection,
        controller: args.controller,
        codec: args.codec,
        max_rate: args.max_rate,
        cname: args.name.clone(),
    }
}

/// Starts the endpoint, then everything that feeds it.
pub fn start(
    clock: Clock,
    links: Links,
    sending: Sending,
    sources: Sources,
) -> Result<Driver<Command>, Failure> {
    let controls: Vec<Arc<VideoControl>> = sources
        .feeds
        .iter()
        .map(|_| VideoControl::new(Rate::ZERO))
        .collect();
    let driver =
        caller::start(clock, links, sending, controls.clone()).map_err(Failure::machine)?;
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
        video::start(setup, control, shots, send).map_err(Failure::machine)?;
        feed.start(|error| complain!("weft: {error}"));
    }
    if let Some(microphone) = sources.microphone {
        let remote = driver.remote.clone();
        let send = move |frame| remote.send(Command::Sound(frame));
        sound::start(&microphone, clock, send, |error| complain!("weft: {error}"))
            .map_err(Failure::usage)?;
    }
    Ok(driver)
}

/// The links that were named; or where the peer is on this machine, the address
/// at which it is; or every interface that has an address, and those to come.
pub fn links_or_all(
    named: &[LinkSpec],
    loopback: Option<IpAddr>,
) -> Result<(Vec<LinkSpec>, Scope), Failure> {
    if !named.is_empty() {
        for (index, link) in named.iter().enumerate() {
            let same = |other: &&LinkSpec| other.name == link.name || other.target == link.target;
            if let Some(other) = named[..index].iter().find(same) {
                return Err(Failure::Usage(same_link(other, link)));
            }
        }
        return Ok((named.to_vec(), Scope::Named));
    }
    if let Some(address) = loopback {
        let name = address.to_string();
        let link = LinkSpec::new(name, Target::Address(address));
        return Ok((vec![link], Scope::Named));
    }
    let names = weft_net::interface_names().map_err(Failure::machine)?;
    if names.is_empty() {
        return Err(Failure::Machine(
            "no network interface has an address; connect one, or name a --link".to_owned(),
        ));
    }
    let spec = |name: String| LinkSpec::new(name.clone(), Target::Interface(name));
    Ok((names.into_iter().map(spec).collect(), Scope::Every))
}

/// Two paths over one link are no two links, and figures are told by name.
fn same_link(one: &LinkSpec, other: &LinkSpec) -> String {
    let name = &other.name;
    if one.target == other.target {
        format!(
            "link `{name}` is link `{}` once more; name it once",
            one.name
        )
    } else {
        format!("two links are called `{name}`; give one another name: --link NAME=INTERFACE")
    }
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

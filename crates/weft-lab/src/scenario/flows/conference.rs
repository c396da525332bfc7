//! Groups of people in a conference.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use weft_experiment::{
    ConferenceSetup, FlowKind, ModelSetup, Screen, SideSetup, SimulcastSetup, TileSizes,
};
use weft_units::{Codec, Duration, Rate};

use super::call::{microphone, resolution};
use super::{Conditions, Fields, Result, Ways};
use crate::scenario::place::{Source, Text};
use crate::scenario::quantity::{Speed, Time};
use crate::scenario::system_spec::SystemKind;

/// Rates of the page's encodings (`web/src/signal/whip.ts`), the smallest first.
const RATES: [Rate; 3] = [
    Rate::from_kbps(150),
    Rate::from_kbps(500),
    Rate::from_kbps(2_500),
];
/// The page's camera, and a laptop's window.
const SIZE: (u32, u32) = (1280, 720);
const FPS: u32 = 30;
/// Name of the server if a group names none.
const SERVER: &str = "server";
/// Temporal layers of the page's encodings.
const LAYERS: u8 = 3;

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Conference {
    system: Option<Text>,
    server: Option<Text>,
    people: Option<Spanned<u32>>,
    joining: Option<Spanned<Time>>,
    publishes: Option<bool>,
    resolution: Option<Text>,
    frame_rate: Option<Spanned<u32>>,
    encodings: Option<Spanned<Vec<Spanned<Speed>>>>,
    sound: Option<Spanned<Speed>>,
    screen: Option<Text>,
    arrangement: Option<Arrangement>,
}

/// Arrangement of the tiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Arrangement {
    #[default]
    Grid,
    Speaker,
}

impl Fields for Conference {
    fn ways(&self) -> Ways<'_> {
        Ways::Each(self.system.as_ref())
    }

    fn read(&self, conditions: &Conditions<'_>, whole: Range<usize>) -> Result<FlowKind> {
        let source = conditions.source;
        let SystemKind::Session(session) = &conditions.system.kind else {
            let message = "a conference has no floor: write for example system = \"weft\"";
            let place = self.system.as_ref().map_or(whole, Spanned::span);
            return Err(source.error(place, message));
        };
        let people = self.people.as_ref().map_or(1, |n| *n.get_ref());
        if let Some(none) = self.people.as_ref().filter(|n| *n.get_ref() == 0) {
            let message = "a group has at least one person: write people = 1, or remove the group";
            return Err(source.error(none.span(), message));
        }
        let mut side = SideSetup::filming(Vec::new());
        session.configure(&mut side);
        side.reporting = session.reporting;
        let sound = self.sound.as_ref();
        let sound = sound.map(|sound| microphone(source, sound)).transpose()?;
        let width_and_height = |text: &Option<Text>| match text {
            Some(text) => resolution(source, text),
            None => Ok(SIZE),
        };
        let (width, height) = width_and_height(&self.screen)?;
        Ok(FlowKind::Conference(Box::new(ConferenceSetup {
            server: match &self.server {
                Some(name) => name.get_ref().clone(),
                None => SERVER.to_owned(),
            },
            people: people as usize,
            allocator: session.allocator,
            // Set once the links are known.
            routes_each: 1,
            joining: (self.joining.as_ref()).map_or(Duration::ZERO, |time| time.get_ref().0),
            camera: self.camera(source, whole, width_and_height(&self.resolution)?)?,
            microphone: sound,
            screen: Screen {
                width,
                height,
                arrangement: match self.arrangement.unwrap_or_default() {
                    Arrangement::Grid => TileSizes::Grid,
                    Arrangement::Speaker => TileSizes::Speaker,
                },
            },
            level: session.level,
            side,
        })))
    }
}

impl Conference {
    fn camera(
        &self,
        source: &Source,
        whole: Range<usize>,
        (width, height): (u32, u32),
    ) -> Result<Option<SimulcastSetup>> {
        if self.publishes == Some(false) {
            let unused = [
                ("resolution", self.resolution.as_ref().map(Spanned::span)),
                ("frame-rate", self.frame_rate.as_ref().map(Spanned::span)),
                ("encodings", self.encodings.as_ref().map(Spanned::span)),
                ("sound", self.sound.as_ref().map(Spanned::span)),
            ];
            let unused = unused
                .into_iter()
                .find_map(|(field, at)| Some((field, at?)));
            if let Some((field, place)) = unused {
                let message = format!(
                    "people with publishes = false have no camera and no sound: remove `{field}`"
                );
                return Err(source.error(place, message));
            }
            return Ok(None);
        }
        let rates = match &self.encodings {
            Some(rates) => rates
                .get_ref()
                .iter()
                .map(|rate| rate.get_ref().0)
                .collect(),
            None => RATES.to_vec(),
        };
        let place = self.encodings.as_ref().map_or(whole, Spanned::span);
        if let Some(pair) = rates.windows(2).find(|pair| pair[1] <= pair[0]) {
            let message = format!(
                "encodings are written with the smallest first, and {} Mbit/s follows {} Mbit/s: sort them",
                pair[1].as_mbps(),
                pair[0].as_mbps()
            );
            return Err(source.error(place, message));
        }
        let most = rates.last().copied().unwrap_or_default();
        let mut encoder = ModelSetup::new(Codec::Vp8, width, height, most);
        encoder.temporal_layers = LAYERS;
        encoder.fps = f64::from(self.frame_rate.as_ref().map_or(FPS, |n| *n.get_ref()));
        encoder.validate().map_err(|error| {
            let frame_rate = self.frame_rate.as_ref().map(Spanned::span);
            let at = self.resolution.as_ref().map(Spanned::span).or(frame_rate);
            source.error(at.unwrap_or(place.clone()), error.to_string())
        })?;
        Ok(Some(SimulcastSetup { encoder, rates }))
    }
}

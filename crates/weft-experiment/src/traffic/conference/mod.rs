//! People in a conference, and its servers.

mod interconnect;
mod record;
mod view;

use std::ops::RangeInclusive;

pub use interconnect::InterconnectSetup;
pub use record::{ConferenceRecord, PersonRecord, TilePicture, TileRecord};
pub use view::{Screen, TileSizes};
pub use weft_forwarding::AllocatorKind;
use weft_session::Level;
use weft_units::{Duration, Rate};

use super::{MicrophoneSetup, ModelSetup, SideSetup, Traffic};

/// Group of people in the run's conference: all flows of this kind meet in one room. The
/// routes lead from the server to the people, starting with those of the first person.
#[derive(Clone, PartialEq, Debug)]
pub struct ConferenceSetup {
    /// Name of the server that they connect to. Several servers have links between them
    /// ([`InterconnectSetup`]).
    pub server: String,
    /// Rules by which that server chooses layers; `None` where another group says it, and
    /// otherwise the product's own.
    pub allocator: Option<AllocatorKind>,
    /// Number of people in the group.
    pub people: usize,
    /// Number of routes of each person.
    pub routes_each: usize,
    /// Time over which the people of the group join at random. Default zero.
    pub joining: Duration,
    /// Their cameras; `None` for people who only watch.
    pub camera: Option<SimulcastSetup>,
    /// Their microphones. Default none.
    pub microphone: Option<MicrophoneSetup>,
    /// Arrangement of the others on their screens.
    pub screen: Screen,
    /// Protocol level that they negotiate with the server. Browsers have `SenderSide`.
    pub level: Level,
    /// Settings of their sessions, without its cameras and microphones.
    pub side: SideSetup,
}

/// Camera in several encodings.
#[derive(Clone, PartialEq, Debug)]
pub struct SimulcastSetup {
    /// Encoder of the largest encoding.
    pub encoder: ModelSetup,
    /// Maximum rate of each encoding, the smallest first. The pictures of each have half
    /// the width and height of the next one's.
    pub rates: Vec<Rate>,
}

/// Maximum number of encodings of a camera: simulcast in browsers has three.
const MOST_ENCODINGS: usize = 3;
/// Smallest picture size for which the encoder's model was fitted.
const SMALLEST: (u32, u32) = (320, 180);
/// Maximum number of people in a group; chosen by us: a larger run takes hours.
const MOST_PEOPLE: usize = 2_000;
/// Maximum number of routes of a person; path identifiers end soon after.
const MOST_ROUTES: usize = 15;

impl SimulcastSetup {
    /// Returns the highest rate of all encodings together.
    #[must_use]
    pub fn max_rate(&self) -> Rate {
        self.rates.iter().copied().sum()
    }

    /// Returns width and height of the encoding at this index.
    #[must_use]
    pub fn size(&self, place: usize) -> (u32, u32) {
        let halved = self.rates.len().saturating_sub(place + 1);
        (self.encoder.width >> halved, self.encoder.height >> halved)
    }

    fn wrong(&self) -> Option<&'static str> {
        if !(1..=MOST_ENCODINGS).contains(&self.rates.len()) {
            return Some("a camera has 1 to 3 encodings");
        }
        if self.rates.contains(&Rate::ZERO) {
            return Some("an encoding needs a rate above zero");
        }
        let (width, height) = self.size(0);
        let is_small = width < SMALLEST.0 || height < SMALLEST.1;
        if is_small || self.encoder.validate().is_err() {
            return Some("the encoder's model begins at 320x180 for the smallest encoding");
        }
        None
    }
}

impl Traffic for ConferenceSetup {
    fn wrong(&self) -> Option<&'static str> {
        if !(1..=MOST_PEOPLE).contains(&self.people) {
            return Some("a group has 1 to 2000 people");
        }
        if !(1..=MOST_ROUTES).contains(&self.routes_each) {
            return Some("each person of a conference has 1 to 15 links");
        }
        let camera = self.camera.as_ref().and_then(SimulcastSetup::wrong);
        camera.or(self.microphone.as_ref().and_then(MicrophoneSetup::wrong))
    }

    fn routes(&self) -> (RangeInclusive<usize>, &'static str) {
        let all = self.people * self.routes_each;
        (all..=all, "the links of each of its people")
    }

    fn words(&self) -> String {
        let people = match self.people {
            1 => "one person".to_owned(),
            many => format!("{many} people"),
        };
        match &self.camera {
            Some(camera) => {
                let encodings = camera.rates.len();
                format!("{people} in a conference, {encodings} encodings each")
            }
            None => format!("{people} who watch a conference"),
        }
    }

    fn server(&self) -> Option<&str> {
        Some(&self.server)
    }

    fn allocator(&self) -> Option<AllocatorKind> {
        self.allocator
    }

    fn is_call(&self) -> bool {
        true
    }
}

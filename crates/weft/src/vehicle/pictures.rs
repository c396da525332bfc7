//! Latest picture of each received camera, as JPEG for the page.

use std::collections::BTreeMap;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use jpeg_encoder::{ColorType, Encoder};
use weft_endpoint::PlayedFrame;
use weft_endpoint::caller::Track;
use weft_media::{Picture, VideoDecoder};
use weft_units::Codec;

/// Id of a participant, and index among their cameras.
pub type CameraId = (String, usize);

/// Maximum number of frames that wait for a decoder: two seconds. Chosen by us.
const WAITING_FRAMES: usize = 60;
/// Maximum width of a picture on the page, in pixels: a tile on a tablet. Chosen by us.
const WIDTH: usize = 640;
/// Quality of the JPEGs, 1 to 100: artefacts are barely visible. Chosen by us.
const QUALITY: u8 = 70;

/// Age at which the page stops showing a picture, because its camera is off or lost.
/// Chosen by us.
const STALE: Duration = Duration::from_secs(5);

/// Slot for a camera's latest picture.
type Slot = Arc<Mutex<Latest>>;

/// Latest picture of a camera; `None` before the first one.
struct Latest {
    since: Instant,
    picture: Option<Arc<Picture>>,
}

impl Latest {
    fn of(picture: Option<Picture>) -> Latest {
        Latest {
            since: Instant::now(),
            picture: picture.map(Arc::new),
        }
    }
}

/// Latest pictures, for the page.
#[derive(Clone, Default)]
pub struct Gallery(Arc<Mutex<BTreeMap<CameraId, Slot>>>);

impl Gallery {
    /// Returns the cameras that currently send pictures.
    pub fn cameras(&self) -> Vec<CameraId> {
        let slots = lock(&self.0);
        let comes = |slot: &Slot| lock(slot).since.elapsed() < STALE;
        let present = slots.iter().filter(|(_, slot)| comes(slot));
        present.map(|(camera, _)| camera.clone()).collect()
    }

    /// Returns the latest picture of a camera; `None` before the first one.
    pub fn jpeg(&self, camera: &CameraId) -> Option<Vec<u8>> {
        let slot = Arc::clone(lock(&self.0).get(camera)?);
        let picture = lock(&slot).picture.clone()?;
        jpeg(&picture)
    }
}

/// Encodes a picture as a small JPEG; `None` if it has no pixels.
pub fn jpeg(picture: &Picture) -> Option<Vec<u8>> {
    let small;
    let picture = match picture.width > WIDTH {
        true => {
            small = picture.scaled(WIDTH, (picture.height * WIDTH / picture.width).max(1));
            &small
        }
        false => picture,
    };
    let (width, height) = (picture.width as u16, picture.height as u16);
    let mut jpeg = Vec::new();
    Encoder::new(&mut jpeg, QUALITY)
        .encode(&picture.to_rgb(), width, height, ColorType::Rgb)
        .ok()?;
    Some(jpeg)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .expect("nothing panics while it holds a picture")
}

/// Decoders of all received cameras, each on its own thread.
#[derive(Default)]
pub struct Pictures {
    decoders: BTreeMap<CameraId, Decoder>,
    gallery: Gallery,
}

struct Decoder {
    codec: Codec,
    frames: SyncSender<Vec<u8>>,
    /// Whether a frame was dropped, so that no frame is decodable until a keyframe.
    is_behind: bool,
}

impl Pictures {
    pub fn gallery(&self) -> Gallery {
        self.gallery.clone()
    }

    /// Ends the pictures of a participant.
    pub fn end(&mut self, participant: &str) {
        self.decoders.retain(|(from, _), _| from != participant);
        lock(&self.gallery.0).retain(|(from, _), _| from != participant);
    }

    /// Decodes a frame, if it is a picture.
    pub fn on_frame(&mut self, played: &PlayedFrame) {
        let Track::Camera(place) = played.track else {
            return;
        };
        let camera = (played.from.clone(), place);
        let frame = &played.frame;
        let known = self.decoders.get(&camera);
        if known.is_none_or(|decoder| decoder.codec != frame.codec) {
            let Some(decoder) = self.start(&camera, frame.codec) else {
                return;
            };
            self.decoders.insert(camera.clone(), decoder);
        }
        let Some(decoder) = self.decoders.get_mut(&camera) else {
            return;
        };
        if decoder.is_behind && !frame.keyframe {
            return;
        }
        let sent = decoder.frames.try_send(frame.data.clone());
        decoder.is_behind = matches!(sent, Err(TrySendError::Full(_)));
    }

    /// Starts a decoder; `None` if none supports the codec.
    fn start(&self, camera: &CameraId, codec: Codec) -> Option<Decoder> {
        let mut decoder = VideoDecoder::new(codec).ok()?;
        let slot = Arc::new(Mutex::new(Latest::of(None)));
        lock(&self.gallery.0).insert(camera.clone(), Arc::clone(&slot));
        let (frames, incoming) = sync_channel::<Vec<u8>>(WAITING_FRAMES);
        thread::Builder::new()
            .name("pictures".to_owned())
            .spawn(move || {
                for frame in incoming {
                    if let Ok(Some(picture)) = decoder.decode(&frame) {
                        *lock(&slot) = Latest::of(Some(picture));
                    }
                }
            })
            .expect("the system gives a thread");
        Some(Decoder {
            codec,
            frames,
            is_behind: false,
        })
    }
}

//! Tiles on a person's screen.

use std::collections::BTreeMap;

use weft_experiment::{TilePicture, TileRecord};
use weft_forwarding::{Line, LineContent};
use weft_session::ReceivedFrame;
use weft_units::{Instant, StreamId};

use super::stamp::Stamp;

/// Tiles that a person sees.
#[derive(Default)]
pub(super) struct Viewer {
    tiles: Vec<Tile>,
    /// Current tile of each person, by that person's number.
    present: BTreeMap<u32, usize>,
    /// Person and encoding of the pictures in each stream's decoder.
    decoders: BTreeMap<StreamId, (u32, u8)>,
    undecodable: u64,
}

struct Tile {
    /// Number of the last picture.
    last: Option<u64>,
    record: TileRecord,
}

impl Viewer {
    /// Shows these people and nobody else, by number and name.
    pub fn arrange<'a>(&mut self, now: Instant, others: impl Iterator<Item = (u32, &'a str)>) {
        let mut gone = std::mem::take(&mut self.present);
        for (person, name) in others {
            let tile = gone.remove(&person).unwrap_or_else(|| {
                self.tiles.push(Tile {
                    last: None,
                    record: TileRecord {
                        of: name.to_owned(),
                        since: now,
                        until: None,
                        pictures: Vec::new(),
                        pauses: Vec::new(),
                    },
                });
                self.tiles.len() - 1
            });
            self.present.insert(person, tile);
        }
        for tile in gone.into_values() {
            self.tiles[tile].record.end(now);
        }
    }

    /// Sets which tiles are paused, according to the server.
    pub fn set_lines(&mut self, now: Instant, lines: &[Line]) {
        for tile in self.present.values() {
            let record = &mut self.tiles[*tile].record;
            let camera = |line: &&Line| {
                line.participant == record.of && line.content == LineContent::Camera(0)
            };
            let is_paused = lines.iter().find(camera).is_some_and(|line| line.paused);
            let was_paused = record.pauses.last().is_some_and(|(_, end)| end.is_none());
            match (was_paused, is_paused) {
                (false, true) => record.pauses.push((now, None)),
                (true, false) => record.resume(now),
                _ => {}
            }
        }
    }

    /// Decodes and shows a frame.
    pub fn show(&mut self, now: Instant, stream: StreamId, frame: &ReceivedFrame) {
        let Some(stamp) = Stamp::read(&frame.data) else {
            return;
        };
        let source = (stamp.person, stamp.encoding);
        let known = self.decoders.get(&stream) == Some(&source);
        if !known && !frame.keyframe {
            self.undecodable += 1;
            return;
        }
        self.decoders.insert(stream, source);
        let Some(tile) = self.present.get(&stamp.person) else {
            return;
        };
        let Tile { last, record } = &mut self.tiles[*tile];
        // While encodings change, one picture may come in both.
        if last.is_some_and(|last| stamp.number <= last) {
            return;
        }
        *last = Some(stamp.number);
        record.pictures.push(TilePicture {
            shown_at: now,
            latency: now.saturating_since(stamp.captured_at),
            height: stamp.height,
            quantizer: stamp.quantizer,
            bytes: frame.data.len() as u32,
            psnr_db: stamp.psnr_db,
            ssim: stamp.ssim,
        });
    }

    /// Starts a new connection: its decoders have no pictures.
    pub fn reconnect(&mut self) {
        self.decoders.clear();
    }

    /// Returns the tiles in the order in which they appeared, and the number of frames
    /// that could not be decoded.
    pub fn take_record(&mut self) -> (Vec<TileRecord>, u64) {
        let tiles = std::mem::take(&mut self.tiles);
        self.present.clear();
        (
            tiles.into_iter().map(|tile| tile.record).collect(),
            self.undecodable,
        )
    }
}

//! A person's camera in several encodings, the shared screen, and the microphone. All
//! their media contains the number of the person.

use weft_testing::pictures::{FRAME_INTERVAL, Layers, Picture, Source};
use weft_units::{Duration, Instant, Rate, Rng};

/// Sizes of the encodings, and their maximum rates in kbit/s.
const ENCODINGS: [((u16, u16), u64); 3] = [((160, 90), 50), ((320, 180), 110), ((640, 360), 240)];
/// Number of the largest encoding.
pub const LARGE: u8 = 2;
pub const LARGEST: (u16, u16) = ENCODINGS[2].0;
/// Number of the screen among the encodings.
pub const SCREEN: u8 = 3;
const SCREEN_SIZE: (u16, u16) = (1_280, 720);
const SCREEN_RATE: Rate = Rate::from_kbps(100);
/// Maximum rate of a person's publication.
pub const PUBLISHED: Rate = Rate::from_kbps(600);
/// Interval between two packets of sound.
pub const SOUND_INTERVAL: Duration = Duration::from_millis(60);

/// Offset of the mark in a picture: after the stamp.
const MARK: usize = 34;
/// Last byte of the mark.
const MAGIC: u8 = 0xa7;

/// Mark of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    /// Number of the person.
    pub author: usize,
    /// Number of the encoding, from 0 for the smallest, or [`SCREEN`].
    pub encoding: u8,
}

impl Mark {
    /// Reads the mark of a picture; `None` if it has none.
    pub fn of(data: &[u8]) -> Option<Mark> {
        let mark: [u8; 4] = *data.get(MARK..)?.first_chunk()?;
        let [high, low, encoding, MAGIC] = mark else {
            return None;
        };
        Some(Mark {
            author: usize::from(u16::from_be_bytes([high, low])),
            encoding,
        })
    }

    fn write(self, size: (u16, u16), picture: &mut Picture) {
        let [high, low] = (self.author as u16).to_be_bytes();
        picture.data[MARK..MARK + 4].copy_from_slice(&[high, low, self.encoding, MAGIC]);
        if picture.keyframe {
            // Start code and size (RFC 6386 section 9.1).
            picture.data[3..6].copy_from_slice(&[0x9d, 0x01, 0x2a]);
            picture.data[6..8].copy_from_slice(&size.0.to_le_bytes());
            picture.data[8..10].copy_from_slice(&size.1.to_le_bytes());
        }
    }
}

/// Camera and screen with their encoders.
pub struct Camera {
    author: usize,
    encodings: Vec<Encoding>,
    screen: Encoding,
    /// Whether the screen is shared.
    pub shares: bool,
    /// Number of pictures so far.
    taken: u64,
}

struct Encoding {
    source: Source,
    number: u8,
    size: (u16, u16),
    most: Rate,
    /// Whether the server wants it.
    wanted: bool,
}

impl Camera {
    /// Creates a camera with this many encodings; a single one is the largest.
    pub fn new(author: usize, encodings: usize, layers: Layers, rng: &Rng) -> Camera {
        let encoding = |number: u8, interval| {
            let (size, most) = match ENCODINGS.get(usize::from(number)) {
                Some((size, most)) => (*size, Rate::from_kbps(*most)),
                None => (SCREEN_SIZE, SCREEN_RATE),
            };
            let rng = rng.stream(&format!("encoding {number}"));
            Encoding {
                source: Source::new(most, rng).with(interval, layers),
                number,
                size,
                most,
                wanted: true,
            }
        };
        let first = ENCODINGS.len() - encodings;
        let numbers = first as u8..ENCODINGS.len() as u8;
        Camera {
            author,
            encodings: numbers.map(|n| encoding(n, FRAME_INTERVAL)).collect(),
            screen: encoding(SCREEN, FRAME_INTERVAL * 3),
            shares: false,
            taken: 0,
        }
    }

    /// Number of encodings.
    pub fn encodings(&self) -> usize {
        self.encodings.len()
    }

    /// Divides the rate among the wanted encodings.
    pub fn set_rate(&mut self, rate: Rate) {
        let sending = self.encodings.iter().filter(|e| e.wanted);
        let most: u64 = sending.map(|e| e.most.as_bps()).sum();
        let screen = u64::from(self.shares) * SCREEN_RATE.as_bps();
        let part = (rate.as_bps() as f64 / (most + screen).max(1) as f64).min(1.0);
        for encoding in self.encodings.iter_mut().chain([&mut self.screen]) {
            encoding.source.rate = encoding.most.mul_f64(part);
        }
    }

    /// Handles the server's request for encodings. A resumed one starts with a keyframe.
    pub fn set_wanted(&mut self, wanted: &[bool]) {
        for (encoding, wanted) in self.encodings.iter_mut().zip(wanted) {
            encoding.source.keyframe_wanted |= *wanted && !encoding.wanted;
            encoding.wanted = *wanted;
        }
    }

    /// Returns the number of paused encodings.
    pub fn paused(&self) -> usize {
        self.encodings.iter().filter(|e| !e.wanted).count()
    }

    /// Resets the wanted encodings: a new connection sends all.
    pub fn want_all(&mut self) {
        let all = vec![true; self.encodings.len()];
        self.set_wanted(&all);
        self.request_keyframes();
    }

    /// Makes the next picture of each encoding a keyframe, as browsers do.
    pub fn request_keyframes(&mut self) {
        for encoding in self.encodings.iter_mut().chain([&mut self.screen]) {
            encoding.source.keyframe_wanted = true;
        }
    }

    /// Returns the pictures that are due, each with the index of its stream.
    pub fn capture(&mut self, now: Instant) -> Vec<(usize, Picture)> {
        let (author, screen) = (self.author, self.encodings.len());
        let shares = self.shares && self.taken.is_multiple_of(3);
        self.taken += 1;
        let encodings = self.encodings.iter_mut().enumerate();
        let sent = encodings.filter(|(_, e)| e.wanted);
        let shared = shares.then_some((screen, &mut self.screen));
        sent.chain(shared)
            .map(|(place, encoding)| {
                let mut picture = encoding.source.capture(now);
                let mark = Mark {
                    author,
                    encoding: encoding.number,
                };
                mark.write(encoding.size, &mut picture);
                (place, picture)
            })
            .collect()
    }
}

/// Returns a packet of sound.
pub fn sound(author: usize, now: Instant) -> [u8; 40] {
    let mut data = [7; 40];
    data[..2].copy_from_slice(&(author as u16).to_be_bytes());
    data[2..10].copy_from_slice(&now.as_nanos().to_be_bytes());
    data[10] = MAGIC;
    data
}

/// Reads the person and the time of a packet of sound.
pub fn sound_of(data: &[u8]) -> Option<(usize, Instant)> {
    if data.get(10) != Some(&MAGIC) {
        return None;
    }
    let author = u16::from_be_bytes(*data.first_chunk()?);
    let captured = u64::from_be_bytes(*data[2..].first_chunk()?);
    Some((usize::from(author), Instant::from_nanos(captured)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_and_sounds_bear_their_person() {
        let mut camera = Camera::new(7, 3, Layers::Three, &Rng::new(1));
        camera.set_wanted(&[true, false, true]);
        camera.shares = true;
        let now = Instant::from_nanos(5);
        let pictures = camera.capture(now);
        let marks = pictures
            .iter()
            .map(|(place, p)| (*place, Mark::of(&p.data)));
        let mark = |encoding| {
            let author = 7;
            Some(Mark { author, encoding })
        };
        let expected = [(0, mark(0)), (2, mark(2)), (3, mark(SCREEN))];
        assert_eq!(marks.collect::<Vec<_>>(), expected);
        assert_eq!(pictures[1].1.data[6..10], [0x80, 0x02, 0x68, 0x01]);
        assert_eq!(sound_of(&sound(7, now)), Some((7, now)));
        assert_eq!(sound_of(&[7; 40]), None);
    }
}

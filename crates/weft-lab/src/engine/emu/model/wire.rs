//! Format of the datagrams between the ends of a model. A datagram is as long as the
//! model's packet, regardless of its contents.
//!
//! A packet of media has 32 bits each of its number (the first bit is zero), of the bytes
//! sent so far, and of the time in microseconds; the receiver completes the upper bits to
//! the value nearest to the last one. A report starts with a one bit and contains all its
//! counters.

use weft_apps::{Content, Packet, REPORT_SIZE, Report};
use weft_units::{Bytes, Duration, Instant};

/// IPv4 and UDP (RFC 791 section 3.1, RFC 768).
const HEADERS: u64 = 28;
/// Smallest media packet: the size of the models' smallest packets.
const MEDIA: usize = 12;
const IS_REPORT: u32 = 1 << 31;
/// Size of a report: six times 64 bits after the mark.
const REPORT: usize = 4 + 6 * 8;
const _: () = assert!(REPORT as u64 + HEADERS <= REPORT_SIZE.0);
/// Value that means no arrival since the last report.
const NO_TRANSIT: i64 = i64::MIN;

/// Returns the payload of a datagram.
pub fn payload(content: &Content, now: Instant) -> Vec<u8> {
    let length = content.size().0.saturating_sub(HEADERS) as usize;
    let mut bytes = Vec::with_capacity(length.max(REPORT));
    match content {
        Content::Media(packet) => {
            let micros = now.as_nanos() / 1000;
            for word in [packet.number & !u64::from(IS_REPORT), packet.sent.0, micros] {
                bytes.extend((word as u32).to_be_bytes());
            }
        }
        Content::Report(report) => {
            bytes.extend(IS_REPORT.to_be_bytes());
            let counts = [
                report.at.as_nanos(),
                report.highest,
                report.sent.0,
                report.packets,
                report.received.0,
            ];
            counts
                .iter()
                .for_each(|count| bytes.extend(count.to_be_bytes()));
            bytes.extend(report.transit.unwrap_or(NO_TRANSIT).to_be_bytes());
        }
    }
    bytes.resize(length.max(bytes.len()), 0);
    bytes
}

/// Decodes the datagrams that an end receives.
#[derive(Default)]
pub struct Reader {
    number: u64,
    sent: u64,
}

impl Reader {
    /// Decodes a datagram that arrived at `now`; returns its content and its sending
    /// time, or `None` if it is not from a model.
    pub fn read(&mut self, bytes: &[u8], now: Instant) -> Option<(Content, Instant)> {
        let (mark, rest) = bytes.split_first_chunk()?;
        let mark = u32::from_be_bytes(*mark);
        if mark & IS_REPORT != 0 {
            let words: &[u8; REPORT - 4] = rest.first_chunk()?;
            let (words, _) = words.as_chunks::<8>();
            let [at, highest, sent, packets, received, transit] = <[[u8; 8]; 6]>::try_from(words)
                .ok()?
                .map(u64::from_be_bytes);
            let report = Report {
                at: Instant::ZERO + Duration::from_nanos(at),
                highest,
                sent: Bytes(sent),
                packets,
                received: Bytes(received),
                transit: Some(transit as i64).filter(|transit| *transit != NO_TRANSIT),
            };
            // Reports carry counters, not times.
            return Some((Content::Report(report), now));
        }
        let words: &[u8; MEDIA] = bytes.first_chunk()?;
        let word = |at: usize| {
            u32::from_be_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]])
        };
        // One bit less than a word.
        self.number = near(self.number << 1, word(0) << 1) >> 1;
        self.sent = near(self.sent, word(4));
        let micros = near(now.as_nanos() / 1000, word(8));
        let packet = Packet {
            number: self.number,
            size: Bytes(bytes.len() as u64 + HEADERS),
            sent: Bytes(self.sent),
        };
        let sent_at = Instant::ZERO + Duration::from_nanos(micros.checked_mul(1000)?);
        Some((Content::Media(packet), sent_at))
    }
}

/// Returns the number nearest to `known` that ends in these bits.
fn near(known: u64, bits: u32) -> u64 {
    let ahead = bits.wrapping_sub(known as u32) as i32;
    known.saturating_add_signed(i64::from(ahead))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::ZERO + Duration::from_nanos(nanos)
    }

    fn media(number: u64, size: u64, sent: u64) -> Content {
        Content::Media(Packet {
            number,
            size: Bytes(size),
            sent: Bytes(sent),
        })
    }

    #[test]
    fn a_datagram_is_as_long_as_the_model_says() {
        for size in [40, 80, 1200] {
            let bytes = payload(&media(1, size, size), at(0));
            assert_eq!(bytes.len() as u64, size - 28);
        }
        let report = Report {
            at: at(5),
            highest: 7,
            sent: Bytes(9_000),
            packets: 6,
            received: Bytes(8_000),
            transit: None,
        };
        for transit in [None, Some(-3), Some(3)] {
            let content = Content::Report(Report { transit, ..report });
            let bytes = payload(&content, at(0));
            assert_eq!(bytes.len(), 52);
            let read = Reader::default().read(&bytes, at(77));
            assert_eq!(read, Some((content, at(77))));
        }
    }

    #[test]
    fn counts_and_times_go_on_beyond_32_bits() {
        let mut reader = Reader::default();
        let now = at(1_700_000_000_000_000_000);
        let step = 1 << 30;
        for n in 1..20_u64 {
            let content = media(n * step / 2, 1000, n * step);
            let read = reader.read(&payload(&content, now), now + Duration::from_millis(20));
            assert_eq!(read, Some((content, now)), "{n}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), now in any::<u64>()) {
            let mut reader = Reader { number: now >> 1, sent: now };
            let _ = reader.read(&bytes, at(now));
            let _ = reader.read(&bytes, at(0));
        }
    }
}

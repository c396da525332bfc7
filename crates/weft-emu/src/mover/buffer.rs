use crate::packet::Header;
use crate::tun::MTU;
use weft_links::TrafficClass;
use weft_units::{Bytes, Instant};

/// A packet with the mover's data about it.
pub(crate) struct Buffer {
    pub bytes: [u8; MTU],
    pub length: usize,
    pub header: Header,
    pub class: TrafficClass,
    pub entered: Instant,
    /// Ports of origin and destination.
    pub from: usize,
    pub to: usize,
}

impl Buffer {
    pub fn empty() -> Box<Buffer> {
        Box::new(Buffer {
            bytes: [0; MTU],
            length: 0,
            header: Header::NONE,
            class: TrafficClass::default(),
            entered: Instant::ZERO,
            from: 0,
            to: 0,
        })
    }

    pub fn size(&self) -> Bytes {
        Bytes(self.length as u64)
    }
}

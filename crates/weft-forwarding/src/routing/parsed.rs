use super::dependencies::Dependency;
use super::layers::{HEADERS, LAYERS, LayerSet};
use weft_units::{Bytes, Codec};
use weft_wire::media::MediaPacket;
use weft_wire::payload::{PieceInfo, Start, format_of};

/// Packet with its parsed payload header, shared by all subscribers.
#[derive(Debug, Clone)]
pub(crate) struct Parsed {
    pub(crate) packet: MediaPacket,
    pub(crate) info: PieceInfo,
    /// Dependency descriptor, if it has one.
    pub(super) dependency: Option<Dependency>,
}

impl Parsed {
    /// Parses a packet; `None` if this is not a payload of the codec.
    pub(crate) fn new(codec: Codec, packet: MediaPacket) -> Option<Parsed> {
        let info = format_of(codec).read(&packet.payload).ok()?.info;
        Some(Parsed {
            packet,
            info,
            dependency: None,
        })
    }

    /// Adds the packet's dependency descriptor, which takes precedence over its payload.
    pub(super) fn describe(&mut self, dependency: Option<Dependency>) {
        let frame = dependency.as_ref().and_then(|d| d.frame.as_ref());
        if let Some(frame) = frame {
            self.info.entry = frame.begins;
        }
        self.dependency = dependency;
    }

    /// Returns the layers that need the packet.
    pub(crate) fn layers(&self) -> LayerSet {
        let frame = self.dependency.as_ref().and_then(|d| d.frame.as_ref());
        match frame {
            Some(frame) => frame.ladder.layers(frame.frame.indications),
            None => self.info.numbers.temporal_layer.unwrap_or(0).into(),
        }
    }

    /// Returns the spatial layer of each layer that a subscriber can choose; `None` while
    /// the packet's descriptor cannot be read.
    pub(super) fn spatial_layers(&self) -> Option<[u8; LAYERS]> {
        match &self.dependency {
            Some(dependency) => Some(dependency.frame.as_ref()?.ladder.spatial_layers()),
            None => Some([0; LAYERS]),
        }
    }

    /// Returns its size with headers.
    pub(crate) fn size(&self) -> Bytes {
        Bytes(self.packet.payload.len() as u64 + HEADERS)
    }

    /// Returns the part of its size that rates count.
    pub(super) fn measured_size(&self) -> Bytes {
        let frame = self.dependency.as_ref().and_then(|d| d.frame.as_ref());
        match frame {
            Some(frame) if frame.uncounted => Bytes(0),
            _ => self.size(),
        }
    }

    /// Whether it is certainly the first packet of a frame, and of its layer if it has a
    /// descriptor.
    pub(super) fn is_first(&self) -> bool {
        let described = self.dependency.as_ref();
        described.map_or(self.info.start == Start::Certain, |d| {
            d.mandatory.start_of_frame
        })
    }

    /// Whether it is the last packet of such a frame.
    pub(super) fn is_last(&self) -> bool {
        let described = self.dependency.as_ref();
        described.map_or(self.packet.marker, |d| d.mandatory.end_of_frame)
    }
}

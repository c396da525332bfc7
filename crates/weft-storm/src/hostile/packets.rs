//! Packets of hostile peers, before encryption.

use weft_units::{PathId, Rng, Ssrc};
use weft_wire::rtp::{ExtensionMap, Extensions, Header, PathExtension};

/// Known streams of a connection.
#[derive(Clone, Default, Debug)]
pub struct Streams {
    /// SSRC that we may send with.
    pub ours: Option<Ssrc>,
    /// SSRC of the media sent to us.
    pub theirs: Option<Ssrc>,
    pub payload_type: u8,
    pub extensions: ExtensionMap,
}

/// Latest sequence numbers that were sent.
#[derive(Clone, Copy, Default, Debug)]
pub struct Numbers {
    pub sequence: u16,
    pub transport: u16,
    pub path: u16,
}

impl Streams {
    /// Writes a media packet.
    pub fn media(&self, ssrc: Ssrc, numbers: Numbers, payload: usize) -> Vec<u8> {
        let header = Header {
            marker: true,
            payload_type: self.payload_type,
            sequence: numbers.sequence,
            timestamp: u32::from(numbers.sequence) * 3_000,
            ssrc,
            extensions: Extensions {
                transport_sequence: Some(numbers.transport),
                path: Some(PathExtension {
                    path: PathId((numbers.path >> 12) as u8),
                    stream_sequence: numbers.path,
                    transport_sequence: numbers.transport,
                }),
                ..Extensions::default()
            },
        };
        let mut packet = Vec::new();
        header.write(&self.extensions, &mut packet);
        // First packet of a keyframe, without a picture number.
        packet.extend_from_slice(&[0x10, 0, 0, 0]);
        packet.resize(packet.len() + payload, 0);
        packet
    }

    /// Writes a report of arrivals by run lengths: few bytes, many packets
    /// (draft-holmer-rmcat-transport-wide-cc-extensions-01 section 3.1.3), for path 0 or
    /// for the transport.
    pub fn runs(&self, base: u16, received: bool) -> Vec<u8> {
        const LONGEST: u16 = 8_191;
        const RUNS: u16 = 4;
        let mut body = Vec::new();
        match self.extensions.path {
            Some(_) => body.extend_from_slice(b"WEFT"),
            None => body.extend(self.theirs.unwrap_or(Ssrc(1)).0.to_be_bytes()),
        }
        body.extend(base.to_be_bytes());
        body.extend((LONGEST * RUNS).to_be_bytes());
        body.extend([0, 0, 1, 0]);
        let status = u16::from(received) << 13;
        (0..RUNS).for_each(|_| body.extend((status | LONGEST).to_be_bytes()));
        // Arrival times without any difference, as many as fit.
        body.resize(body.len() + if received { 800 } else { 0 }, 0);
        match self.extensions.path {
            Some(_) => self.rtcp(1, 204, &body),
            None => self.rtcp(15, 205, &body),
        }
    }

    /// Writes a NACK (RFC 4585 section 6.2.1): 17 packets in each entry.
    pub fn nacks(&self, from: u16, entries: u16) -> Vec<u8> {
        let mut body = self.theirs.unwrap_or(Ssrc(1)).0.to_be_bytes().to_vec();
        for entry in 0..entries {
            body.extend(from.wrapping_add(entry * 17).to_be_bytes());
            body.extend([0xff, 0xff]);
        }
        self.rtcp(1, 205, &body)
    }

    /// Writes a keyframe request (RFC 4585 section 6.3.1).
    pub fn picture_loss(&self) -> Vec<u8> {
        self.rtcp(1, 206, &self.theirs.unwrap_or(Ssrc(1)).0.to_be_bytes())
    }

    /// Writes a goodbye (RFC 3550 section 6.6).
    pub fn goodbye(&self) -> Vec<u8> {
        self.rtcp(1, 203, &[])
    }

    /// Writes as many of the smallest messages as fit.
    pub fn messages(&self) -> Vec<u8> {
        let mut all = Vec::new();
        while all.len() < 1_100 {
            all.extend(self.rtcp(0, 201, &[]));
        }
        all
    }

    /// Writes a message: count or format, packet type, content after the sender's SSRC.
    pub fn rtcp(&self, count: u8, packet_type: u8, body: &[u8]) -> Vec<u8> {
        let sender = self.ours.unwrap_or(Ssrc(7)).0.to_be_bytes();
        let words = (4 + body.len()).div_ceil(4);
        let mut message = vec![0x80 | count, packet_type];
        message.extend((words as u16).to_be_bytes());
        message.extend(sender);
        message.extend(body);
        message.resize(4 + 4 * words, 0);
        message
    }

    /// Writes noise after a valid header: media of our stream, or RTCP.
    pub fn garbage(&self, rng: &mut Rng, numbers: Numbers) -> (bool, Vec<u8>) {
        let mut noise = vec![0; rng.below(1_100) as usize];
        rng.fill(&mut noise);
        if rng.chance(0.5) {
            let types = [200, 201, 203, 204, 205, 206, 207];
            let packet_type = types[rng.below(types.len() as u64) as usize];
            let mut packet = self.rtcp(rng.below(32) as u8, packet_type, &noise);
            if rng.chance(0.3)
                && let Some(theirs) = self.theirs
                && packet.len() >= 12
            {
                packet[8..12].copy_from_slice(&theirs.0.to_be_bytes());
            }
            return (true, packet);
        }
        let mut packet = self.media(self.ours.unwrap_or(Ssrc(1)), numbers, 0);
        let header = packet.len() - 4;
        packet.truncate(header);
        packet.extend(noise);
        if rng.chance(0.3) {
            // Extensions of any length and number.
            let place = 12 + rng.below((packet.len() - 12).max(1) as u64) as usize;
            if let Some(byte) = packet.get_mut(place) {
                *byte = rng.next_u32() as u8;
            }
        }
        (false, packet)
    }
}

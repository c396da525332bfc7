//! Bodies of the fuzz targets in `fuzz/`, which the property tests also run. Each feeds
//! the bytes to a parser and checks the properties of the result.

use weft_units::{Codec, Ssrc};

use crate::flexfec::Repair;
use crate::payload::{self, Body, PictureNumbers, h264, vp8};
use crate::rtp::ExtensionMap;
use crate::sdp::{Candidate, SessionDescription};
use crate::{rtcp, rtp};

const MAP: ExtensionMap = ExtensionMap {
    transport_sequence: Some(1),
    path: Some(2),
    mid: Some(3),
    audio_level: Some(4),
    rid: None,
    repaired_rid: None,
    dependency: Some(5),
};

/// Well below the longest text that the SDP parser accepts.
const MAX_EMITTED: usize = 100_000;

/// RTP: a parsed packet can be written and parsed again.
pub fn fuzz_rtp(data: &[u8]) {
    fuzz_dependency(data);
    let peeked = rtp::peek(data);
    let Ok((header, payload)) = rtp::parse(data, &MAP) else {
        return;
    };
    let peeked = peeked.expect("what can be parsed can be peeked at");
    assert!(peeked.header_len + payload.len() <= data.len());
    assert_eq!(peeked.ssrc, header.ssrc);
    let mut cleared = data.to_vec();
    rtp::clear_transport_values(&mut cleared, &MAP);
    let (still, same) = rtp::parse(&cleared, &MAP).expect("its form is the same");
    assert_eq!((still.sequence, same), (header.sequence, payload));
    assert!(still.extensions.transport_sequence.is_none_or(|n| n == 0));
    let dependency = rtp::dependency_of(data, &MAP);
    let mut packet = Vec::new();
    header.write_with_dependency(&MAP, dependency, &mut packet);
    assert_eq!(rtp::dependency_of(&packet, &MAP), dependency);
    let (again, rest) = rtp::parse(&packet, &MAP).expect("what was written can be read");
    assert_eq!((again, rest), (header, &[][..]));
}

/// Dependency descriptor: another list of decode targets changes nothing else, and the
/// descriptors after the first one can use its structure.
pub fn fuzz_dependency(data: &[u8]) {
    use rtp::dependency::{Details, rewritten};
    let mut structure = None;
    for descriptor in data.chunks(64) {
        let Ok(details) = Details::parse(descriptor, structure.as_ref()) else {
            continue;
        };
        let known = details.structure.as_ref().or(structure.as_ref());
        let known = known.expect("a frame has a structure");
        let targets = known.targets();
        assert!((1..=32).contains(&targets));
        for target in 0..targets {
            assert!(known.is_within(target, target));
        }
        let active = known.all_targets() / 3;
        let written = rewritten(descriptor, 7, Some((active, targets)));
        assert!(written.len() <= descriptor.len() + 5);
        let again = Details::parse(&written, structure.as_ref()).expect("it can be read");
        assert_eq!((again.frame, again.active), (details.frame, Some(active)));
        structure = details.structure.or(structure);
    }
}

/// RTCP: parsed packets can be written and parsed again.
pub fn fuzz_rtcp(data: &[u8]) {
    let Ok(packets) = rtcp::parse_compound(data, &mut { rtcp::MAX_ENTRIES }) else {
        return;
    };
    assert!(packets.len() <= data.len() / 4);
    let arrivals = |packet: &rtcp::Packet| match packet {
        rtcp::Packet::TransportFeedback(feedback) => feedback.arrivals.len(),
        rtcp::Packet::PathFeedback(feedback) => feedback.arrivals.len(),
        _ => 0,
    };
    assert!(packets.iter().map(arrivals).sum::<usize>() <= rtcp::MAX_ENTRIES);
    for packet in packets {
        let mut written = Vec::new();
        packet.write(&mut written);
        rtcp::parse_compound(&written, &mut { rtcp::MAX_ENTRIES })
            .expect("what was written can be read");
    }
}

/// Repair packet: a parsed one is written identically, and a recovered packet
/// is not longer than it.
pub fn fuzz_flexfec(data: &[u8]) {
    let Ok(mut repair) = Repair::parse(data) else {
        return;
    };
    let mut written = Vec::new();
    repair.write(&mut written);
    assert_eq!(written.len(), repair.len());
    assert_eq!(Repair::parse(&written).as_ref(), Ok(&repair));
    let _ = repair.parity.add(data);
    if let Ok(packet) = repair.parity.recover(Ssrc(1), 2) {
        assert!(packet.len() <= data.len() + 12);
        let _ = rtp::parse(&packet, &MAP);
    }
}

/// Payload of any codec: the decoder input is at most a few times its size, and the parts
/// of a split payload fit and can be parsed.
pub fn fuzz_payload(data: &[u8]) {
    const MAX_PAYLOAD: usize = 7;
    let Some((&which, data)) = data.split_first() else {
        return;
    };
    let codec = Codec::ALL[usize::from(which) % Codec::ALL.len()];
    let format = payload::format_of(codec);
    let mut frame = Vec::new();
    if let Ok(piece) = format.read(data) {
        piece.body.write(&mut frame);
        assert!(frame.len() <= 2 * data.len() + 4);
        if let Body::Plain(body) = piece.body {
            assert_eq!(body, frame);
        }
        if let Some((prefix, replaced)) = format.renumbered(data, 1, 1) {
            let again = [prefix.octets(), &data[replaced..]].concat();
            assert!(format.read(&again).is_ok());
        }
    }
    for part in format.cut(&frame, PictureNumbers::default(), MAX_PAYLOAD) {
        let mut payload = Vec::new();
        part.write(&mut payload);
        assert!(payload.len() <= MAX_PAYLOAD + payload::Prefix::MAX || codec == Codec::Opus);
        assert!(format.read(&payload).is_ok() || codec == Codec::H264);
    }
}

/// VP8 descriptor: a parsed one can be written and parsed again.
pub fn fuzz_vp8(data: &[u8]) {
    let Ok((descriptor, body)) = vp8::parse(data) else {
        return;
    };
    assert!(!body.is_empty() && body.len() < data.len());
    let _ = vp8::is_keyframe(&descriptor, body);
    let _ = vp8::dimensions(body);
    let mut written = Vec::new();
    descriptor.write(&mut written);
    assert_eq!(written.len(), descriptor.len());
    written.extend_from_slice(body);
    assert_eq!(vp8::parse(&written), Ok((descriptor, body)));
}

/// H.264 payload: the byte stream is at most as large as its sizes and start codes allow,
/// and its units survive splitting and joining.
pub fn fuzz_h264(data: &[u8]) {
    const MAX_PAYLOAD: usize = 7;
    let Ok(payload) = h264::parse(data) else {
        return;
    };
    let contents = payload.contents();
    assert!(contents.begins_unit || matches!(payload, h264::Payload::Fragment(..)));
    let mut stream = Vec::new();
    payload.write_stream(&mut stream);
    assert!(!stream.is_empty() && stream.len() <= 2 * data.len() + 4);
    let mut quantizers = h264::Quantizers::default();
    for unit in h264::nal_units(&stream) {
        assert!(quantizers.on_unit(unit).is_none_or(|q| q <= 51));
        let mut again = Vec::new();
        for part in h264::parts(unit, MAX_PAYLOAD) {
            let mut payload = Vec::new();
            part.write(&mut payload);
            assert!(payload.len() <= MAX_PAYLOAD);
            if let Ok(payload) = h264::parse(&payload) {
                payload.write_stream(&mut again);
            }
        }
        let header = unit.first().map(|octet| h264::NalHeader::parse(*octet));
        if matches!(header, Some(Ok(header)) if (1..24).contains(&header.kind)) {
            assert!(h264::nal_units(&again).eq([unit]));
        }
    }
}

/// SDP: a parsed description is written in a form that parses to an equal one.
pub fn fuzz_sdp(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let _ = SessionDescription::parse_fragment(text);
    if let Ok(candidate) = text.parse::<Candidate>() {
        assert_eq!(candidate.to_string().parse(), Ok(candidate));
    }
    let Ok(description) = SessionDescription::parse(text) else {
        return;
    };
    let emitted = description.to_string();
    // Session-level attributes are emitted for each section, so the parser's
    // limits do not apply.
    if emitted.len() <= MAX_EMITTED {
        assert_eq!(SessionDescription::parse(&emitted), Ok(description));
    }
}

#[cfg(test)]
mod tests;

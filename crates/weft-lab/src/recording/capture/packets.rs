//! Packets of the file.

use weft_trace::capture::{CaptureReader, udp};

use crate::recording::error::ImportError;
use crate::recording::input::Source;
use crate::recording::streams::RtpFields;

/// Datagram with its time, since 1970 or since the start of a run.
pub struct Datagram<'a> {
    pub at_s: f64,
    pub udp: udp::CapturedDatagram<'a>,
    pub dropped: u64,
}

/// Calls `take` with the datagrams of the file, and with `None` for every other packet.
/// Returns the reason why the file ended early, with the position.
pub fn each_frame(
    source: Source<'_>,
    mut take: impl FnMut(Option<&Datagram<'_>>, Option<&str>),
) -> Result<Option<String>, ImportError> {
    let mut reader = CaptureReader::new(source.open()?).map_err(|error| {
        ImportError::new(
            &source.place(),
            error.to_string(),
            "give a pcap or pcapng file as tcpdump, Wireshark or `weft join --pcap` writes it",
        )
    })?;
    let mut packets = 0_u64;
    loop {
        let frame = match reader.next_frame() {
            Ok(Some(frame)) => frame,
            Ok(None) => return Ok(None),
            Err(error) => {
                let at = reader.position();
                return Ok(Some(format!(
                    "byte {at}: {error}: record again, or stop the recording properly; the \
                     {packets} packets before this place were read"
                )));
            }
        };
        packets += 1;
        let udp = udp::parse(frame.interface.link_type, frame.data);
        let datagram = udp.map(|udp| Datagram {
            at_s: frame.at.as_secs_f64(),
            udp: udp::CapturedDatagram {
                direction: frame.direction.or(udp.direction),
                ..udp
            },
            dropped: frame.dropped,
        });
        take(datagram.as_ref(), frame.interface.name.as_deref());
    }
}

/// Returns the fields of a packet that may be RTP; `None` for RTCP and other protocols
/// (RFC 7983, RFC 5761).
pub fn rtp(content: &[u8]) -> Option<RtpFields> {
    let header = weft_wire::rtp::peek(content).ok()?;
    let timestamp = content.get(4..8)?.first_chunk::<4>()?;
    (!weft_wire::rtcp::is_rtcp(content)).then(|| RtpFields {
        ssrc: header.ssrc.0,
        sequence: header.sequence,
        timestamp: u32::from_be_bytes(*timestamp),
    })
}

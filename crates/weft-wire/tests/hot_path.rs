//! Checks that parsing and writing an RTP header does not allocate, because it happens
//! for every packet of every stream.

use weft_testing::allocation::{Counting, measure};
use weft_units::{AudioLevel, PathId, Ssrc};
use weft_wire::rtp::{self, ExtensionMap, Extensions, Header, Mid, PathExtension, Rid};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn an_rtp_header_is_read_and_written_without_allocation() {
    let map = ExtensionMap {
        transport_sequence: Some(1),
        path: Some(2),
        mid: Some(3),
        audio_level: Some(4),
        rid: Some(5),
        repaired_rid: Some(6),
        dependency: Some(7),
    };
    let header = Header {
        marker: true,
        payload_type: 96,
        sequence: 1,
        timestamp: 2,
        ssrc: Ssrc(3),
        extensions: Extensions {
            transport_sequence: Some(4),
            path: Some(PathExtension {
                path: PathId(1),
                stream_sequence: 5,
                transport_sequence: 6,
            }),
            mid: Mid::new("0"),
            audio_level: Some(AudioLevel(7)),
            rid: Rid::new("q"),
            repaired_rid: Rid::new("h"),
        },
    };
    let mut packet = Vec::with_capacity(1500);
    let ((), cost) = measure(|| {
        header.write(&map, &mut packet);
        packet.extend_from_slice(&[0; 1000]);
        let peeked = rtp::peek(&packet).unwrap();
        assert_eq!(packet.len(), peeked.header_len + 1000);
        let (read, payload) = rtp::parse(&packet, &map).unwrap();
        assert_eq!((read, payload.len()), (header, 1000));
    });
    assert_eq!(cost.calls, 0);
    // Control: the counter counts.
    let ((), cost) = measure(|| drop(std::hint::black_box(vec![1_u8])));
    assert_eq!(cost.calls, 1);
}

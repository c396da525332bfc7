//! Files that are truncated, damaged, or of another kind.

use std::fs;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

#[test]
fn a_cut_file_keeps_the_part_before_the_cut() {
    let simulated = Simulated::new();
    let pcap = simulated.file("callee", "pcapng");
    let qlog = simulated.file("callee", "sqlog");
    for (path, says) in [
        (&pcap, "the file ends within a packet"),
        (&qlog, "ends within an event"),
    ] {
        let whole = read_one(path);
        assert!(whole.cut.is_none());
        let bytes = fs::read(path).unwrap();
        let mut half = bytes.len() / 2;
        // Not between two events.
        while bytes[half - 1] == b'\n' || bytes[half] == b'\n' {
            half += 2;
        }
        fs::write(path, &bytes[..half]).unwrap();
        let cut = read_one(path);
        let text = cut.cut.as_deref().expect("it is cut");
        assert!(text.contains(says), "{text}");
        assert!(
            text.starts_with("byte ") || text.starts_with("line "),
            "{text}"
        );
        assert!((4.0..9.0).contains(&cut.seconds), "{}", cut.seconds);
    }
    let dump = fixture("webrtc-internals.gz");
    let bytes = fs::read(dump).unwrap();
    let path = simulated.folder.path().join("dump.gz");
    fs::write(&path, &bytes[..bytes.len() * 9 / 10]).unwrap();
    let found = read(&path, "dump", &[]).unwrap();
    let cut = found[0].cut.as_deref().expect("it is cut");
    assert!(cut.contains("save it again; what precedes"), "{cut}");
    assert!(has(&found[0], "throughput_mbps") || has(&found[0], "sent_mbps"));
}

/// Content, and the expected part of the error.
const BAD: [(&[u8], &str); 12] = [
    (b"", "the file is empty: record the call again"),
    (b"  \n", "the file is empty"),
    (
        b"\x00\x01\x02\x03\x04",
        "the format is unknown: give a dump",
    ),
    (b"{\"PeerConnections\": [1]}", ":1:"),
    (
        b"{\"a\": 1}",
        "it is JSON, but neither a dump of webrtc-internals nor a flent file",
    ),
    (
        b"{\"PeerConnections\": {}}",
        "no connection in this dump has statistics of media",
    ),
    (b"{\"PeerConnections\": {", "no connection in this dump"),
    (
        b"{\"metadata\": {}, \"results\": {\"a\": [1]}, \"x_values\": [0]}",
        "no series of rates",
    ),
    (
        b"\xD4\xC3\xB2\xA1\x02\x00\x04\x00",
        "the file ends within a packet",
    ),
    (
        b"\xD4\xC3\xB2\xA1\x02\x00\x04\x00\0\0\0\0\0\0\0\0\xFF\xFF\0\0\x01\0\0\0",
        "there is no RTP among its 0 packets, 0 of them UDP: capture while the call runs",
    ),
    (
        b"\x1E{\"trace\":{\"event_schemas\":[\"urn:ietf:params:qlog:events:quic\"]}}\n",
        "it has events of urn:ietf",
    ),
    (b"\x1Enonsense\n", ":1:"),
];

#[test]
fn the_error_names_file_place_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for (content, expected) in BAD {
        fs::write(&path, content).unwrap();
        let error = read(&path, "x", &[]).unwrap_err().to_string();
        assert!(error.starts_with(&path.display().to_string()), "{error}");
        assert!(error.contains(expected), "{error}");
    }
    let error = read(&folder.path().join("none"), "x", &[])
        .unwrap_err()
        .to_string();
    assert!(error.contains("No such file"), "{error}");
}

#[test]
fn damage_anywhere_is_an_error_or_a_recording() {
    let simulated = Simulated::new();
    let path = simulated.folder.path().join("damaged");
    for (end, extension) in [("callee", "pcapng"), ("caller", "sqlog")] {
        let original = fs::read(simulated.file(end, extension)).unwrap();
        // The start of a file contains each kind of part.
        let original = &original[..original.len().min(60_000)];
        for place in (0..original.len()).step_by(original.len() / 60) {
            for byte in [0x00, 0xFF, b'9'] {
                let mut damaged = original.to_vec();
                damaged[place] = byte;
                fs::write(&path, damaged).unwrap();
                for one in read(&path, "x", &[]).unwrap_or_default() {
                    assert!(one.values.iter().all(|(_, value)| value.is_finite()));
                    let rows = one.series(1.0, "call").t.len();
                    assert!(rows <= MAX_SECONDS as usize + 1);
                }
            }
        }
    }
}

#[test]
fn a_compressed_file_may_not_expand_without_bound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.gz");
    let mut gzip = GzEncoder::new(fs::File::create(&path).unwrap(), Compression::fast());
    gzip.write_all(b"{\"metadata\": ").unwrap();
    let block = vec![b' '; 1 << 20];
    for _ in 0..257 {
        gzip.write_all(&block).unwrap();
    }
    gzip.finish().unwrap();
    let error = read(&path, "x", &[]).unwrap_err().to_string();
    assert!(error.contains("the text is longer than 256 MiB"), "{error}");
    assert!(error.contains("bomb.gz"), "{error}");
}

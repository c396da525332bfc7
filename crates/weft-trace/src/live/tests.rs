use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::Mutex;

use super::*;

fn packet(millis: u64, bytes: usize) -> Packet {
    Packet {
        interface: "wifi".into(),
        at: Duration::from_millis(millis),
        direction: Direction::Outbound,
        from: "192.0.2.1:1000".parse().unwrap(),
        to: "192.0.2.2:2000".parse().unwrap(),
        content: vec![7; bytes],
    }
}

const SETTINGS: TraceSettings<'static> = TraceSettings {
    name: "join",
    application: "weft",
    vantage_point: VantagePoint::Client,
    most_event_bytes: None,
};

/// Callback that keeps the texts of faults.
fn faults() -> (OnFault, Arc<Mutex<Vec<String>>>) {
    let texts = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&texts);
    let on_fault = move |fault: &TraceFault| kept.lock().unwrap().push(fault.to_string());
    (Arc::new(on_fault), texts)
}

fn create(pcap: &Path, qlog: Option<&Path>) -> Result<TraceFiles, CreateError> {
    TraceFiles::create((Some(pcap), qlog), &SETTINGS, &faults().0)
}

/// Packet blocks of a file that begins with a section and an interface, as `(length of
/// the block, drop count)`.
fn blocks(bytes: &[u8]) -> Vec<(usize, Option<u64>)> {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (mut at, mut blocks) = (0, Vec::new());
    while at < bytes.len() {
        let length = word(at + 4) as usize;
        assert_eq!(word(at + length - 4) as usize, length, "block at {at}");
        if word(at) == 6 {
            let content = word(at + 20) as usize;
            // After the flags, an option of 4 + 4 bytes.
            let option = at + 28 + content.next_multiple_of(4) + 8;
            let dropped = (word(option) & 0xffff == 4)
                .then(|| u64::from_le_bytes(bytes[option + 4..option + 12].try_into().unwrap()));
            blocks.push((content, dropped));
        }
        at += length;
    }
    blocks
}

#[test]
fn files_are_private_and_never_replace_others() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.pcapng");
    let events = folder.path().join("new/folder/");
    let traces = create(&file, Some(&events)).unwrap();
    assert_eq!(traces.paths()[1], events.join("join-1.sqlog"));
    let tracer = traces.tracer().unwrap();
    tracer.packet(packet(1, 100));
    tracer.event(Duration::from_millis(2), 5, "call:connected", json!({}));
    let paths = traces.paths().to_vec();
    traces.finish().unwrap();
    for path in &paths {
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
    assert_eq!(blocks(&std::fs::read(&file).unwrap()), [(128, None)]);
    let log = std::fs::read_to_string(&paths[1]).unwrap();
    let event: Value = serde_json::from_str(log.split('\u{1e}').nth(2).unwrap()).unwrap();
    assert_eq!(
        (&event["time"], &event["group_id"]),
        (&json!(2.0), &json!("5"))
    );

    let error = create(&file, None).unwrap_err();
    assert!(
        error.to_string().contains("exists already: remove it"),
        "{error}"
    );
    let traces = create(folder.path(), None).unwrap();
    assert_eq!(traces.paths(), [folder.path().join("join-1.pcapng")]);
    // The call never began.
    drop(traces);
    assert!(!folder.path().join("join-1.pcapng").exists());
    std::fs::write(folder.path().join("join-7.pcapng"), "").unwrap();
    let traces = create(folder.path(), None).unwrap();
    assert_eq!(traces.paths(), [folder.path().join("join-8.pcapng")]);
    let error = create(&folder.path().join("none/x.pcapng"), None).unwrap_err();
    assert!(error.to_string().contains("choose a folder"), "{error}");
}

/// Queue that writes packets to a descriptor other than a file.
fn queue(fd: OwnedFd) -> (Queue<Packet>, Arc<Mutex<Vec<String>>>) {
    let (on_fault, texts) = faults();
    let queue = start_packets((File::from(fd), "x".into()), &SETTINGS, &on_fault).unwrap();
    (queue, texts)
}

#[test]
fn a_full_disk_ends_the_trace_and_says_so_once() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let (queue, texts) = queue(full.into());
    for millis in 0..10_000 {
        queue.push(packet(millis, 1_000), 1_000);
    }
    let fault = queue.finish().unwrap_err();
    assert!(matches!(fault, TraceFault::Failed { .. }), "{fault}");
    assert_eq!(*texts.lock().unwrap(), [fault.to_string()]);
    assert!(fault.to_string().contains("No space left"), "{fault}");
}

#[test]
fn packets_for_a_disk_that_stalls_are_dropped_and_counted_in_the_file() {
    const PUSHED: u64 = 30_000;
    let (disk, mut reader) = UnixStream::pair().unwrap();
    let (queue, texts) = queue(disk.into());
    for millis in 0..PUSHED {
        queue.push(packet(millis, 1_000), 1_000);
    }
    // 8 MiB wait, plus the content of the socket.
    let dropped = queue
        .state
        .dropped
        .load(std::sync::atomic::Ordering::Relaxed);
    assert!((10_000..PUSHED - 6_000).contains(&dropped), "{dropped}");
    let reading = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        bytes
    });
    // The next packet that is written says how many are missing.
    let last = queue.clone();
    while last
        .state
        .waiting
        .load(std::sync::atomic::Ordering::Relaxed)
        > 1 << 20
    {
        std::thread::yield_now();
    }
    last.push(packet(PUSHED, 1), 1);
    let fault = queue.finish().unwrap_err();
    assert!(
        matches!(fault, TraceFault::Dropped { dropped: of, .. } if of == dropped),
        "{fault}"
    );
    assert_eq!(texts.lock().unwrap().len(), 1);
    let blocks = blocks(&reading.join().unwrap());
    let counted: u64 = blocks.iter().filter_map(|(_, dropped)| *dropped).sum();
    assert_eq!(counted, dropped);
    assert_eq!(blocks.len() as u64 + dropped, PUSHED + 1);
    assert_eq!(*blocks.last().unwrap(), (29, Some(dropped)));
}

#[test]
fn a_disk_that_never_answers_holds_the_end_up_for_two_seconds() {
    let (disk, _reader) = UnixStream::pair().unwrap();
    let (queue, _) = queue(disk.into());
    for millis in 0..2_000 {
        queue.push(packet(millis, 1_000), 1_000);
    }
    let begun = std::time::Instant::now();
    let fault = queue.finish().unwrap_err();
    assert!(matches!(fault, TraceFault::Unfinished { .. }), "{fault}");
    let seconds = begun.elapsed().as_secs_f64();
    assert!((1.9..10.0).contains(&seconds), "{seconds} s");
}

fn format() -> PacketFormat {
    PacketFormat {
        writer: PcapngWriter::new(Vec::new(), "weft").unwrap(),
        interfaces: BTreeMap::new(),
    }
}

#[test]
fn interfaces_beyond_what_a_reader_takes_share_one() {
    let mut format = format();
    for number in 0..MOST_INTERFACES + 500 {
        let named = Packet {
            interface: format!("room/{number} play").into(),
            ..packet(1, 10)
        };
        format.add(&named, 0).unwrap();
    }
    assert_eq!(format.interfaces.len(), MOST_INTERFACES + 1);
    assert!(format.interfaces.contains_key(OTHERS));
}

#[test]
fn tshark_shows_where_packets_are_missing() {
    let folder = tempfile::tempdir().unwrap();
    let mut format = format();
    format.add(&packet(1, 10), 0).unwrap();
    let lte = Packet {
        interface: "lte".into(),
        ..packet(2, 10)
    };
    format.add(&lte, 12).unwrap();
    let path = folder.path().join("t.pcapng");
    let mut file = File::create(&path).unwrap();
    file.write_all(format.written()).unwrap();
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&path).args(["-T", "fields"]);
    tshark.args(["-e", "frame.interface_name", "-e", "frame.drop_count"]);
    let Ok(output) = tshark.output() else {
        return weft_testing::skipped("no tshark here");
    };
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "wifi\t\nlte\t12\n");
}

#[test]
fn a_bounded_file_of_events_ends_with_a_whole_event() {
    const MOST: u64 = 1 << 20;
    let folder = tempfile::tempdir().unwrap();
    let settings = TraceSettings {
        most_event_bytes: Some(MOST),
        ..SETTINGS
    };
    let (on_fault, texts) = faults();
    let wanted = (None, Some(folder.path()));
    let traces = TraceFiles::create(wanted, &settings, &on_fault).unwrap();
    let (tracer, path) = (traces.tracer().unwrap(), traces.paths()[0].clone());
    // The queue holds fewer at once.
    for _ in 0..20 {
        for number in 0..2_000_u64 {
            tracer.event(Duration::ZERO, number, "call:connected", json!({}));
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let fault = traces.finish().unwrap_err().to_string();
    assert!(fault.contains("bound of 1 MiB"), "{fault}");
    assert_eq!(texts.lock().unwrap().last(), Some(&fault));
    let bytes = std::fs::read(&path).unwrap();
    assert!(
        (MOST / 2..=MOST).contains(&(bytes.len() as u64)),
        "{}",
        bytes.len()
    );
    assert!(bytes.ends_with(b"}\n"));
}

use super::*;

pub fn record(number: u64) -> PacketRecord {
    let fate = match number % 6 {
        0 => Fate::Delivered,
        n => Fate::Dropped(REASONS[n as usize - 1]),
    };
    PacketRecord {
        link: LinkId(number as usize % 7),
        station: StationId((number % 2) as u16),
        from: HostId(1),
        to: HostId(200),
        protocol: 17,
        source_port: 50_000,
        destination_port: number as u16,
        size: Bytes(1500),
        entered: Instant::from_nanos(number << 33),
        queued_for: Duration::from_nanos(number),
        ended: Instant::from_nanos((number << 33) + 7),
        late: Duration::from_nanos(9),
        fate,
    }
}

#[test]
fn logged_packets_are_read_in_order() {
    const COUNT: u64 = 2 * CHUNK as u64 + 100;
    let mut writer = LogWriter::start().unwrap();
    writer.add(record(77));
    writer.restart();
    (0..COUNT).for_each(|n| writer.add(record(n)));
    let log = writer.finish().unwrap();
    assert_eq!((log.len(), log.lost()), (COUNT, 0));
    assert!(log.iter().eq((0..COUNT).map(record)));
}

#[test]
fn a_written_log_has_a_line_per_packet() {
    let mut writer = LogWriter::start().unwrap();
    writer.add(record(0));
    writer.add(record(1));
    let log = writer.finish().unwrap();
    let mut text = Vec::new();
    log.write(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with("link,direction,from,to,protocol"));
    assert!(
        lines[1].ends_with(",delivered") && lines[2].ends_with(",queue_full"),
        "{text}"
    );
}

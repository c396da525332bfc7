use super::*;
use crate::log::tests::record;
use std::fs::File;

#[test]
fn a_packet_log_that_cannot_be_written_is_no_empty_one() {
    let packets = |log: LogWriter| {
        let mut mover = Mover::new(Vec::new(), Vec::new(), Logging::Off).unwrap();
        mover.log = Some(log);
        mover.log.iter_mut().for_each(|log| log.add(record(1)));
        let orders = mover.orders();
        let mover = std::thread::spawn(|| mover.run());
        orders.give(Order::Stop);
        mover.join().unwrap().packets
    };
    let log = packets(LogWriter::start().unwrap()).unwrap();
    assert_eq!(log.map(|log| log.len()), Some(1));
    // Every write to it fails (full(4)).
    let full = File::options().write(true).open("/dev/full").unwrap();
    let error = packets(LogWriter::to(full).unwrap()).err();
    let kind = error.map(|error| error.kind());
    assert_eq!(kind, Some(std::io::ErrorKind::StorageFull));
}

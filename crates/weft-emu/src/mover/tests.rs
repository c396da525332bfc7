use super::*;
use crate::log::tests::record;
use std::fs::File;

#[test]
fn real_time_scheduling_takes_the_capability_for_it() {
    /// Linux, include/uapi/linux/capability.h.
    const CAP_SYS_NICE: u32 = 23;
    let before = policy();
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let mask = u64::from_str_radix(line.unwrap().trim(), 16).unwrap();
    if mask >> CAP_SYS_NICE & 1 == 0 {
        assert_eq!(Scheduling::find(), Scheduling::Ordinary);
    }
    assert_eq!(policy(), before, "of the thread that asks");
}

fn policy() -> libc::c_int {
    // SAFETY: it takes no pointers; 0 means the calling thread.
    unsafe { libc::sched_getscheduler(0) }
}

#[test]
fn an_unwritable_packet_log_is_an_error() {
    let packets = |log: LogWriter| {
        let mut mover = Mover::new(Vec::new(), Vec::new(), Logging::Off).unwrap();
        mover.log = Some(log);
        mover.log.iter_mut().for_each(|log| log.add(record(1)));
        let commands = mover.commands();
        let mover = std::thread::spawn(|| mover.run());
        commands.send(MoverCommand::Stop);
        mover.join().unwrap().packets
    };
    let log = packets(LogWriter::start().unwrap()).unwrap();
    assert_eq!(log.map(|log| log.len()), Some(1));
    // Every write to this file fails (full(4)).
    let full = File::options().write(true).open("/dev/full").unwrap();
    let error = packets(LogWriter::to(full).unwrap()).err();
    let kind = error.map(|error| error.kind());
    assert_eq!(kind, Some(std::io::ErrorKind::StorageFull));
}

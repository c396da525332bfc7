//! Processor time and memory of a process.

use std::fs;

use weft_units::{Bytes, Duration};

/// Unit of the times in /proc: USER_HZ, which is 100 on every architecture of Linux that
/// weft runs on (proc_pid_stat(5)).
const TICKS_PER_SECOND: u64 = 100;

/// Processor time and memory of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Processor time of all its threads since its start, user and kernel.
    pub cpu: Duration,
    /// Resident memory.
    pub memory: Bytes,
}

impl ProcessUsage {
    /// Reads the usage of this process; `None` if the system has no /proc.
    #[must_use]
    pub fn own() -> Option<ProcessUsage> {
        read("self")
    }

    /// Reads the usage of another process on this machine; `None` if no process has this number.
    #[must_use]
    pub fn of(pid: u32) -> Option<ProcessUsage> {
        read(&pid.to_string())
    }
}

fn read(pid: &str) -> Option<ProcessUsage> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    Some(ProcessUsage {
        cpu: cpu_of_stat(&stat)?,
        memory: memory_of_status(&status)?,
    })
}

/// Fields 14 and 15 of /proc/PID/stat; the name in field 2 may contain spaces and
/// parentheses.
fn cpu_of_stat(stat: &str) -> Option<Duration> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    let ticks = ticks()? + ticks()?;
    Some(Duration::from_millis(ticks * 1_000 / TICKS_PER_SECOND))
}

fn memory_of_status(status: &str) -> Option<Bytes> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(Bytes(kilobytes * 1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_and_memory_are_read() {
        let stat = "42 (a b) c) S 1 42 42 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 5 0";
        assert_eq!(cpu_of_stat(stat), Some(Duration::from_secs(2)));
        let status = "Name:\tweft\nVmRSS:\t    2048 kB\n";
        assert_eq!(memory_of_status(status), Some(Bytes(2 << 20)));
        let own = ProcessUsage::own().expect("this process");
        assert!(own.memory > Bytes(1 << 20), "{own:?}");
        assert_eq!(ProcessUsage::of(u32::MAX), None);
    }
}

//! Programs inside the network, which end with the network.

use crate::host::NamespaceId;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Environment variable of every program started inside; it identifies the process that
/// created the network.
pub(crate) const MAKER: &str = "WEFT_EMU_MAKER";
/// Time for programs to exit by themselves.
const GRACE: Duration = Duration::from_millis(1_000);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Returns a marker that identifies this process among all past and future ones, in words
/// without `-`: its id, its start time, and the namespace in which it has that id.
#[must_use]
pub fn own_mark() -> String {
    let id = std::process::id();
    let start = start_time(id).unwrap_or_default();
    let namespace = id_namespace().unwrap_or_default();
    format!("{id}.{start}.{namespace}")
}

/// Returns a distinct marker for each network of this process: [`own_mark`] and a
/// counter.
pub(crate) fn next_mark() -> String {
    static MADE: AtomicU64 = AtomicU64::new(0);
    format!("{}.{}", own_mark(), MADE.fetch_add(1, Ordering::Relaxed))
}

/// Whether the process that the marker names is known to have ended. Returns false for
/// ids of another namespace, such as a container's, and for foreign markers.
#[must_use]
pub fn has_ended(mark: &str) -> bool {
    let numbers = mark.split('.').map(|number| number.parse().ok());
    let Some(numbers) = numbers.collect::<Option<Vec<u64>>>() else {
        return false;
    };
    let ([id, start, namespace] | [id, start, namespace, _]) = numbers[..] else {
        return false;
    };
    let Ok(id) = u32::try_from(id) else {
        return false;
    };
    id_namespace() == Some(namespace) && start_time(id) != Some(start)
}

/// Ends every process in these namespaces, which this process created, and every program
/// with this marker in any namespace.
pub(crate) fn end_all_of(mark: &str, namespaces: &[NamespaceId]) {
    end(|id| {
        namespace_of(id).is_some_and(|n| namespaces.contains(&n))
            || mark_of(id).is_some_and(|of| of == mark)
    });
}

/// Ends all programs in networks of this process. For a process that exits at once,
/// without dropping its values.
pub fn end_all_programs() {
    let own = own_mark();
    let is_own = |mark: &str| {
        mark.strip_prefix(&own)
            .is_some_and(|rest| rest.starts_with('.'))
    };
    end(|id| mark_of(id).is_some_and(|mark| is_own(&mark)));
}

/// Ends programs whose network's process has ended, in any namespace. Programs without
/// the marker belong to someone else, because programs started inside inherit it.
pub(crate) fn end_left_behind() {
    end(|id| mark_of(id).is_some_and(|mark| has_ended(&mark)));
}

/// Ends these processes, but never this one: first requests it, then kills them.
fn end(is_one: impl Fn(u32) -> bool) {
    let own = std::process::id();
    let found = || all().filter(|id| *id != own && is_one(*id));
    let until = Instant::now() + GRACE;
    found().for_each(|id| signal(id, Signal::TERM));
    while found().next().is_some() {
        if Instant::now() > until {
            found().for_each(|id| signal(id, Signal::KILL));
        }
        if Instant::now() > until + GRACE {
            return;
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// Iterates over all processes; empty if `/proc` is unreadable.
fn all() -> impl Iterator<Item = u32> {
    let entries = id_namespace().and_then(|_| fs::read_dir("/proc").ok());
    let entries = entries.into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn signal(id: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        // It may have exited by itself.
        let _ = kill_process(pid, signal);
    }
}

fn namespace_of(id: u32) -> Option<NamespaceId> {
    let metadata = fs::metadata(format!("/proc/{id}/ns/net")).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

fn mark_of(id: u32) -> Option<String> {
    let environment = fs::read(format!("/proc/{id}/environ")).ok()?;
    let mut variables = environment.split(|byte| *byte == 0);
    let value = variables.find_map(|v| v.strip_prefix(MAKER.as_bytes())?.strip_prefix(b"="))?;
    String::from_utf8(value.to_vec()).ok()
}

/// Returns the namespace of process ids; `None` if `/proc` belongs to another namespace,
/// where the same ids name other processes.
fn id_namespace() -> Option<u64> {
    let own = fs::read_link("/proc/self").ok()?;
    let is_here = own.to_str()?.parse() == Ok(std::process::id());
    let metadata = fs::metadata("/proc/self/ns/pid").ok()?;
    is_here.then(|| metadata.ino())
}

/// Returns the start time of a process in the kernel's ticks, if it has not ended: fields
/// 3 (`Z` and `X` are the states of ended processes) and 22 of `/proc/PID/stat`
/// (proc(5)). The second field is a name in parentheses, which may contain anything.
fn start_time(id: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let has_ended = matches!(fields.next()?, "Z" | "X");
    let start = fields.nth(22 - 4)?.parse().ok();
    start.filter(|_| !has_ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a marker in the namespace of this process.
    fn mark(id: u32, start: u64) -> String {
        format!("{id}.{start}.{}", id_namespace().unwrap())
    }

    #[test]
    fn a_mark_lives_as_long_as_the_same_process() {
        assert!(!has_ended(&own_mark()));
        let id = std::process::id();
        assert_eq!(own_mark(), mark(id, start_time(id).unwrap()));
        assert!(has_ended(&mark(id, 1)), "the id was given to another");
        // No process id is that high (proc(5), pid_max).
        assert!(has_ended(&mark(4_194_305, 1)));
        assert!(
            has_ended(&format!("{}.7", mark(4_194_305, 1))),
            "of its eighth network"
        );
    }

    #[test]
    fn unknown_marks_are_ignored() {
        let elsewhere = id_namespace().unwrap() + 1;
        for mark in [
            &format!("4194305.1.{elsewhere}"),
            "nonsense",
            "4194305.1",
            "4294967297.1.1",
            &format!("{}.1.1", mark(4_194_305, 1)),
        ] {
            assert!(!has_ended(mark), "{mark}");
        }
    }

    #[test]
    fn a_process_that_nobody_has_waited_for_has_ended() {
        let mut child = std::process::Command::new("cat");
        child.stdin(std::process::Stdio::piped());
        let mut child = child.spawn().unwrap();
        let mark = mark(child.id(), start_time(child.id()).unwrap());
        assert!(!has_ended(&mark));
        child.kill().unwrap();
        // This detects the end of the process, but does not wait for it.
        while !has_ended(&mark) {
            thread::yield_now();
        }
        assert!(fs::exists(format!("/proc/{}", child.id())).unwrap());
        child.wait().unwrap();
    }

    #[test]
    fn this_process_is_in_a_namespace() {
        let own = std::process::id();
        assert!(namespace_of(own).is_some());
        assert!(all().any(|id| id == own));
    }
}

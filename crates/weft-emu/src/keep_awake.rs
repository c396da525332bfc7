use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::hint::spin_loop;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, thread};

/// Keeps processors awake while it exists: an idle thread on each processor yields at
/// once to all threads of ordinary priority (`SCHED_IDLE`). Where the kernel groups
/// programs by session (autogroup, sched(7)), it yields only within its own group.
///
/// An idle virtual processor is descheduled by its host and resumes milliseconds late; a
/// real one takes up to a tenth of a millisecond to wake.
pub(crate) struct KeepAwake {
    is_over: Arc<AtomicBool>,
}

impl KeepAwake {
    /// Does nothing where processor time is limited, because the threads would consume
    /// the share of the working ones.
    pub fn keep() -> KeepAwake {
        let awake = KeepAwake {
            is_over: Arc::default(),
        };
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        if is_rationed(&groups, |file| fs::read_to_string(file).ok()) {
            return awake;
        }
        let Ok(allowed) = sched_getaffinity(None) else {
            return awake;
        };
        for processor in (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)) {
            let is_over = Arc::clone(&awake.is_over);
            let builder = thread::Builder::new().name(format!("awake {processor}"));
            // If a processor sleeps nevertheless, the lateness in the report shows it.
            let _ = builder.spawn(move || idle(processor, &is_over));
        }
        awake
    }
}

impl Drop for KeepAwake {
    fn drop(&mut self) {
        // Not joined: on a busy machine the threads notice late.
        self.is_over.store(true, Ordering::Relaxed);
    }
}

fn idle(processor: usize, is_over: &AtomicBool) {
    let mut only = CpuSet::new();
    only.set(processor);
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the pointer is to a live `sched_param`; 0 means the calling thread.
    let is_idle =
        unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameters) } == 0;
    if !is_idle || sched_setaffinity(None, &only).is_err() {
        return;
    }
    while !is_over.load(Ordering::Relaxed) {
        spin_loop();
    }
}

/// Whether a control group of the process, or a parent of it, limits processor time.
/// `groups` is `/proc/self/cgroup`, as cgroups(7) describes it.
fn is_rationed(groups: &str, read: impl Fn(&Path) -> Option<String>) -> bool {
    groups.lines().any(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            return false;
        };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "cpu.max"),
            some if some.split(',').any(|c| c == "cpu") => {
                ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us")
            }
            _ => return false,
        };
        let group = Path::new(path.trim_start_matches('/'));
        group.ancestors().any(|group| {
            let quota = read(&Path::new(root).join(group).join(file));
            let quota = quota
                .as_deref()
                .and_then(|text| text.split_whitespace().next());
            // "max" and -1 mean unlimited.
            quota.is_some_and(|quota| quota.parse::<u64>().is_ok())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_quota_of_the_group_or_of_one_around_it_is_found() {
        let rationed = |groups: &str, quota: (&str, &str)| {
            let (file, text) = quota;
            is_rationed(groups, |path| {
                (path == Path::new(file)).then(|| text.to_owned())
            })
        };
        let own = "/sys/fs/cgroup/a/b/cpu.max";
        let around = "/sys/fs/cgroup/a/cpu.max";
        let whole = "/sys/fs/cgroup/cpu.max";
        for file in [own, around, whole] {
            assert!(rationed("0::/a/b\n", (file, "150000 100000\n")), "{file}");
            assert!(!rationed("0::/a/b\n", (file, "max 100000\n")), "{file}");
        }
        assert!(rationed("0::/\n", (whole, "50000 100000\n")));
        let old = "3:cpu,cpuacct:/c\n2:memory:/d\n0::/\n";
        let quota = "/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us";
        assert!(rationed(old, (quota, "20000\n")));
        assert!(!rationed(old, (quota, "-1\n")));
        assert!(!rationed("", (whole, "50000 100000\n")));
        assert!(!rationed("nonsense", (whole, "50000 100000\n")));
    }

    #[test]
    fn threads_of_idle_priority_live_as_long_as_it() {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        if is_rationed(&groups, |file| fs::read_to_string(file).ok()) {
            weft_testing::skipped("processor time is rationed here");
            return;
        }
        let allowed = sched_getaffinity(None).unwrap().count() as usize;
        let awake = KeepAwake::keep();
        wait_for("a thread for each processor", || idle_threads() == allowed);
        drop(awake);
        wait_for("their end", || idle_threads() == 0);
    }

    /// Counts the idle threads of this process by name and policy (proc(5), `stat`).
    fn idle_threads() -> usize {
        let tasks = fs::read_dir("/proc/self/task").unwrap();
        let stat = |task: fs::DirEntry| fs::read_to_string(task.path().join("stat")).ok();
        tasks
            .filter_map(|task| stat(task.ok()?))
            .filter(|stat| {
                let (name, fields) = stat.rsplit_once(')').unwrap();
                let policy = fields.split_whitespace().nth(38);
                name.contains("(awake ") && policy == Some("5")
            })
            .count()
    }

    fn wait_for(what: &str, done: impl Fn() -> bool) {
        let start = Instant::now();
        while !done() {
            assert!(start.elapsed().as_secs() < 20, "never happened: {what}");
            thread::park_timeout(Duration::from_millis(5));
        }
    }
}

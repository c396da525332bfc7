use crate::host::Host;
use crate::keep_awake::KeepAwake;
use crate::mover::{CommandSender, Mover, MoverCommand, Outcome, Segment};
use crate::processes::{self, MAKER};
use crate::{EmuError, HostId, LinkReport, Report};
use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};
use weft_units::{Duration, Instant};

/// Network that moves packets until it is stopped or dropped. It then ends the programs
/// inside and removes everything.
pub struct Running {
    hosts: Vec<Host>,
    links: Vec<String>,
    lateness_limit: Duration,
    commands: CommandSender,
    /// Present until it is joined.
    mover: Option<JoinHandle<Outcome>>,
    mark: String,
    _awake: KeepAwake,
    /// Drops of the devices before [`Running::begin`].
    earlier_drops: AtomicU64,
}

impl Running {
    pub(crate) fn start(
        hosts: Vec<Host>,
        links: Vec<String>,
        mut mover: Mover,
        lateness_limit: Duration,
    ) -> Result<Running, EmuError> {
        let commands = mover.commands();
        let builder = thread::Builder::new().name("emu".to_owned());
        let handle = builder.spawn(move || mover.run());
        let handle = handle.map_err(|e| EmuError::system("the mover's thread", e))?;
        Ok(Running {
            hosts,
            links,
            lateness_limit,
            commands,
            mover: Some(handle),
            mark: processes::next_mark(),
            _awake: KeepAwake::keep(),
            earlier_drops: AtomicU64::new(0),
        })
    }

    /// Returns a command that runs inside the host. It shares this process's file system,
    /// so `/sys` shows the machine's interfaces; `/proc/net` and all system calls show
    /// the host's.
    #[must_use]
    pub fn command(&self, host: HostId, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env(MAKER, &self.mark);
        if let Some(namespace) = self.hosts[host.0].namespace().cloned() {
            // SAFETY: between fork and exec there is one system call, on a
            // descriptor that the closure keeps open.
            unsafe { command.pre_exec(move || namespace.enter()) };
        }
        command
    }

    /// Runs `job` on a thread inside the host, and waits for it. A socket that it creates
    /// belongs to the host, no matter which thread uses it.
    ///
    /// # Errors
    /// If the kernel does not let the thread enter the host's namespace.
    pub fn within<T: Send>(&self, host: HostId, job: impl FnOnce() -> T + Send) -> io::Result<T> {
        self.hosts[host.0].within(job)
    }

    /// Makes the present time zero of the run: restarts the links' schedules, traces and
    /// random streams, all counters and distributions, and the packet log. Packets in
    /// flight arrive as before. Without this call, time zero is the start.
    pub fn begin(&self) {
        self.earlier_drops
            .store(self.device_drops(), Ordering::Relaxed);
        let (sender, done) = channel();
        self.commands.send(MoverCommand::Begin(sender));
        // Acknowledged; a panic of the mover surfaces when it is joined.
        let _ = done.recv();
    }

    /// Returns the path of the host's network namespace in this process, for `nsenter
    /// --net=PATH tcpdump`. `None` for the machine itself.
    #[must_use]
    pub fn namespace(&self, host: HostId) -> Option<String> {
        Some(self.hosts[host.0].namespace()?.path())
    }

    /// Stops moving packets, ends the programs inside, and returns the results.
    #[must_use]
    pub fn stop(mut self) -> Report {
        // The devices are closed with the mover.
        let earlier = self.earlier_drops.load(Ordering::Relaxed);
        let device_drops = self.device_drops().saturating_sub(earlier);
        let outcome = self.end().expect("it ends once, here");
        Report {
            links: link_reports(&self.links, outcome.segments, outcome.duration),
            duration: outcome.duration,
            lateness: outcome.lateness,
            lateness_limit: self.lateness_limit,
            scheduling: outcome.scheduling,
            processor_time: outcome.processor_time,
            unroutable: outcome.unroutable,
            rejected: outcome.rejected,
            device_drops,
            packets: outcome.packets,
        }
    }

    fn device_drops(&self) -> u64 {
        self.hosts.iter().map(Host::device_drops).sum()
    }

    /// Ends the mover; `None` if it has already ended.
    fn end(&mut self) -> Option<Outcome> {
        let mover = self.mover.take()?;
        self.commands.send(MoverCommand::Stop);
        let outcome = mover.join();
        let namespaces = self.hosts.iter().filter_map(Host::namespace);
        let ids: Vec<_> = namespaces.filter_map(|n| n.id().ok()).collect();
        processes::end_all_of(&self.mark, &ids);
        match outcome {
            Ok(outcome) => Some(outcome),
            Err(panic) if thread::panicking() => {
                drop(panic);
                None
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

fn link_reports(names: &[String], segments: Vec<Segment>, duration: Duration) -> Vec<LinkReport> {
    let end = Instant::ZERO + duration;
    let link = |(name, segment): (&String, Segment)| segment.report(name, end);
    names.iter().zip(segments).map(link).collect()
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

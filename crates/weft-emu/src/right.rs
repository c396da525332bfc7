use crate::tun::{TUN, Tun};
use rustix::io::Errno;
use rustix::process::{getgid, getuid};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// By which right this process can make network namespaces and TUN devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Right {
    /// It has `CAP_SYS_ADMIN` and `CAP_NET_ADMIN`, as root has.
    Capabilities,
    /// The kernel lets it make a user namespace, and be root in there.
    UserNamespace,
}

/// Why this machine lets the process make no emulated network.
#[derive(Debug, thiserror::Error)]
pub enum RightError {
    /// The kernel's TUN device cannot be opened.
    #[error("{TUN}: {source}: {}", self.remedy())]
    NoTun {
        /// What the system said.
        source: io::Error,
    },
    /// Neither capabilities nor user namespaces.
    #[error("network namespaces: {source}: {}", self.remedy())]
    NoNamespaces {
        /// What the system said.
        source: io::Error,
    },
    /// A user namespace can only be entered while there is one thread.
    #[error("a user namespace: {source}: {}", self.remedy())]
    ManyThreads {
        /// What the system said.
        source: io::Error,
    },
}

impl RightError {
    /// What to do about it.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            RightError::NoTun { source } if source.kind() == io::ErrorKind::PermissionDenied => {
                "run as root, or let users read and write it (`sudo chmod 666 /dev/net/tun`)"
            }
            RightError::NoTun { .. } => {
                "load the module (`modprobe tun`) and let users read and write it; in a container \
                 start it with `--device /dev/net/tun`"
            }
            RightError::NoNamespaces { .. } => {
                "run as root (in a container: `--cap-add SYS_ADMIN,NET_ADMIN`), or let users make \
                 namespaces: `sysctl kernel.unprivileged_userns_clone=1` (Debian), `sysctl \
                 kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu), `sysctl \
                 user.max_user_namespaces=10000` (anywhere)"
            }
            RightError::ManyThreads { .. } => {
                "run as root, or the whole program under `unshare --user --map-root-user`"
            }
        }
    }
}

impl Right {
    /// Tries what the process may do. Leaves nothing behind.
    ///
    /// # Errors
    /// With the remedy, when there is no right at all.
    pub fn find() -> Result<Right, RightError> {
        let tun = OpenOptions::new().read(true).write(true).open(TUN);
        tun.map_err(|source| RightError::NoTun { source })?;
        match in_new_thread(|| unshare_network().and_then(|()| Tun::open("probe"))) {
            Ok(_) => Ok(Right::Capabilities),
            Err(refused) => match try_user_namespace() {
                Ok(()) => Ok(Right::UserNamespace),
                Err(_) => Err(RightError::NoNamespaces { source: refused }),
            },
        }
    }

    /// Enters a user namespace where that is needed: the process is root in
    /// there, with what belonged to its user. To be called at the beginning
    /// of the program, while it has one thread.
    ///
    /// # Errors
    /// When the process has several threads.
    pub fn take(self) -> Result<(), RightError> {
        match self {
            Right::Capabilities => Ok(()),
            Right::UserNamespace => {
                enter_user_namespace().map_err(|source| RightError::ManyThreads { source })
            }
        }
    }
}

/// Runs `job` on a thread that ends with it, so that what it does to its
/// namespaces ends too.
pub(crate) fn in_new_thread<T: Send>(job: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| match scope.spawn(job).join() {
        Ok(value) => value,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// Gives the calling thread a network namespace of its own.
pub(crate) fn unshare_network() -> io::Result<()> {
    // SAFETY: only `UnshareFlags::FILES` endangers memory safety.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }.map_err(io::Error::from)
}

/// In a child, which may do it although this process has several threads.
fn try_user_namespace() -> io::Result<()> {
    let mut command = Command::new("true");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let both = UnshareFlags::NEWUSER | UnshareFlags::NEWNET;
    // SAFETY: between fork and exec there is one system call.
    unsafe { command.pre_exec(move || Ok(unshare_unsafe(both)?)) };
    command.status().map(|_| ())
}

/// user_namespaces(7), "Defining user and group ID mappings": without
/// privilege one id, one's own, can be mapped, and the group only after
/// `setgroups` is given up.
fn enter_user_namespace() -> io::Result<()> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    alone_in_user_namespace()?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

/// A thread that was just joined may still count for a moment.
fn alone_in_user_namespace() -> io::Result<()> {
    const ATTEMPTS: u32 = 50;
    const PAUSE: Duration = Duration::from_millis(1);
    let mut left = ATTEMPTS;
    loop {
        // SAFETY: only `UnshareFlags::FILES` endangers memory safety.
        match unsafe { unshare_unsafe(UnshareFlags::NEWUSER) } {
            Err(Errno::INVAL) if left > 0 => thread::sleep(PAUSE),
            result => return result.map_err(io::Error::from),
        }
        left -= 1;
    }
}

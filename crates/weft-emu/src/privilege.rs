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

/// Permission that lets this process create network namespaces and TUN devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Privilege {
    /// It has `CAP_SYS_ADMIN` and `CAP_NET_ADMIN`, as root does.
    Capabilities,
    /// The kernel lets the process create a user namespace and be root in it.
    UserNamespace,
}

/// Reason why this process cannot create an emulated network.
#[derive(Debug, thiserror::Error)]
pub enum PrivilegeError {
    /// The kernel's TUN device cannot be opened.
    #[error("{TUN}: {source}: {}", self.remedy())]
    NoTun {
        /// System error.
        source: io::Error,
    },
    /// Neither capabilities nor user namespaces.
    #[error("network namespaces: {source}: {}", self.remedy())]
    NoNamespaces {
        /// System error.
        source: io::Error,
    },
    /// A process can enter a user namespace only while it has one thread.
    #[error("a user namespace: {source}: {}", self.remedy())]
    ManyThreads {
        /// System error.
        source: io::Error,
    },
}

impl PrivilegeError {
    /// Returns the remedy.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            PrivilegeError::NoTun { source }
                if source.kind() == io::ErrorKind::PermissionDenied =>
            {
                "run as root, or let users read and write it (`sudo chmod 666 /dev/net/tun`)"
            }
            PrivilegeError::NoTun { .. } => {
                "load the module (`modprobe tun`) and let users read and write it; in a container \
                 start it with `--device /dev/net/tun`"
            }
            PrivilegeError::NoNamespaces { .. } => {
                "run as root (in a container: `--cap-add SYS_ADMIN,NET_ADMIN`), or let users make \
                 namespaces: `sysctl kernel.unprivileged_userns_clone=1` (Debian), `sysctl \
                 kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu), `sysctl \
                 user.max_user_namespaces=10000` (anywhere)"
            }
            PrivilegeError::ManyThreads { .. } => {
                "run as root, or the whole program under `unshare --user --map-root-user`"
            }
        }
    }
}

impl Privilege {
    /// Determines the permission of this process. Has no side effects.
    ///
    /// # Errors
    /// The remedy, if the process has no permission.
    pub fn find() -> Result<Privilege, PrivilegeError> {
        let tun = OpenOptions::new().read(true).write(true).open(TUN);
        tun.map_err(|source| PrivilegeError::NoTun { source })?;
        match in_new_thread(|| unshare_network().and_then(|()| Tun::open("probe"))) {
            Ok(_) => Ok(Privilege::Capabilities),
            Err(refused) => match try_user_namespace() {
                Ok(()) => Ok(Privilege::UserNamespace),
                Err(_) => Err(PrivilegeError::NoNamespaces { source: refused }),
            },
        }
    }

    /// Enters a user namespace if necessary. The process is root in it, and keeps access
    /// to its user's files. Call this at the start of the program, while it has one
    /// thread.
    ///
    /// # Errors
    /// If the process has several threads.
    pub fn take(self) -> Result<(), PrivilegeError> {
        match self {
            Privilege::Capabilities => Ok(()),
            Privilege::UserNamespace => {
                enter_user_namespace().map_err(|source| PrivilegeError::ManyThreads { source })
            }
        }
    }
}

/// Runs `job` on a temporary thread, so that its changes of namespace end with the
/// thread.
pub(crate) fn in_new_thread<T: Send>(job: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| match scope.spawn(job).join() {
        Ok(value) => value,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// Moves the calling thread into a new network namespace.
pub(crate) fn unshare_network() -> io::Result<()> {
    // SAFETY: only `UnshareFlags::FILES` endangers memory safety.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }.map_err(io::Error::from)
}

/// Tries it in a child process, which can do it even if this process has several threads.
fn try_user_namespace() -> io::Result<()> {
    let mut command = Command::new("true");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let both = UnshareFlags::NEWUSER | UnshareFlags::NEWNET;
    // SAFETY: between fork and exec there is one system call.
    unsafe { command.pre_exec(move || Ok(unshare_unsafe(both)?)) };
    command.status().map(|_| ())
}

/// user_namespaces(7), "Defining user and group ID mappings": an unprivileged process can
/// map only its own user id, and its group only after it has disabled `setgroups`.
fn enter_user_namespace() -> io::Result<()> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    alone_in_user_namespace()?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

/// A thread that was just joined may still be counted for a moment.
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

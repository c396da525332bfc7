//! Namespaces and the devices in them.

use crate::EmuError;
use crate::address::Addresses;
use crate::interfaces::{Interface, Routes, set_up};
use crate::privilege::{in_new_thread, unshare_network};
use crate::tun::Tun;
use crate::{Privilege, PrivilegeError};
use rustix::fs::fstat;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use weft_units::Bytes;

/// Location of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// In its own namespace.
    Namespace,
    /// In the namespace of the process.
    Machine,
}

/// Plan of a host.
pub(crate) struct HostPlan {
    pub name: String,
    pub place: Place,
    pub home: Option<Addresses>,
    /// Minimum size of TCP's largest buffers, in a namespace.
    pub tcp_buffer: Option<Bytes>,
    pub interfaces: Vec<Interface>,
}

/// Running host. Its namespace exists until this value is dropped and the programs inside
/// have ended; the mover owns its devices.
pub(crate) struct Host {
    namespace: Option<Namespace>,
    /// Names of its devices.
    devices: Vec<String>,
}

/// Handle of a network namespace.
#[derive(Clone)]
pub(crate) struct Namespace(Arc<File>);

/// Identity of a namespace.
pub(crate) type NamespaceId = (u64, u64);

impl Host {
    /// Creates the host; its devices are in the order of its interfaces.
    pub fn make(plan: &HostPlan) -> Result<(Host, Vec<Tun>), EmuError> {
        let (namespace, tuns) = in_new_thread(|| make_here(plan))?;
        let host = Host {
            namespace,
            devices: plan.interfaces.iter().map(|i| i.name.clone()).collect(),
        };
        Ok((host, tuns))
    }

    pub fn namespace(&self) -> Option<&Namespace> {
        self.namespace.as_ref()
    }

    /// Runs `job` on a thread inside the host.
    pub fn within<T: Send>(&self, job: impl FnOnce() -> T + Send) -> io::Result<T> {
        in_new_thread(|| {
            if let Some(namespace) = &self.namespace {
                namespace.enter()?;
            }
            Ok(job())
        })
    }

    /// Returns the number of packets that its devices dropped because the mover did not
    /// read them in time.
    pub fn device_drops(&self) -> u64 {
        let table = self.within(|| fs::read_to_string("/proc/thread-self/net/dev"));
        let table = table.and_then(|text| text).unwrap_or_default();
        let drops = self.devices.iter().map(|device| sent_drops(&table, device));
        drops.sum()
    }
}

impl Namespace {
    /// Moves the calling thread into the namespace.
    pub fn enter(&self) -> io::Result<()> {
        let network = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(self.0.as_fd(), network).map_err(io::Error::from)
    }

    pub fn id(&self) -> io::Result<NamespaceId> {
        let stat = fstat(&self.0)?;
        Ok((stat.st_dev, stat.st_ino))
    }

    /// Returns the path by which this process has the namespace open.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }
}

fn make_here(plan: &HostPlan) -> Result<(Option<Namespace>, Vec<Tun>), EmuError> {
    let (namespace, routes) = match plan.place {
        Place::Machine => (None, Routes::LinksOnly),
        Place::Namespace => {
            unshare_network().map_err(no_namespace)?;
            let open = File::open("/proc/thread-self/ns/net");
            let file = open.map_err(|e| EmuError::system("/proc/thread-self/ns/net", e))?;
            plan.tcp_buffer.map_or(Ok(()), widen_tcp_buffers)?;
            (Some(Namespace(Arc::new(file))), Routes::Default)
        }
    };
    let tuns = plan.interfaces.iter().map(|interface| {
        let refused = |e| EmuError::system(format!("TUN device {}", interface.name), e);
        Tun::open(&interface.name).map_err(refused)
    });
    let tuns = tuns.collect::<Result<Vec<Tun>, EmuError>>()?;
    set_up(&plan.name, plan.home, &plan.interfaces, routes)?;
    Ok((namespace, tuns))
}

/// Selects the remedy by what else the system allows.
fn no_namespace(source: io::Error) -> EmuError {
    EmuError::NoPrivilege(match Privilege::find() {
        Err(error) => error,
        Ok(Privilege::UserNamespace) => PrivilegeError::ManyThreads { source },
        Ok(Privilege::Capabilities) => PrivilegeError::NoNamespaces { source },
    })
}

/// Raises the maximum size of TCP buffers in the calling thread's network namespace to at
/// least this size.
fn widen_tcp_buffers(least: Bytes) -> Result<(), EmuError> {
    for path in ["/proc/sys/net/ipv4/tcp_rmem", "/proc/sys/net/ipv4/tcp_wmem"] {
        let refused = |source| EmuError::NoBuffers { path, source };
        let text = fs::read_to_string(path).map_err(refused)?;
        if let Some(wider) = widened(&text, least) {
            fs::write(path, wider).map_err(refused)?;
        }
    }
    Ok(())
}

/// Returns minimum, default and maximum (tcp(7)), if the maximum must change.
fn widened(text: &str, least: Bytes) -> Option<String> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let most: u64 = words.pop()?.parse().ok()?;
    (most < least.0).then(|| format!("{} {}", words.join(" "), least.0))
}

/// Returns the drops of transmitted packets of a device from `/proc/net/dev` (proc(5)).
fn sent_drops(table: &str, device: &str) -> u64 {
    const COLUMN: usize = 11;
    let rows = table.lines().filter_map(|line| line.split_once(':'));
    let row = rows
        .filter(|(name, _)| name.trim() == device)
        .map(|(_, numbers)| numbers);
    let drops =
        row.filter_map(|numbers| numbers.split_whitespace().nth(COLUMN)?.parse::<u64>().ok());
    drops.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_grow_and_never_shrink() {
        let wider = |least| widened("4096\t131072\t6291456\n", Bytes(least));
        assert_eq!(wider(8_000_000).as_deref(), Some("4096 131072 8000000"));
        assert_eq!(wider(6_291_456), None);
    }

    #[test]
    fn drops_of_sent_packets_are_read() {
        let table = "Inter-|   Receive    |  Transmit\n face |bytes packets errs drop fifo frame\n    \
                     lo: 0 0 0 1 0 0 0 0 0 0 0 2 0 0 0 0\n  wifi:  5 1 0 3 0 0 0 0 7 2 0 42 0 0 0 0\n";
        assert_eq!(sent_drops(table, "wifi"), 42);
        assert_eq!(sent_drops(table, "lte"), 0);
    }
}

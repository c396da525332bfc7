//! Addresses and routes of a host, by `ip -batch`: iproute2 is on every
//! system that could run this, and one process per host is quicker written
//! and read than the same netlink messages by hand.

use crate::EmuError;
use crate::address::{Addresses, MAX_LINKS, v4_network};
use crate::tun::MTU;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Command, Stdio};

/// Packets that wait in a device for the mover, chosen by us: 48 ms of
/// gigabit traffic, so that only a stalled mover loses any.
const DEVICE_QUEUE: usize = 4096;
/// Routing tables of the links of a multihomed host; low numbers are free in
/// a new namespace.
const FIRST_TABLE: usize = 100;

/// One device of a host.
pub(crate) struct Interface {
    pub name: String,
    pub addresses: Addresses,
}

/// What a host's devices lead to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Routes {
    /// Everything: the emulated network is all there is.
    Default,
    /// The links only.
    LinksOnly,
}

/// Sets up the devices in the calling thread's network namespace.
pub(crate) fn set_up(
    host: &str,
    home: Option<Addresses>,
    interfaces: &[Interface],
    routes: Routes,
) -> Result<(), EmuError> {
    let has_v6 = Path::new("/proc/sys/net/ipv6").exists();
    if routes == Routes::Default {
        for which in ["all", "default"] {
            // Inherited from the machine; where it stays, `ip` complains.
            let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{which}/disable_ipv6"), "0");
        }
    }
    let lines = script(home, interfaces, routes, has_v6);
    let mut ip = Command::new("ip")
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(EmuError::NoIproute)?;
    let system = |e| EmuError::system("talking to `ip`", e);
    if let Some(mut stdin) = ip.stdin.take() {
        stdin.write_all(lines.as_bytes()).map_err(system)?;
    }
    let output = ip.wait_with_output().map_err(system)?;
    if output.status.success() {
        return Ok(());
    }
    Err(EmuError::IpRefused {
        host: host.to_owned(),
        said: String::from_utf8_lossy(&output.stderr)
            .trim()
            .replace('\n', "; "),
    })
}

/// The commands, a line each.
fn script(
    home: Option<Addresses>,
    interfaces: &[Interface],
    routes: Routes,
    has_v6: bool,
) -> String {
    let mut lines = String::new();
    let mut line = |text: String| writeln!(lines, "{text}").expect("a string takes everything");
    if routes == Routes::Default {
        line("link set dev lo up".to_owned());
    }
    if let Some(Addresses { v4, v6 }) = home {
        line(format!("addr add {v4}/32 dev lo"));
        if has_v6 {
            line(format!("addr add {v6}/128 dev lo nodad"));
        }
    }
    for (index, interface) in interfaces.iter().enumerate() {
        let Interface {
            name, addresses, ..
        } = interface;
        let Addresses { v4, v6 } = addresses;
        line(format!(
            "link set dev {name} mtu {MTU} txqueuelen {DEVICE_QUEUE} addrgenmode none up"
        ));
        line(format!("addr add {v4}/24 dev {name}"));
        if has_v6 {
            line(format!("addr add {v6}/64 dev {name} nodad"));
        }
        if routes == Routes::LinksOnly {
            continue;
        }
        // The first one serves sockets without an address; the others are
        // for sockets that are bound to a device.
        let metric = FIRST_TABLE + index;
        let mut ways = vec![("0.0.0.0/0", v4.to_string())];
        if has_v6 {
            ways.push(("::/0", v6.to_string()));
        }
        for (everything, source) in ways {
            line(format!("route add {everything} dev {name} metric {metric}"));
            if interfaces.len() > 1 {
                // What comes from the link's address leaves by the link.
                line(format!("route add {everything} dev {name} table {metric}"));
                line(format!("rule add from {source} table {metric}"));
            }
        }
    }
    lines
}

/// A subnet from which on several are free in the calling thread's network
/// namespace.
pub(crate) fn free_subnet() -> usize {
    const SEVERAL: usize = 16;
    let taken = fs::read_to_string("/proc/thread-self/net/route").unwrap_or_default();
    let is_taken = |subnet| taken.contains(&hexadecimal(v4_network(subnet)));
    let fits = |first: &usize| !(*first..first + SEVERAL).any(is_taken);
    let mut candidates = (0..MAX_LINKS).step_by(SEVERAL);
    candidates.find(fits).unwrap_or(0)
}

/// A network as `/proc/net/route` writes it: as bytes of an address in the
/// machine's order, between tabs.
fn hexadecimal(network: Ipv4Addr) -> String {
    format!("\t{:08X}\t", u32::from_ne_bytes(network.octets()))
}

#[cfg(test)]
mod tests;

//! Addresses and routes of a host, set with `ip -batch`: iproute2 exists on every system
//! that can run this, and two processes per host are simpler than handwritten netlink
//! messages.

use crate::EmuError;
use crate::address::{Addresses, MAX_LINKS, v4_network};
use crate::tun::MTU;
use std::fs;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Command, Stdio};

/// Packets that a device queues for the mover, chosen by us: 48 ms of gigabit traffic, so
/// that only a stalled mover loses packets.
const DEVICE_QUEUE: usize = 4096;
/// Routing tables of the links of a multihomed host; low numbers are unused in a new
/// namespace.
const FIRST_TABLE: usize = 100;

/// Device of a host.
pub(crate) struct Interface {
    pub name: String,
    pub addresses: Addresses,
}

/// Destinations that a host reaches through its devices.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Routes {
    /// All; the emulated network is the only one.
    Default,
    /// The links only.
    LinksOnly,
}

/// Configures the devices in the calling thread's network namespace.
pub(crate) fn set_up(
    host: &str,
    home: Option<Addresses>,
    interfaces: &[Interface],
    routes: Routes,
) -> Result<(), EmuError> {
    let own = interfaces.iter().map(|interface| interface.name.as_str());
    let all = ["all", "default"];
    let all = all.into_iter().filter(|_| routes == Routes::Default);
    for which in all.chain(own) {
        // The machine may disable IPv6. If this does not enable it, `ip` reports the
        // failure.
        let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{which}/disable_ipv6"), "0");
    }
    let mut lines = devices(interfaces, routes);
    lines.extend(family(Family::V4, home, interfaces, routes));
    run("-4", host, &lines)?;
    if Path::new("/proc/sys/net/ipv6").exists() {
        run("-6", host, &family(Family::V6, home, interfaces, routes))?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    V4,
    V6,
}

/// Runs the commands with `ip`.
fn run(family: &str, host: &str, lines: &[String]) -> Result<(), EmuError> {
    let mut ip = Command::new("ip")
        .args([family, "-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(EmuError::NoIproute)?;
    let system = |e| EmuError::system("talking to `ip`", e);
    if let Some(mut stdin) = ip.stdin.take() {
        stdin
            .write_all((lines.join("\n") + "\n").as_bytes())
            .map_err(system)?;
    }
    let output = ip.wait_with_output().map_err(system)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(EmuError::IpRefused {
        host: host.to_owned(),
        said: said.trim().replace('\n', "; "),
    })
}

fn devices(interfaces: &[Interface], routes: Routes) -> Vec<String> {
    let loopback = (routes == Routes::Default).then(|| "link set dev lo up".to_owned());
    let device = |Interface { name, .. }: &Interface| {
        format!("link set dev {name} mtu {MTU} txqueuelen {DEVICE_QUEUE} addrgenmode none up")
    };
    loopback
        .into_iter()
        .chain(interfaces.iter().map(device))
        .collect()
}

/// Returns the commands that set addresses and routes of one family.
fn family(
    family: Family,
    home: Option<Addresses>,
    interfaces: &[Interface],
    routes: Routes,
) -> Vec<String> {
    // Without `nodad` an IPv6 address would be unusable for a second.
    let of = |addresses: &Addresses| match family {
        Family::V4 => (addresses.v4.to_string(), "24", "32", ""),
        Family::V6 => (addresses.v6.to_string(), "64", "128", " nodad"),
    };
    let mut lines = Vec::new();
    if let Some((address, _, whole, flags)) = home.as_ref().map(of) {
        lines.push(format!("addr add {address}/{whole} dev lo{flags}"));
    }
    for (index, interface) in interfaces.iter().enumerate() {
        let name = &interface.name;
        let (address, network, _, flags) = of(&interface.addresses);
        lines.push(format!("addr add {address}/{network} dev {name}{flags}"));
        if routes == Routes::LinksOnly {
            continue;
        }
        // Sockets without an address use the first route; sockets bound to a device use
        // the others.
        let number = FIRST_TABLE + index;
        lines.push(format!("route add default dev {name} metric {number}"));
        if interfaces.len() > 1 {
            // Packets from the link's address leave by the link.
            lines.push(format!("route add default dev {name} table {number}"));
            lines.push(format!("rule add from {address} table {number}"));
        }
    }
    lines
}

/// Returns the first of several subnets that are free in the calling thread's network
/// namespace.
pub(crate) fn free_subnet() -> usize {
    const SEVERAL: usize = 16;
    let taken = fs::read_to_string("/proc/thread-self/net/route").unwrap_or_default();
    let is_taken = |subnet| taken.contains(&hexadecimal(v4_network(subnet)));
    let fits = |first: &usize| !(*first..first + SEVERAL).any(is_taken);
    let mut candidates = (0..MAX_LINKS).step_by(SEVERAL);
    candidates.find(fits).unwrap_or(0)
}

/// Formats a network as `/proc/net/route` does: address bytes in the machine's order,
/// between tabs.
fn hexadecimal(network: Ipv4Addr) -> String {
    format!("\t{:08X}\t", u32::from_ne_bytes(network.octets()))
}

#[cfg(test)]
mod tests;

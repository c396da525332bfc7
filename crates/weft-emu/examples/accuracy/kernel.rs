//! Compares one bottleneck in two forms: a link of the emulator, and the kernel's `tbf`
//! with `bfifo` in a router behind a link that only delays.

use super::{DELAY, Failure, GOODPUT, traffic};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Stdio};
use weft_emu::{FAR, HostId, NEAR, Network, Running};
use weft_links::{LinkSpec, MediumSpec};

/// Ethernet overhead, which `tbf` and `bfifo` count: their limits are larger than those
/// for IP packets by this factor.
const ETHERNET: f64 = 1514.0 / 1500.0;
/// `tbf` keeps the first packet in its queue, while the model already transmits it.
const IN_SERVICE: f64 = 1500.0;
/// The network between router and receiver.
const ROUTER: &str = "10.99.0.1";
const PORT: u16 = 5001;

/// Prints a row for each rate, algorithm and bottleneck.
pub fn compare(seconds: f64, rates: &[f64]) -> Result<(), Failure> {
    println!(
        "| Mbps | TCP | bottleneck | goodput of 1448/1500 | drops | ping, mean | ping, worst |"
    );
    println!("|---|---|---|---|---|---|---|");
    for &mbps in rates {
        for congestion in ["cubic", "bbr"] {
            for of_kernel in [false, true] {
                println!("{}", row(mbps, congestion, seconds, of_kernel)?);
            }
        }
    }
    Ok(())
}

fn row(mbps: f64, congestion: &str, seconds: f64, of_kernel: bool) -> Result<String, Failure> {
    let queue = 2.0 * mbps * 1e6 * 2.0 * DELAY.as_secs_f64() / 8.0;
    let own = format!("rate={}bit,delay=25ms,queue={queue}B", mbps * 1e6);
    let (forward, name) = match of_kernel {
        true => ("rate=10gbit,delay=25ms,queue=100MB", "tbf, bfifo"),
        false => (own.as_str(), "weft"),
    };
    let back: LinkSpec = "rate=10gbit,delay=25ms,queue=100MB".parse()?;
    let mut network = Network::new(1);
    let left = network.host("left");
    let middle = network.host("router or receiver");
    let link = network.link("line", MediumSpec::wired(forward.parse()?, back));
    network.attach(left, link, NEAR);
    network.attach(middle, link, FAR);
    // The receiver's address in either form; the link carries packets to it.
    let address = network.home_address(middle).v4;
    let right = if of_kernel {
        network.host("right")
    } else {
        middle
    };
    let running = network.start()?;
    // A process inside makes the namespace accessible by name.
    let anchor = of_kernel.then(|| running.command(right, "sleep").arg("1000").spawn());
    let mut anchor = anchor.transpose()?;
    if let Some(anchor) = &anchor {
        route(
            &running,
            (middle, right),
            anchor,
            address,
            (mbps * 1e6, queue),
        )?;
    }
    let listener = running.within(right, || TcpListener::bind((address, PORT)))??;
    traffic::shortest_connect(&running, left, SocketAddr::from((address, PORT)))?;
    running.begin();
    let wait = format!("{seconds}");
    let mut ping = running.command(left, "ping");
    ping.args(["-q", "-i", "0.1", "-w", &wait, &address.to_string()]);
    let ping = ping.stdout(Stdio::piped()).spawn()?;
    let goodput = traffic::bulk(&running, left, &listener, congestion, seconds)?;
    let pinged = ping.wait_with_output()?;
    let statistics = of_kernel.then(|| run(&running, middle, "tc -s qdisc show dev out"));
    let report = running.stop();
    if let Some(anchor) = &mut anchor {
        anchor.wait()?;
    }
    let drops = match statistics.transpose()? {
        Some(text) => dropped(&text).ok_or("tc tells no drops")?,
        None => report.link(link).forward().counters.dropped().packets,
    };
    let (mean, worst) = round_trips(&String::from_utf8_lossy(&pinged.stdout)).unwrap_or_default();
    Ok(format!(
        "| {mbps} | {congestion} | {name} | {:.2} % | {drops} | {mean:.1} ms | {worst:.1} ms |",
        goodput / (mbps * 1e6 * GOODPUT) * 100.0,
    ))
}

/// Makes `router` forward to `right` through the kernel's bottleneck, and gives
/// `right` the address.
fn route(
    running: &Running,
    (router, right): (HostId, HostId),
    anchor: &Child,
    address: Ipv4Addr,
    (rate, queue): (f64, f64),
) -> Result<(), Failure> {
    let id = anchor.id();
    let rate = rate * ETHERNET;
    let limit = (queue + IN_SERVICE) * ETHERNET;
    let in_router = format!(
        "echo 1 > /proc/sys/net/ipv4/ip_forward
         ip addr del {address}/32 dev lo
         ip link add out type veth peer name in netns {id}
         ip addr add {ROUTER}/24 dev out
         ip link set out up
         ip route add {address}/32 dev out
         tc qdisc add dev out root handle 1: tbf rate {rate:.0}bit burst 1540 limit {limit:.0}
         tc qdisc add dev out parent 1:1 handle 10: bfifo limit {limit:.0}"
    );
    run(running, router, &in_router)?;
    let in_right = format!(
        "ip addr add {address}/32 dev in
         ip link set in up
         ip route add {ROUTER}/32 dev in
         ip route add default via {ROUTER} dev in"
    );
    run(running, right, &in_right).map(|_| ())
}

/// Runs the shell commands and returns their output, or the first error.
fn run(running: &Running, host: HostId, commands: &str) -> Result<String, Failure> {
    let mut shell = running.command(host, "sh");
    let output = shell.args(["-ec", commands]).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Parses `tc -s`: `Sent 25 bytes 3 pkt (dropped 7, overlimits 0 requeues 0)`.
fn dropped(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("(dropped ")?;
    rest.split(',').next()?.parse().ok()
}

/// Parses mean and maximum of `ping -q`: `rtt min/avg/max/mdev = 50.1/70.2/150.3/9.0 ms`.
fn round_trips(text: &str) -> Option<(f64, f64)> {
    let (_, numbers) = text.split_once("mdev = ")?;
    let mut numbers = numbers.split('/').skip(1);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

//! Accuracy of the emulator on this machine, compared with the model:
//!
//! ```text
//! cargo run --profile bench -p weft-emu --example accuracy -- [SECONDS] [MBPS,MBPS...]
//! ```
//!
//! Prints a table of the kernel's CUBIC and BBR at each rate (default 30 s each at 0.5,
//! 2, 5, 20 and 100 Mbps; 50 ms, 2 BDP drop-tail), then the packets per second that one
//! thread moves. Needs root and an otherwise idle machine.
//!
//! ```text
//! cargo run --profile bench -p weft-emu --example accuracy -- kernel [SECONDS] [MBPS,MBPS...]
//! ```
//!
//! Runs TCP over an equal bottleneck made by the kernel: `tbf` with `bfifo` in a router.

mod kernel;
mod measures;
mod traffic;

use measures::{busy_rate, queue_faults, stolen_s};
use std::process::ExitCode;
use weft_emu::{FAR, Logging, NEAR, Network, Privilege};
use weft_links::{LinkSpec, MediumSpec};
use weft_units::Duration;

const RATES_MBPS: [f64; 5] = [0.5, 2.0, 5.0, 20.0, 100.0];
const SECONDS: f64 = 30.0;
/// One way; the round trip takes 50 ms.
const DELAY: Duration = Duration::from_millis(25);
/// Share of a packet of 1500 bytes that TCP with timestamps carries as payload.
const GOODPUT: f64 = 1448.0 / 1500.0;
/// A SYN and its answer, with the options that Linux sends.
const SYN_BYTES: f64 = 60.0;

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("accuracy: {error}");
            ExitCode::from(3)
        }
    }
}

fn run() -> Result<(), Failure> {
    Privilege::find()?.take()?;
    let mut arguments = std::env::args().skip(1).peekable();
    let beside_kernel = arguments.next_if(|word| word == "kernel").is_some();
    let seconds = arguments.next().map_or(Ok(SECONDS), |text| text.parse())?;
    let rates = match arguments.next() {
        None => RATES_MBPS.to_vec(),
        Some(text) => text.split(',').map(str::parse).collect::<Result<_, _>>()?,
    };
    if beside_kernel {
        return kernel::compare(seconds, &rates);
    }
    println!(
        "| Mbps | TCP | goodput of 1448/1500 | rate while busy | RTT less ideal | drops | \
         queue faults | late p50, p99, p99.9 | CPU | stolen by the host |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for rate in rates {
        for congestion in ["cubic", "bbr"] {
            println!("{}", row(rate, congestion, seconds)?);
        }
    }
    for size in [1500, 100] {
        println!("{}", blast(size)?);
    }
    Ok(())
}

fn row(mbps: f64, congestion: &str, seconds: f64) -> Result<String, Failure> {
    let text = format!("rate={}bit,delay=25ms,queue=2bdp", mbps * 1e6);
    let spec: LinkSpec = text.parse()?;
    let limit = 2.0 * mbps * 1e6 * 2.0 * DELAY.as_secs_f64() / 8.0;
    let mut network = Network::new(1);
    let (left, right) = (network.host("left"), network.host("right"));
    let link = network.link("link", MediumSpec::wired(spec.clone(), spec));
    network.attach(left, link, NEAR);
    let to = network.attach(right, link, FAR);
    network.set_logging(Logging::Packets);
    let running = network.start()?;
    let listener = running.within(right, || std::net::TcpListener::bind((to.v4, 5001)))??;
    let address = listener.local_addr()?;
    let round_trip = traffic::shortest_connect(&running, left, address)?;
    let ideal = 2.0 * (DELAY.as_secs_f64() + SYN_BYTES * 8.0 / (mbps * 1e6));
    let excess = (round_trip.as_secs_f64() - ideal) * 1e3;
    let stolen = stolen_s();
    running.begin();
    let goodput = traffic::bulk(&running, left, &listener, congestion, seconds)?;
    let report = running.stop();
    let packets = report.packets.as_ref().map_err(ToString::to_string)?;
    let packets = packets.as_ref().ok_or("no packet log")?;
    let forward = &report.link(link).forward().counters;
    let [p50, p99, p999] = report.lateness_percentiles().map(|d| d.as_millis_f64());
    let busy = busy_rate(packets).map_or(f64::NAN, |rate| (rate / (mbps * 1e6) - 1.0) * 100.0);
    Ok(format!(
        "| {mbps} | {congestion} | {:.2} % | {busy:+.3} % | {excess:+.3} ms | {} | {} | \
         {p50:.3}, {p99:.3}, {p999:.3} ms | {:.1} % | {:.0} ms/s |",
        goodput / (mbps * 1e6 * GOODPUT) * 100.0,
        forward.dropped().packets,
        queue_faults(packets, limit as u64),
        report.processor_share() * 100.0,
        (stolen_s() - stolen) * 1e3 / report.duration.as_secs_f64(),
    ))
}

/// Sends UDP as fast as one sender can, through a faster link.
fn blast(size: usize) -> Result<String, Failure> {
    const SECONDS: f64 = 5.0;
    let spec: LinkSpec = "rate=100gbit,delay=1ms,queue=100MB".parse()?;
    let mut network = Network::new(1);
    let (left, right) = (network.host("left"), network.host("right"));
    let link = network.link("link", MediumSpec::wired(spec.clone(), spec));
    network.attach(left, link, NEAR);
    let to = network.attach(right, link, FAR);
    let running = network.start()?;
    let socket = running.within(right, || std::net::UdpSocket::bind((to.v4, 9)))??;
    running.begin();
    let sent = traffic::flood(&running, left, socket.local_addr()?, size, SECONDS)?;
    let report = running.stop();
    let delivered = report.link(link).forward().counters.delivered;
    let seconds = report.duration.as_secs_f64();
    let per_second = delivered.packets as f64 / seconds;
    let used = report.processor_time.as_secs_f64();
    Ok(format!(
        "UDP of {size} bytes: {sent} sent, {} moved in and out: {per_second:.0}/s, {:.2} Gbps; \
         {} found no room in the device; the mover used {:.0} % of a core, {:.2} us a packet",
        delivered.packets,
        report.link(link).forward().rate(report.duration).as_mbps() / 1e3,
        report.device_drops,
        report.processor_share() * 100.0,
        used / delivered.packets as f64 * 1e6,
    ))
}

//! Hosts as stations of one cell.

use crate::tools::{is_possible, udp};
use std::net::UdpSocket;
use std::time::Duration;
use weft_emu::{Fate, HostId, LinkId, Logging, Network, PacketRecord, Running};
use weft_links::{
    Departure, LteSpec, LteTerminal, Medium, MediumSpec, PacketInfo, StationId, TrafficClass,
    WifiSpec, WifiStandard, WifiStation,
};
use weft_units::{Instant, Rng};

/// UDP and IPv4 headers.
const HEADERS: usize = 28;
const SEED: u64 = 7;

/// A host at each station of a cell, the central one last.
struct Cell {
    running: Running,
    link: LinkId,
    hosts: Vec<HostId>,
    sockets: Vec<UdpSocket>,
}

/// Outcome of a packet: its sender, the sending time, the end, and whether it arrived.
type Ending = (StationId, Instant, Instant, bool);

/// Returns the traffic class of a station's packets.
fn class(station: StationId) -> TrafficClass {
    match station {
        StationId(0) => TrafficClass::Video,
        _ => TrafficClass::BestEffort,
    }
}

impl Cell {
    /// Starts a cell; `None` if this machine cannot create it.
    fn start(spec: &MediumSpec) -> Option<Cell> {
        if !is_possible() {
            return None;
        }
        let mut network = Network::new(SEED);
        network.set_logging(Logging::Packets);
        let link = network.link("cell", spec.clone());
        let attached = spec.stations().map(|station| {
            let host = network.host(&format!("station {}", station.0));
            network.set_class(host, class(station));
            (host, network.attach(host, link, station))
        });
        let attached: Vec<_> = attached.collect();
        let running = network.start().expect("a privilege was found");
        let sockets = attached.iter();
        let sockets = sockets.map(|(host, own)| udp(&running, *host, (own.v4, 9)));
        Some(Cell {
            sockets: sockets.collect(),
            hosts: attached.iter().map(|(host, _)| *host).collect(),
            running,
            link,
        })
    }

    /// Every station floods the central one, which floods all of them, and all receive
    /// the packets that arrive.
    fn flood(&self, rounds: usize, size: usize) {
        let bytes = vec![0; size - HEADERS];
        let (middle, stations) = self.sockets.split_last().expect("two at least");
        let send = |from: &UdpSocket, to: &UdpSocket| {
            let to = to.local_addr().expect("bound");
            from.send_to(&bytes, to).expect("room");
        };
        for _ in 0..rounds {
            for station in stations {
                send(station, middle);
                send(middle, station);
            }
        }
        // Longer than the longest wait in these cells.
        let quiet = Some(Duration::from_millis(500));
        for socket in &self.sockets {
            socket.set_read_timeout(quiet).expect("a time-out");
            while socket.recv(&mut [0; 2048]).is_ok() {}
        }
    }
}

/// Replays the packets at equal times in virtual time; each is sent by and for a station.
fn replayed(spec: &MediumSpec, packets: &[(PacketRecord, StationId)]) -> Vec<Ending> {
    let rng = Rng::new(SEED).stream("links").stream("cell");
    let mut medium = Medium::new(spec, &rng);
    let mut ended = Vec::new();
    for (record, to) in packets {
        let info = PacketInfo::new(record.size).with_class(class(record.station));
        medium.enqueue(record.entered, record.station, *to, info, record.entered);
    }
    let end = packets.iter().map(|(record, _)| record.ended).max();
    for channel in medium.channels() {
        while let Some((from, departure)) = medium.poll(end.expect("packets"), channel) {
            ended.push(match departure {
                Departure::Delivered { packet, at, .. } => (from, packet, at, true),
                Departure::Dropped { packet, at, .. } => (from, packet, at, false),
            });
        }
    }
    ended.sort();
    ended
}

/// Checks that each packet has the same outcome in real time as in the model.
fn is_exact(spec: &MediumSpec) {
    const ROUNDS: usize = 40;
    let Some(cell) = Cell::start(spec) else {
        return;
    };
    cell.flood(ROUNDS, 1000);
    let stations = cell.hosts.len() - 1;
    let link = cell.link;
    let hosts = cell.hosts.clone();
    let report = cell.running.stop();
    let packets = report.packets.as_ref().expect("it has room");
    let packets = packets.as_ref().expect("it was asked for");
    let packets = packets.iter().map(|record| {
        let to = hosts.iter().position(|host| *host == record.to);
        (record, StationId(to.expect("a station") as u16))
    });
    let mut packets: Vec<_> = packets.collect();
    packets.sort_by_key(|(record, _)| record.entered);
    assert_eq!(packets.len(), 2 * stations * ROUNDS);
    let real = packets.iter().map(|(r, _)| {
        let arrived = r.fate == Fate::Delivered;
        (r.station, r.entered, r.ended, arrived)
    });
    let mut real: Vec<Ending> = real.collect();
    real.sort();
    assert_eq!(real, replayed(spec, &packets));
    // All stations transmitted, and the medium's time is the sum of theirs.
    let link = report.link(link);
    let used = link.stations.iter().map(|station| station.service.used);
    assert!(used.clone().all(|used| used > weft_units::Duration::ZERO));
    let all: f64 = used.map(|used| used.as_secs_f64()).sum();
    let channels: f64 = link.channels.iter().map(|c| c.used.as_secs_f64()).sum();
    assert!((all - channels).abs() < 1e-6, "{all} s of {channels} s");
    assert!(link.stations.iter().all(|station| station.radio.is_some()));
}

#[test]
fn stations_and_their_access_point_take_turns_as_the_model_says() {
    let station = WifiStation::of_keys(WifiStandard::N, [("rate", "mcs0")]);
    let stations = vec![station.expect("a station"); 3];
    is_exact(&MediumSpec::wifi(WifiSpec::new(WifiStandard::N, stations)).expect("a cell"));
}

#[test]
fn stations_of_a_cell_do_not_reach_each_other() {
    let station = WifiStation::of_keys(WifiStandard::G, [("rate", "54mbit")]);
    let stations = vec![station.expect("a station"); 2];
    let spec = MediumSpec::wifi(WifiSpec::new(WifiStandard::G, stations)).expect("a cell");
    let Some(cell) = Cell::start(&spec) else {
        return;
    };
    let [one, other, middle] = &cell.sockets[..] else {
        panic!("three of them");
    };
    let to = |socket: &UdpSocket| socket.local_addr().expect("bound");
    one.send_to(b"?", to(other)).expect("room");
    one.send_to(b"!", to(middle)).expect("room");
    let mut bytes = [0; 8];
    assert_eq!(middle.recv(&mut bytes).expect("an arrival"), 1);
    let report = cell.running.stop();
    assert_eq!(report.unroutable, 1);
    assert_eq!(report.link(cell.link).stations[0].counters.sent.packets, 1);
}

#[test]
fn terminals_and_their_base_station_are_served_as_the_model_says() {
    let terminal = LteTerminal::of_keys([("cqi", "7")]).expect("a terminal");
    is_exact(&MediumSpec::lte(LteSpec::new(vec![terminal; 3])).expect("a cell"));
}

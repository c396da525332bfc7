//! Traces of a running call. A thread writes each file, so the call never waits for a
//! disk.
//!
//! The files contain people's pictures, sound and addresses, so only their owner can read
//! them. They contain no keys.

mod fault;
mod file;
mod queue;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use weft_units::Duration;

use crate::capture::MAX_INTERFACES;
use crate::pcapng::{Datagram, Direction, Interface, PcapngWriter};
use crate::qlog::{Epoch, Event, QlogWriter, VantagePoint};
pub use fault::{OnFault, TraceFault, TraceKind};
pub use file::CreateError;
use queue::{Queue, Writing};

/// Maximum number of interfaces with their own names: each connection of a server is one,
/// and anyone can connect. Chosen by us.
const MOST_INTERFACES: usize = 4_000;
const _: () = assert!(
    MOST_INTERFACES < MAX_INTERFACES,
    "our reader accepts them, and that of all others"
);
/// Name of the interface shared by all others.
const OTHERS: &str = "others";

/// Packet of a call, for the capture.
#[derive(Clone, Debug)]
pub struct Packet {
    /// Name of its interface; each name becomes an interface of the file.
    pub interface: Arc<str>,
    /// Time since 1970.
    pub at: Duration,
    /// Direction.
    pub direction: Direction,
    /// Address of the sender.
    pub from: SocketAddr,
    /// Address of the receiver.
    pub to: SocketAddr,
    /// RTP or RTCP packet without encryption.
    pub content: Vec<u8>,
}

/// Handle that traces a call; clones write to the same files.
#[derive(Clone, Debug)]
pub struct Tracer {
    packets: Option<Queue<Packet>>,
    events: Option<Queue<OwnedEvent>>,
}

impl Tracer {
    /// Whether packets are captured; false once the file has ended.
    #[must_use]
    pub fn has_packets(&self) -> bool {
        self.packets.as_ref().is_some_and(Queue::is_writing)
    }

    /// Whether events are logged; false once the file has ended.
    #[must_use]
    pub fn has_events(&self) -> bool {
        self.events.as_ref().is_some_and(Queue::is_writing)
    }

    /// Captures a packet.
    pub fn packet(&self, packet: Packet) {
        if let Some(packets) = &self.packets {
            let size = packet.content.len();
            packets.push(packet, size);
        }
    }

    /// Logs an event at a time since 1970. Events of one connection have its number as
    /// their group.
    pub fn event(&self, at: Duration, group: u64, name: &'static str, data: Value) {
        /// Bytes of data of a typical event. Chosen by us.
        const TYPICAL: usize = 1_000;
        if let Some(events) = &self.events {
            let event = OwnedEvent {
                at,
                group,
                name,
                data,
            };
            events.push(event, TYPICAL);
        }
    }
}

#[derive(Debug)]
struct OwnedEvent {
    at: Duration,
    group: u64,
    name: &'static str,
    data: Value,
}

/// Names in traces, and their bounds.
#[derive(Clone, Copy, Debug)]
pub struct TraceSettings<'a> {
    /// Beginning of the names of files in a folder.
    pub name: &'a str,
    /// Program that writes, with its version.
    pub application: &'a str,
    /// Side of the connections.
    pub vantage_point: VantagePoint,
    /// Bytes after which the file of events ends. Default none.
    pub most_event_bytes: Option<u64>,
}

/// Trace files of a call. Dropping them unfinished removes them, because the call never
/// began.
#[derive(Debug)]
pub struct TraceFiles {
    tracer: Tracer,
    paths: Vec<PathBuf>,
}

impl TraceFiles {
    /// Creates the requested files. A folder, or a path that ends in `/`, receives a new
    /// file `NAME-1.pcapng` or `NAME-1.sqlog` with the next free number.
    ///
    /// # Errors
    /// If a file exists or cannot be created, or the system cannot start a thread.
    pub fn create(
        (pcap, qlog): (Option<&Path>, Option<&Path>),
        settings: &TraceSettings<'_>,
        on_fault: &OnFault,
    ) -> Result<TraceFiles, CreateError> {
        let mut paths = Vec::new();
        let mut create = |wanted: Option<&Path>, kind: TraceKind| {
            let Some(wanted) = wanted else {
                return Ok(None);
            };
            let (file, path) = file::create(wanted, settings.name, kind.extension())?;
            paths.push(path.clone());
            Ok(Some((file, path)))
        };
        let packets = create(pcap, TraceKind::Packets)?;
        let events = create(qlog, TraceKind::Events)?;
        let packets = packets
            .map(|file| start_packets(file, settings, on_fault))
            .transpose()?;
        let events = events
            .map(|file| start_events(file, settings, on_fault))
            .transpose()?;
        Ok(TraceFiles {
            tracer: Tracer { packets, events },
            paths,
        })
    }

    /// Returns a handle that writes to the files; `None` if there are none.
    #[must_use]
    pub fn tracer(&self) -> Option<Tracer> {
        let Tracer { packets, events } = &self.tracer;
        (packets.is_some() || events.is_some()).then(|| self.tracer.clone())
    }

    /// Paths of the files.
    #[must_use]
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Completes the files; later writes through the handles are lost.
    ///
    /// # Errors
    /// The first reason why a file is incomplete.
    pub fn finish(mut self) -> Result<(), TraceFault> {
        self.paths.clear();
        let Tracer { packets, events } = &self.tracer;
        let packets = packets.as_ref().map_or(Ok(()), Queue::finish);
        let events = events.as_ref().map_or(Ok(()), Queue::finish);
        packets.and(events)
    }
}

impl Drop for TraceFiles {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            for path in &self.paths {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

fn start_packets(
    file: (File, PathBuf),
    settings: &TraceSettings<'_>,
    on_fault: &OnFault,
) -> Result<Queue<Packet>, CreateError> {
    let writer =
        PcapngWriter::new(Vec::new(), settings.application).expect("memory takes every write");
    let format = PacketFormat {
        writer,
        interfaces: BTreeMap::new(),
    };
    Queue::start(file, (TraceKind::Packets, None), format, on_fault)
}

fn start_events(
    file: (File, PathBuf),
    settings: &TraceSettings<'_>,
    on_fault: &OnFault,
) -> Result<Queue<OwnedEvent>, CreateError> {
    let (title, vantage_point) = (settings.application, settings.vantage_point);
    let writer = QlogWriter::new(Vec::new(), title, vantage_point, Epoch::Unix);
    let format = EventFormat {
        writer: writer.expect("memory takes every write"),
        last: Duration::ZERO,
    };
    let kind = (TraceKind::Events, settings.most_event_bytes);
    Queue::start(file, kind, format, on_fault)
}

struct PacketFormat {
    writer: PcapngWriter<Vec<u8>>,
    interfaces: BTreeMap<Arc<str>, Interface>,
}

impl PacketFormat {
    fn interface(&mut self, name: &Arc<str>) -> io::Result<Interface> {
        if let Some(interface) = self.interfaces.get(name) {
            return Ok(*interface);
        }
        if self.interfaces.len() >= MOST_INTERFACES && **name != *OTHERS {
            return self.interface(&Arc::from(OTHERS));
        }
        let interface = self.writer.interface(name)?;
        self.interfaces.insert(Arc::clone(name), interface);
        Ok(interface)
    }
}

impl Writing<Packet> for PacketFormat {
    fn add(&mut self, packet: &Packet, dropped: u64) -> io::Result<()> {
        let interface = self.interface(&packet.interface)?;
        let datagram = Datagram {
            at: packet.at,
            direction: packet.direction,
            from: packet.from,
            to: packet.to,
            content: &packet.content,
            kept: packet.content.len(),
            dropped,
        };
        self.writer.datagram(interface, &datagram)
    }

    fn written(&mut self) -> &mut Vec<u8> {
        self.writer.destination()
    }
}

struct EventFormat {
    writer: QlogWriter<Vec<u8>>,
    last: Duration,
}

impl Writing<OwnedEvent> for EventFormat {
    fn add(&mut self, event: &OwnedEvent, dropped: u64) -> io::Result<()> {
        if dropped > 0 {
            self.writer.event(&Event {
                at: self.last,
                group: None,
                name: "call:events_dropped",
                data: &json!({ "count": dropped }),
            })?;
        }
        self.last = event.at;
        self.writer.event(&Event {
            at: event.at,
            group: Some(event.group),
            name: event.name,
            data: &event.data,
        })
    }

    fn written(&mut self) -> &mut Vec<u8> {
        self.writer.destination()
    }
}

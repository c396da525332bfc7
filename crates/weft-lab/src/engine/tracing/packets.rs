//! Packets of one end of a call, as a program on that machine would capture them.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use weft_experiment::Setup;
use weft_sim::{CapturedPacket, Seen, Way};
use weft_trace::pcapng::{Datagram, Direction, Interface, PcapngWriter};
use weft_units::Instant;

use super::calls::{CallEnd, calls, links};
use super::files::{TraceError, TraceFile};

/// Port of both ends, suggested by RFC 3551 section 8 for RTP.
const PORT: u16 = 5004;

/// Capture at one end of a call, with an interface for each route.
#[derive(Debug)]
pub struct Capture {
    flow: usize,
    end: CallEnd,
    path: PathBuf,
    writer: PcapngWriter<TraceFile>,
    interfaces: Vec<Interface>,
}

/// Creates the captures of a run.
pub fn captures(folder: &Path, run: &str, setup: &Setup) -> Result<Vec<Capture>, TraceError> {
    let flows = calls(setup);
    let ends = flows.flat_map(|flow| CallEnd::BOTH.map(|end| (flow, end)));
    ends.map(|(flow, end)| Capture::create(folder, run, setup, (flow, end)))
        .collect()
}

impl Capture {
    fn create(
        folder: &Path,
        run: &str,
        setup: &Setup,
        (index, end): (usize, CallEnd),
    ) -> Result<Capture, TraceError> {
        let flow = &setup.flows[index];
        let file = TraceFile::create(folder, (run, &flow.name, end.name(), "pcapng"))?;
        let path = file.path().to_owned();
        let links = flow.routes.iter().map(|route| links(setup, route));
        let begun = PcapngWriter::new(file, &format!("weft {}", crate::VERSION));
        let begun = begun.and_then(|mut writer| {
            let interfaces = links.map(|links| writer.interface(&links));
            let interfaces = interfaces.collect::<Result<_, _>>()?;
            Ok((writer, interfaces))
        });
        let (writer, interfaces) = begun.map_err(|error| TraceError::new(&path, error))?;
        Ok(Capture {
            flow: index,
            end,
            path,
            writer,
            interfaces,
        })
    }

    /// Whether the packet is seen at this end.
    pub fn is_of(&self, packet: &CapturedPacket<'_>) -> bool {
        let end = match (packet.way, packet.seen) {
            (Way::There, Seen::AtSender) | (Way::Back, Seen::AtReceiver) => CallEnd::Caller,
            (Way::There, Seen::AtReceiver) | (Way::Back, Seen::AtSender) => CallEnd::Callee,
        };
        (self.flow, self.end) == (packet.flow, end)
    }

    pub fn add(&mut self, packet: &CapturedPacket<'_>) -> Result<(), TraceError> {
        let ends = [1, 2].map(|end| address(packet.flow, packet.route, end));
        let [from, to] = match packet.way {
            Way::There => ends,
            Way::Back => [ends[1], ends[0]],
        };
        let datagram = Datagram {
            at: packet.at - Instant::ZERO,
            direction: match packet.seen {
                Seen::AtSender => Direction::Outbound,
                Seen::AtReceiver => Direction::Inbound,
            },
            from,
            to,
            content: packet.bytes,
            kept: packet.bytes.len(),
            dropped: 0,
        };
        let written = self
            .writer
            .datagram(self.interfaces[packet.route], &datagram);
        written.map_err(|error| TraceError::new(&self.path, error))
    }

    /// Completes the file.
    pub fn finish(self) -> Result<TraceFile, TraceError> {
        let finished = self.writer.finish();
        finished.map_err(|error| TraceError::new(&self.path, error))
    }
}

/// Returns the address of an end of a route: `10.FLOW.ROUTE.END`. FLOW and ROUTE count
/// from 0; END is 1 at the caller and 2 at the callee.
fn address(flow: usize, route: usize, end: u8) -> SocketAddr {
    let [flow, route] = [flow, route].map(|number| number as u8);
    SocketAddr::from((Ipv4Addr::new(10, flow, route, end), PORT))
}

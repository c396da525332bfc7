use crate::{HostId, LinkId};
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::thread::{self, JoinHandle};
use weft_links::{DropReason, StationId, WiredDirection};
use weft_units::{Bytes, Duration, Instant};

/// Number of records in a chunk for the writer.
const CHUNK: usize = 1024;
/// Maximum number of chunks that wait for the writer; the mover must not block, so it
/// drops and counts further ones.
const MAX_WAITING: usize = 256;
/// Bytes of a record in the file.
const SIZE: usize = 48;

/// Logging of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Logging {
    /// Counts and distributions only.
    #[default]
    Off,
    /// A record of 48 bytes in memory for every packet.
    Packets,
}

/// Outcome of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It was delivered to the other host.
    Delivered,
    /// It was dropped.
    Dropped(DropReason),
}

/// One packet on a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketRecord {
    /// Link, by its number in the network, in the order in which links were added.
    pub link: LinkId,
    /// Sending station: the direction on a wired link.
    pub station: StationId,
    /// Sending host.
    pub from: HostId,
    /// Receiving host.
    pub to: HostId,
    /// Protocol number of the IP header: 6 TCP, 17 UDP.
    pub protocol: u8,
    /// Source port of TCP and UDP, zero for others.
    pub source_port: u16,
    /// Destination port of TCP and UDP, zero for others.
    pub destination_port: u16,
    /// Size with the IP header.
    pub size: Bytes,
    /// Time at which the mover took it from its sender.
    pub entered: Instant,
    /// Waiting time before its transmission; zero for dropped packets.
    pub queued_for: Duration,
    /// Time of arrival or drop, according to the model.
    pub ended: Instant,
    /// Delay between `ended` and the delivery to its receiver.
    pub late: Duration,
    /// Outcome.
    pub fate: Fate,
}

/// The packets of a run, in the order in which they were delivered or dropped. Kept in a
/// memory file, which is freed with this value.
pub struct PacketLog {
    file: File,
    records: u64,
    lost: u64,
}

/// The mover's end of the log.
pub(crate) struct LogWriter {
    chunk: Vec<PacketRecord>,
    full: SyncSender<Message>,
    empty: Receiver<Vec<PacketRecord>>,
    lost: u64,
    thread: JoinHandle<io::Result<(File, u64)>>,
}

enum Message {
    Chunk(Vec<PacketRecord>),
    Restart,
}

impl PacketLog {
    /// Returns the number of packets.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.records
    }

    /// Whether the log is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// Returns the number of packets that are missing because the writer was too slow.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Iterates over the records.
    pub fn iter(&self) -> impl Iterator<Item = PacketRecord> + '_ {
        let chunk = CHUNK as u64;
        (0..self.records.div_ceil(chunk)).flat_map(move |number| {
            let first = number * chunk;
            let count = (self.records - first).min(chunk) as usize;
            let mut bytes = vec![0; count * SIZE];
            // A memory file of known length that we own: reading cannot fail.
            let read = self.file.read_exact_at(&mut bytes, first * SIZE as u64);
            read.map_or_else(|_| Vec::new(), |()| bytes)
                .as_chunks::<SIZE>()
                .0
                .iter()
                .map(decode)
                .collect::<Vec<_>>()
        })
    }

    /// Writes a line of comma-separated values per packet, times in seconds.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let mut out = BufWriter::new(out);
        writeln!(
            out,
            "link,direction,from,to,protocol,source_port,destination_port,bytes,entered,\
             queued_for,ended,late,fate"
        )?;
        for r in self.iter() {
            let fate = match r.fate {
                Fate::Delivered => "delivered",
                Fate::Dropped(reason) => reason.as_str(),
            };
            writeln!(
                out,
                "{},{},{},{},{},{},{},{},{:.9},{:.9},{:.9},{:.9},{fate}",
                r.link.0,
                WiredDirection::of(r.station).map_or("other", WiredDirection::name),
                r.from.0,
                r.to.0,
                r.protocol,
                r.source_port,
                r.destination_port,
                r.size.0,
                r.entered.as_secs_f64(),
                r.queued_for.as_secs_f64(),
                r.ended.as_secs_f64(),
                r.late.as_secs_f64(),
            )?;
        }
        out.flush()
    }
}

impl LogWriter {
    pub fn start() -> io::Result<LogWriter> {
        let file = memfd_create("weft-emu-packets", MemfdFlags::CLOEXEC)?;
        LogWriter::to(File::from(file))
    }

    pub fn to(file: File) -> io::Result<LogWriter> {
        let (full, to_write) = sync_channel(MAX_WAITING);
        let (written, empty) = channel();
        let builder = thread::Builder::new().name("emu-log".to_owned());
        let thread = builder.spawn(move || write_chunks(file, &to_write, &written))?;
        Ok(LogWriter {
            chunk: Vec::with_capacity(CHUNK),
            full,
            empty,
            lost: 0,
            thread,
        })
    }

    pub fn add(&mut self, record: PacketRecord) {
        self.chunk.push(record);
        if self.chunk.len() == CHUNK {
            self.pass_on();
        }
    }

    /// Discards all records so far.
    pub fn restart(&mut self) {
        self.chunk.clear();
        self.lost = 0;
        // Full only when the writer is stuck; the loss is then counted.
        let _ = self.full.try_send(Message::Restart);
    }

    pub fn finish(mut self) -> io::Result<PacketLog> {
        let rest = std::mem::take(&mut self.chunk);
        // The mover has ended, so blocking is safe now.
        let _ = self.full.send(Message::Chunk(rest));
        drop(self.full);
        let (file, records) = match self.thread.join() {
            Ok(result) => result?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        Ok(PacketLog {
            file,
            records,
            lost: self.lost,
        })
    }

    fn pass_on(&mut self) {
        let next = self.empty.try_recv();
        let next = next.unwrap_or_else(|_| Vec::with_capacity(CHUNK));
        let chunk = std::mem::replace(&mut self.chunk, next);
        if let Err(
            TrySendError::Full(Message::Chunk(chunk))
            | TrySendError::Disconnected(Message::Chunk(chunk)),
        ) = self.full.try_send(Message::Chunk(chunk))
        {
            self.lost += chunk.len() as u64;
        }
    }
}

fn write_chunks(
    mut file: File,
    to_write: &Receiver<Message>,
    written: &Sender<Vec<PacketRecord>>,
) -> io::Result<(File, u64)> {
    let mut bytes = Vec::with_capacity(CHUNK * SIZE);
    let mut records = 0;
    for message in to_write {
        match message {
            Message::Chunk(mut chunk) => {
                bytes.clear();
                chunk.iter().for_each(|record| bytes.extend(encode(record)));
                file.write_all(&bytes)?;
                records += chunk.len() as u64;
                chunk.clear();
                // The mover may have ended.
                let _ = written.send(chunk);
            }
            Message::Restart => {
                file = File::from(memfd_create("weft-emu-packets", MemfdFlags::CLOEXEC)?);
                records = 0;
            }
        }
    }
    Ok((file, records))
}

const REASONS: [DropReason; 6] = [
    DropReason::QueueFull,
    DropReason::Aqm,
    DropReason::RandomLoss,
    DropReason::BurstLoss,
    DropReason::LinkDown,
    DropReason::Retries,
];

fn encode(record: &PacketRecord) -> [u8; SIZE] {
    let fate = match record.fate {
        Fate::Delivered => 0,
        Fate::Dropped(reason) => REASONS
            .iter()
            .position(|r| *r == reason)
            .map_or(0, |p| p + 1),
    };
    let halves = [
        record.link.0 as u16,
        record.station.0,
        record.from.0 as u16,
        record.to.0 as u16,
        u16::from(record.protocol) << 8 | fate as u16,
        record.source_port,
        record.destination_port,
        record.size.0 as u16,
    ];
    let words = [
        record.entered.as_nanos(),
        record.queued_for.as_nanos(),
        record.ended.as_nanos(),
        record.late.as_nanos(),
    ];
    let mut bytes = [0; SIZE];
    for (place, half) in bytes[..16].as_chunks_mut().0.iter_mut().zip(halves) {
        *place = half.to_le_bytes();
    }
    for (place, word) in bytes[16..].as_chunks_mut().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    bytes
}

fn decode(bytes: &[u8; SIZE]) -> PacketRecord {
    let half = |n: usize| u16::from_le_bytes([bytes[2 * n], bytes[2 * n + 1]]);
    let word = |n: usize| {
        let words = bytes[16..].as_chunks().0;
        u64::from_le_bytes(words[n])
    };
    let fate = usize::from(half(4) & 0xff);
    PacketRecord {
        link: LinkId(half(0).into()),
        station: StationId(half(1)),
        from: HostId(half(2).into()),
        to: HostId(half(3).into()),
        protocol: (half(4) >> 8) as u8,
        source_port: half(5),
        destination_port: half(6),
        size: Bytes(half(7).into()),
        entered: Instant::from_nanos(word(0)),
        queued_for: Duration::from_nanos(word(1)),
        ended: Instant::from_nanos(word(2)),
        late: Duration::from_nanos(word(3)),
        fate: match fate.checked_sub(1).and_then(|n| REASONS.get(n)) {
            None => Fate::Delivered,
            Some(reason) => Fate::Dropped(*reason),
        },
    }
}

#[cfg(test)]
pub(crate) mod tests;

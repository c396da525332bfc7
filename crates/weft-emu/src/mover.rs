//! The single thread that moves packets: from devices into the links, and from the links
//! to devices, each at the time that the model gives.

mod buffer;
mod port;
mod segment;
mod usage;

pub(crate) use port::Port;
pub(crate) use segment::{Segment, Span};

use crate::clock::{Clock, processor_time};

use crate::log::{Fate, LogWriter, PacketLog, PacketRecord};
use crate::packet::{Header, set_ecn};
use crate::privilege::in_new_thread;
use crate::report::Scheduling;
use crate::{EmuError, LinkId, Logging};
use buffer::Buffer;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::fd::OwnedFd;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};
use std::io;
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use weft_links::{Departure, StationId};
use weft_units::{Duration, Histogram, Instant};

/// Number of packets that the mover reads from one device, or delivers from one channel,
/// before it turns to the others.
const BATCH: usize = 64;
/// Empty buffers kept for the next packets.
const MAX_POOL: usize = 8192;
/// Real-time priority from 1 to 99: above all ordinary threads, but not above those that
/// an administrator made real-time on purpose.
const PRIORITY: libc::c_int = 50;
const EVENTS: usize = 64;
/// Event token of the timer; other tokens are port numbers.
const TIMER: u64 = u64::MAX;
const ORDERS: u64 = u64::MAX - 1;

/// Command from the owner of a running network.
pub(crate) enum MoverCommand {
    /// Makes the present time zero of the run.
    Begin(Sender<()>),
    Stop,
}

/// The owner's end of the command channel.
pub(crate) struct CommandSender {
    sender: Sender<MoverCommand>,
    bell: Arc<OwnedFd>,
}

pub(crate) struct Mover {
    clock: Clock,
    /// Indexed by link.
    segments: Vec<Segment>,
    ports: Vec<Port>,
    epoll: OwnedFd,
    timer: OwnedFd,
    armed: Option<Instant>,
    commands: Receiver<MoverCommand>,
    bell: Arc<OwnedFd>,
    #[expect(
        clippy::vec_box,
        reason = "a packet goes from queue to queue as a pointer"
    )]
    pool: Vec<Box<Buffer>>,
    log: Option<LogWriter>,
    lateness: Histogram,
    unroutable: u64,
    rejected: u64,
}

/// Results of a mover.
pub(crate) struct Outcome {
    pub segments: Vec<Segment>,
    pub duration: Duration,
    pub lateness: Histogram,
    pub scheduling: Scheduling,
    pub processor_time: Duration,
    pub unroutable: u64,
    pub rejected: u64,
    pub packets: io::Result<Option<PacketLog>>,
}

impl CommandSender {
    pub fn send(&self, command: MoverCommand) {
        // The mover ends by `MoverCommand::Stop` only.
        let _ = self.sender.send(command);
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }
}

impl Mover {
    pub fn new(
        segments: Vec<Segment>,
        ports: Vec<Port>,
        logging: Logging,
    ) -> Result<Mover, EmuError> {
        let system = |what: &'static str| move |e| EmuError::system(what, e);
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(system("epoll"))?;
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags).map_err(system("timerfd"))?;
        let flags = EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC;
        let bell = Arc::new(eventfd(0, flags).map_err(system("eventfd"))?);
        let add = |fd, about| {
            epoll::add(&epoll, fd, EventData::new_u64(about), EventFlags::IN)
                .map_err(system("epoll"))
        };
        add(timer.as_fd(), TIMER)?;
        add(bell.as_fd(), ORDERS)?;
        for (index, port) in ports.iter().enumerate() {
            add(port.tun.as_fd(), index as u64)?;
        }
        let log = match logging {
            Logging::Off => None,
            Logging::Packets => {
                Some(LogWriter::start().map_err(|e| EmuError::system("packet log", e))?)
            }
        };
        let (_, commands) = channel();
        let mut mover = Mover {
            clock: Clock::start(),
            segments,
            ports,
            epoll,
            timer,
            armed: None,
            commands,
            bell,
            pool: Vec::with_capacity(MAX_POOL),
            log,
            lateness: Histogram::default(),
            unroutable: 0,
            rejected: 0,
        };
        mover.find_neighbours();
        Ok(mover)
    }

    /// Returns the end that sends commands.
    pub fn commands(&mut self) -> CommandSender {
        let (sender, receiver) = channel();
        self.commands = receiver;
        CommandSender {
            sender,
            bell: Arc::clone(&self.bell),
        }
    }

    /// Moves packets on the calling thread until a stop command.
    pub fn run(mut self) -> Outcome {
        let scheduling = become_punctual();
        let mut readable = Vec::with_capacity(EVENTS);
        loop {
            let due = self.deliver();
            let rung = self.wait(due, &mut readable);
            for about in readable.drain(..) {
                self.read(about);
            }
            if rung && self.obey() {
                break;
            }
        }
        Outcome {
            duration: self.clock.now().saturating_since(Instant::ZERO),
            segments: self.segments,
            lateness: self.lateness,
            scheduling,
            processor_time: processor_time(),
            unroutable: self.unroutable,
            rejected: self.rejected,
            packets: self.log.map(LogWriter::finish).transpose(),
        }
    }

    /// Determines which station reaches which other one; done once, so that no packet
    /// needs a search.
    fn find_neighbours(&mut self) {
        let all: Vec<_> = self.ports.iter().map(Port::identity).collect();
        for port in &mut self.ports {
            let medium = self.segments[port.link.0].spec();
            port.set_neighbours(medium, &all);
        }
    }

    /// Reads packets from a device into its link.
    fn read(&mut self, index: usize) {
        for _ in 0..BATCH {
            let mut buffer = self.pool.pop().unwrap_or_else(Buffer::empty);
            let port = &mut self.ports[index];
            match port.tun.read(&mut buffer.bytes) {
                Ok(Some(length)) => buffer.length = length,
                Ok(None) => return self.pool.push(buffer),
                Err(_) => {
                    // A program inside removed the device or disabled it; this descriptor
                    // will not recover.
                    let _ = epoll::delete(&self.epoll, &port.tun);
                    return self.pool.push(buffer);
                }
            }
            let Some(header) = Header::of(&buffer.bytes[..buffer.length]) else {
                self.unroutable += 1;
                self.pool.push(buffer);
                continue;
            };
            if let Some(window) = &mut port.window {
                window.apply(&header, &mut buffer.bytes[..buffer.length]);
            }
            buffer.header = header;
            buffer.class = port.class;
            buffer.from = index;
            buffer.entered = self.clock.now();
            let across = port.across(header.destination);
            let beside = port.beside(header.destination);
            let (link, station) = (port.link, port.station);
            match (across, beside) {
                (Some(to), _) => {
                    buffer.to = to;
                    let receiver = self.ports[to].station;
                    self.segments[link.0].enqueue(buffer.entered, station, receiver, buffer);
                }
                (None, Some(to)) => {
                    self.give(to, &buffer);
                    self.pool.push(buffer);
                }
                (None, None) => {
                    self.unroutable += u64::from(!header.destination.is_multicast());
                    self.pool.push(buffer);
                }
            }
        }
    }

    /// Delivers arrived packets, and returns the next time of arrivals.
    fn deliver(&mut self) -> Option<Instant> {
        let mut due: Option<Instant> = None;
        for index in 0..self.segments.len() {
            while let Some(packet) = self.segments[index].poll_earlier() {
                self.give(packet.to, &packet);
            }
            for channel in self.segments[index].channels() {
                let mut now = self.clock.now();
                for _ in 0..BATCH {
                    let segment = &mut self.segments[index];
                    let Some((station, departure)) = segment.poll(now, channel) else {
                        break;
                    };
                    now = self.end(LinkId(index), station, departure);
                }
            }
            let next = self.segments[index].poll_timeout(self.clock);
            due = [due, next].into_iter().flatten().min();
        }
        due
    }

    /// Handles the end of a packet on its link; returns the time after it.
    fn end(
        &mut self,
        link: LinkId,
        station: StationId,
        departure: Departure<Box<Buffer>>,
    ) -> Instant {
        let (packet, at, queued_for, fate) = match departure {
            Departure::Delivered {
                mut packet,
                at,
                queued_for,
                ecn,
            } => {
                if ecn != packet.header.ecn {
                    let length = packet.length;
                    set_ecn(&mut packet.bytes[..length], ecn);
                }
                (packet, at, queued_for, Fate::Delivered)
            }
            Departure::Dropped { packet, at, reason } => {
                (packet, at, Duration::ZERO, Fate::Dropped(reason))
            }
        };
        if fate == Fate::Delivered {
            self.give(packet.to, &packet);
        }
        let now = self.clock.now();
        let late = now.saturating_since(at);
        if fate == Fate::Delivered {
            self.lateness.add(late);
        }
        if let Some(log) = &mut self.log {
            log.add(PacketRecord {
                link,
                station,
                from: self.ports[packet.from].host,
                to: self.ports[packet.to].host,
                protocol: packet.header.protocol,
                source_port: packet.header.ports.0,
                destination_port: packet.header.ports.1,
                size: packet.size(),
                entered: packet.entered,
                queued_for,
                ended: at,
                late,
                fate,
            });
        }
        if self.pool.len() < MAX_POOL {
            self.pool.push(packet);
        }
        now
    }

    fn give(&mut self, port: usize, packet: &Buffer) {
        let written = self.ports[port].tun.write(&packet.bytes[..packet.length]);
        self.rejected += u64::from(written.is_err());
    }

    /// Waits until a packet is due, a device is readable or a command arrives. Fills in
    /// the readable ports and returns whether there are commands.
    fn wait(&mut self, due: Option<Instant>, readable: &mut Vec<usize>) -> bool {
        const AT_ONCE: Timespec = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let is_due = due.is_some_and(|at| at <= self.clock.now());
        if !is_due && due != self.armed {
            self.arm(due);
        }
        let timeout = is_due.then_some(&AT_ONCE);
        let mut events: [Event; EVENTS] = [Event {
            flags: EventFlags::empty(),
            data: EventData::new_u64(0),
        }; EVENTS];
        // The only possible error is an interruption.
        let count = epoll::wait(&self.epoll, &mut events, timeout).unwrap_or(0);
        let mut rung = false;
        for event in &events[..count] {
            match event.data.u64() {
                TIMER => self.armed = Some(Instant::ZERO),
                ORDERS => rung = true,
                port => readable.push(port as usize),
            }
        }
        rung
    }

    /// Sets the timer, which also clears its expiry.
    fn arm(&mut self, due: Option<Instant>) {
        const NEVER: Timespec = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let value = Itimerspec {
            it_interval: NEVER,
            it_value: due.map_or(NEVER, |at| self.clock.timespec(at)),
        };
        let flags = TimerfdTimerFlags::ABSTIME;
        timerfd_settime(&self.timer, flags, &value).expect("a time after the machine's start");
        self.armed = due;
    }

    /// Executes the commands; returns true after a stop command.
    fn obey(&mut self) -> bool {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.bell, &mut count);
        while let Ok(command) = self.commands.try_recv() {
            match command {
                MoverCommand::Stop => return true,
                MoverCommand::Begin(done) => {
                    self.begin();
                    let _ = done.send(());
                }
            }
        }
        false
    }

    fn begin(&mut self) {
        let old = std::mem::replace(&mut self.clock, Clock::start());
        let segments = self.segments.iter_mut();
        segments.for_each(|segment| segment.begin(old));
        self.lateness = Histogram::default();
        (self.unroutable, self.rejected) = (0, 0);
        self.armed = Some(Instant::ZERO);
        if let Some(log) = &mut self.log {
            log.restart();
        }
    }
}

impl Scheduling {
    /// Returns the scheduling that the kernel grants this process, tried in a separate
    /// thread.
    #[must_use]
    pub fn find() -> Scheduling {
        in_new_thread(become_punctual)
    }
}

/// Requests scheduling that runs this thread whenever it has work.
fn become_punctual() -> Scheduling {
    // Affects ordinary threads, whose timers the kernel delays by up to 50 us (prctl(2),
    // PR_SET_TIMERSLACK).
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let parameters = libc::sched_param {
        sched_priority: PRIORITY,
    };
    // Programs that this thread starts do not inherit it.
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the pointer is to a live `sched_param`; 0 means the calling thread.
    match unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) } {
        0 => Scheduling::RealTime,
        _ => Scheduling::Ordinary,
    }
}

#[cfg(test)]
mod tests;

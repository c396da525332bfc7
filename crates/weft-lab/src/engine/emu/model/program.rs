//! One end of a model as a program: a socket, a clock, and the protocol of clients
//! (`clients/README.md`).

use std::fmt;
use std::io::{self, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::str::FromStr;
use std::time::SystemTime;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};
use weft_apps::{App, End, Family, LimitError, Model};
use weft_units::{Duration, Instant, Rate, Rng};

use super::wire::{Reader, payload};

/// Port of RTP (RFC 3551 section 8).
const PORT: u16 = 5004;
/// Interval of reports, as in other clients.
const TELL_EVERY: Duration = Duration::from_millis(500);
/// Above the size of any packet on a link.
const LONGEST: usize = 2048;

/// Role in a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The end that sends media.
    Caller,
    /// The end that receives media, and also sends them if media flow both ways.
    Callee,
}

/// Error: unknown role.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no role `{0}`: write caller or callee")]
pub struct UnknownRole(String);

impl Role {
    const fn name(self) -> &'static str {
        match self {
            Role::Caller => "caller",
            Role::Callee => "callee",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Role, UnknownRole> {
        let all = [Role::Caller, Role::Callee];
        let found = all.into_iter().find(|role| role.name() == text);
        found.ok_or_else(|| UnknownRole(text.to_owned()))
    }
}

/// One end of an application's call, represented by its model.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelEnd {
    /// Application.
    pub app: App,
    /// Highest rate (default: the application's own).
    pub max_rate: Option<Rate>,
    /// Role of this end.
    pub role: Role,
    /// Whether the callee sends media as well.
    pub both_ways: bool,
    /// Address of this end.
    pub here: Ipv4Addr,
    /// Address of the other end.
    pub peer: Ipv4Addr,
    /// Seed that determines the model's random numbers together with the flow's name, as
    /// in a simulated run.
    pub seed: u64,
    /// Name of the flow.
    pub flow: String,
}

/// Reason why an end cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ModelEndError {
    /// The application uses WebRTC and has no model.
    #[error(
        "{0} uses WebRTC within public limits and has no model: use a WebRTC client, such as chromium"
    )]
    NoModel(App),
    /// The highest rate is too low.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The address is unusable.
    #[error("{address}:{PORT}: {source}: give an unused address of this machine")]
    Address {
        /// Address of this end.
        address: Ipv4Addr,
        /// System error.
        source: io::Error,
    },
    /// Input, output or the socket failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl ModelEnd {
    /// Runs until `input` ends. First waits for a line from the other end, whose `output`
    /// is this end's input, and then starts.
    ///
    /// # Errors
    /// If there is no such model, or the address is not on this machine.
    pub fn run(&self, input: BorrowedFd<'_>, output: &mut impl Write) -> Result<(), ModelEndError> {
        let model = self.model()?;
        let refused = |source| ModelEndError::Address {
            address: self.here,
            source,
        };
        let socket = UdpSocket::bind((self.here, PORT)).map_err(refused)?;
        socket.connect((self.peer, PORT)).map_err(refused)?;
        socket.set_nonblocking(true)?;
        let about = json!({
            "client": "model", "version": crate::VERSION, "role": self.role.name(),
            "app": self.app.name(),
        });
        say(output, &json!({ "about": about }))?;
        say(output, &json!({ "ready": true }))?;
        say(output, &json!({ "signal": self.app.name() }))?;
        if !wait_for_line(input)? {
            return Ok(());
        }
        say(output, &json!({ "state": "connected" }))?;
        let clock = Clock::start();
        let end = self.end(&model, clock.now());
        Call {
            clock,
            end,
            socket,
            reader: Reader::default(),
        }
        .run(input, output)?;
        Ok(())
    }

    fn model(&self) -> Result<Model, ModelEndError> {
        let Family::Model(model) = self.app.family() else {
            return Err(ModelEndError::NoModel(self.app));
        };
        Ok(match self.max_rate {
            Some(rate) => model.with_highest(rate)?,
            None => model,
        })
    }

    /// Creates the end as the simulator does, with the same random numbers.
    fn end(&self, model: &Model, now: Instant) -> End {
        let rng = Rng::new(self.seed).stream("flows").stream(&self.flow);
        let sends = self.role == Role::Caller || self.both_ways;
        let receives = self.role == Role::Callee || self.both_ways;
        let end = match sends {
            true => End::sending(model, now, &rng.stream(self.role.name())),
            false => End::default(),
        };
        match receives {
            true => end.receiving(model, now),
            false => end,
        }
    }
}

/// End that has started.
struct Call {
    clock: Clock,
    end: End,
    socket: UdpSocket,
    reader: Reader,
}

impl Call {
    fn run(&mut self, input: BorrowedFd<'_>, output: &mut impl Write) -> io::Result<()> {
        let mut next_told = self.clock.now();
        loop {
            let now = self.clock.now();
            self.end.handle_timeout(now);
            while let Some(content) = self.end.poll_transmit(now) {
                // A packet that a full device or a missing peer refuses is lost, like a
                // packet lost on the network.
                let _ = self.socket.send(&payload(&content, self.clock.now()));
            }
            if now >= next_told {
                next_told = now + TELL_EVERY;
                let mut sample = json!({ "unix_ms": now.as_nanos() as f64 / 1e6 });
                if let Some(rate) = self.end.rate() {
                    sample["sent"] = json!({ "target_mbps": rate.as_mbps() });
                }
                say(output, &json!({ "sample": sample }))?;
            }
            let due = self.end.poll_timeout();
            let due = due.map_or(next_told, |due| due.min(next_told));
            let mut events = [
                PollFd::new(&self.socket, PollFlags::IN),
                PollFd::from_borrowed_fd(input, PollFlags::IN),
            ];
            wait(&mut events, Some(due.saturating_since(self.clock.now())))?;
            let [datagrams, lines] = events.map(|event| !event.revents().is_empty());
            if datagrams {
                self.receive();
            }
            if lines && rustix::io::read(input, &mut [0; LONGEST])? == 0 {
                return Ok(());
            }
        }
    }

    fn receive(&mut self) {
        let mut bytes = [0; LONGEST];
        // An error was either caused by a missing peer, or means that there are no more
        // packets.
        while let Ok(length) = self.socket.recv(&mut bytes) {
            let now = self.clock.now();
            if let Some((content, sent_at)) = self.reader.read(&bytes[..length], now) {
                self.end.handle_packet(now, sent_at, &content);
            }
        }
    }
}

/// Time since 1970, which never decreases.
struct Clock {
    began: std::time::Instant,
    at: Instant,
}

impl Clock {
    fn start() -> Clock {
        let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let nanos = unix.unwrap_or_default().as_nanos() as u64;
        Clock {
            began: std::time::Instant::now(),
            at: Instant::ZERO + Duration::from_nanos(nanos),
        }
    }

    fn now(&self) -> Instant {
        self.at + Duration::from_nanos(self.began.elapsed().as_nanos() as u64)
    }
}

fn say(output: &mut impl Write, line: &Value) -> io::Result<()> {
    writeln!(output, "{line}")?;
    output.flush()
}

/// Waits for a line; returns false at the end of the input.
fn wait_for_line(input: BorrowedFd<'_>) -> io::Result<bool> {
    let mut byte = [0];
    loop {
        wait(
            &mut [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN)],
            None,
        )?;
        match (rustix::io::read(input, &mut byte)?, byte) {
            (0, _) => return Ok(false),
            (_, [b'\n']) => return Ok(true),
            _ => {}
        }
    }
}

/// Waits until an event occurs, for at most this time.
fn wait(events: &mut [PollFd<'_>], time: Option<Duration>) -> io::Result<()> {
    let time = time.map(|time| Timespec {
        tv_sec: (time.as_nanos() / 1_000_000_000) as i64,
        tv_nsec: (time.as_nanos() % 1_000_000_000) as i64,
    });
    match poll(events, time.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;

//! Calls with Pion, an external WebRTC implementation, over two emulated links:
//! real sockets, real time and a separate process. docs/protocol/interop.md has
//! the findings.

mod program;
mod relay;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

use weft_ice::{IceRole, RemoteCandidate, RemoteFilter};
use weft_net::{Clock, Driver};
use weft_peer::{Offer, Section, StreamDirection};
use weft_session::{Delivery, FeedbackFormat, Level, SchedulerKind};
use weft_testing::{skipped, where_the_machine_keeps_up};
use weft_units::{Duration, Instant, MediaKind, Rng};

use crate::common::{Allowance, Record, Side, TestCall, config, local, survives_a_cut};
use crate::{Command, End, Report, bind};
use program::{Counts, Line, Pion, built};
use relay::Relay;

/// One-way delays.
const DELAYS: [Duration; 2] = [Duration::from_millis(15), Duration::from_millis(25)];

/// Cost difference of the second link, as in the program.
const COST_STEP: u16 = 10;

/// Source addresses of each link's packets, as Pion sees them.
const SEEN_AS: [&str; 2] = ["127.0.0.11:0", "127.0.0.12:0"];

/// Allowance for another process on a machine that builds and tests.
const BUSY: Allowance = Allowance {
    time: Duration::from_millis(400),
    frames: 0.75,
};

/// Time limit for the start of a call, on the same machine.
const BEGIN: Duration = Duration::from_secs(30);

/// Polling interval of Pion's output.
const LOOK: Duration = Duration::from_millis(10);

struct Call {
    clock: Clock,
    us: Driver<Command>,
    reports: Receiver<Report>,
    pion: Pion,
    relays: Vec<Relay>,
    record: Record,
    /// Level, and format of Pion's feedback.
    feedback_format: (Level, FeedbackFormat),
    /// Remote addresses that Pion selected, in order.
    selected: Vec<String>,
    /// States of Pion's ICE agent, in order.
    states: Vec<String>,
    counts: Counts,
    /// Packets that Pion abandoned.
    dropped: u64,
}

impl Call {
    /// Video call in one direction; we offer, with two links.
    fn new(program: &PathBuf, direction: StreamDirection, options: &[&str]) -> Call {
        let clock = Clock::start();
        let relays: Vec<Relay> = SEEN_AS.iter().map(|a| Relay::bind(a)).collect();
        let (sockets, addresses): (Vec<_>, Vec<_>) =
            relays.iter().map(|_| bind("127.0.0.1:0")).unzip();
        let mut config = config(IceRole::Controlling, clock.origin().std, &Rng::new(1));
        let ways = (0..).zip(addresses.iter().zip(&relays));
        // It gives every link a share, so that there is something to merge.
        config.session.scheduler = SchedulerKind::Converge;
        config.locals = ways
            .map(|(link, (address, relay))| {
                let mut local = local(*address, link);
                local.cost = COST_STEP * u16::from(link);
                local.remotes = RemoteFilter::Only(vec![relay.near()]);
                local
            })
            .collect();
        let (side, options) = match direction {
            StreamDirection::Send => (Side::Sender, options.to_vec()),
            StreamDirection::Receive => (Side::Receiver, [options, &["-publish"]].concat()),
        };
        let kind = MediaKind::Video;
        let section = Section::new(kind, direction);
        let offer = Offer::new(clock.now(), config, &[section], Delivery::Frames);
        let pion = Pion::start(program, &options, clock, &offer.sdp());
        let answer = pion.lines.iter().find_map(|(_, line)| match line {
            Line::Answer { sdp } => Some(sdp),
            _ => None,
        });
        let sdp = answer.expect("Pion answers");
        for ((relay, us), delay) in relays.iter().zip(addresses).zip(DELAYS) {
            relay.start(us, host_of(&sdp), delay.into());
        }
        let (sender, reports) = channel();
        let us = Driver::start("us", clock, sockets, End::new(side, sender)).expect("a thread");
        let mut peer = offer.accept(clock.now(), &sdp).expect("we take its answer");
        for relay in &relays {
            let (addr, priority) = (relay.near(), u32::MAX);
            peer.add_remote_candidate(clock.now(), RemoteCandidate { addr, priority });
        }
        let feedback_format = (peer.session().level(), peer.session().feedback_format());
        us.remote.send(Command::Insert(Box::new(peer)));
        Call {
            clock,
            us,
            reports,
            pion,
            relays,
            record: Record::default(),
            feedback_format,
            selected: Vec::new(),
            states: Vec::new(),
            counts: Counts::default(),
            dropped: 0,
        }
    }

    /// Runs until this many frames have been released.
    fn begin(&mut self, frames: usize) {
        let end = self.clock.now() + BEGIN;
        while self.record.shown.len() < frames {
            assert!(self.clock.now() < end, "no call begins: {:?}", self.states);
            self.run(Duration::from_millis(100));
        }
    }

    fn hear(&mut self) {
        for (at, line) in self.pion.lines.try_iter() {
            match line {
                Line::Frame { head, dropped } => {
                    self.dropped += u64::from(dropped);
                    self.record.on_frame(at, &bytes(&head));
                }
                Line::Selected { remote } => self.selected.push(remote),
                Line::Ice { state } => self.states.push(state),
                Line::Counts { counts } => self.counts = counts,
                Line::Answer { .. } => panic!("a second answer"),
            }
        }
    }

    fn close(self) {
        self.us.remote.send(Command::Stop);
        self.us.join().expect("it does not panic");
    }
}

impl TestCall for Call {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn run(&mut self, span: Duration) {
        let end = self.clock.now() + span;
        loop {
            let left = end.saturating_since(self.clock.now());
            match self.reports.recv_timeout(left.min(LOOK).into()) {
                Ok((at, side, event)) => self.record.on_event(at, side, &event),
                Err(RecvTimeoutError::Timeout) => self.hear(),
                Err(RecvTimeoutError::Disconnected) => panic!("the driver has ended"),
            }
            if self.clock.now() >= end {
                return;
            }
        }
    }

    fn cut(&mut self, link: usize) {
        self.relays[link].set_cut(true);
    }

    fn restore(&mut self, link: usize) {
        self.relays[link].set_cut(false);
    }

    fn record(&self) -> &Record {
        &self.record
    }
}

/// Pion's only address.
fn host_of(sdp: &str) -> SocketAddr {
    let candidates = sdp.lines().filter(|l| l.starts_with("a=candidate:"));
    let mut addresses = candidates.filter_map(|line| {
        let mut fields = line.split(' ').skip(4);
        let (ip, port) = (fields.next()?, fields.next()?);
        format!("{ip}:{port}").parse().ok()
    });
    addresses.next().expect("the answer has a candidate")
}

/// Decodes hexadecimal digits.
fn bytes(digits: &str) -> Vec<u8> {
    let pairs = (0..digits.len()).step_by(2).map(|at| &digits[at..at + 2]);
    let byte = |pair| u8::from_str_radix(pair, 16).expect("hexadecimal digits");
    pairs.map(byte).collect()
}

/// Path of the program, unless this machine cannot build it.
fn program() -> Option<PathBuf> {
    built().map_err(skipped).ok()
}

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

#[test]
fn pion_merges_two_links_and_a_cut_does_not_stop_it() {
    where_the_machine_keeps_up(|| {
        let Some(program) = program() else { return };
        for cut in [0, 1] {
            let mut call = Call::new(&program, StreamDirection::Send, &[]);
            call.begin(30);
            let start = call.now();
            survives_a_cut(&mut call, cut, BUSY);

            let gap = call.record.longest_gap(start, call.now());
            let Counts { from, read, late } = &call.counts;
            let packets: Vec<u64> = from.values().copied().collect();
            println!(
                "link {cut} cut: no frame for {gap:?}; {packets:?} packets by link, {read} read, \
             {late} late, {} given up; selected {:?}",
                call.dropped, call.selected
            );
            // Parts of one stream: Pion received both parts, not counting
            // reports.
            let total = packets.iter().sum::<u64>();
            assert_eq!(packets.len(), 2, "{from:?}");
            assert!(packets.iter().all(|n| n * 7 > total), "{packets:?}");
            assert!(*read * 10 > total * 9, "{read} read of {total}");
            // Packets of the slower link arrive after those of the other one,
            // and count.
            assert!(*late * 50 > *read, "{late} late of {read}");
            // The nomination is followed, and there is only one at a time.
            let pairs = if cut == 0 { 2 } else { 1 };
            assert_eq!(call.selected.len(), pairs, "{:?}", call.selected);
            call.close();
        }
    });
}

#[test]
fn pion_with_feedback_by_stream_merges_two_links_too() {
    where_the_machine_keeps_up(|| {
        let Some(program) = program() else { return };
        let mut call = Call::new(&program, StreamDirection::Send, &["-ccfb"]);
        assert_eq!(
            call.feedback_format,
            (Level::SenderSide, FeedbackFormat::Stream)
        );
        call.begin(30);
        let start = call.now();
        survives_a_cut(&mut call, 1, BUSY);

        let gap = call.record.longest_gap(start, call.now());
        let Counts { from, read, late } = &call.counts;
        let packets: Vec<u64> = from.values().copied().collect();
        println!("no frame for {gap:?}; {packets:?} packets by link, {read} read, {late} late");
        let total = packets.iter().sum::<u64>();
        assert_eq!(packets.len(), 2, "{from:?}");
        assert!(packets.iter().all(|n| n * 7 > total), "{packets:?}");
        let (asker, answer) = channel();
        call.us.remote.send(Command::TellPaths(asker));
        for path in answer.recv().expect("the driver runs") {
            println!("{path:?}");
            let (reported, sent) = (path.acknowledged_packets, path.sent_packets);
            assert!(reported * 2 > sent, "{reported} of {sent} reported");
            assert!(path.lost_packets * 10 < sent, "{path:?}");
        }
        call.close();
    });
}

#[test]
fn a_pion_that_follows_no_second_nomination_shows_the_call_for_as_long_as_it_waits() {
    where_the_machine_keeps_up(|| {
        let Some(program) = program() else { return };
        let mut call = Call::new(&program, StreamDirection::Send, &["-ignore-nomination"]);
        call.begin(30);
        call.run(seconds(3));
        let cut_at = call.now();
        call.cut(0);
        // Longer than Pion takes to declare its selected pair disconnected.
        call.run(seconds(7));
        let restored_at = call.now();
        call.restore(0);
        call.run(seconds(3));

        assert_eq!(call.selected.len(), 1, "{:?}", call.selected);
        assert_eq!(call.states, ["connected", "disconnected", "connected"]);
        let gap = call.record.longest_gap(cut_at, call.now());
        println!("no frame for {gap:?}");
        assert!(gap <= Duration::from_millis(500) + BUSY.time, "{gap:?}");
        let back = call.record.path_up(Side::Sender, restored_at);
        assert!(back.is_some(), "the link is used again");
        call.close();
    });
}

#[test]
fn pion_publishes_to_us_and_moves_with_our_nomination() {
    where_the_machine_keeps_up(|| {
        let Some(program) = program() else { return };
        let mut call = Call::new(&program, StreamDirection::Receive, &[]);
        call.begin(30);
        call.run(seconds(2));
        let cut_at = call.now();
        call.cut(0);
        call.run(seconds(5));

        assert_eq!(call.selected.len(), 2, "{:?}", call.selected);
        let verdict = call.record.path_down(Side::Receiver, cut_at);
        let verdict = verdict.expect("a verdict") - cut_at;
        let gap = call.record.longest_gap(cut_at, call.now());
        println!("verdict {verdict:?}, no frame for {gap:?}");
        // None of our sockets dies, so only the regular checks detect it.
        assert!(gap <= seconds(3) + BUSY.time, "{gap:?}");
        call.close();
    });
}

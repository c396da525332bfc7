//! Removal of paths and streams, and the state of a call afterwards.

use std::collections::VecDeque;

use weft_cc::ControllerKind;
use weft_session::{
    Config, Delivery, Error, Event, Feedback, Frame, Input, Metering, Output, Policy, Protocol,
    ReceiveStreamConfig, Retransmission, SendStreamConfig, Session, Standing, Transmit,
};
use weft_testing::pictures::FRAME_INTERVAL;
use weft_testing::processor_time;
use weft_units::{Codec, Duration, Ecn, Instant, PathId, Rate, Rng, Ssrc, StreamId};
use weft_wire::rtp::{self, ExtensionMap};

const DELAY: Duration = Duration::from_millis(10);
/// Bytes of a picture: four packets.
const PICTURE: usize = 4400;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn extensions() -> ExtensionMap {
    ExtensionMap {
        path: Some(5),
        ..ExtensionMap::default()
    }
}

/// Sender and receiver, ten milliseconds apart on every path.
struct Call {
    now: Instant,
    ends: [Session; 2],
    streams: [StreamId; 2],
    flights: VecDeque<(Instant, usize, Transmit)>,
    next_frame: Instant,
    /// Whether the next picture is a keyframe.
    keyframe: bool,
    frames: u32,
    shown: u32,
    reports: u32,
    ended: u32,
    /// Whether reports to the sender are lost.
    unreported: bool,
}

impl Call {
    fn new() -> Call {
        let mut config = Config::new(extensions(), Ssrc(1));
        config.controller = ControllerKind::Fixed(Rate::from_mbps(20));
        config.max_rate = Rate::from_mbps(40);
        let session = || Session::new(Instant::ZERO, config.clone(), Rng::new(1));
        let mut ends = [session(), session()];
        let sent = ends[0].add_send_stream(SendStreamConfig {
            ssrc: Ssrc(100),
            retransmission: Retransmission::Rtx(Ssrc(101), 97),
            fec: Some((Ssrc(102), 98)),
            payload_type: 96,
            codec: Codec::Vp8,
            mid: None,
            rid: None,
            feedback: Feedback::EachPacket,
        });
        let received = ends[1].add_receive_stream(ReceiveStreamConfig {
            ssrc: Some(Ssrc(100)),
            mid: None,
            rid: None,
            payload_type: 96,
            rtx: Some((Some(Ssrc(101)), 97)),
            fec: Some((Some(Ssrc(102)), 98)),
            codec: Codec::Vp8,
            delivery: Delivery::Frames,
        });
        Call {
            now: Instant::ZERO,
            ends,
            streams: [sent, received],
            flights: VecDeque::new(),
            next_frame: Instant::ZERO,
            keyframe: true,
            frames: 0,
            shown: 0,
            reports: 0,
            ended: 0,
            unreported: false,
        }
    }

    fn tell(&mut self, input: fn(PathId) -> Input<'static>, path: PathId) {
        for end in &mut self.ends {
            end.handle_input(self.now, input(path));
        }
    }

    fn up(&mut self, path: PathId) {
        self.tell(
            |path| Input::PathUp {
                path,
                rtt: DELAY * 2,
            },
            path,
        );
    }

    fn remove(&mut self, path: PathId) {
        self.tell(|path| Input::PathRemoved { path }, path);
    }

    /// Changes the path this many times, each time with an overlap. Returns the id of the
    /// remaining path.
    fn change(&mut self, changes: usize) -> PathId {
        self.up(PathId(0));
        self.run(ms(100));
        for change in 1..=changes {
            self.up(PathId(change as u8));
            self.run(ms(100));
            self.remove(PathId((change - 1) as u8));
            self.run(ms(100));
        }
        PathId(changes as u8)
    }

    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.drain();
            let due = self.ends.iter().filter_map(Session::poll_timeout);
            let arrival = self.flights.front().map(|(at, _, _)| *at);
            let next = due.map(|d| d.at).chain(arrival).chain([self.next_frame]);
            self.now = next.min().expect("a next frame").max(self.now);
            self.step();
        }
    }

    fn step(&mut self) {
        let now = self.now;
        while self.flights.front().is_some_and(|(at, _, _)| *at <= now) {
            let (_, to, sent) = self.flights.pop_front().expect("it is there");
            if self.unreported && to == 0 && sent.protocol == Protocol::Rtcp {
                continue;
            }
            let (path, ecn, packet) = (sent.path, sent.ecn, &sent.packet);
            let input = match sent.protocol {
                Protocol::Rtp => Input::Rtp { path, ecn, packet },
                Protocol::Rtcp => Input::Rtcp { path, packet },
            };
            self.ends[to].handle_input(now, input);
            for path in sent
                .copies
                .iter()
                .filter(|_| sent.protocol == Protocol::Rtp)
            {
                let (path, ecn) = (*path, Ecn::NotEct);
                let input = Input::RtpAgain { path, ecn, packet };
                self.ends[to].handle_input(now, input);
            }
        }
        for end in &mut self.ends {
            if end.poll_timeout().is_some_and(|d| d.at <= now) {
                end.handle_input(now, Input::Timeout);
            }
        }
        if self.next_frame <= now {
            let keyframe = std::mem::take(&mut self.keyframe);
            let data = [u8::from(!keyframe); PICTURE];
            let frame = Frame {
                keyframe,
                ..Frame::new(&data, self.frames * 3000, now)
            };
            // The stream may have been removed.
            let _ = self.ends[0].send_frame(now, self.streams[0], &frame);
            self.frames += 1;
            self.next_frame += FRAME_INTERVAL;
        }
    }

    fn drain(&mut self) {
        for (from, end) in self.ends.iter_mut().enumerate() {
            while let Some(output) = end.poll_output() {
                match output {
                    Output::Transmit(sent) => {
                        self.reports += u32::from(sent.protocol == Protocol::Rtcp);
                        self.flights.push_back((self.now + DELAY, 1 - from, sent));
                    }
                    Output::Event(Event::KeyframeRequested { .. }) => self.keyframe = true,
                    Output::Event(Event::FrameReceived { .. }) => self.shown += 1,
                    Output::Event(Event::StreamEnded { .. }) => self.ended += 1,
                    _ => {}
                }
            }
        }
    }

    /// Returns the reports of both ends in ten seconds: there are more if there is a
    /// choice of paths.
    fn reports_in_ten_seconds(&mut self) -> u32 {
        let before = self.reports;
        self.run(ms(10_000));
        self.reports - before
    }

    /// Returns the path numbers of packets in flight to the receiver on this path.
    fn numbers_on(&self, id: PathId) -> Vec<u16> {
        let sent = self.flights.iter().map(|(_, _, sent)| sent);
        let sent = sent.filter(|s| s.path == id && s.protocol == Protocol::Rtp);
        let map = extensions();
        let number = |sent: &Transmit| {
            let (header, _) = rtp::parse(&sent.packet, &map).expect("a packet");
            header.extensions.path.expect("its path").transport_sequence
        };
        sent.map(number).collect()
    }
}

#[test]
fn three_hundred_changes_of_path_leave_a_call_as_one_does() {
    let [mut one, mut many] = [Call::new(), Call::new()];
    one.change(1);
    let last = many.change(300);
    let mut reports = Vec::new();
    for call in [&mut one, &mut many] {
        call.run(ms(1000));
        reports.push(call.reports_in_ten_seconds());
        for end in &call.ends {
            assert_eq!(end.stats().paths.len(), 1);
            assert_eq!(end.signs_of_life().count(), 1);
        }
        let sender = call.ends[0].stats();
        assert_eq!(sender.paths[0].lost_packets, 0);
        assert_eq!(sender.senders[0].nacked, 0);
    }
    assert_eq!(many.ends[0].stats().paths[0].path, last);
    assert!(reports[0].abs_diff(reports[1]) < 10, "{reports:?}");
    one.up(PathId(9));
    let of_several = one.reports_in_ten_seconds();
    assert!(of_several > reports[1] + 20, "{of_several} and {reports:?}");
    // The last frames are in flight.
    assert!(
        many.shown + 5 > many.frames,
        "{} of {}",
        many.shown,
        many.frames
    );
}

#[test]
fn a_path_has_nothing_of_an_earlier_one_with_its_id() {
    let mut call = Call::new();
    let costly = Policy {
        metering: Metering::Metered,
        standing: Standing::Backup,
        ..Policy::default()
    };
    let (first, other) = (PathId(7), PathId(8));
    call.up(first);
    call.up(other);
    call.run(ms(2000));
    let sent = call.ends[0].stats().paths[0].sent_packets;
    assert!(sent > 5, "{sent} packets");
    call.ends[0].set_path_policy(call.now, first, costly);
    call.remove(first);
    assert_eq!(call.ends[0].path_policy(first), Policy::default());
    call.run(ms(500));
    call.up(first);
    let stats = call.ends[0].stats();
    let again = stats.paths.iter().find(|p| p.path == first);
    let again = again.expect("it is up");
    assert_eq!(again.policy, Policy::default());
    // The first probe has left.
    assert!(again.sent_packets <= 1, "{}", again.sent_packets);
    assert_eq!(again.received_packets, 0);
}

/// Continuing the numbers prevents the peer from taking a new packet for an old one.
#[test]
fn a_path_continues_the_numbers_of_an_earlier_one_with_its_id() {
    let mut call = Call::new();
    let id = PathId(3);
    call.up(id);
    call.run(ms(1000));
    let mut last = None;
    while last.is_none() {
        call.run(ms(1));
        last = call.numbers_on(id).last().copied();
    }
    call.remove(id);
    call.run(ms(500));
    call.up(id);
    let mut first = None;
    while first.is_none() {
        call.run(ms(1));
        first = call.numbers_on(id).first().copied();
    }
    assert!(first > last, "{first:?} after {last:?}");
    let shown = call.shown;
    call.run(ms(2000));
    assert!(call.shown > shown + 50, "{} frames", call.shown - shown);
    assert_eq!(call.ends[0].stats().paths[0].lost_packets, 0);
}

#[test]
fn feedback_for_a_path_that_left_is_a_counted_drop() {
    let mut call = Call::new();
    call.up(PathId(0));
    call.run(ms(1000));
    assert_eq!(call.ends[0].drops().stale_feedback, 0);
    // The receiver does not know about the removal yet.
    let path = PathId(0);
    call.ends[0].handle_input(call.now, Input::PathRemoved { path });
    call.run(ms(500));
    assert!(call.ends[0].drops().stale_feedback > 0);
}

/// A peer with libnice stays on the path that it nominated, and reports nothing on the
/// other path, which only answers checks.
#[test]
fn a_path_without_any_report_is_unheard_after_the_reported_one_left() {
    let mut call = Call::new();
    let (reported, other) = (PathId(0), PathId(1));
    call.up(reported);
    call.run(ms(1000));
    assert!(!call.ends[0].is_unheard(call.now));
    call.unreported = true;
    call.up(other);
    call.remove(reported);
    call.run(ms(1500));
    assert!(!call.ends[0].is_unheard(call.now));
    call.run(ms(2000));
    assert!(call.ends[0].is_unheard(call.now));
    call.unreported = false;
    call.run(ms(1000));
    assert!(!call.ends[0].is_unheard(call.now));
}

#[test]
fn few_paths_that_are_down_are_remembered() {
    let mut call = Call::new();
    call.up(PathId(255));
    for id in 0..200 {
        call.up(PathId(id));
        call.run(ms(20));
        call.tell(|path| Input::PathDown { path }, PathId(id));
    }
    for end in &call.ends {
        assert_eq!(end.stats().paths.len(), 5);
    }
}

/// Returns the processor time for a second of the call, in seconds.
fn cost(call: &mut Call) -> f64 {
    let before = processor_time();
    call.run(ms(1000));
    (processor_time() - before).as_secs_f64()
}

#[test]
fn paths_that_left_cost_nothing() {
    let [mut none, mut many] = [Call::new(), Call::new()];
    none.change(1);
    many.change(200);
    // The two calls alternate, so that other load on the machine affects both.
    let costs = (0..15).map(|_| (cost(&mut none), cost(&mut many)));
    let (mut none, mut many): (Vec<f64>, Vec<f64>) = costs.unzip();
    none.sort_by(f64::total_cmp);
    many.sort_by(f64::total_cmp);
    let ratio = many[4] / none[4];
    println!("{ratio} times as much");
    // The bound is wide because machines may be busy.
    assert!(ratio < 1.5, "{ratio} times as much");
}

#[test]
fn a_stream_that_left_is_forgotten_and_the_peer_hears_of_it() {
    let mut call = Call::new();
    call.up(PathId(0));
    call.run(ms(1000));
    let [sent, received] = call.streams;
    let now = call.now;
    assert_eq!(call.ends[0].remove_stream(now, sent), Ok(()));
    let gone = Err(Error::UnknownStream(sent));
    assert_eq!(call.ends[0].remove_stream(now, sent), gone);
    let stats = call.ends[0].stats();
    assert!(stats.senders.is_empty());
    assert_eq!(stats.paths[0].queued.0, 0);
    call.run(ms(100));
    assert_eq!(call.ended, 1);
    assert_eq!(call.ends[1].remove_stream(call.now, received), Ok(()));
    assert!(call.ends[1].stats().receivers.is_empty());
    call.run(ms(2000));
}

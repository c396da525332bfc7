//! Once a call runs, a packet needs no allocation, neither when sent nor when received:
//! memory is only allocated for each frame and each report.

use std::collections::VecDeque;

use weft_cc::ControllerKind;
use weft_session::{
    Config, Delivery, Event, Feedback, Frame, Input, Output, Protocol, ReceiveStreamConfig,
    Retransmission, SendStreamConfig, Session, Transmit,
};
use weft_testing::allocation::{Counting, measure};
use weft_testing::pictures::FRAME_INTERVAL;
use weft_units::{Codec, Duration, Ecn, Instant, PathId, Rate, Rng, Ssrc, StreamId};
use weft_wire::media::{ForwardedPacket, ForwardedPayload, SharedBytes};
use weft_wire::payload::{Content, Prefix};
use weft_wire::rtp::ExtensionMap;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const DELAY: Duration = Duration::from_millis(10);
/// Bytes of payload that fit a packet.
const PART: usize = 1100;
const WARM_UP: Duration = Duration::from_secs(5);
const MEASURED: Duration = Duration::from_secs(10);

/// Whether a packet's memory is given back when it has arrived.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Memory {
    GivenBack,
    Dropped,
}

/// Sender and receiver, ten milliseconds apart on two paths.
struct Call {
    now: Instant,
    ends: [Session; 2],
    stream: StreamId,
    /// Packets in flight with their arrival time and receiving end.
    flights: VecDeque<(Instant, usize, Transmit)>,
    next_frame: Instant,
    data: Vec<u8>,
    frames: u32,
    packets: u64,
    shown: u32,
    memory: Memory,
}

impl Call {
    fn new(packets_per_frame: usize, memory: Memory) -> Call {
        let extensions = ExtensionMap {
            path: Some(5),
            ..ExtensionMap::default()
        };
        let mut config = Config::new(extensions, Ssrc(1));
        config.controller = ControllerKind::Fixed(Rate::from_mbps(20));
        config.max_rate = Rate::from_mbps(40);
        let session = || Session::new(Instant::ZERO, config.clone(), Rng::new(1));
        let mut ends = [session(), session()];
        let stream = ends[0].add_send_stream(SendStreamConfig {
            ssrc: Ssrc(100),
            retransmission: Retransmission::Rtx(Ssrc(101), 97),
            fec: None,
            payload_type: 96,
            codec: Codec::Vp8,
            mid: None,
            rid: None,
            feedback: Feedback::EachPacket,
        });
        ends[1].add_receive_stream(ReceiveStreamConfig {
            ssrc: Some(Ssrc(100)),
            mid: None,
            rid: None,
            payload_type: 96,
            rtx: Some((Some(Ssrc(101)), 97)),
            fec: None,
            codec: Codec::Vp8,
            delivery: Delivery::Frames,
        });
        for end in &mut ends {
            for path in [PathId(0), PathId(1)] {
                let rtt = DELAY * 2;
                end.handle_input(Instant::ZERO, Input::PathUp { path, rtt });
            }
        }
        Call {
            now: Instant::ZERO,
            ends,
            stream,
            flights: VecDeque::new(),
            next_frame: Instant::ZERO,
            data: vec![1; packets_per_frame * PART],
            frames: 0,
            packets: 0,
            shown: 0,
            memory,
        }
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
            let (path, ecn, packet) = (sent.path, sent.ecn, &sent.packet);
            let input = match sent.protocol {
                Protocol::Rtp => Input::Rtp { path, ecn, packet },
                Protocol::Rtcp => Input::Rtcp { path, packet },
            };
            self.ends[to].handle_input(now, input);
            if sent.protocol == Protocol::Rtp {
                for path in sent.copies {
                    let ecn = Ecn::NotEct;
                    let input = Input::RtpAgain { path, ecn, packet };
                    self.ends[to].handle_input(now, input);
                }
            }
            self.packets += u64::from(sent.protocol == Protocol::Rtp);
            if self.memory == Memory::GivenBack {
                self.ends[1 - to].recycle(sent.packet);
            }
        }
        for end in &mut self.ends {
            if end.poll_timeout().is_some_and(|d| d.at <= now) {
                end.handle_input(now, Input::Timeout);
            }
        }
        if self.next_frame <= now {
            self.send_frame();
        }
    }

    fn send_frame(&mut self) {
        let keyframe = self.frames == 0;
        self.data[0] = u8::from(!keyframe);
        let frame = Frame {
            keyframe,
            ..Frame::new(&self.data, self.frames * 3000, self.now)
        };
        let sent = self.ends[0].send_frame(self.now, self.stream, &frame);
        sent.expect("it has the stream");
        self.frames += 1;
        self.next_frame += FRAME_INTERVAL;
    }

    fn drain(&mut self) {
        for (from, end) in self.ends.iter_mut().enumerate() {
            while let Some(output) = end.poll_output() {
                match output {
                    Output::Transmit(sent) => {
                        self.flights.push_back((self.now + DELAY, 1 - from, sent));
                    }
                    Output::Event(Event::FrameReceived { .. }) => self.shown += 1,
                    _ => {}
                }
            }
        }
    }
}

/// Returns the allocations and packets of ten seconds.
fn cost(packets_per_frame: usize, memory: Memory) -> (u64, u64) {
    let mut call = Call::new(packets_per_frame, memory);
    call.run(WARM_UP);
    let (packets, shown) = (call.packets, call.shown);
    let ((), cost) = measure(|| call.run(MEASURED));
    assert!((295..=305).contains(&(call.shown - shown)));
    (cost.calls, call.packets - packets)
}

#[test]
fn a_packet_takes_no_memory_of_its_own() {
    let (few_allocations, few) = cost(8, Memory::GivenBack);
    let (many_allocations, many) = cost(40, Memory::GivenBack);
    println!("{few_allocations} for {few} packets, {many_allocations} for {many}");
    let packets = many - few;
    assert!(packets > 8_000, "{packets} packets more");
    // The lists of frames and reports double until they are long enough.
    let more = many_allocations.saturating_sub(few_allocations);
    assert!(more < packets / 2, "{more} for {packets} packets more");
}

#[test]
fn packets_that_are_not_given_back_take_one_allocation_each() {
    let (kept, _) = cost(40, Memory::GivenBack);
    let (dropped, packets) = cost(40, Memory::Dropped);
    let more = dropped - kept;
    assert!((packets..packets * 11 / 10).contains(&more), "{more} more");
}

#[test]
fn the_payload_of_a_forwarded_packet_is_never_copied() {
    let came = SharedBytes::from(vec![7; PART]);
    let packet = ForwardedPacket {
        sequence: 9,
        timestamp: 0,
        marker: true,
        audio_level: None,
        dependency: Box::default(),
        payload: ForwardedPayload {
            prefix: Prefix::new(&[0x90, 0x80, 0x81, 0x02]),
            body: came.behind(3),
        },
        keyframe: true,
        content: Content::Media,
    };
    let mut calls = [(), (), ()].map(|()| Call::new(1, Memory::GivenBack));
    for (viewers, call) in (1..).zip(&mut calls) {
        let sender = &mut call.ends[0];
        let sent = sender.send_packet(Instant::ZERO, call.stream, &packet);
        sent.expect("it has the stream");
        let outputs = std::iter::from_fn(|| sender.poll_output());
        let sent: Vec<Transmit> = outputs.filter_map(transmitted).collect();
        let [sent] = &sent[..] else {
            panic!("{} packets went out", sent.len());
        };
        // Encryption reads the payload where it arrived.
        assert_eq!(sent.rest.as_ptr(), came[3..].as_ptr());
        assert_eq!(
            sent.packet[sent.packet.len() - 4..],
            [0x90, 0x80, 0x81, 0x02]
        );
        assert_eq!(sent.size().0 as usize, sent.packet.len() + PART - 3);
        // One reference each for this test, the packet and this output, plus one in the
        // store of each viewer so far, for retransmissions.
        assert_eq!(came.references(), 3 + viewers);
    }
}

fn transmitted(output: Output) -> Option<Transmit> {
    match output {
        Output::Transmit(sent) if sent.protocol == Protocol::Rtp => Some(sent),
        _ => None,
    }
}

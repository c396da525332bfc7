//! Connection whose two ends both send and receive, within a limit on everything sent.

use std::collections::VecDeque;

use weft_session::{
    Config, Delivery, Event, Feedback, Frame, Input, Output, Protocol, ReceiveStreamConfig,
    Retransmission, SendStreamConfig, Session, Transmit,
};
use weft_testing::pictures::FRAME_INTERVAL;
use weft_units::{Codec, Duration, Ecn, Instant, PathId, Rate, Rng, Ssrc, StreamId};
use weft_wire::rtp::ExtensionMap;

const DELAY: Duration = Duration::from_millis(10);
const TIME: Duration = Duration::from_secs(10);
const LIMIT: Rate = Rate::from_mbps(1);
/// Bytes of a picture: 720 kbit/s at 30 a second.
const PICTURE: usize = 3000;

/// Creates an end that sends its stream and receives that of the other end.
fn end(own: u32, other: u32) -> (Session, StreamId) {
    let extensions = ExtensionMap {
        transport_sequence: Some(3),
        ..ExtensionMap::default()
    };
    let mut config = Config::new(extensions, Ssrc(own + 10));
    config.send_limit = Some(LIMIT);
    let mut session = Session::new(Instant::ZERO, config, Rng::new(u64::from(own)));
    let stream = session.add_send_stream(SendStreamConfig {
        ssrc: Ssrc(own),
        retransmission: Retransmission::Rtx(Ssrc(own + 1), 97),
        fec: None,
        payload_type: 96,
        codec: Codec::Vp8,
        mid: None,
        rid: None,
        feedback: Feedback::EachPacket,
    });
    session.add_receive_stream(ReceiveStreamConfig {
        ssrc: Some(Ssrc(other)),
        mid: None,
        rid: None,
        payload_type: 96,
        rtx: Some((Some(Ssrc(other + 1)), 97)),
        fec: None,
        codec: Codec::Vp8,
        delivery: Delivery::Frames,
    });
    let path = PathId(0);
    let rtt = DELAY * 2;
    session.handle_input(Instant::ZERO, Input::PathUp { path, rtt });
    (session, stream)
}

/// Runs the call; returns the pictures that each end has received, and the RTP bytes that
/// it has sent.
fn run() -> [(u32, usize); 2] {
    let mut ends = [end(100, 200), end(200, 100)];
    let mut results = [(0, 0); 2];
    let mut flights: VecDeque<(Instant, usize, Transmit)> = VecDeque::new();
    // The second end sends halfway between the pictures of the first.
    let mut next = [Instant::ZERO, Instant::ZERO + FRAME_INTERVAL / 2];
    let mut sent = [0; 2];
    let mut now = Instant::ZERO;
    while now < Instant::ZERO + TIME {
        while flights.front().is_some_and(|(at, _, _)| *at <= now) {
            let (
                _,
                to,
                Transmit {
                    path,
                    packet,
                    protocol,
                    ..
                },
            ) = flights.pop_front().expect("it is there");
            let (ecn, packet) = (Ecn::NotEct, &packet[..]);
            let input = match protocol {
                Protocol::Rtp => Input::Rtp { path, ecn, packet },
                Protocol::Rtcp => Input::Rtcp { path, packet },
            };
            ends[to].0.handle_input(now, input);
        }
        for (place, (session, stream)) in ends.iter_mut().enumerate() {
            if session.poll_timeout().is_some_and(|due| due.at <= now) {
                session.handle_input(now, Input::Timeout);
            }
            if next[place] <= now {
                let mut data = vec![1; PICTURE];
                data[0] = u8::from(sent[place] != 0);
                let frame = Frame {
                    keyframe: sent[place] == 0,
                    ..Frame::new(&data, sent[place] * 3000, now)
                };
                session
                    .send_frame(now, *stream, &frame)
                    .expect("its stream");
                sent[place] += 1;
                next[place] += FRAME_INTERVAL;
            }
            while let Some(output) = session.poll_output() {
                match output {
                    Output::Transmit(transmit) => {
                        if transmit.protocol == Protocol::Rtp {
                            results[place].1 += transmit.packet.len() + transmit.rest.len();
                        }
                        flights.push_back((now + DELAY, 1 - place, transmit));
                    }
                    Output::Event(Event::FrameReceived { .. }) => results[place].0 += 1,
                    _ => {}
                }
            }
        }
        let due = ends.iter().filter_map(|(end, _)| end.poll_timeout());
        let arrival = flights.front().map(|(at, _, _)| *at);
        let due = due.map(|due| due.at).chain(arrival).chain(next);
        now = due.min().expect("a next picture").max(now);
    }
    results
}

#[test]
fn both_ends_send_and_receive_everything_within_the_bound() {
    for (shown, sent) in run() {
        assert!((290..=301).contains(&shown), "{shown} pictures");
        let rate = sent as f64 * 8.0 / TIME.as_secs_f64();
        let bound = LIMIT.as_bps() as f64 * 1.05;
        assert!((700e3..=bound).contains(&rate), "{rate} bit/s");
    }
}

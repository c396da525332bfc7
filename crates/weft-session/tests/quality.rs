//! Quality feedback between two sessions, and the effect of a lying peer.

use weft_session::{
    Config, Delivery, Drops, Feedback, Frame, Input, Output, PathMode, Protocol,
    ReceiveStreamConfig, Retransmission, SchedulerKind, SendStreamConfig, Session,
};
use weft_units::{Codec, Duration, Instant, PathId, Rate, Rng, Ssrc, StreamId};
use weft_wire::rtcp::{Packet, QualityFeedback, SourceDescription};
use weft_wire::rtp::ExtensionMap;

const MEDIA: Ssrc = Ssrc(100);

fn config(extensions: ExtensionMap) -> Config {
    let mut config = Config::new(extensions, Ssrc(1));
    config.scheduler = SchedulerKind::Converge;
    config.max_rate = Rate::from_mbps(4);
    config
}

fn full() -> ExtensionMap {
    ExtensionMap {
        path: Some(5),
        ..ExtensionMap::default()
    }
}

/// Returns a sender over two paths that has just sent a frame of 20 packets.
fn sender(extensions: ExtensionMap) -> (Session, StreamId, Instant) {
    let mut session = Session::new(Instant::ZERO, config(extensions), Rng::new(1));
    for (path, rtt) in [(0, 40), (1, 90)] {
        let (path, rtt) = (PathId(path), Duration::from_millis(rtt));
        session.handle_input(Instant::ZERO, Input::PathUp { path, rtt });
    }
    let stream = session.add_send_stream(SendStreamConfig {
        ssrc: MEDIA,
        retransmission: Retransmission::Rtx(Ssrc(101), 97),
        payload_type: 96,
        codec: Codec::Vp8,
        mid: None,
        rid: None,
        feedback: Feedback::EachPacket,
        fec: None,
    });
    let mut now = Instant::ZERO;
    for number in 0..2 {
        let frame = Frame {
            keyframe: number == 0,
            ..Frame::new(&[1; 20 * 1100], number * 3000, now)
        };
        session
            .send_frame(now, stream, &frame)
            .expect("the stream exists");
        for _ in 0..200 {
            while session.poll_output().is_some() {}
            now += Duration::from_millis(1);
            session.handle_input(now, Input::Timeout);
        }
    }
    (session, stream, now)
}

fn tell(session: &mut Session, now: Instant, packet: &Packet) {
    let mut bytes = Vec::new();
    packet.write(&mut bytes);
    let path = PathId(0);
    let packet = &bytes;
    session.handle_input(now, Input::Rtcp { path, packet });
}

fn feedback(path: u8, alpha: i16) -> QualityFeedback {
    QualityFeedback {
        sender: Ssrc(9),
        media: MEDIA,
        path: PathId(path),
        alpha,
        construction: Duration::from_millis(50),
    }
}

#[test]
fn believable_feedback_reaches_the_scheduler_and_the_figures() {
    let (mut session, _, now) = sender(full());
    // The slow path carried 10 of the last frame's 20 packets.
    tell(
        &mut session,
        now,
        &Packet::QualityFeedback(feedback(1, -10)),
    );
    let stats = session.stats();
    let path = stats.paths[1];
    assert_eq!((path.quality.feedback, path.quality.alpha), (1, -10));
    assert_eq!(path.quality.construction, Duration::from_millis(50));
    assert_eq!(path.usage.state, PathMode::Disabled);
    assert_eq!(stats.drops, Drops::default());
}

#[test]
fn lies_are_ignored_and_counted() {
    let (mut session, _, now) = sender(full());
    let before = session.target_rate();
    let lies = [
        // More late packets than the path ever carried.
        feedback(1, -500),
        feedback(1, 500),
        feedback(0, i16::MIN),
        feedback(0, i16::MAX),
        // A path and a stream that do not exist.
        feedback(7, -1),
        QualityFeedback {
            media: Ssrc(12345),
            ..feedback(1, -1)
        },
        // A frame that took over an hour.
        QualityFeedback {
            construction: Duration::from_micros(u32::MAX.into()),
            ..feedback(1, -1)
        },
    ];
    for (index, lie) in lies.iter().enumerate() {
        tell(&mut session, now, &Packet::QualityFeedback(*lie));
        assert_eq!(session.stats().drops.implausible, index as u64 + 1);
    }
    let stats = session.stats();
    assert!(stats.paths.iter().all(|p| p.quality.feedback == 0));
    assert!(
        stats
            .paths
            .iter()
            .all(|p| p.usage.state == PathMode::Enabled)
    );
    assert_eq!(session.target_rate(), before);
}

#[test]
fn without_paths_on_the_wire_feedback_is_nobodys() {
    let transport = ExtensionMap {
        transport_sequence: Some(3),
        ..ExtensionMap::default()
    };
    let (mut session, _, now) = sender(transport);
    tell(&mut session, now, &Packet::QualityFeedback(feedback(1, -1)));
    assert_eq!(session.stats().drops.implausible, 1);
    assert!(
        session
            .stats()
            .paths
            .iter()
            .all(|p| p.quality.feedback == 0)
    );
}

#[test]
fn a_path_stays_in_use_whatever_feedback_says() {
    let (mut session, stream, mut now) = sender(full());
    for round in 0..200_u32 {
        for path in [0, 1] {
            let alpha = if round % 3 == 0 { -15 } else { 5 };
            tell(
                &mut session,
                now,
                &Packet::QualityFeedback(feedback(path, alpha)),
            );
        }
        let frame = Frame {
            keyframe: false,
            ..Frame::new(&[1; 3000], 9000 + round * 3000, now)
        };
        session
            .send_frame(now, stream, &frame)
            .expect("the stream exists");
        while session.poll_output().is_some() {}
        now += Duration::from_millis(33);
        session.handle_input(now, Input::Timeout);
        let enabled = |p: &&weft_session::PathStats| p.usage.state == PathMode::Enabled;
        assert!(session.stats().paths.iter().filter(enabled).count() >= 1);
        assert!(session.target_rate() > Rate::ZERO);
    }
}

fn receiver() -> (Session, StreamId) {
    let mut session = Session::new(Instant::ZERO, config(full()), Rng::new(2));
    let stream = session.add_receive_stream(ReceiveStreamConfig {
        ssrc: Some(MEDIA),
        mid: None,
        rid: None,
        payload_type: 96,
        rtx: None,
        codec: Codec::Vp8,
        delivery: Delivery::Packets,
        fec: None,
    });
    (session, stream)
}

fn describe(rate: u32) -> Packet {
    Packet::SourceDescription(vec![SourceDescription {
        ssrc: MEDIA,
        cname: "sender".to_owned(),
        frame_rate: Some(rate),
    }])
}

#[test]
fn frame_rates_from_1_to_240_are_accepted() {
    let (mut session, _) = receiver();
    let expected = |s: &Session| s.stats().receivers[0].1.quality.expected_inter_frame;
    let lies = [0, 999, 240_001, 10_000_000, u32::MAX];
    for (index, rate) in lies.into_iter().enumerate() {
        tell(&mut session, Instant::ZERO, &describe(rate));
        assert_eq!(session.stats().drops.implausible, index as u64 + 1);
        assert_eq!(expected(&session), None, "{rate}");
    }
    for (rate, millis) in [(1_000, 1000), (25_000, 40), (200_000, 5)] {
        tell(&mut session, Instant::ZERO, &describe(rate));
        assert_eq!(expected(&session), Some(Duration::from_millis(millis)));
    }
    tell(&mut session, Instant::ZERO, &describe(0));
    assert_eq!(expected(&session), Some(Duration::from_millis(5)));
}

#[test]
fn the_sender_tells_its_frame_rate() {
    let (mut session, _, mut now) = sender(full());
    let mut told = Vec::new();
    for _ in 0..1500 {
        now += Duration::from_millis(1);
        session.handle_input(now, Input::Timeout);
        while let Some(output) = session.poll_output() {
            let Output::Transmit(transmit) = output else {
                continue;
            };
            if transmit.protocol != Protocol::Rtcp {
                continue;
            }
            for packet in weft_wire::rtcp::parse_compound(&transmit.packet, &mut {
                weft_wire::rtcp::MAX_ENTRIES
            })
            .unwrap_or_default()
            {
                if let Packet::SourceDescription(list) = packet {
                    told.extend(list.iter().filter_map(|d| d.frame_rate));
                }
            }
        }
    }
    assert!(
        !told.is_empty() && told.iter().all(|rate| *rate == 30_000),
        "{told:?}"
    );
}

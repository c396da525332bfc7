//! Memory of a session for a player that says nothing: packets sent within the
//! time in which they may be asked for again.

use weft_session::{Config, Feedback, Input, Retransmission, SendStreamConfig, Session};
use weft_testing::allocation::{Counting, measure};
use weft_units::{Codec, Duration, Instant, PathId, Rate, Rng, Ssrc, StreamId};
use weft_wire::media::{ForwardedPacket, SharedBytes};
use weft_wire::payload::Content;
use weft_wire::rtp::ExtensionMap;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most that is taken of a publisher, and so forwarded.
const RATE: Rate = Rate::from_mbps(100);
/// Packets of it, of which a hundred and some bytes are headers and tags.
const PAYLOAD: usize = 1_100;
/// Four seconds of it.
const PACKETS: u64 = 40_000;
const CAMERAS: u32 = 4;

fn camera(session: &mut Session, number: u32) -> StreamId {
    session.add_send_stream(SendStreamConfig {
        ssrc: Ssrc(200 + 2 * number),
        retransmission: Retransmission::Rtx(Ssrc(201 + 2 * number), 97),
        fec: None,
        payload_type: 96,
        codec: Codec::Vp8,
        mid: None,
        rid: None,
        feedback: Feedback::EachPacket,
    })
}

#[test]
fn a_player_that_is_silent_costs_two_seconds_of_what_is_published() {
    let extensions = ExtensionMap {
        path: Some(5),
        ..ExtensionMap::default()
    };
    let mut config = Config::new(extensions, Ssrc(1));
    config.max_rate = RATE;
    config.path_limits.start = RATE;
    config.path_limits.max = RATE;
    let mut session = Session::new(Instant::ZERO, config, Rng::new(1));
    let (path, rtt) = (PathId(0), Duration::from_millis(20));
    session.handle_input(Instant::ZERO, Input::PathUp { path, rtt });
    let cameras: Vec<StreamId> = (0..CAMERAS).map(|n| camera(&mut session, n)).collect();
    let interval = RATE.time_for(weft_units::Bytes(1_200)).expect("a rate");
    let mut now = Instant::ZERO;
    let mut sent = 0;
    let ((), cost) = measure(|| {
        for number in 0..PACKETS {
            now += interval;
            session.handle_input(now, Input::Timeout);
            let packet = ForwardedPacket {
                sequence: 1 + number / u64::from(CAMERAS),
                timestamp: (number / 40) as u32 * 3_000,
                marker: number % 40 >= 36,
                audio_level: None,
                payload: SharedBytes::from(vec![0x10; PAYLOAD]).into(),
                content: Content::Media,
                // One that nobody answers is not sent anything but keyframes.
                keyframe: true,
            };
            let to = cameras[(number % u64::from(CAMERAS)) as usize];
            session.send_packet(now, to, &packet).expect("a stream");
            while session.poll_output().is_some() {
                sent += 1;
            }
        }
    });
    println!("{} bytes are held of {sent} packets", cost.peak);
    assert!(sent >= PACKETS, "{sent} went out");
    // As SECURITY.md says, and no less than half of it, or nothing was held.
    assert!((12_500_000..26_000_000).contains(&cost.peak), "{cost:?}");
}

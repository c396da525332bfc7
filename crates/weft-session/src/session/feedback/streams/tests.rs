use weft_units::{Duration, Ecn, Instant, Rng, Ssrc};
use weft_wire::rtcp::PacketArrival;
use weft_wire::rtp::{ExtensionMap, Extensions, Header};

use super::{MOST_REPORTED, arrived, blocks};
use crate::arrival::Arrival;
use crate::config::{Config, FeedbackFormat};
use crate::session::Session;
use crate::session::feedback::log::ReceiveLog;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn session() -> Session {
    let config = Config {
        feedback_format: FeedbackFormat::Stream,
        ..Config::new(ExtensionMap::default(), Ssrc(1))
    };
    Session::new(Instant::ZERO, config, Rng::new(1))
}

#[test]
fn a_report_names_each_packet_and_what_is_missing_between() {
    let mut log = ReceiveLog::default();
    for (number, ms, ecn) in [
        (10, 1000, Ecn::Ect1),
        (11, 1250, Ecn::Ce),
        (13, 1500, Ecn::Ect1),
    ] {
        log.on_packet(number, Arrival { at: at(ms), ecn });
    }
    let runs = blocks(at(1500), &log.take_report(), &mut { MOST_REPORTED });
    let [(begin, packets)] = &runs[..] else {
        panic!("{} runs", runs.len())
    };
    // Half a second is 512/1024 s.
    let came = |ecn, offset| Some(PacketArrival { ecn, offset });
    let expected = [came(1, 512), came(3, 256), None, came(1, 0)];
    assert_eq!((*begin, &packets[..]), (10, &expected[..]));
}

#[test]
fn a_jump_of_the_numbers_is_not_reported_as_losses() {
    let mut log = ReceiveLog::default();
    let ecn = Ecn::NotEct;
    for number in [10, 20_000, 20_001] {
        log.on_packet(number, Arrival { at: at(5), ecn });
    }
    let runs = blocks(at(5), &log.take_report(), &mut { MOST_REPORTED });
    let runs: Vec<_> = runs
        .into_iter()
        .map(|(begin, packets)| (begin, packets.len()))
        .collect();
    assert_eq!(runs, [(10, 1), (20_000, 2)]);
}

#[test]
fn arrivals_count_back_from_the_report_in_the_peers_clock() {
    let mut session = session();
    let first = session.report_time(0xffff_0000);
    // A second later, across the wrap.
    let second = session.report_time(0x0000_0000);
    assert_eq!(second.saturating_since(first), Duration::from_secs(1));
    // A late report.
    assert_eq!(
        session.report_time(0xffff_8000) + Duration::from_millis(500),
        second
    );
    let before = PacketArrival::new(1, Some(Duration::from_millis(250)));
    let arrival = arrived(second, before);
    assert_eq!(
        second.saturating_since(arrival.at),
        Duration::from_millis(250)
    );
    assert_eq!(arrival.ecn, Ecn::Ect1);
    assert_eq!(arrived(second, PacketArrival::new(0, None)).at, second);
}

#[test]
fn streams_that_a_peer_makes_up_have_no_log_beyond_a_few() {
    let mut session = session();
    for ssrc in 0..1_000 {
        let header = Header {
            marker: false,
            payload_type: 96,
            sequence: 1,
            timestamp: 1,
            ssrc: Ssrc(ssrc),
            extensions: Extensions::default(),
        };
        let ecn = Ecn::NotEct;
        session.log_of_stream(&header, Arrival { at: at(1), ecn });
    }
    assert_eq!(session.feedback.stream_logs.len(), 64);
}

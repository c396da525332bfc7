use std::net::UdpSocket;
use std::sync::mpsc::channel;

use super::wait::{WAIT_LIMIT, Wait};
use weft_peer::StreamDirection;
use weft_units::{Duration, Instant, MediaKind};

use super::*;
use crate::links::Scope;
use crate::notice::Notices;

/// Starts an endpoint on loopback.
fn endpoint() -> Driver<Command> {
    let link = "127.0.0.1".parse().expect("a link");
    let sending = Sending {
        scheduler: SchedulerKind::Single,
        preference: weft_session::Preference::default(),
        protection: weft_session::ProtectionKind::None,
        controller: weft_cc::ControllerKind::Gcc,
        codec: weft_units::Codec::Vp8,
        max_rate: Rate::from_mbps(1),
        cname: "test".to_owned(),
    };
    let links = Links::check(vec![link], Scope::Named, &Notices::ignored()).expect("loopback");
    start(
        Clock::start(),
        links,
        sending,
        Vec::new(),
        Notices::ignored(),
    )
    .expect("an endpoint")
}

/// Creates an offer; returns it with the port of its socket.
fn offer(driver: &Driver<Command>) -> (OfferId, u16) {
    let sections = vec![Section::new(MediaKind::Audio, StreamDirection::Receive)];
    let offered = ask(&driver.remote, |reply| Command::Offer { sections, reply });
    let (id, sdp) = offered.expect("an answer").expect("an offer");
    let candidate = sdp
        .lines()
        .find(|line| line.starts_with("a=candidate:"))
        .expect("a candidate");
    let port = candidate.split(' ').nth(5).expect("a port");
    (id, port.parse().expect("a number"))
}

/// Whether the endpoint holds a socket on this port, after all earlier
/// commands.
fn is_held(driver: &Driver<Command>, port: u16) -> bool {
    ask(&driver.remote, Command::Report).expect("a report");
    UdpSocket::bind(("127.0.0.1", port)).is_err()
}

#[test]
fn a_withdrawn_offer_gives_its_sockets_back() {
    let driver = endpoint();
    let (id, port) = offer(&driver);
    assert!(is_held(&driver, port));
    driver.remote.send(Command::Withdraw(id));
    assert!(!is_held(&driver, port));
    driver.remote.send(Command::Stop);
    driver.join().expect("it does not panic");
}

#[test]
fn an_offer_that_was_withdrawn_takes_no_answer() {
    let driver = endpoint();
    let (id, _) = offer(&driver);
    driver.remote.send(Command::Withdraw(id));
    let (news, _) = channel();
    let accepted = ask(&driver.remote, |reply| Command::Accept {
        offer: id,
        answer: String::new(),
        more: Vec::new(),
        news: news.into(),
        reply,
    });
    assert!(matches!(
        accepted.expect("an answer"),
        Err(CallError::UnknownOffer)
    ));
    driver.remote.send(Command::Stop);
    driver.join().expect("it does not panic");
}

#[test]
fn wait_is_over_after_its_time_and_not_before() {
    let start = Instant::ZERO + Duration::from_secs(5);
    let mut wait = Wait::from(start);
    let almost = WAIT_LIMIT - Duration::from_millis(1);
    assert!(!wait.is_over(start + almost));
    assert!(wait.is_over(start + WAIT_LIMIT));
    wait.renew(start + almost);
    assert!(!wait.is_over(start + WAIT_LIMIT));
}

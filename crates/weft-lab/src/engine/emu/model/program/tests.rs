use std::io::pipe;
use std::thread;

use weft_apps::Content;

use super::*;

fn end(app: App, role: Role, here: Ipv4Addr, peer: Ipv4Addr) -> ModelEnd {
    ModelEnd {
        app,
        max_rate: None,
        role,
        both_ways: false,
        here,
        peer,
        seed: 1,
        flow: "call".to_owned(),
    }
}

#[test]
fn a_call_of_webrtc_has_no_model() {
    let here = Ipv4Addr::LOCALHOST;
    let signal = end(App::Signal, Role::Caller, here, here);
    let (input, _kept) = pipe().unwrap();
    let error = signal.run(input.as_fd(), &mut io::sink()).unwrap_err();
    assert!(error.to_string().contains("signal uses WebRTC"), "{error}");
}

#[test]
fn a_rate_that_cannot_be_and_an_address_of_others_are_refused() {
    let (here, elsewhere) = (Ipv4Addr::LOCALHOST, Ipv4Addr::new(192, 0, 2, 1));
    let (input, _kept) = pipe().unwrap();
    let limited = ModelEnd {
        max_rate: Some(Rate::from_kbps(1)),
        ..end(App::Skype, Role::Caller, here, here)
    };
    let error = limited.run(input.as_fd(), &mut io::sink()).unwrap_err();
    assert!(matches!(error, ModelEndError::Limit(_)), "{error}");
    let stranger = end(App::Skype, Role::Caller, elsewhere, here);
    let error = stranger.run(input.as_fd(), &mut io::sink()).unwrap_err();
    assert!(error.to_string().starts_with("192.0.2.1:5004: "), "{error}");
}

#[test]
fn an_end_begins_with_a_line_and_ends_with_its_input() {
    let (here, there) = (Ipv4Addr::new(127, 0, 5, 4), Ipv4Addr::new(127, 0, 5, 5));
    let peer = UdpSocket::bind((there, PORT)).unwrap();
    let long = std::time::Duration::from_secs(10);
    peer.set_read_timeout(Some(long)).unwrap();
    let (input, mut to_input) = pipe().unwrap();
    let caller = thread::spawn(move || {
        let mut said = Vec::new();
        let caller = end(App::WhatsApp, Role::Caller, here, there);
        caller.run(input.as_fd(), &mut said).map(|()| said)
    });
    writeln!(to_input, "{{\"signal\":\"whatsapp\"}}").unwrap();
    let (mut reader, mut bytes) = (Reader::default(), [0; LONGEST]);
    for number in 1..=20 {
        let length = peer.recv(&mut bytes).unwrap();
        let now = Clock::start().now();
        let (content, sent_at) = reader.read(&bytes[..length], now).unwrap();
        let Content::Media(packet) = content else {
            panic!("a caller of one-way media reports nothing");
        };
        assert_eq!(packet.number, number);
        assert_eq!(packet.size.0, length as u64 + 28);
        // Both ends use the clock of one machine.
        assert!(now.saturating_since(sent_at) < Duration::from_secs(10));
    }
    drop(to_input);
    let said = String::from_utf8(caller.join().unwrap().unwrap()).unwrap();
    let lines: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["about"]["app"], "whatsapp");
    assert_eq!(lines[3]["state"], "connected");
    assert!(lines[4]["sample"]["sent"]["target_mbps"].as_f64() > Some(0.1));
}

#[test]
fn an_end_that_is_never_called_ends_with_its_input() {
    let here = Ipv4Addr::new(127, 0, 5, 6);
    let (input, to_input) = pipe().unwrap();
    drop(to_input);
    let mut said = Vec::new();
    end(App::Skype, Role::Callee, here, here)
        .run(input.as_fd(), &mut said)
        .unwrap();
    assert!(!String::from_utf8(said).unwrap().contains("connected"));
}

use std::net::Ipv4Addr;
use std::net::TcpListener;
use std::net::UdpSocket;
use std::thread;

use domain::rdata::Cname;

use super::*;

const HERE: Source = Source {
    interface: None,
    address: IpAddr::V4(Ipv4Addr::LOCALHOST),
};

fn name(text: &str) -> Name<Vec<u8>> {
    Name::vec_from_str(text).expect("a name")
}

/// Answers an A query with these aliases and addresses.
fn reply(question: &[u8], rcode: Rcode, addresses: &[Ipv4Addr]) -> Vec<u8> {
    let question = Message::from_octets(question).expect("a message");
    let builder = MessageBuilder::new_vec();
    let mut answer = builder.start_answer(&question, rcode).expect("room");
    let asked = question.sole_question().expect("one question");
    if asked.qtype() == Rtype::A && !addresses.is_empty() {
        let alias = name("alias.test");
        answer
            .push((asked.qname(), 60, Cname::new(&alias)))
            .unwrap();
        for address in addresses {
            answer.push((&alias, 60, A::new(*address))).unwrap();
        }
        // This name was not queried.
        answer
            .push((name("other.test"), 60, A::new([192, 0, 2, 9].into())))
            .unwrap();
    }
    answer.finish()
}

/// Starts a server on loopback that gives these answers to each query.
fn serve(answers: impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + 'static) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let address = socket.local_addr().expect("bound");
    thread::spawn(move || {
        let mut buffer = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            for answer in answers(&buffer[..length]) {
                let _ = socket.send_to(&answer, from);
            }
        }
    });
    address
}

fn asked(server: SocketAddr) -> Result<Vec<IpAddr>, DnsError> {
    let deadline = Instant::now() + Duration::from_secs(3);
    ask(
        &HERE,
        server,
        &name("weft.test"),
        &[Rtype::AAAA, Rtype::A],
        deadline,
    )
}

#[test]
fn an_alias_is_followed_and_only_its_addresses_count() {
    let addresses = [[203, 0, 113, 10].into(), Ipv4Addr::LOCALHOST];
    let server = serve(move |question| vec![reply(question, Rcode::NOERROR, &addresses)]);
    // Addresses of this machine are omitted.
    let expected = [IpAddr::from([203, 0, 113, 10])];
    assert_eq!(asked(server).expect("an address"), expected);
}

#[test]
fn answers_to_other_questions_and_garbage_are_passed_over() {
    let server = serve(|question| {
        let mut forged = reply(question, Rcode::NOERROR, &[[198, 51, 100, 1].into()]);
        forged[0] ^= 1;
        let mut elsewhere = question.to_vec();
        elsewhere[13] = b'x';
        let elsewhere = reply(&elsewhere, Rcode::NOERROR, &[[198, 51, 100, 2].into()]);
        let good = reply(question, Rcode::NOERROR, &[[203, 0, 113, 10].into()]);
        vec![vec![1, 2, 3], question.to_vec(), forged, elsewhere, good]
    });
    let expected = [IpAddr::from([203, 0, 113, 10])];
    assert_eq!(asked(server).expect("an address"), expected);
}

#[test]
fn an_answer_that_was_cut_is_asked_for_over_tcp() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let socket = UdpSocket::bind(("127.0.0.1", port)).expect("the same port of UDP");
    thread::spawn(move || {
        let mut buffer = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            let mut cut = reply(&buffer[..length], Rcode::NOERROR, &[]);
            cut[2] |= 0x02;
            let _ = socket.send_to(&cut, from);
        }
    });
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut length = [0; 2];
            stream.read_exact(&mut length).expect("a length");
            let mut question = vec![0; usize::from(u16::from_be_bytes(length))];
            stream.read_exact(&mut question).expect("a question");
            let answer = reply(&question, Rcode::NOERROR, &[[203, 0, 113, 10].into()]);
            let mut framed = (answer.len() as u16).to_be_bytes().to_vec();
            framed.extend(answer);
            stream.write_all(&framed).expect("it listens");
        }
    });
    let server = SocketAddr::from(([127, 0, 0, 1], port));
    let expected = [IpAddr::from([203, 0, 113, 10])];
    assert_eq!(asked(server).expect("an address"), expected);
}

#[test]
fn an_unknown_name_differs_from_a_resolver_that_fails() {
    let server = serve(|question| vec![reply(question, Rcode::NXDOMAIN, &[])]);
    assert!(matches!(asked(server), Err(DnsError::NoSuchHost)));
    let server = serve(|question| vec![reply(question, Rcode::SERVFAIL, &[])]);
    let failed = asked(server).expect_err("no answer");
    assert!(failed.to_string().contains("SERVFAIL"), "{failed}");
    let began = Instant::now();
    let nobody = serve(|_| Vec::new());
    assert!(matches!(asked(nobody), Err(DnsError::Io(_))));
    assert!(began.elapsed() < Duration::from_secs(5));
}

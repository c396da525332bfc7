use super::*;
use std::net::Ipv4Addr;
use weft_units::FiveTuple;

fn sockets(count: usize) -> (mio::Poll, Sockets, Vec<SocketAddr>) {
    let poll = mio::Poll::new().unwrap();
    let mut sockets = Sockets::new(poll.registry().try_clone().unwrap());
    let open = |_| StdUdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let addresses = (0..count).map(open).map(|s| sockets.add(s).unwrap());
    let addresses = addresses.collect();
    (poll, sockets, addresses)
}

/// All received datagrams; loopback delivers before sending returns.
fn received(sockets: &mut Sockets, at: SocketAddr) -> Vec<(SocketAddr, Vec<u8>)> {
    let mut buffers = Buffers::new();
    let mut all = Vec::new();
    loop {
        match sockets.receive(at, &mut buffers) {
            Ok(some) => all.extend(some.map(|(from, _, bytes)| (from, bytes.to_vec()))),
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                return all;
            }
        }
    }
}

#[test]
fn runs_arrive_as_the_datagrams_that_were_sent_in_order() {
    let (_poll, mut sockets, at) = sockets(3);
    // A run with a short end, a single one, longer ones, and more than the
    // system accepts in one call.
    let sizes = [1200, 1200, 1200, 700, 900, 40_000, 40_000];
    let sizes = sizes.into_iter().chain([100; 200]);
    let sent: Vec<Vec<u8>> = sizes.zip(0..).map(|(size, n)| vec![n; size]).collect();
    for datagram in &sent {
        sockets.send(FiveTuple::udp(at[0], at[1]), Ecn::NotEct, datagram);
    }
    sockets.send(FiveTuple::udp(at[0], at[2]), Ecn::NotEct, b"elsewhere");
    sockets.flush();
    let expected: Vec<_> = sent.into_iter().map(|bytes| (at[0], bytes)).collect();
    assert_eq!(received(&mut sockets, at[1]), expected);
    assert_eq!(
        received(&mut sockets, at[2]),
        [(at[0], b"elsewhere".to_vec())]
    );
    assert_eq!(sockets.unsent(), 0);
}

#[test]
fn refused_datagrams_are_counted_and_the_rest_is_sent() {
    let (_poll, mut sockets, at) = sockets(2);
    // Nothing from loopback may leave the machine (RFC 1122 section 3.2.1.3);
    // 192.0.2.0/24 is for documentation (RFC 5737).
    let away = SocketAddr::from(([192, 0, 2, 1], 9));
    for _ in 0..3 {
        sockets.send(FiveTuple::udp(at[0], away), Ecn::NotEct, &[1; 100]);
    }
    let unknown = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
    sockets.send(
        FiveTuple::udp(unknown, at[1]),
        Ecn::NotEct,
        b"of no socket of ours",
    );
    for n in 0..3 {
        sockets.send(FiveTuple::udp(at[0], at[1]), Ecn::NotEct, &[n; 100]);
    }
    sockets.flush();
    assert_eq!(sockets.unsent(), 4);
    let expected: Vec<_> = (0..3).map(|n| (at[0], vec![n; 100])).collect();
    assert_eq!(received(&mut sockets, at[1]), expected);
}

#[test]
fn waiting_data_is_sent_before_its_socket_closes() {
    let (_poll, mut sockets, at) = sockets(2);
    sockets.send(FiveTuple::udp(at[0], at[1]), Ecn::NotEct, b"last words");
    sockets.remove(at[0]);
    assert_eq!(
        received(&mut sockets, at[1]),
        [(at[0], b"last words".to_vec())]
    );
    assert_eq!(sockets.unsent(), 0);
}

#[test]
fn a_socket_counts_both_ways_with_the_headers_of_its_family() {
    let (_poll, mut sockets, at) = sockets(2);
    for size in [1000, 1000, 500] {
        sockets.send(FiveTuple::udp(at[0], at[1]), Ecn::NotEct, &vec![7; size]);
    }
    sockets.flush();
    assert_eq!(received(&mut sockets, at[1]).len(), 3);
    // 2,500 bytes, and 28 of IPv4 and UDP for each of three.
    assert_eq!(sockets.carried(at[0]), Bytes(2584));
    assert_eq!(sockets.carried(at[1]), Bytes(2584));
    let six = SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, 9));
    assert_eq!(headers(six), 48);
}

#[test]
fn the_ecn_field_is_sent_and_read_over_both_families() {
    let poll = mio::Poll::new().unwrap();
    let mut sockets = Sockets::new(poll.registry().try_clone().unwrap());
    let four = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let six = SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, 0));
    for address in [four, six] {
        let mut open = || sockets.add(StdUdpSocket::bind(address).unwrap()).unwrap();
        let (from, to) = (open(), open());
        // Runs that differ only in this field.
        let fields = [Ecn::Ect1, Ecn::Ce, Ecn::NotEct, Ecn::Ect0, Ecn::Ect1];
        let sent = fields.iter().flat_map(|field| [*field; 3]);
        let sent: Vec<Ecn> = sent.collect();
        for field in &sent {
            sockets.send(FiveTuple::udp(from, to), *field, &[7; 500]);
        }
        sockets.flush();
        let mut buffers = Buffers::new();
        let mut came = Vec::new();
        while let Ok(some) = sockets.receive(to, &mut buffers) {
            came.extend(some.map(|(_, field, _)| field));
        }
        assert_eq!(came, sent, "{address}");
        assert_eq!(sockets.unsent(), 0);
    }
}

#[test]
fn an_ordinary_datagram_comes_without_an_ecn_field() {
    let (_poll, mut sockets, at) = sockets(1);
    let other = StdUdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    other.send_to(b"plain", at[0]).unwrap();
    let mut buffers = Buffers::new();
    let came: Vec<Ecn> = sockets
        .receive(at[0], &mut buffers)
        .unwrap()
        .map(|(_, field, _)| field)
        .collect();
    assert_eq!(came, [Ecn::NotEct]);
}

/// The system refuses port 0 with EINVAL. quinn-udp's sender treated that as a
/// fault of the socket, and from then on sent all datagrams individually and
/// without ECN.
#[test]
fn a_destination_that_cannot_be_sent_to_costs_the_others_nothing() {
    let (_poll, mut sockets, at) = sockets(2);
    let nowhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    for _ in 0..2 {
        sockets.send(
            FiveTuple::udp(at[0], nowhere),
            Ecn::Ect1,
            b"a check's answer",
        );
    }
    for n in 0..10 {
        sockets.send(FiveTuple::udp(at[0], at[1]), Ecn::Ect1, &[n; 500]);
    }
    sockets.flush();
    assert_eq!(sockets.unsent(), 2);
    let mut buffers = Buffers::new();
    let came = sockets.receive(at[1], &mut buffers).unwrap();
    let came: Vec<_> = came.map(|(_, field, bytes)| (field, bytes[0])).collect();
    let expected: Vec<_> = (0..10).map(|n| (Ecn::Ect1, n)).collect();
    assert_eq!(came, expected);
    // Loopback delivers a run in the form in which it was sent.
    assert_eq!(
        (buffers.metas[0].len, buffers.metas[0].stride),
        (5_000, 500)
    );
}

#[test]
fn a_second_socket_of_one_address_and_port_does_not_replace_the_first() {
    let (_poll, mut sockets, at) = sockets(2);
    // Two sockets bound to different interfaces may have the same address.
    let open = |address: SocketAddr| {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None);
        let socket = socket.unwrap();
        socket.set_reuse_port(true).unwrap();
        socket.bind(&address.into()).unwrap();
        StdUdpSocket::from(socket)
    };
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let first = sockets.add(open(any)).unwrap();
    assert!(sockets.has(first));
    let refused = sockets.add(open(first)).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
    // The first socket works.
    sockets.send(FiveTuple::udp(first, at[1]), Ecn::NotEct, b"here");
    sockets.flush();
    assert_eq!(received(&mut sockets, at[1]), [(first, b"here".to_vec())]);
}

#[test]
fn a_relayed_address_sends_through_its_relay_until_it_is_removed() {
    let (_poll, mut sockets, _) = sockets(0);
    let [own, peer] = ["192.0.2.1:5000", "198.51.100.1:6000"].map(|text| text.parse().unwrap());
    let (sent, taken) = std::sync::mpsc::channel();
    let send = move |to: SocketAddr, data: &[u8]| sent.send((to, data.to_vec())).unwrap();
    assert!(sockets.add_relayed(own, send));
    assert!(!sockets.add_relayed(own, |_, _| {}), "it is taken");
    sockets.send(FiveTuple::udp(own, peer), Ecn::NotEct, b"abc");
    assert_eq!(taken.recv(), Ok((peer, b"abc".to_vec())));
    assert!(sockets.count_relayed(own, peer, 5));
    assert_eq!(sockets.carried(own), Bytes(3 + 28 + 5 + 28));
    sockets.remove(own);
    assert!(!sockets.has(own) && !sockets.count_relayed(own, peer, 5));
    sockets.send(FiveTuple::udp(own, peer), Ecn::NotEct, b"abc");
    sockets.flush();
    assert!(taken.recv().is_err(), "nothing more is sent");
}

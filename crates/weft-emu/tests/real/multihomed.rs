use crate::tools::{bind_to_device, is_possible, round_trip, spec, udp, with_echo};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;
use weft_emu::{FAR, NEAR, Network};
use weft_links::MediumSpec;
use weft_testing::where_the_machine_keeps_up;

#[test]
fn a_socket_goes_over_the_link_whose_address_it_has() {
    where_the_machine_keeps_up(|| {
        if !is_possible() {
            return;
        }
        let mut network = Network::new(1);
        let (phone, server) = (network.host("phone"), network.host("server"));
        let wifi = network.link(
            "wifi",
            MediumSpec::wired(spec("rate=10mbit,delay=5ms"), spec("rate=10mbit")),
        );
        let lte = network.link(
            "lte",
            MediumSpec::wired(spec("rate=5mbit,delay=40ms"), spec("rate=5mbit")),
        );
        let by_wifi = network.attach(phone, wifi, NEAR);
        let by_lte = network.attach(phone, lte, NEAR);
        network.attach(server, wifi, FAR);
        network.attach(server, lte, FAR);
        let address = network.home_address(server);
        let running = network.start().expect("a privilege was found");

        let there = udp(&running, server, (address.v4, 7));
        let to = SocketAddr::from((address.v4, 7));
        with_echo(&there, || {
            for (own, least) in [(by_wifi, 5), (by_lte, 40)] {
                let here = udp(&running, phone, (own.v4, 0));
                let times = (0..5).map(|_| round_trip(&here, to).expect("an answer"));
                let shortest = times.min().expect("five");
                let least = Duration::from_millis(least);
                assert!(shortest >= least && shortest < least + Duration::from_millis(20));
            }
            // A socket that is bound to the device and to no address.
            let here = udp(&running, phone, ([0, 0, 0, 0], 0));
            bind_to_device(&here, "lte");
            let shortest = (0..5).map(|_| round_trip(&here, to).expect("an answer"));
            assert!(shortest.min().expect("five") >= Duration::from_millis(40));
        });
        // Another address of the server's own network also reaches it.
        let [a, b, c, _] = address.v4.octets();
        let other = Ipv4Addr::new(a, b, c, 9);
        let added = running.command(server, "ip");
        let added = { added }
            .args(["addr", "add", &format!("{other}/32"), "dev", "lo"])
            .status();
        assert!(added.expect("a program").success());
        let there = udp(&running, server, (other, 7));
        with_echo(&there, || {
            let here = udp(&running, phone, (by_wifi.v4, 0));
            round_trip(&here, SocketAddr::from((other, 7))).expect("an answer");
        });
        // A socket without an address uses the first link; where nobody listens.
        let refused = running.within(phone, || TcpStream::connect((address.v4, 80)));
        let refused = refused.expect("a host").expect_err("nobody listens");
        assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);

        let report = running.stop();
        let [wifi, lte] = [wifi, lte].map(|link| report.link(link).clone());
        assert_eq!((wifi.name.as_str(), lte.name.as_str()), ("wifi", "lte"));
        assert_eq!(wifi.forward().counters.delivered.packets, 7);
        assert_eq!(wifi.backward().counters.delivered.packets, 7);
        assert_eq!(lte.forward().counters.delivered.packets, 10);
        assert_eq!(lte.backward().counters.delivered.packets, 10);
        assert_eq!(report.unroutable, 0);
    });
}

#[test]
fn hosts_of_one_side_share_the_queue_and_reach_each_other() {
    where_the_machine_keeps_up(|| {
        if !is_possible() {
            return;
        }
        let mut network = Network::new(1);
        let (a, b, c) = (network.host("a"), network.host("b"), network.host("c"));
        let slow = || spec("rate=10mbit,delay=30ms");
        let link = network.link("dumbbell", MediumSpec::wired(slow(), slow()));
        let at_a = network.attach(a, link, NEAR);
        let at_b = network.attach(b, link, NEAR);
        let at_c = network.attach(c, link, FAR);
        let running = network.start().expect("a privilege was found");
        let sockets = [(a, at_a), (b, at_b)].map(|(host, at)| udp(&running, host, (at.v4, 7)));
        let there = udp(&running, c, (at_c.v4, 7));
        with_echo(&there, || {
            for socket in &sockets {
                let time = round_trip(socket, (at_c.v4, 7).into()).expect("an answer");
                assert!(time >= Duration::from_millis(60));
            }
        });
        let [at_a_socket, at_b_socket] = &sockets;
        with_echo(at_b_socket, || {
            let times = (0..5).map(|_| round_trip(at_a_socket, (at_b.v4, 7).into()));
            let shortest = times.map(|t| t.expect("an answer")).min();
            assert!(shortest.expect("five") < Duration::from_millis(30));
        });
        let report = running.stop();
        assert_eq!(report.link(link).forward().counters.delivered.packets, 2);
        assert_eq!(report.link(link).backward().counters.delivered.packets, 2);
    });
}

use crate::{
    Application, CallSetup, CameraSetup, CongestionKind, FloorSetup, FlowKind, FlowSetup,
    LinkSetup, MicrophoneSetup, Route, Setup, SetupError, SideSetup, TcpSetup, UdpSetup,
};
use weft_links::{LinkSpec, StationId};
use weft_units::{Bytes, Duration, Rate};

fn good() -> Setup {
    let mut setup = Setup::new(Duration::from_secs(10));
    let link = LinkSpec::new(Rate::from_mbps(1), Duration::ZERO);
    setup.links.push(LinkSetup::symmetric("link", &link));
    let udp = FlowKind::Udp(UdpSetup::new(Rate::from_kbps(100)));
    let flow = FlowSetup::new("udp", Route::forward(&[0]), udp);
    setup.flows.push(flow);
    setup
}

fn broken(change: impl FnOnce(&mut Setup)) -> String {
    let mut setup = good();
    change(&mut setup);
    let error: SetupError = setup.check().expect_err("a broken setup");
    error.to_string()
}

#[test]
fn each_mistake_is_named_with_its_place() {
    assert_eq!(good().check(), Ok(()));
    let says = |text: &str, change: fn(&mut Setup)| {
        let message = broken(change);
        assert!(message.contains(text), "{message}");
    };
    says("duration", |s| s.duration = Duration::ZERO);
    says("sample period", |s| s.sample_every = Duration::ZERO);
    says("two links are called 'link'", |s| {
        s.links.push(s.links[0].clone());
    });
    says("two flows are called 'udp'", |s| {
        s.flows.push(s.flows[0].clone());
    });
    says("'udp' uses link 3, but the setup has 1", |s| {
        s.flows[0].routes[0].hops[0].link = 3;
    });
    says("from station 0 to station 2: give two of its 2", |s| {
        s.flows[0].routes[0].hops[0].to = StationId(2);
    });
    says("link 'link' from station 1 to station 1", |s| {
        s.flows[0].routes[0].hops[0].from = StationId(1);
    });
    says("at most", |s| {
        s.duration = Duration::from_secs(u64::MAX / 2_000_000_000)
    });
    says("longer period", |s| {
        s.sample_every = Duration::from_nanos(1)
    });
    says("an access delay", |s| {
        s.flows[0].routes[0].access_delay = Duration::from_secs(100_000);
    });
    says("jitter of an access delay", |s| {
        s.flows[0].routes[0].access_jitter = Duration::from_secs(100_000);
    });
    says("has 101 links", |s| {
        let hop = s.flows[0].routes[0].hops[0];
        s.flows[0].routes[0].hops = vec![hop; 101];
    });
    says("has 0 links", |s| s.flows[0].routes[0].hops.clear());
    says("has 0 routes", |s| s.flows[0].routes.clear());
    says("must start earlier", |s| {
        s.flows[0].start = Duration::from_secs(10);
    });
    says("must start earlier", |s| {
        s.flows[0].stop = Some(Duration::ZERO);
    });
    says("28 to 65,535", |s| {
        s.flows[0].kind = FlowKind::Udp(UdpSetup {
            rate: Rate::from_mbps(1),
            packet: Bytes(20),
        });
    });
    says("rate above zero", |s| {
        s.flows[0].kind = FlowKind::Udp(UdpSetup::new(Rate::ZERO));
    });
    let floor = FloorSetup::default();
    let message = |floor| broken(|s| s.flows[0].kind = FlowKind::Floor(floor));
    let text = message(FloorSetup {
        rate: Rate::ZERO,
        ..floor
    });
    assert!(text.contains("rate above zero"), "{text}");
    let text = message(FloorSetup {
        frame_rate: f64::NAN,
        ..floor
    });
    assert!(text.contains("1 to 1000 pictures"), "{text}");
    says("give an upload a size above zero", |s| {
        s.flows[0].kind = FlowKind::Tcp(TcpSetup {
            application: Application::Upload(Bytes::ZERO),
            ..TcpSetup::long_lived(CongestionKind::Cubic)
        });
    });
    let call = |change: fn(&mut SideSetup)| {
        let mut side = SideSetup::filming(vec![CameraSetup::synthetic(30.0, Rate::from_mbps(1))]);
        change(&mut side);
        let call = Box::new(CallSetup::one_way(side));
        broken(|s| s.flows[0].kind = FlowKind::Call(call))
    };
    let message = call(|side| side.cameras[0] = CameraSetup::synthetic(f64::NAN, Rate::ZERO));
    assert!(message.contains("frames per second"), "{message}");
    let message = call(|side| {
        side.microphones = vec![MicrophoneSetup {
            packet_time: Duration::from_nanos(1),
            ..MicrophoneSetup::default()
        }];
    });
    assert!(message.contains("2.5 to 120 ms"), "{message}");
    let message = call(|side| side.cameras = vec![side.cameras[0].clone(); 65]);
    assert!(message.contains("at most 64"), "{message}");
    says("connections", |s| {
        s.flows[0].kind = FlowKind::Tcp(TcpSetup {
            connections: 0,
            ..TcpSetup::long_lived(CongestionKind::Cubic)
        });
    });
}

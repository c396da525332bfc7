use std::net::Ipv4Addr;

use weft_experiment::Route;
use weft_units::{Bytes, Rate};

use super::*;

fn ends() -> Ends {
    Ends {
        source: vec![Ipv4Addr::new(198, 18, 0, 1)],
        sink: vec![Ipv4Addr::new(198, 18, 0, 2)],
        sink_home: Ipv4Addr::new(198, 19, 0, 2),
    }
}

fn made(kind: FlowKind) -> Vec<Job> {
    let setup = FlowSetup::new("load", Route::forward(&[0]), kind);
    jobs(0, &setup, &ends(), (Duration::from_secs(30), 1)).unwrap()
}

fn tcp(application: Application, connections: u32) -> FlowKind {
    FlowKind::Tcp(TcpSetup {
        application,
        connections,
        ..TcpSetup::long_lived(CongestionKind::Reno)
    })
}

fn command(job: &Job) -> String {
    job.command.join(" ")
}

#[test]
fn a_long_transfer_is_one_client_under_a_time_limit() {
    let jobs = made(tcp(Application::LongLived, 3));
    assert_eq!(jobs.len(), 2);
    assert_eq!((jobs[0].end, jobs[0].start), (End::Sink, StartTime::Before));
    assert_eq!(
        command(&jobs[1]),
        "sh -c exec timeout --foreground -s KILL 40 iperf3 -c 198.18.0.2 -B 198.18.0.1 -p 5201 -t 30 -C reno -P 3"
    );
}

#[test]
fn a_server_that_waits_for_a_late_flow_is_there_when_it_starts() {
    let mut setup = FlowSetup::new("load", Route::forward(&[0]), tcp(Application::LongLived, 1));
    setup.start = Duration::from_secs(280);
    let jobs = jobs(0, &setup, &ends(), (Duration::from_secs(300), 1)).unwrap();
    // The server starts up to 40 s before the run.
    assert!(command(&jobs[0]).starts_with("timeout -s KILL 400 iperf3 -s"));
    assert!(command(&jobs[1]).contains("-s KILL 30 iperf3 -c"));
}

#[test]
fn the_rate_of_udp_counts_its_headers() {
    let udp = UdpSetup {
        rate: Rate::from_kbps(1500),
        packet: Bytes(1500),
    };
    // 1500 kbit/s on the link in packets of 1500 bytes, 1472 of them payload.
    let text = command(&made(FlowKind::Udp(udp))[1]);
    assert!(text.contains("-u -b 1472000 -l 1472"), "{text}");
}

#[test]
fn transfers_outlast_the_run_within_their_bounds() {
    let application = Application::OnOff {
        size: (Bytes(100_000), Bytes(200_000)),
        mean_pause: Duration::from_secs(2),
    };
    let jobs = made(tcp(application.clone(), 2));
    // A server and a client for each connection.
    assert_eq!(jobs.len(), 4);
    assert_ne!(jobs[1].command, jobs[3].command);
    assert_eq!(jobs, made(tcp(application, 2)));
    let script = &jobs[1].command[2];
    let (_, list) = script.split_once("<<'END'\n").unwrap();
    let rows = list.lines().filter_map(|line| line.split_once(' '));
    let rows: Vec<(f64, u64)> = rows
        .map(|(p, s)| (p.parse().unwrap(), s.parse().unwrap()))
        .collect();
    assert!(
        rows.iter()
            .all(|(_, size)| (100_000..=200_000).contains(size))
    );
    let pauses: f64 = rows.iter().map(|row| row.0).sum();
    // With at least 50 ms for each transfer.
    assert!(pauses + 0.05 * rows.len() as f64 > 30.0);
    assert!(pauses < 60.0);
}

#[test]
fn missing_kernel_features_are_named_with_the_remedy() {
    let bbr3 = FlowKind::Tcp(TcpSetup::long_lived(CongestionKind::Bbr3));
    let setup = FlowSetup::new("load", Route::forward(&[0]), bbr3);
    let error = jobs(0, &setup, &ends(), (Duration::from_secs(30), 1)).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("no bbr3") && text.contains("flows.load.algorithm=cubic"),
        "{text}"
    );
}

#[test]
fn a_note_says_that_the_kernel_does_not_know_its_small_queues() {
    let flow = |small_queues| {
        let tcp = TcpSetup {
            small_queues,
            ..TcpSetup::long_lived(CongestionKind::Cubic)
        };
        FlowSetup::new("load", Route::forward(&[0]), FlowKind::Tcp(tcp))
    };
    assert_eq!(note(&flow(None)), None);
    let told = note(&flow(Some(Duration::from_millis(4)))).unwrap();
    assert!(told.starts_with("flow `load`: small-queues"), "{told}");
}

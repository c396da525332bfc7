//! The hot path of a call: one association protects RTP packets, and the other receives them as
//! datagrams from two alternating paths. One element is one packet protected and read.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::net::SocketAddr;
use weft_ice::{Credentials, IceRole, LinkId, LocalAddress, RemoteCandidate, RemoteFilter};
use weft_secure::{Association, Certificate, Config, DtlsRole, Keying, Output, Received, Remote};
use weft_units::{Duration, FiveTuple, Instant, Rng, Transport};

/// Payload that leaves room for headers and tag in 1,200 bytes.
const PAYLOAD: usize = 1172;

/// Writes the next packet of the stream into a buffer, which is reused as in a pool.
fn write(packet: &mut Vec<u8>, sequence: u16) {
    packet.clear();
    packet.extend_from_slice(&[0x80, 96]);
    packet.extend_from_slice(&sequence.to_be_bytes());
    packet.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, 7]);
    packet.resize(12 + PAYLOAD, 0x5a);
}

fn server() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 9], 1))
}

fn clients() -> [SocketAddr; 2] {
    [1, 2].map(|host| SocketAddr::from(([10, 0, 0, host], 1)))
}

fn association(role: IceRole, seed: u64, addresses: &[SocketAddr]) -> Association {
    let mut rng = Rng::new(seed);
    let mut entropy = [0; 32];
    rng.fill(&mut entropy);
    #[allow(clippy::disallowed_methods)]
    let epoch = std::time::Instant::now();
    let config = Config {
        ice: weft_ice::Config {
            role,
            credentials: Credentials::from_entropy(&entropy),
            tie_breaker: seed,
            checks: weft_ice::Checks::All,
            rng,
        },
        certificate: Certificate::generate().expect("certificate"),
        epoch,
        keying: Keying::Dtls { seed: None },
    };
    let mut association = Association::new(Instant::ZERO, config);
    for (link, &addr) in (0..).zip(addresses) {
        let address = LocalAddress {
            transport: Transport::Udp,
            addr,
            link: LinkId(link),
            cost: 0,
            remotes: RemoteFilter::Any,
        };
        association.add_local(Instant::ZERO, address);
    }
    association
}

fn description(of: &Association, dtls: DtlsRole, candidates: &[SocketAddr]) -> Remote {
    let candidates = candidates.iter();
    Remote {
        credentials: of.credentials().clone(),
        fingerprint: of.fingerprint(),
        dtls,
        candidates: candidates
            .map(|&addr| RemoteCandidate { addr, priority: 1 })
            .collect(),
    }
}

/// Returns two associations after their handshake, on wires without delay.
fn connected() -> (Association, Association) {
    let mut a = association(IceRole::Controlling, 1, &clients());
    let mut b = association(IceRole::Controlled, 2, &[server()]);
    let of_b = description(&b, DtlsRole::Server, &[server()]);
    let of_a = description(&a, DtlsRole::Client, &[]);
    a.set_remote(Instant::ZERO, of_b);
    b.set_remote(Instant::ZERO, of_a);
    for ms in 0..100 {
        let now = Instant::ZERO + Duration::from_millis(ms);
        a.handle_timeout(now);
        b.handle_timeout(now);
        while pass(now, &mut a, &mut b) + pass(now, &mut b, &mut a) > 0 {}
    }
    (a, b)
}

fn pass(now: Instant, from: &mut Association, to: &mut Association) -> usize {
    let mut passed = 0;
    while let Some(output) = from.poll_output() {
        if let Output::Transmit { tuple, datagram } = output {
            to.handle_datagram(now, tuple.reversed(), &datagram);
            passed += 1;
        }
    }
    passed
}

fn call(c: &mut Criterion) {
    let (mut a, mut b) = connected();
    let now = Instant::ZERO + Duration::from_secs(1);
    let clients = clients();
    let mut sequence = 0_u16;
    let mut packet = Vec::with_capacity(1500);
    let mut group = c.benchmark_group("association");
    group.throughput(Throughput::Elements(1));
    group.bench_function("call", |bencher| {
        bencher.iter(|| {
            sequence = sequence.wrapping_add(1);
            write(&mut packet, sequence);
            a.protect_rtp(&mut packet, &[]).expect("protects");
            let client = clients[usize::from(sequence & 1)];
            let received = b.handle_datagram(now, FiveTuple::udp(server(), client), &packet);
            assert!(matches!(black_box(received), Received::Rtp { .. }));
        });
    });
    group.finish();
}

criterion_group!(benches, call);
criterion_main!(benches);

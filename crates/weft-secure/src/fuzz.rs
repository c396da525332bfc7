//! Bodies of the fuzz targets in `fuzz/`, which property tests run as well.

use crate::{Association, Certificate, Config, DtlsRole, Keying, Received, Remote};
use std::net::SocketAddr;
use std::sync::OnceLock;
use weft_ice::{Credentials, IceRole, LinkId, LocalAddress, RemoteCandidate, RemoteFilter};
use weft_units::{Duration, FiveTuple, Instant, Rng, Transport};

/// Feeds the bytes to an association as datagrams: each is a length byte, a byte that selects the
/// sender and the time, and the content. Must never panic, and time must always advance.
pub fn fuzz_datagrams(data: &[u8]) {
    let mut association = association();
    let local = SocketAddr::from(([10, 0, 0, 1], 1));
    let mut now = Instant::ZERO;
    let mut rest = data;
    while let [len, how, tail @ ..] = rest {
        let (datagram, tail) = tail.split_at(tail.len().min(usize::from(*len)));
        rest = tail;
        let remote = SocketAddr::from(([10, 0, 0, 9], 1 + u16::from(how & 3)));
        now += Duration::from_millis(u64::from(how >> 2));
        let received = association.handle_datagram(now, FiveTuple::udp(local, remote), datagram);
        assert!(
            matches!(
                received,
                Received::Handled | Received::Dtls | Received::Dropped(_)
            ),
            "media without keys"
        );
        association.handle_timeout(now);
        while association.poll_output().is_some() {}
        let next = association.poll_timeout();
        assert!(next.is_none_or(|d| d.at > now), "spins: {next:?}");
    }
}

fn association() -> Association {
    static KEYS: OnceLock<(Certificate, std::time::Instant)> = OnceLock::new();
    // The only real clock here: the DTLS library needs an origin, and any value works.
    #[allow(clippy::disallowed_methods)]
    let (certificate, epoch) = KEYS.get_or_init(|| {
        let certificate = Certificate::generate().expect("the system gives random bytes");
        (certificate, std::time::Instant::now())
    });
    let credentials = Credentials {
        ufrag: "fuzz".to_owned(),
        pwd: "fuzz".repeat(6),
    };
    let config = Config {
        ice: weft_ice::Config {
            role: IceRole::Controlled,
            credentials: credentials.clone(),
            tie_breaker: 1,
            checks: weft_ice::Checks::All,
            rng: Rng::new(1),
        },
        certificate: certificate.clone(),
        epoch: *epoch,
        keying: Keying::Dtls { seed: None },
    };
    let mut association = Association::new(Instant::ZERO, config);
    association.add_local(
        Instant::ZERO,
        LocalAddress {
            transport: Transport::Udp,
            addr: SocketAddr::from(([10, 0, 0, 1], 1)),
            link: LinkId(0),
            cost: 0,
            remotes: RemoteFilter::Any,
        },
    );
    let fingerprint = association.fingerprint();
    association.set_remote(
        Instant::ZERO,
        Remote {
            credentials,
            fingerprint,
            dtls: DtlsRole::Server,
            candidates: vec![RemoteCandidate {
                addr: SocketAddr::from(([10, 0, 0, 9], 1)),
                priority: 1,
            }],
        },
    );
    association
}

#[cfg(test)]
mod tests;

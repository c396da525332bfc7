//! Two associations in virtual time, connected by wires. The one that made the offer is
//! the DTLS server.

use super::*;
use crate::keying::Keying;
pub use wired::*;

use weft_ice as ice;

#[path = "../../../../weft-ice/src/agent/tests/wired.rs"]
mod wired;

pub type Net = Wired<Association>;

/// Received packet: the receiving side, the path, the packet.
#[derive(Default)]
pub struct Got {
    pub rtp: Vec<(Side, PathId, Vec<u8>)>,
    pub rtp_again: Vec<(Side, PathId, Vec<u8>)>,
    pub rtcp: Vec<(Side, PathId, Vec<u8>)>,
}

pub fn association(role: IceRole, tie_breaker: u64, seed: u64) -> Association {
    let mut rng = Rng::new(seed);
    let mut entropy = [0; 32];
    rng.fill(&mut entropy);
    Association::new(
        Instant::ZERO,
        Config {
            ice: weft_ice::Config {
                role,
                credentials: Credentials::from_entropy(&entropy),
                tie_breaker,
                checks: weft_ice::Checks::All,
                rng,
            },
            certificate: Certificate::generate().expect("certificate"),
            epoch: epoch(),
            keying: Keying::Dtls { seed: None },
        },
    )
}

/// Any value works.
#[allow(clippy::disallowed_methods)]
pub fn epoch() -> std::time::Instant {
    std::time::Instant::now()
}

pub fn description(of: &Association, dtls: DtlsRole, candidates: &[&str]) -> Remote {
    Remote {
        credentials: of.credentials().clone(),
        fingerprint: of.fingerprint(),
        dtls,
        candidates: self::candidates(candidates),
    }
}

impl End for Association {
    type Event = Event;
    type Got = Got;

    fn strangers() -> [Association; 2] {
        [
            association(IceRole::Controlling, 2, 1),
            association(IceRole::Controlled, 1, 2),
        ]
    }

    fn introduce(
        now: Instant,
        (a, of_a): (&mut Association, &[&str]),
        (b, of_b): (&mut Association, &[&str]),
    ) {
        let other = description(b, DtlsRole::Server, of_b);
        let own = description(a, DtlsRole::Client, of_a);
        a.set_remote(now, other);
        b.set_remote(now, own);
    }

    fn add_local(&mut self, now: Instant, local: LocalAddress) {
        Association::add_local(self, now, local);
    }

    fn path_between(&self, local: SocketAddr, remote: SocketAddr) -> Option<PathId> {
        let path = self
            .paths()
            .find(|p| p.tuple == FiveTuple::udp(local, remote));
        path.map(|p| p.id)
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        Association::poll_timeout(self)
    }

    fn handle_timeout(&mut self, now: Instant) {
        Association::handle_timeout(self, now);
    }

    fn poll_output(&mut self) -> Option<Output> {
        Association::poll_output(self)
    }

    fn deliver(&mut self, now: Instant, came: Came<'_>, got: &mut Got) {
        let to = came.to;
        match self.handle_datagram(now, came.tuple(), came.datagram) {
            Received::Rtp { path, packet } => got.rtp.push((to, path, packet.to_vec())),
            Received::RtpAgain { path, packet } => got.rtp_again.push((to, path, packet.to_vec())),
            Received::Rtcp { path, packet } => got.rtcp.push((to, path, packet.to_vec())),
            Received::Handled | Received::Dtls | Received::Dropped(_) => {}
        }
    }
}

impl Net {
    /// Creates two ends that know each other, with a wire of 10 ms for each address of A.
    /// `client` opens the handshake.
    pub fn with_client(client: Side, addresses: &[&str], server: &str) -> Net {
        let mut net = Net::strangers();
        let now = net.now;
        net.b.add_local(now, local(server, 0));
        for (link, address) in (0..).zip(addresses) {
            net.a.add_local(now, local(address, link));
            net.wire(address, server, 10);
        }
        let role = |side| match client == side {
            true => DtlsRole::Client,
            false => DtlsRole::Server,
        };
        let b = description(&net.b, role(Side::A), &[server]);
        let a = description(&net.a, role(Side::B), &[]);
        net.a.set_remote(now, b);
        net.b.set_remote(now, a);
        net
    }

    /// Time at which each side was connected, in milliseconds.
    pub fn connected_at(&self) -> Vec<u64> {
        let connected = |e: &&(Instant, Side, Event)| matches!(e.2, Event::Connected { .. });
        let events = self.events.iter().filter(connected);
        events.map(|e| e.0.as_nanos() / 1_000_000).collect()
    }

    /// Runs long enough for the handshake, and checks that both sides are connected.
    pub fn connect(&mut self) {
        self.run_for(1000);
        for side in [Side::A, Side::B] {
            let connected =
                |e: &&(Instant, Side, Event)| e.1 == side && matches!(e.2, Event::Connected { .. });
            assert_eq!(self.events.iter().filter(connected).count(), 1, "{side:?}");
        }
    }

    /// Sends this RTP packet on this path and delivers it.
    pub fn send_rtp(&mut self, from: Side, path: PathId, mut packet: Vec<u8>) {
        let association = self.side(from);
        association.protect_rtp(&mut packet, &[]).expect("protects");
        let path = *association.path(path).expect("path");
        self.send(from, path.tuple.local, path.tuple.remote, packet);
    }
}

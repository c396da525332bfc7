//! End of a call that recorded it.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use weft_trace::capture::udp::CapturedDatagram;
use weft_trace::pcapng::Direction;

use super::survey::{Reason, Survey};

/// Sources of a call, and the addresses of the machine that recorded it.
pub struct Ends {
    /// Sources that are RTP streams.
    pub sources: BTreeSet<u32>,
    /// Empty if the file states directions.
    local: BTreeSet<IpAddr>,
    pairs: BTreeSet<(SocketAddr, SocketAddr)>,
}

impl Ends {
    /// Determines the addresses, unless they are given.
    pub fn find(survey: &Survey, sources: BTreeSet<u32>, given: &[IpAddr]) -> Result<Ends, Reason> {
        let addresses = survey.addresses(&sources);
        let list = |addresses: &BTreeSet<IpAddr>| {
            let texts: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
            texts.join(", ")
        };
        if let Some(other) = given.iter().find(|address| !addresses.contains(address)) {
            return Err((
                format!("no RTP of this capture comes from {other} or goes there"),
                format!("the addresses of its RTP are {}", list(&addresses)),
            ));
        }
        let local = match (given, survey.has_directions) {
            ([], true) => BTreeSet::new(),
            ([], false) => private(survey, &sources).ok_or_else(|| {
                let first = addresses.iter().next().map(IpAddr::to_string);
                (
                    format!(
                        "it does not say which end recorded it: {}",
                        list(&addresses)
                    ),
                    format!(
                        "add --local with the address of the machine that recorded it, such as \
                         --local {}",
                        first.unwrap_or_default()
                    ),
                )
            })?,
            (given, _) => given.iter().copied().collect(),
        };
        Ok(Ends {
            pairs: survey.pairs(&sources).collect(),
            sources,
            local,
        })
    }

    /// Whether RTP streams use this pair of addresses, in either direction.
    pub fn has(&self, datagram: &CapturedDatagram<'_>) -> bool {
        let (from, to) = (datagram.from, datagram.to);
        // RTCP may use the port after that of RTP (RFC 3550 section 11).
        let before = |a: SocketAddr| SocketAddr::new(a.ip(), a.port().wrapping_sub(1));
        let known = [
            (from, to),
            (to, from),
            (before(from), before(to)),
            (before(to), before(from)),
        ];
        known.iter().any(|pair| self.pairs.contains(pair))
    }

    /// Returns the direction of a datagram, as the recording machine sees it.
    pub fn direction(&self, datagram: &CapturedDatagram<'_>) -> Option<Direction> {
        if self.local.is_empty() {
            return datagram.direction;
        }
        if self.local.contains(&datagram.from.ip()) {
            return Some(Direction::Outbound);
        }
        let is_ours = self.local.contains(&datagram.to.ip());
        is_ours.then_some(Direction::Inbound)
    }
}

/// Returns the private addresses, if each pair has a private and a public one: the
/// private ones are then ours.
fn private(survey: &Survey, sources: &BTreeSet<u32>) -> Option<BTreeSet<IpAddr>> {
    let mut local = BTreeSet::new();
    for (from, to) in survey.pairs(sources) {
        local.insert(match (is_private(from.ip()), is_private(to.ip())) {
            (true, false) => from.ip(),
            (false, true) => to.ip(),
            _ => return None,
        });
    }
    Some(local)
}

/// Whether an address is not routed on the Internet (RFC 1918, RFC 6598, RFC 4193).
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [a, b, ..] = address.octets();
            let is_shared = a == 100 && (64..128).contains(&b);
            address.is_private() || address.is_link_local() || is_shared
        }
        IpAddr::V6(address) => address.is_unique_local() || address.is_unicast_link_local(),
    }
}

//! First pass over a capture: finds the sources that are RTP streams, and their
//! addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use super::packets::{Datagram, rtp};
use crate::recording::streams::Stream;

/// Maximum number of sources to examine; chosen by us. Each random datagram looks like a
/// new source.
const MAX_SOURCES: usize = 4_096;
/// Maximum number of address pairs of a source; chosen by us: links times ports of each
/// end.
const MAX_PAIRS: usize = 64;

/// Contents of a capture.
#[derive(Default)]
pub struct Survey {
    /// Packets of any protocol.
    pub packets: u64,
    datagrams: u64,
    /// Datagrams of a TURN channel (RFC 8656 section 12.4), and of DTLS.
    channel: u64,
    dtls: u64,
    /// Whether the file states directions.
    pub has_directions: bool,
    sources: BTreeMap<u32, Source>,
}

#[derive(Default)]
struct Source {
    stream: Stream,
    pairs: BTreeSet<(SocketAddr, SocketAddr)>,
}

/// Error and remedy.
pub type Reason = (String, String);

impl Survey {
    /// Counts a packet.
    pub fn add(&mut self, datagram: Option<&Datagram<'_>>) {
        self.packets += 1;
        let Some(Datagram { at_s, udp, .. }) = datagram else {
            return;
        };
        self.datagrams += 1;
        match udp.content.first() {
            Some(20..=63) => self.dtls += 1,
            Some(64..=79) => self.channel += 1,
            _ => {}
        }
        let Some(rtp) = rtp(udp.content) else { return };
        if !self.sources.contains_key(&rtp.ssrc) && self.sources.len() == MAX_SOURCES {
            return;
        }
        self.has_directions |= udp.direction.is_some();
        let source = self.sources.entry(rtp.ssrc).or_default();
        source.stream.on_packet(*at_s, rtp);
        if source.pairs.len() < MAX_PAIRS {
            source.pairs.insert((udp.from, udp.to));
        }
    }

    /// Returns the sources that are streams.
    pub fn sources(&self, cut: Option<&str>) -> Result<BTreeSet<u32>, Reason> {
        let all = self.sources.iter();
        let streams = all.filter(|(_, source)| source.stream.is_established());
        let sources: BTreeSet<u32> = streams.map(|(ssrc, _)| *ssrc).collect();
        match sources.is_empty() {
            true => Err(self.reason(cut)),
            false => Ok(sources),
        }
    }

    /// Returns the reason why there is no stream.
    fn reason(&self, cut: Option<&str>) -> Reason {
        if let Some(cut) = cut {
            let what = format!("no RTP before its end; {cut}");
            return (what, "give the whole file".to_owned());
        }
        let Survey {
            packets, datagrams, ..
        } = self;
        let what = format!("there is no RTP among its {packets} packets, {datagrams} of them UDP");
        let remedy = if *packets == 0 {
            "capture while the call runs"
        } else if self.channel > 100 {
            "the call seems to run through a TURN server: capture on a network where it is direct, \
             or use `weft join --pcap`"
        } else if *datagrams == 0 {
            "the call uses TCP, or the packets are encrypted below UDP, as by a VPN: capture on the \
             interface inside of the tunnel"
        } else if self.dtls > 100 {
            "only DTLS was captured: capture the media of the call, or use its own statistics"
        } else {
            "capture the UDP packets of the call, inside of a VPN if there is one, with at least \
             100 bytes of each (`tcpdump -s 100`)"
        };
        (what, remedy.to_owned())
    }

    /// Iterates over the pairs of addresses of these sources.
    pub fn pairs<'a>(
        &'a self,
        sources: &'a BTreeSet<u32>,
    ) -> impl Iterator<Item = (SocketAddr, SocketAddr)> + 'a {
        let all = self.sources.iter();
        let known = all.filter(|(ssrc, _)| sources.contains(ssrc));
        known.flat_map(|(_, source)| source.pairs.iter().copied())
    }

    /// Returns the addresses of these sources, at both ends.
    pub fn addresses(&self, sources: &BTreeSet<u32>) -> BTreeSet<IpAddr> {
        let pairs = self.pairs(sources);
        pairs.flat_map(|(from, to)| [from.ip(), to.ip()]).collect()
    }
}

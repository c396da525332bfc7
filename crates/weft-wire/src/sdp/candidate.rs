use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use weft_units::Transport;

/// Address that may reach the describing side (RFC 8839 section 5.1). Text
/// form: `candidate:...`, as in SDP after `a=` and in browsers' events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Equal for candidates of the same type, base and server.
    pub foundation: String,
    /// Component; 1: RTP, and RTCP when multiplexed.
    pub component: u16,
    /// Transport protocol.
    pub transport: Transport,
    /// Higher is better (RFC 8445 section 5.1.2).
    pub priority: u32,
    /// IP address, or a name by which browsers hide it (`*.local`).
    pub address: String,
    /// Port; 9 for a candidate that only connects (RFC 6544).
    pub port: u16,
    /// Type of the candidate.
    pub kind: CandidateKind,
    /// Base of a reflexive or relayed candidate.
    pub related: Option<(String, u16)>,
    /// Further name and value pairs, such as `generation` or `tcptype`.
    pub extensions: Vec<(String, String)>,
}

/// Type of a candidate (RFC 8445 section 5.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateKind {
    /// Address of the host itself.
    Host,
    /// Address seen by a STUN server.
    ServerReflexive,
    /// Address seen by the peer.
    PeerReflexive,
    /// Address on a TURN server.
    Relayed,
}

impl Candidate {
    /// Returns the address to send to; `None` if it is a name.
    #[must_use]
    pub fn socket_addr(&self) -> Option<SocketAddr> {
        let ip: IpAddr = self.address.parse().ok()?;
        Some(SocketAddr::new(ip, self.port))
    }

    /// Parses the text after `a=candidate:`. `Ok(None)`: an unknown transport
    /// or type, which must be ignored (RFC 8839 section 5.1).
    pub(super) fn from_text(text: &str) -> Result<Option<Candidate>, &'static str> {
        let mut words = text.split_ascii_whitespace();
        let mut next = || words.next().ok_or("the candidate is cut off");
        let foundation = next()?.to_owned();
        let component = next()?
            .parse()
            .map_err(|_| "the component is not a number")?;
        let transport = match next()? {
            name if name.eq_ignore_ascii_case("udp") => Some(Transport::Udp),
            name if name.eq_ignore_ascii_case("tcp") => Some(Transport::Tcp),
            _ => None,
        };
        let priority = next()?
            .parse()
            .map_err(|_| "the priority is not a number")?;
        let address = next()?.to_owned();
        let port = next()?.parse().map_err(|_| "the port is not a number")?;
        if next()? != "typ" {
            return Err("the candidate has no type");
        }
        let kind = CandidateKind::from_name(next()?);
        let mut related_address = None;
        let mut related_port = None;
        let mut extensions = Vec::new();
        while let Some(name) = words.next() {
            // Some candidates end with a name without a value; it is ignored.
            let Some(value) = words.next() else { break };
            match name {
                "raddr" => related_address = Some(value.to_owned()),
                "rport" => related_port = value.parse().ok(),
                _ => extensions.push((name.to_owned(), value.to_owned())),
            }
        }
        let (Some(transport), Some(kind)) = (transport, kind) else {
            return Ok(None);
        };
        Ok(Some(Candidate {
            foundation,
            component,
            transport,
            priority,
            address,
            port,
            kind,
            related: related_address.zip(related_port),
            extensions,
        }))
    }
}

/// Parses the text form, with or without a leading `a=` and `candidate:`.
impl FromStr for Candidate {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Candidate, &'static str> {
        let text = text.strip_prefix("a=").unwrap_or(text);
        let text = text.strip_prefix("candidate:").unwrap_or(text);
        Candidate::from_text(text)?.ok_or("the candidate's transport or type is not known")
    }
}

impl CandidateKind {
    fn from_name(name: &str) -> Option<CandidateKind> {
        Some(match name {
            "host" => CandidateKind::Host,
            "srflx" => CandidateKind::ServerReflexive,
            "prflx" => CandidateKind::PeerReflexive,
            "relay" => CandidateKind::Relayed,
            _ => return None,
        })
    }
}

impl fmt::Display for CandidateKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CandidateKind::Host => "host",
            CandidateKind::ServerReflexive => "srflx",
            CandidateKind::PeerReflexive => "prflx",
            CandidateKind::Relayed => "relay",
        })
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "candidate:{} {} {} {} {} {} typ {}",
            self.foundation,
            self.component,
            self.transport,
            self.priority,
            self.address,
            self.port,
            self.kind
        )?;
        if let Some((address, port)) = &self.related {
            write!(f, " raddr {address} rport {port}")?;
        }
        self.extensions
            .iter()
            .try_for_each(|(name, value)| write!(f, " {name} {value}"))
    }
}

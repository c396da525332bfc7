//! DNS queries to one server over one link.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use domain::base::iana::Rcode;
use domain::base::{Message, MessageBuilder, Name, Rtype};
use domain::rdata::{A, Aaaa};
use socket2::{Domain, Protocol, Socket, Type};

use super::source::Source;

/// Time before a query is repeated. Chosen by us: longer than a round trip of the slowest
/// networks.
const AGAIN: Duration = Duration::from_secs(1);

/// Time that addresses of one family wait for the other family (RFC 8305
/// section 3, Resolution Delay).
const OTHER_FAMILY: Duration = Duration::from_millis(50);

/// Largest answer over UDP without EDNS (RFC 1035 section 2.3.4), with space for servers
/// that send more.
const DATAGRAM: usize = 4096;

/// Reason why a server returned no address.
#[derive(Debug, thiserror::Error)]
pub(super) enum DnsError {
    /// Error of the system.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The name does not exist, or has no address.
    #[error("no such host")]
    NoSuchHost,
    /// The server failed.
    #[error("the DNS server answers {0}")]
    Failed(Rcode),
}

/// Query for the addresses of one family.
struct Question<'a> {
    name: &'a Name<Vec<u8>>,
    kind: Rtype,
    id: u16,
    answer: Option<Result<Vec<IpAddr>, DnsError>>,
}

/// Queries a server from this source address for the addresses of a name, in
/// the families that the link has.
pub(super) fn ask(
    source: &Source,
    server: SocketAddr,
    name: &Name<Vec<u8>>,
    kinds: &[Rtype],
    deadline: Instant,
) -> Result<Vec<IpAddr>, DnsError> {
    let socket = source.datagrams(server)?;
    let mut rng = weft_net::rng().map_err(io::Error::other)?;
    let questions = kinds.iter().map(|kind| Question {
        name,
        kind: *kind,
        id: rng.next_u64() as u16,
        answer: None,
    });
    let mut questions: Vec<Question> = questions.collect();
    let mut end = deadline;
    let mut again = Instant::now();
    let mut buffer = [0; DATAGRAM];
    while questions.iter().any(|q| q.answer.is_none()) {
        let now = Instant::now();
        if now >= end {
            break;
        }
        if now >= again {
            again = now + AGAIN;
            for question in questions.iter().filter(|q| q.answer.is_none()) {
                socket.send(&question.message())?;
            }
        }
        let wait = again.min(end) - now;
        socket.set_read_timeout(Some(wait.max(Duration::from_millis(1))))?;
        let length = match socket.recv(&mut buffer) {
            Ok(length) => length,
            Err(error) if is_over(&error) => continue,
            Err(error) => return Err(error.into()),
        };
        let Ok(message) = Message::from_octets(&buffer[..length]) else {
            continue;
        };
        let mut waiting = questions.iter_mut().filter(|q| q.answer.is_none());
        let Some(question) = waiting.find(|q| q.is_answered_by(message.for_slice())) else {
            continue;
        };
        let answer = match message.header().tc() {
            true => question.over_tcp(source, server, deadline),
            false => question.read(message.for_slice()),
        };
        if answer.as_ref().is_ok_and(|found| !found.is_empty()) {
            end = end.min(Instant::now() + OTHER_FAMILY);
        }
        question.answer = Some(answer);
    }
    outcome(questions)
}

/// Returns all addresses, or the most informative error.
fn outcome(questions: Vec<Question>) -> Result<Vec<IpAddr>, DnsError> {
    let mut found = Vec::new();
    let mut reason = None;
    for question in questions {
        match question.answer {
            Some(Ok(addresses)) => found.extend(addresses),
            Some(Err(error)) => reason = Some(error),
            None => {
                let timed_out = || io::Error::from(io::ErrorKind::TimedOut).into();
                reason = Some(reason.unwrap_or_else(timed_out));
            }
        }
    }
    match found.is_empty() {
        true => Err(reason.unwrap_or(DnsError::NoSuchHost)),
        false => Ok(found),
    }
}

fn is_over(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

impl Question<'_> {
    fn message(&self) -> Vec<u8> {
        let mut builder = MessageBuilder::new_vec();
        builder.header_mut().set_id(self.id);
        builder.header_mut().set_rd(true);
        let mut builder = builder.question();
        builder
            .push((self.name, self.kind))
            .expect("a question fits into a vector");
        builder.finish()
    }

    /// Whether a message answers this query: same id and same question.
    fn is_answered_by(&self, message: &Message<[u8]>) -> bool {
        let header = message.header();
        let same = message
            .sole_question()
            .is_ok_and(|question| question.qtype() == self.kind && *question.qname() == *self.name);
        header.qr() && header.id() == self.id && same
    }

    fn read(&self, message: &Message<[u8]>) -> Result<Vec<IpAddr>, DnsError> {
        match message.header().rcode() {
            Rcode::NOERROR => {}
            Rcode::NXDOMAIN => return Err(DnsError::NoSuchHost),
            other => return Err(DnsError::Failed(other)),
        }
        let (Some(owner), Ok(answer)) = (message.canonical_name(), message.answer()) else {
            return Err(DnsError::Failed(Rcode::FORMERR));
        };
        let mut found: Vec<IpAddr> = match self.kind {
            Rtype::A => {
                let records = answer.limit_to_in::<A>().flatten();
                let own = records.filter(|record| *record.owner() == owner);
                own.map(|record| record.data().addr().into()).collect()
            }
            _ => {
                let records = answer.limit_to_in::<Aaaa>().flatten();
                let own = records.filter(|record| *record.owner() == owner);
                own.map(|record| record.data().addr().into()).collect()
            }
        };
        found.retain(is_elsewhere);
        found.truncate(MAX_ADDRESSES);
        Ok(found)
    }

    /// Repeats the query over TCP, because the answer was truncated (RFC 7766
    /// section 5).
    fn over_tcp(
        &self,
        source: &Source,
        server: SocketAddr,
        deadline: Instant,
    ) -> Result<Vec<IpAddr>, DnsError> {
        let left = || {
            let left = deadline.saturating_duration_since(Instant::now());
            left.max(Duration::from_millis(1))
        };
        let socket = Socket::new(
            Domain::for_address(server),
            Type::STREAM,
            Some(Protocol::TCP),
        )?;
        source.bind(&socket)?;
        socket.connect_timeout(&server.into(), left())?;
        let mut stream = TcpStream::from(socket);
        stream.set_write_timeout(Some(left()))?;
        stream.set_read_timeout(Some(left()))?;
        let message = self.message();
        stream.write_all(&(message.len() as u16).to_be_bytes())?;
        stream.write_all(&message)?;
        let mut length = [0; 2];
        stream.read_exact(&mut length)?;
        let mut answer = vec![0; usize::from(u16::from_be_bytes(length))];
        stream.read_exact(&mut answer)?;
        match Message::from_octets(answer.as_slice()) {
            Ok(message) if self.is_answered_by(message.for_slice()) => {
                self.read(message.for_slice())
            }
            _ => Err(DnsError::Failed(Rcode::FORMERR)),
        }
    }
}

/// Maximum number of addresses per family: more than two for each of a few links. Chosen
/// by us.
const MAX_ADDRESSES: usize = 8;

/// Whether the address is on another machine. A public name that points to this
/// machine comes from a block list or an attack (DNS rebinding).
fn is_elsewhere(address: &IpAddr) -> bool {
    !address.is_loopback() && !address.is_unspecified() && !address.is_multicast()
}

#[cfg(test)]
mod tests;

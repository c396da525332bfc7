//! Invariants, checked from outside: on the wire, in the rooms, on the screens.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hasher};
use std::net::SocketAddr;

use weft_forwarding::ResourceId;
use weft_units::{Duration, Instant, PathId};
use weft_wire::rtp;

use crate::network::Datagram;
use crate::processor::{Load, Spent};
use crate::screen::Second;
use crate::server::{CONSENT, Sent, Server, is_media, is_rtcp};

/// Maximum time for which media may be sent to a silent address. Consent is checked once
/// a second, hence one more second.
const MOST_SILENCE: Duration = Duration::from_secs(CONSENT.as_nanos() / 1_000_000_000 + 1);
/// Maximum time for which pictures are sent to a silent address: later ones would be stale.
const MOST_UNHEARD: Duration = Duration::from_secs(5);
/// Longest freeze while viewer and publisher each have a good link that stays up. A
/// failed path is detected within 200 ms; then lost packets or a keyframe must arrive.
pub const MOST_STILL: Duration = Duration::from_millis(400);
/// Longest freeze of a call over any links that stay up, however bad.
pub const MOST_STILL_ANYWHERE: Duration = Duration::from_millis(6_000);
/// Longest time without an acknowledgement on a path over a good link: an idle path is
/// measured four times a second.
pub const MOST_UNACKNOWLEDGED: Duration = Duration::from_millis(1_500);
/// Minimum number of pictures that a viewer of such a call sees in a second, of 30.
pub const FEWEST: usize = 22;
/// Minimum number of picture bytes that a viewer of such a call sees in a second.
pub const LEAST_BYTES: usize = 14_000;
/// Maximum age of a picture in such a call, from capture to display.
pub const OLDEST: Duration = Duration::from_millis(400);
/// Maximum number of media bytes that one connection sends to one address within
/// [`TOGETHER`]: the pacer's largest burst, 63 kB, and the 26 kB that sound, repair and
/// the pacer's rate reach without bursts.
const MOST_TOGETHER: u64 = 63_000 + 26_000;
/// Period of [`MOST_TOGETHER`].
const TOGETHER: Duration = Duration::from_millis(5);
/// Maximum time for which a silent browser's connection is kept: consent (RFC 7675
/// section 5.1) and a little more.
const MOST_KEPT: Duration = Duration::from_secs(CONSENT.as_nanos() / 1_000_000_000 + 3);
/// Longest time of one input on the counted processor.
const MOST_TIME: Duration = Duration::from_millis(8);
/// Maximum memory that one input may allocate, in bytes, even if it is freed at once.
const MOST_TAKEN: u64 = 2 << 20;
/// Maximum memory that the server may hold for each connection, and in addition to that,
/// in bytes.
const MOST_HELD: i64 = 2 << 20;
const HELD_BY_ITSELF: i64 = 4 << 20;
/// Maximum number of bytes sent to a forged address for each byte from there: an answer
/// to a check and four checks of our own, each a little longer than the check.
const MOST_REFLECTED: u64 = 8;

/// Maximum durations of conditions in a meeting over good links that stay up. A moving
/// call has [`MOST_STILL`]; in a meeting, encodings change, too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Bound {
    /// A participant is not connected.
    Unconnected,
    /// A tile is frozen.
    Still,
    /// A shared screen of ten pictures a second is frozen.
    ScreenStill,
    /// Age of a displayed picture.
    Age,
    /// A large tile shows a smaller encoding, or the reverse: the publisher resumes
    /// encodings with a keyframe, and the rates must be determined.
    Small,
    Large,
    /// A person is not heard.
    Silent,
    /// No messages arrive from a person.
    Unsaid,
    /// Nothing of a person is recorded.
    Unrecorded,
}

impl Bound {
    fn most(self) -> Duration {
        Duration::from_millis(match self {
            Bound::Unconnected => 3_000,
            Bound::Still => 600,
            Bound::ScreenStill => 800,
            Bound::Age => 600,
            Bound::Small | Bound::Large => 8_000,
            Bound::Silent => 600,
            Bound::Unsaid => 5_000,
            Bound::Unrecorded => 1_000,
        })
    }
}

/// Minimum number of pictures of a tile in a meeting: when encodings change, some arrive late.
const FEWEST_IN_MEETINGS: usize = 15;

/// SRTP context that an index belongs to: number of the association in the run.
type Context = u64;

/// Records of a run.
#[derive(Default)]
pub struct Watch {
    pub violations: Vec<String>,
    digest: DefaultHasher,
    /// Hash of the bytes sent with each index.
    encrypted: HashMap<(Context, u64, u32), u64>,
    /// Time of the last datagram from an address, and bytes from and to it.
    heard: HashMap<SocketAddr, Heard>,
    /// Addresses that attackers forged.
    pub forged: BTreeSet<SocketAddr>,
    /// Addresses that members ever sent from.
    pub ports: BTreeSet<SocketAddr>,
    pub datagrams: u64,
    pub extremes: Extremes,
    /// Start of the current period of a connection and address, and bytes since then.
    together: HashMap<(Context, SocketAddr), (Instant, u64)>,
    /// Acknowledged packets of each path of a publisher's connection, and the time of
    /// the last change.
    pub acknowledged: BTreeMap<(usize, u64, PathId), (u64, Instant)>,
    /// Connections of crashed browsers, with the time of their end.
    gone: Vec<(Instant, ResourceId)>,
    /// Addresses of connections that the server has ended on request.
    closed: BTreeMap<SocketAddr, Instant>,
    /// Maximum of each [`Bound`], and minimum number of pictures of a tile in a second.
    pub meetings: Meetings,
}

/// Distance of meetings to their bounds.
#[derive(Clone, Default, Debug)]
pub struct Meetings {
    pub longest: BTreeMap<Bound, Duration>,
    pub fewest: Option<usize>,
}

impl Meetings {
    /// Takes the worse of both.
    pub fn worsen(&mut self, other: &Meetings) {
        for (bound, longest) in &other.longest {
            let known = self.longest.entry(*bound).or_default();
            *known = (*known).max(*longest);
        }
        self.fewest = self.fewest.into_iter().chain(other.fewest).min();
    }
}

/// Distance of a run to its bounds.
#[derive(Clone, Copy, Debug)]
pub struct Extremes {
    /// Longest freeze of a call with good links.
    pub still: Duration,
    /// Longest freeze of a call over any links.
    pub still_anywhere: Duration,
    /// Longest time without an acknowledgement on a path over a good link.
    pub unacknowledged: Duration,
    /// Minimum number of pictures displayed in a second.
    pub fewest: usize,
    /// Minimum number of picture bytes displayed in a second.
    pub thinnest: usize,
    /// Maximum age of a displayed picture.
    pub oldest: Duration,
    /// Maximum number of media bytes sent together.
    pub together: u64,
}

impl Default for Extremes {
    fn default() -> Extremes {
        Extremes {
            still: Duration::ZERO,
            still_anywhere: Duration::ZERO,
            unacknowledged: Duration::ZERO,
            fewest: usize::MAX,
            thinnest: usize::MAX,
            oldest: Duration::ZERO,
            together: 0,
        }
    }
}

impl Extremes {
    /// Returns the worse of both.
    #[must_use]
    pub fn worst(self, other: Extremes) -> Extremes {
        Extremes {
            still: self.still.max(other.still),
            still_anywhere: self.still_anywhere.max(other.still_anywhere),
            unacknowledged: self.unacknowledged.max(other.unacknowledged),
            fewest: self.fewest.min(other.fewest),
            thinnest: self.thinnest.min(other.thinnest),
            oldest: self.oldest.max(other.oldest),
            together: self.together.max(other.together),
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Heard {
    at: Option<Instant>,
    received: u64,
    sent: u64,
}

impl Watch {
    /// Records a violation.
    pub fn complain(&mut self, now: Instant, what: impl Into<String>) {
        const MOST: usize = 8;
        if self.violations.len() < MOST {
            let seconds = now.as_secs_f64();
            self.violations
                .push(format!("at {seconds:.3} s: {}", what.into()));
        }
    }

    /// Returns the hash of every datagram with its time and addresses.
    pub fn digest(&self) -> u64 {
        self.digest.finish()
    }

    fn note(&mut self, now: Instant, datagram: &Datagram) -> u64 {
        let mut hasher = DefaultHasher::new();
        match datagram.bytes.first() {
            // SCTP inside DTLS draws its numbers from the system.
            Some(20..=63) => hasher.write_usize(datagram.bytes.len()),
            _ => hasher.write(&datagram.bytes),
        }
        let hash = hasher.finish();
        self.digest.write_u64(now.as_nanos());
        self.digest.write_u16(datagram.from.port());
        self.digest.write_u16(datagram.to.port());
        self.digest.write_u64(hash);
        self.datagrams += 1;
        hash
    }

    /// Records a datagram that the server received.
    pub fn on_received(&mut self, now: Instant, datagram: &Datagram) {
        let heard = self.heard.entry(datagram.from).or_default();
        heard.at = Some(now);
        heard.received += datagram.bytes.len() as u64;
    }

    /// Records a datagram that the server sends in this `incarnation`.
    pub fn on_sent(&mut self, now: Instant, incarnation: u64, sent: &Sent) {
        let Sent { context, datagram } = sent;
        let hash = self.note(now, datagram);
        let context = incarnation << 48 | context;
        self.on_protected(now, context, datagram, hash);
        self.on_media(now, context, datagram);
        let heard = self.heard.entry(datagram.to).or_default();
        heard.sent += datagram.bytes.len() as u64;
        let Some(at) = heard.at else {
            let to = datagram.to;
            return self.complain(now, format!("sent to {to}, which never sent anything"));
        };
        let silence = now.saturating_since(at);
        let closed = self.closed.get(&datagram.to).copied();
        if is_media(&datagram.bytes) && closed.is_some_and(|closed| closed < now) {
            let to = datagram.to;
            self.complain(now, format!("media to {to}, whose connection is closed"));
        }
        if is_media(&datagram.bytes) && silence > MOST_SILENCE {
            let to = datagram.to;
            self.complain(now, format!("media to {to}, silent for {silence:?}"));
        }
        if is_media(&datagram.bytes) && !is_rtcp(&datagram.bytes) && silence > MOST_UNHEARD {
            let to = datagram.to;
            self.complain(now, format!("pictures to {to}, silent for {silence:?}"));
        }
    }

    /// Records a datagram that a member sends.
    pub fn on_sent_by_member(&mut self, now: Instant, context: Context, datagram: &Datagram) {
        let hash = self.note(now, datagram);
        self.on_protected(now, 1 << 63 | context, datagram, hash);
        self.on_media(now, 1 << 63 | context, datagram);
    }

    /// Checks that an index is used only once: only equal bytes may be sent again (RFC
    /// 3711 section 9.1).
    fn on_protected(&mut self, now: Instant, context: Context, datagram: &Datagram, hash: u64) {
        let bytes = &datagram.bytes;
        if !is_media(bytes) {
            return;
        }
        let index = match is_rtcp(bytes) {
            // With AES-GCM, the index comes last (RFC 7714 section 9).
            true => match (bytes.get(4..8), bytes.last_chunk::<4>()) {
                (Some(ssrc), Some(index)) => {
                    let ssrc = ssrc.iter().fold(1, |all, byte| all << 8 | u64::from(*byte));
                    (ssrc, u32::from_be_bytes(*index))
                }
                _ => return,
            },
            false => match rtp::peek(bytes) {
                Ok(peek) => (u64::from(peek.ssrc.0), u32::from(peek.sequence)),
                Err(_) => return,
            },
        };
        let key = (context, index.0, index.1);
        if *self.encrypted.entry(key).or_insert(hash) != hash {
            self.complain(now, format!("encrypted twice: {key:?}"));
        }
    }

    /// Checks that media is paced.
    fn on_media(&mut self, now: Instant, context: Context, datagram: &Datagram) {
        if !is_media(&datagram.bytes) {
            return;
        }
        let way = self.together.entry((context, datagram.to));
        let (since, sent) = way.or_insert((now, 0));
        if now.saturating_since(*since) > TOGETHER {
            (*since, *sent) = (now, 0);
        }
        *sent += datagram.bytes.len() as u64;
        let sent = *sent;
        if sent > MOST_TOGETHER && self.extremes.together <= MOST_TOGETHER {
            let to = datagram.to;
            self.complain(now, format!("{sent} bytes together to {to}"));
        }
        self.extremes.together = self.extremes.together.max(sent);
    }

    /// Checks the server's counts and its memory.
    pub fn on_server(&mut self, now: Instant, server: &Server) {
        let is_kept = |(at, resource): &(Instant, ResourceId)| {
            now.saturating_since(*at) > MOST_KEPT && server.resources.contains_key(resource)
        };
        if let Some((_, kept)) = self.gone.iter().find(|gone| is_kept(gone)) {
            let what = format!("{kept:?} of a browser is kept {MOST_KEPT:?} after its end");
            self.gone.clear();
            self.complain(now, what);
        }
        for census in server.planes.iter().map(|plane| plane.census()) {
            if !census.agrees() {
                self.complain(now, format!("a plane's counts differ: {census:?}"));
            }
        }
        let mut connections: Vec<&ResourceId> = server
            .planes
            .iter()
            .flat_map(|plane| plane.connections())
            .collect();
        connections.sort();
        if !connections.into_iter().eq(server.resources.keys()) {
            self.complain(now, "signalling and plane know other connections");
        }
        let rooms = &server.rooms;
        let strays = server
            .resources
            .values()
            .filter(|r| rooms.find(crate::server::ROOM, &r.publisher).is_err());
        if let Some(stray) = strays.map(|r| r.publisher.clone()).next() {
            self.complain(
                now,
                format!("a connection of {stray}, who is not in the room"),
            );
        }
        let connections = server.resources.len() as i64;
        let most = HELD_BY_ITSELF + connections * MOST_HELD;
        if server.processor.held > most {
            let held = server.processor.held;
            self.complain(now, format!("{held} bytes for {connections} connections"));
        }
    }

    /// Checks the cost of inputs when a server ends.
    pub fn on_spent(&mut self, now: Instant, spent: &BTreeMap<Load, Spent>) {
        for (load, spent) in spent {
            if *load == Load::Timeout {
                continue;
            }
            if spent.most_time > MOST_TIME {
                let time = spent.most_time;
                self.complain(now, format!("{load:?}: one input took {time:?}"));
            }
            if spent.most_taken > MOST_TAKEN {
                let taken = spent.most_taken;
                self.complain(now, format!("{load:?}: one input took {taken} bytes"));
            }
        }
    }

    /// Checks the freeze of a call with good links.
    pub fn on_still(&mut self, now: Instant, name: &str, still: Duration) {
        if still > MOST_STILL && self.extremes.still <= MOST_STILL {
            self.complain(now, format!("{name} has seen nothing for {still:?}"));
        }
        self.extremes.still = self.extremes.still.max(still);
    }

    /// Checks the freeze of a call over any links.
    pub fn on_still_anywhere(&mut self, now: Instant, name: &str, still: Duration) {
        if still > MOST_STILL_ANYWHERE && self.extremes.still_anywhere <= MOST_STILL_ANYWHERE {
            self.complain(now, format!("{name} has seen nothing at all for {still:?}"));
        }
        self.extremes.still_anywhere = self.extremes.still_anywhere.max(still);
    }

    /// Checks a path over a good link on which nothing was acknowledged for this time.
    pub fn on_unacknowledged(&mut self, now: Instant, name: &str, silence: Duration) {
        if silence > MOST_UNACKNOWLEDGED && self.extremes.unacknowledged <= MOST_UNACKNOWLEDGED {
            let what = format!("a path of {name} got no acknowledgement for {silence:?}");
            self.complain(now, what);
        }
        self.extremes.unacknowledged = self.extremes.unacknowledged.max(silence);
    }

    /// Checks the last second of such a call.
    pub fn on_second(&mut self, now: Instant, name: &str, second: Second) {
        let Second {
            pictures: count,
            oldest,
            bytes,
        } = second;
        if bytes < LEAST_BYTES && self.extremes.thinnest >= LEAST_BYTES {
            self.complain(now, format!("{name} has seen {bytes} bytes in a second"));
        }
        self.extremes.thinnest = self.extremes.thinnest.min(bytes);
        if count < FEWEST && self.extremes.fewest >= FEWEST {
            self.complain(now, format!("{name} has seen {count} pictures in a second"));
        }
        if oldest > OLDEST && self.extremes.oldest <= OLDEST {
            self.complain(now, format!("{name} was shown a picture {oldest:?} old"));
        }
        self.extremes.fewest = self.extremes.fewest.min(count);
        self.extremes.oldest = self.extremes.oldest.max(oldest);
    }

    /// Checks a viewer and its publisher with lossless links: `missing` packets did not arrive.
    pub fn on_gaps(&mut self, now: Instant, name: &str, missing: u64) {
        if missing > 0 {
            self.complain(
                now,
                format!("{name} lacks {missing} packets that nothing lost"),
            );
        }
    }

    /// Records that the server has ended the connection of these addresses.
    pub fn on_closed(&mut self, now: Instant, ports: impl IntoIterator<Item = SocketAddr>) {
        self.closed
            .extend(ports.into_iter().map(|port| (port, now)));
    }

    /// Checks a duration in a meeting.
    pub fn on_bound(&mut self, now: Instant, bound: Bound, name: &str, length: Duration) {
        let known = self.meetings.longest.entry(bound).or_default();
        let before = std::mem::replace(known, (*known).max(length));
        if length > bound.most() && before <= bound.most() {
            self.complain(now, format!("{bound:?} for {length:?}: {name}"));
        }
    }

    /// Checks the pictures of a tile in the last second.
    pub fn on_few(&mut self, now: Instant, name: &str, count: usize) {
        let before = self.meetings.fewest.unwrap_or(usize::MAX);
        self.meetings.fewest = Some(before.min(count));
        if count < FEWEST_IN_MEETINGS && before >= FEWEST_IN_MEETINGS {
            self.complain(now, format!("{count} pictures in a second: {name}"));
        }
    }

    /// Records that a browser has crashed.
    pub fn on_gone(&mut self, now: Instant, resource: &ResourceId) {
        self.gone.push((now, resource.clone()));
    }

    /// Forgets the connections of a server that has crashed.
    pub fn on_server_crash(&mut self) {
        self.gone.clear();
        self.closed.clear();
    }

    /// Checks what was sent to forged addresses.
    pub fn on_end(&mut self, now: Instant) {
        let forged: Vec<SocketAddr> = self.forged.difference(&self.ports).copied().collect();
        for address in forged {
            let heard = self.heard.get(&address).copied().unwrap_or_default();
            if heard.sent > MOST_REFLECTED * heard.received + 1_000 {
                let Heard { sent, received, .. } = heard;
                let what = format!("{address} got {sent} bytes for {received}");
                self.complain(now, what);
            }
        }
    }
}

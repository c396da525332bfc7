use std::fmt;
use std::ops::Range;

use super::dependency::DEPENDENCY_URI;
use weft_units::{AudioLevel, PathId};

/// Transport-wide sequence number
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 section 2).
pub const TRANSPORT_SEQUENCE_URI: &str =
    "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";
/// Path and per-path sequence numbers, see [`PathExtension`].
pub const PATH_URI: &str = "urn:weft:rtp-hdrext:path";
/// Media identification (RFC 9143 section 15.2).
pub const MID_URI: &str = "urn:ietf:params:rtp-hdrext:sdes:mid";
/// Identification of a simulcast encoding (RFC 8852 section 4).
pub const RID_URI: &str = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id";
/// Identification of the encoding that retransmissions repair (RFC 8852 section 4).
pub const REPAIRED_RID_URI: &str = "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id";
/// Client-to-mixer audio level (RFC 6464 section 4).
pub const AUDIO_LEVEL_URI: &str = "urn:ietf:params:rtp-hdrext:ssrc-audio-level";

/// RFC 8285 section 4.2.
const ONE_BYTE_PROFILE: u16 = 0xbede;
/// RFC 8285 section 4.3: the low four bits belong to the application.
const TWO_BYTE_PROFILE: u16 = 0x1000;
/// RFC 8285 section 4.3: the length of an element has one octet.
const TWO_BYTE_MAX_LEN: usize = 255;
/// RFC 8285 section 4.2: this id ends the block in the one-byte form.
const ONE_BYTE_STOP_ID: u8 = 15;

/// Values of the header extensions that weft supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Extensions {
    /// Sequence number over all streams of the transport.
    pub transport_sequence: Option<u16>,
    /// Path of the packet, with its numbers on that path.
    pub path: Option<PathExtension>,
    /// Media section of the stream.
    pub mid: Option<Mid>,
    /// Audio level of the packet.
    pub audio_level: Option<AudioLevel>,
    /// Encoding of the media section.
    pub rid: Option<Rid>,
    /// Encoding that a retransmission repairs.
    pub repaired_rid: Option<Rid>,
}

/// Path of a packet and its position on it (the header extension
/// `urn:weft:rtp-hdrext:path`): path id, stream sequence and transport sequence, five
/// octets in network order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathExtension {
    /// Sender's id of the path.
    pub path: PathId,
    /// Counter of this SSRC's packets on this path.
    pub stream_sequence: u16,
    /// Counter of all SSRCs' packets on this path.
    pub transport_sequence: u16,
}

/// Negotiated id of each extension; an extension without an id is unused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ExtensionMap {
    /// Id of [`TRANSPORT_SEQUENCE_URI`].
    pub transport_sequence: Option<u8>,
    /// Id of [`PATH_URI`].
    pub path: Option<u8>,
    /// Id of [`MID_URI`].
    pub mid: Option<u8>,
    /// Id of [`AUDIO_LEVEL_URI`].
    pub audio_level: Option<u8>,
    /// Id of [`RID_URI`].
    pub rid: Option<u8>,
    /// Id of [`REPAIRED_RID_URI`].
    pub repaired_rid: Option<u8>,
    /// Id of [`DEPENDENCY_URI`].
    pub dependency: Option<u8>,
}

impl ExtensionMap {
    /// Returns the map of negotiated (id, URI) pairs, as in `a=extmap`. Omits ids that
    /// the one-byte form does not support.
    #[must_use]
    pub fn from_negotiated(pairs: &[(u8, String)]) -> ExtensionMap {
        let id = |uri: &str| {
            let writable = 1..ONE_BYTE_STOP_ID;
            pairs
                .iter()
                .find(|(id, u)| u == uri && writable.contains(id))
                .map(|(id, _)| *id)
        };
        ExtensionMap {
            transport_sequence: id(TRANSPORT_SEQUENCE_URI),
            path: id(PATH_URI),
            mid: id(MID_URI),
            audio_level: id(AUDIO_LEVEL_URI),
            rid: id(RID_URI),
            repaired_rid: id(REPAIRED_RID_URI),
            dependency: id(DEPENDENCY_URI),
        }
    }
}

/// Identification of an encoding in a media section (RFC 8851), with the length limit of
/// [`Mid`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rid(Mid);

impl Rid {
    /// Creates it; `None` if the text is empty, too long or not an SDP token.
    #[must_use]
    pub fn new(text: &str) -> Option<Rid> {
        Mid::new(text).map(Rid)
    }
}

impl fmt::Debug for Rid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rid:{self}")
    }
}

impl fmt::Display for Rid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Identification of a media section (RFC 5888 `mid`), no longer than the content of a
/// one-byte header extension.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mid {
    len: u8,
    bytes: [u8; Mid::MAX_LEN],
}

impl Mid {
    /// RFC 8285 section 4.2: the content of an element has 1 to 16 octets.
    pub const MAX_LEN: usize = 16;

    /// Creates it; `None` if the text is empty, too long or not an SDP token (RFC 8866
    /// section 9).
    #[must_use]
    pub fn new(text: &str) -> Option<Mid> {
        Mid::from_bytes(text.as_bytes())
    }

    fn from_bytes(text: &[u8]) -> Option<Mid> {
        let fits = (1..=Mid::MAX_LEN).contains(&text.len());
        if !fits || !text.iter().all(|&b| is_token(b)) {
            return None;
        }
        let mut bytes = [0; Mid::MAX_LEN];
        bytes[..text.len()].copy_from_slice(text);
        let len = text.len() as u8;
        Some(Mid { len, bytes })
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Returns the name without padding.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Only tokens are accepted, and these are ASCII.
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

impl fmt::Debug for Mid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mid:{}", self.as_str())
    }
}

impl fmt::Display for Mid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether it is a `token-char` of RFC 8866 section 9.
const fn is_token(b: u8) -> bool {
    b.is_ascii_graphic()
        && !matches!(
            b,
            b'"' | b'(' | b')' | b',' | b'/' | b':'..=b'@' | b'['..=b']'
        )
}

pub(super) fn read_block(profile: u16, block: &[u8], map: &ExtensionMap) -> Extensions {
    let mut extensions = Extensions::default();
    for_each_element(profile, block, |id, at| {
        extensions.read_element(id, &block[at], map);
    });
    extensions
}

/// Length of a transport-wide number; elements of another length are ignored.
const TRANSPORT_LEN: usize = 2;
/// Length of a path's values.
const PATH_LEN: usize = 5;

/// Sets the values of path and transport-wide numbers to zero, in the element that is
/// read if there are several.
pub(super) fn clear_transport_values(profile: u16, block: &mut [u8], map: &ExtensionMap) {
    let mut places = [const { 0..0 }; 2];
    for_each_element(profile, block, |id, at| {
        if Some(id) == map.transport_sequence {
            if at.len() == TRANSPORT_LEN {
                places[0] = at;
            }
        } else if Some(id) == map.path && at.len() == PATH_LEN {
            places[1] = at;
        }
    });
    for place in places {
        block[place].fill(0);
    }
}

/// Calls `element` with the id and position of each element (RFC 8285 sections
/// 4.2, 4.3).
fn for_each_element(profile: u16, block: &[u8], mut element: impl FnMut(u8, Range<usize>)) {
    let one_byte = profile == ONE_BYTE_PROFILE;
    if !one_byte && profile & 0xfff0 != TWO_BYTE_PROFILE {
        return;
    }
    let mut rest = block;
    while let Some((&first, after)) = rest.split_first() {
        if first == 0 {
            rest = after; // a padding octet
            continue;
        }
        let (id, len, after) = if one_byte {
            (first >> 4, usize::from(first & 0x0f) + 1, after)
        } else {
            let Some((&len, after)) = after.split_first() else {
                break;
            };
            (first, usize::from(len), after)
        };
        if one_byte && id == ONE_BYTE_STOP_ID {
            break;
        }
        let at = block.len() - after.len();
        let Some((_, after)) = after.split_at_checked(len) else {
            break;
        };
        element(id, at..at + len);
        rest = after;
    }
}

impl Extensions {
    fn read_element(&mut self, id: u8, content: &[u8], map: &ExtensionMap) {
        let is = |expected: Option<u8>| expected == Some(id);
        if is(map.transport_sequence) {
            if let Ok(bytes) = <[u8; TRANSPORT_LEN]>::try_from(content) {
                self.transport_sequence = Some(u16::from_be_bytes(bytes));
            }
        } else if is(map.path) {
            if let Ok([path, s0, s1, t0, t1]) = <[u8; PATH_LEN]>::try_from(content) {
                self.path = Some(PathExtension {
                    path: PathId(path),
                    stream_sequence: u16::from_be_bytes([s0, s1]),
                    transport_sequence: u16::from_be_bytes([t0, t1]),
                });
            }
        } else if is(map.mid) {
            self.mid = Mid::from_bytes(content);
        } else if is(map.rid) {
            self.rid = Mid::from_bytes(content).map(Rid);
        } else if is(map.repaired_rid) {
            self.repaired_rid = Mid::from_bytes(content).map(Rid);
        } else if is(map.audio_level)
            && let &[level] = content
        {
            self.audio_level = Some(AudioLevel(level));
        }
    }
}

/// Finds the element with this id.
pub(super) fn element(profile: u16, block: &[u8], wanted: u8) -> Option<&[u8]> {
    let mut found = None;
    for_each_element(profile, block, |id, at| {
        if id == wanted {
            found = Some(at);
        }
    });
    block.get(found?)
}

/// Block under construction.
struct Block<'a> {
    out: &'a mut Vec<u8>,
    is_two_byte: bool,
}

impl Block<'_> {
    fn add(&mut self, id: Option<u8>, content: &[u8]) {
        let Some(id) = id.filter(|id| (1..ONE_BYTE_STOP_ID).contains(id)) else {
            return;
        };
        match self.is_two_byte {
            true => self.out.extend_from_slice(&[id, content.len() as u8]),
            false => self.out.push(id << 4 | (content.len() - 1) as u8),
        }
        self.out.extend_from_slice(content);
    }
}

/// Appends the block, with a dependency descriptor unless it is empty; returns false if the
/// block would be empty. Uses the one-byte form unless the descriptor is too long for it.
pub(super) fn write_block(
    extensions: &Extensions,
    dependency: &[u8],
    map: &ExtensionMap,
    out: &mut Vec<u8>,
) -> bool {
    /// Profile and length.
    const HEADER_LEN: usize = 4;
    let start = out.len();
    let is_two_byte = map.dependency.is_some() && dependency.len() > Mid::MAX_LEN;
    out.extend_from_slice(&[0; HEADER_LEN]);
    let mut block = Block { out, is_two_byte };
    if let Some(value) = extensions.transport_sequence {
        block.add(map.transport_sequence, &value.to_be_bytes());
    }
    if let Some(path) = extensions.path {
        let [s0, s1] = path.stream_sequence.to_be_bytes();
        let [t0, t1] = path.transport_sequence.to_be_bytes();
        block.add(map.path, &[path.path.0, s0, s1, t0, t1]);
    }
    if let Some(mid) = extensions.mid {
        block.add(map.mid, mid.as_bytes());
    }
    if let Some(AudioLevel(level)) = extensions.audio_level {
        block.add(map.audio_level, &[level]);
    }
    if let Some(Rid(rid)) = extensions.rid {
        block.add(map.rid, rid.as_bytes());
    }
    if let Some(Rid(rid)) = extensions.repaired_rid {
        block.add(map.repaired_rid, rid.as_bytes());
    }
    if (1..=TWO_BYTE_MAX_LEN).contains(&dependency.len()) {
        block.add(map.dependency, dependency);
    }
    let len = out.len() - start - HEADER_LEN;
    if len == 0 {
        out.truncate(start);
        return false;
    }
    let words = len.div_ceil(4);
    // Zeros after the last element pad the block to a whole word.
    out.resize(start + HEADER_LEN + 4 * words, 0);
    let profile = if is_two_byte {
        TWO_BYTE_PROFILE
    } else {
        ONE_BYTE_PROFILE
    };
    out[start..start + 2].copy_from_slice(&profile.to_be_bytes());
    out[start + 2..start + 4].copy_from_slice(&(words as u16).to_be_bytes());
    true
}

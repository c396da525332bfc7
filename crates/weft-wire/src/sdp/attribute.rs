use std::fmt;
use std::str::FromStr;
use weft_units::Ssrc;

/// Direction of media, from the describing side's view (RFC 8866 section 6.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Direction {
    /// Both ways.
    #[default]
    SendRecv,
    /// From the describing side.
    SendOnly,
    /// To the describing side.
    RecvOnly,
    /// Neither way.
    Inactive,
}

impl Direction {
    /// Returns the direction from the other side's view: the answer to an offer that is
    /// accepted completely.
    #[must_use]
    pub const fn reversed(self) -> Direction {
        match self {
            Direction::SendOnly => Direction::RecvOnly,
            Direction::RecvOnly => Direction::SendOnly,
            same => same,
        }
    }

    /// Whether the describing side sends.
    #[must_use]
    pub const fn sends(self) -> bool {
        matches!(self, Direction::SendRecv | Direction::SendOnly)
    }

    /// Whether the describing side receives.
    #[must_use]
    pub const fn receives(self) -> bool {
        matches!(self, Direction::SendRecv | Direction::RecvOnly)
    }

    pub(super) fn from_name(name: &str) -> Option<Direction> {
        Some(match name {
            "sendrecv" => Direction::SendRecv,
            "sendonly" => Direction::SendOnly,
            "recvonly" => Direction::RecvOnly,
            "inactive" => Direction::Inactive,
            _ => return None,
        })
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::SendRecv => "sendrecv",
            Direction::SendOnly => "sendonly",
            Direction::RecvOnly => "recvonly",
            Direction::Inactive => "inactive",
        })
    }
}

/// Initiator of the DTLS handshake (RFC 8842 section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setup {
    /// The describing side, which is the DTLS client.
    Active,
    /// The other side.
    Passive,
    /// The other side chooses; valid only in offers.
    ActPass,
    /// Neither side for now.
    HoldConn,
}

impl Setup {
    pub(super) fn from_name(name: &str) -> Option<Setup> {
        Some(match name {
            "active" => Setup::Active,
            "passive" => Setup::Passive,
            "actpass" => Setup::ActPass,
            "holdconn" => Setup::HoldConn,
            _ => return None,
        })
    }
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Setup::Active => "active",
            Setup::Passive => "passive",
            Setup::ActPass => "actpass",
            Setup::HoldConn => "holdconn",
        })
    }
}

/// Hash of the DTLS certificate (RFC 8122 section 5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Hash function in lower case, such as `sha-256`.
    pub algorithm: String,
    /// Hash of the certificate, with the length of the hash function.
    pub bytes: Vec<u8>,
}

impl Fingerprint {
    /// Length of SHA-512, the longest hash in RFC 8122.
    const MAX_LEN: usize = 64;
}

impl FromStr for Fingerprint {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Fingerprint, &'static str> {
        let (algorithm, hash) = text.split_once(' ').ok_or("a fingerprint has two parts")?;
        let bytes: Vec<u8> = hash
            .trim_ascii()
            .split(':')
            .take(Fingerprint::MAX_LEN + 1)
            .map(octet)
            .collect::<Option<_>>()
            .ok_or("a fingerprint is hexadecimal octets with colons")?;
        if bytes.len() > Fingerprint::MAX_LEN {
            return Err("the fingerprint is too long");
        }
        Ok(Fingerprint {
            algorithm: algorithm.to_ascii_lowercase(),
            bytes,
        })
    }
}

fn octet(hex: &str) -> Option<u8> {
    let two_digits = hex.len() == 2 && hex.bytes().all(|b| b.is_ascii_hexdigit());
    two_digits.then(|| u8::from_str_radix(hex, 16).ok())?
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.algorithm)?;
        for (i, byte) in self.bytes.iter().enumerate() {
            let separator = if i == 0 { ' ' } else { ':' };
            write!(f, "{separator}{byte:02X}")?;
        }
        Ok(())
    }
}

/// Stream and track of a media section (RFC 8830).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Msid {
    /// `-` for no stream.
    pub stream: String,
    /// Track, which some clients omit.
    pub track: Option<String>,
}

impl Msid {
    pub(super) fn from_text(text: &str) -> Option<Msid> {
        let mut words = text.split_ascii_whitespace().map(str::to_owned);
        let stream = words.next()?;
        let track = words.next();
        Some(Msid { stream, track })
    }
}

impl fmt::Display for Msid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.stream)?;
        match &self.track {
            Some(track) => write!(f, " {track}"),
            None => Ok(()),
        }
    }
}

/// One `a=ssrc` line (RFC 5576 section 4.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SsrcAttribute {
    /// SSRC of the line.
    pub ssrc: Ssrc,
    /// Name, such as `cname` or `msid`.
    pub name: String,
    /// Text after the colon.
    pub value: Option<String>,
}

impl FromStr for SsrcAttribute {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<SsrcAttribute, &'static str> {
        let (ssrc, attribute) = text.split_once(' ').unwrap_or((text, ""));
        let ssrc = ssrc.parse().map_err(|_| "an SSRC is a number of 32 bits")?;
        let (name, value) = match attribute.split_once(':') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (attribute, None),
        };
        Ok(SsrcAttribute {
            ssrc: Ssrc(ssrc),
            name: name.to_owned(),
            value,
        })
    }
}

impl fmt::Display for SsrcAttribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.ssrc.0)?;
        if !self.name.is_empty() || self.value.is_some() {
            write!(f, " {}", self.name)?;
        }
        match &self.value {
            Some(value) => write!(f, ":{value}"),
            None => Ok(()),
        }
    }
}

/// Sources that belong together (RFC 5576 section 4.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SsrcGroup {
    /// Semantics, such as `FID`: a stream and its retransmissions.
    pub semantics: String,
    /// Sources, in an order whose meaning depends on the semantics.
    pub ssrcs: Vec<Ssrc>,
}

impl FromStr for SsrcGroup {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<SsrcGroup, &'static str> {
        let mut words = text.split_ascii_whitespace();
        let semantics = words.next().ok_or("an SSRC group names its semantics")?;
        let ssrcs = words
            .map(|word| word.parse().map(Ssrc))
            .collect::<Result<_, _>>()
            .map_err(|_| "an SSRC is a number of 32 bits")?;
        Ok(SsrcGroup {
            semantics: semantics.to_owned(),
            ssrcs,
        })
    }
}

impl fmt::Display for SsrcGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.semantics)?;
        self.ssrcs
            .iter()
            .try_for_each(|ssrc| write!(f, " {}", ssrc.0))
    }
}

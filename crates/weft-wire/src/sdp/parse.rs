use super::{
    CONGESTION_FEEDBACK, Candidate, Direction, Fingerprint, Media, Msid, Origin, Payload,
    SectionKind,
};
use super::{SdpError, SessionDescription, Setup};
use crate::rtp::Mid;
use std::ops::RangeInclusive;
use weft_units::MediaKind;

// Limits chosen by us, far above the descriptions of all known clients. Session
// attributes are copied to every section, so the size of the text alone does not limit
// the result.
const MAX_TEXT: usize = 256 * 1024;
const MAX_LINE: usize = 8 * 1024;
const MAX_MEDIA: usize = 64;
const MAX_FEEDBACK: usize = 16;
const MAX_FEEDBACK_LEN: usize = 64;
const MAX_URI: usize = 256;
const MAX_ICE_OPTIONS: usize = 16;
const MAX_TITLE: usize = 64;

/// RFC 8839 section 5.4.
const UFRAG_LEN: RangeInclusive<usize> = 4..=256;
const PWD_LEN: RangeInclusive<usize> = 22..=256;
/// RFC 3550 section 5.1: seven bits.
const MAX_PAYLOAD_TYPE: u8 = 127;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Whole,
    Fragment,
}

type Reason = &'static str;

/// State of the parser. Attributes before the first `m=` line are collected in
/// a pseudo-section.
struct Parser {
    description: SessionDescription,
    session: Media,
    session_direction: Option<Direction>,
    direction: Option<Direction>,
    wildcard_feedback: Vec<String>,
}

pub(super) fn description(text: &str, form: Form) -> Result<SessionDescription, SdpError> {
    let whole = |reason| SdpError { line: 0, reason };
    if text.len() > MAX_TEXT {
        return Err(whole("the description is too long"));
    }
    if form == Form::Whole && !text.starts_with("v=0") {
        return Err(SdpError {
            line: 1,
            reason: "a description starts with v=0",
        });
    }
    let mut parser = Parser {
        description: SessionDescription::default(),
        session: Media::new(MediaKind::Audio),
        session_direction: None,
        direction: None,
        wildcard_feedback: Vec::new(),
    };
    for (index, line) in text.lines().enumerate() {
        parser.line(line).map_err(|reason| SdpError {
            line: index + 1,
            reason,
        })?;
    }
    parser.end_of_section();
    let description = &mut parser.description;
    if form == Form::Fragment && description.media.is_empty() {
        description.media.push(parser.session);
    }
    Ok(parser.description)
}

impl Parser {
    fn line(&mut self, line: &str) -> Result<(), Reason> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Ok(());
        }
        if line.len() > MAX_LINE {
            return Err("the line is too long");
        }
        if line.chars().any(|c| c.is_control() && c != '\t') {
            return Err("the line has control characters");
        }
        match line.split_once('=') {
            Some(("o", value)) => self.description.origin = parse_origin(value)?,
            Some(("m", value)) => {
                self.end_of_section();
                if self.description.media.len() == MAX_MEDIA {
                    return Err("there are too many media sections");
                }
                self.description.media.push(parse_media(value)?);
            }
            Some(("a", value)) => match value.split_once(':') {
                Some((name, value)) => self.attribute(name, Some(value.trim_ascii()))?,
                None => self.attribute(value, None)?,
            },
            // The session's title is not displayed.
            Some(("i", value)) => {
                if let Some(media) = self.description.media.last_mut() {
                    media.title = parse_title(value);
                }
            }
            // Times, bandwidths, connection addresses: without meaning for ICE.
            Some((kind, _)) if kind.len() == 1 => {}
            _ => return Err("a line is a letter, an equals sign and a value"),
        }
        Ok(())
    }

    fn attribute(&mut self, name: &str, value: Option<&str>) -> Result<(), Reason> {
        if let (Some(direction), None) = (Direction::from_name(name), value) {
            self.direction = Some(direction);
            return Ok(());
        }
        let Some((media, before)) = self.description.media.split_last_mut() else {
            return self.session_attribute(name, value);
        };
        if let ("mid", Some(mid)) = (name, value.and_then(Mid::new))
            && before.iter().any(|media| media.mid == Some(mid))
        {
            return Err("another media section has this mid");
        }
        if name == "rtcp-fb"
            && let Some(feedback) = value.and_then(|value| value.strip_prefix("* "))
        {
            push_feedback(&mut self.wildcard_feedback, feedback);
            return Ok(());
        }
        if transport_attribute(media, name, value)? || media_attribute(media, name, value)? {
            return Ok(());
        }
        media
            .attributes
            .push((name.to_owned(), value.map(str::to_owned)));
        Ok(())
    }

    fn session_attribute(&mut self, name: &str, value: Option<&str>) -> Result<(), Reason> {
        match (name, value) {
            ("group", Some(value)) => self.group(value),
            ("extmap-allow-mixed", None) => self.description.extmap_allow_mixed = true,
            ("ice-lite", None) => self.description.ice_lite = true,
            // Only in fragments of clients that omit the `m=` line.
            ("candidate", Some(value)) => {
                let candidate = Candidate::from_text(value)?;
                self.session.candidates.extend(candidate);
            }
            _ => {
                transport_attribute(&mut self.session, name, value)?;
            }
        }
        Ok(())
    }

    fn group(&mut self, value: &str) {
        let mut words = value.split_ascii_whitespace();
        if words.next() == Some("BUNDLE") && self.description.bundle.is_empty() {
            let bundle = &mut self.description.bundle;
            for mid in words.filter_map(Mid::new).take(MAX_MEDIA) {
                // An answer repeats the group, and each mid may occur once.
                if !bundle.contains(&mid) {
                    bundle.push(mid);
                }
            }
        }
    }

    /// Adds session-level attributes to the section that ends here.
    fn end_of_section(&mut self) {
        let direction = self.direction.take();
        let Some(media) = self.description.media.last_mut() else {
            self.session_direction = direction;
            return;
        };
        let direction = direction.or(self.session_direction);
        media.direction = direction.unwrap_or_default();
        for feedback in self.wildcard_feedback.drain(..) {
            for payload in &mut media.payloads {
                push_feedback(&mut payload.feedback, &feedback);
            }
        }
        congestion_feedback_of_all(media);
        inherit(media, &self.session);
    }
}

/// Lists congestion feedback for every payload type of a section if one lists it, because
/// it applies to all or none (RFC 8888 section 6).
fn congestion_feedback_of_all(media: &mut Media) {
    if !media.has_feedback(CONGESTION_FEEDBACK) {
        return;
    }
    for payload in &mut media.payloads {
        payload.feedback.retain(|f| f != CONGESTION_FEEDBACK);
        push_feedback(&mut payload.feedback, CONGESTION_FEEDBACK);
    }
}

fn inherit(media: &mut Media, session: &Media) {
    if media.ice_ufrag.is_none() && media.ice_pwd.is_none() {
        media.ice_ufrag.clone_from(&session.ice_ufrag);
        media.ice_pwd.clone_from(&session.ice_pwd);
    }
    if media.ice_options.is_empty() {
        media.ice_options.clone_from(&session.ice_options);
    }
    if media.fingerprint.is_none() {
        media.fingerprint.clone_from(&session.fingerprint);
    }
    media.setup = media.setup.or(session.setup);
    media.end_of_candidates |= session.end_of_candidates;
    for (id, uri) in &session.extensions {
        push_extension(&mut media.extensions, *id, uri);
    }
}

fn parse_origin(value: &str) -> Result<Origin, Reason> {
    let mut words = value.split_ascii_whitespace().skip(1);
    let mut number = || {
        let word = words.next().ok_or("the origin is cut off")?;
        word.parse()
            .map_err(|_| "the origin's ids are numbers of 64 bits")
    };
    Ok(Origin {
        session_id: number()?,
        version: number()?,
    })
}

fn parse_media(value: &str) -> Result<Media, Reason> {
    let mut words = value.split_ascii_whitespace();
    let mut next = || words.next().ok_or("the m= line is cut off");
    let mut media = Media::new(SectionKind::from_name(next()?));
    // "port/number of ports"; the number is unused with ICE.
    let port = next()?.split('/').next().unwrap_or_default();
    media.port = port.parse().map_err(|_| "the port is not a number")?;
    media.protocol = next()?.to_owned();
    let mut words = words.peekable();
    if words.peek().is_none() {
        return Err("the m= line lists no formats");
    }
    if !media.protocol.split('/').any(|part| part == "RTP") {
        media.formats = words.map(str::to_owned).collect();
        return Ok(media);
    }
    for word in words {
        let payload_type = parse_payload_type(word)?;
        if media.payload(payload_type).is_some() {
            return Err("a payload type is listed twice");
        }
        media.payloads.push(static_payload(payload_type));
    }
    Ok(media)
}

/// Returns the start of a title that is too long; `None` if it is empty.
fn parse_title(value: &str) -> Option<String> {
    let start: String = value.trim().chars().take(MAX_TITLE).collect();
    let title = start.trim_end().replace('\t', " ");
    (!title.is_empty()).then_some(title)
}

fn parse_payload_type(text: &str) -> Result<u8, Reason> {
    text.parse()
        .ok()
        .filter(|pt| *pt <= MAX_PAYLOAD_TYPE)
        .ok_or("a payload type is a number of 7 bits")
}

/// Returns a payload type without `a=rtpmap` (RFC 3551 section 6); knows those that browsers
/// offer.
fn static_payload(payload_type: u8) -> Payload {
    let codec = match payload_type {
        0 => "PCMU",
        8 => "PCMA",
        9 => "G722",
        13 => "CN",
        _ => "",
    };
    Payload {
        payload_type,
        codec: codec.to_owned(),
        clock_rate: if codec.is_empty() { 0 } else { 8000 },
        ..Payload::default()
    }
}

/// Parses an attribute that may also appear at the session level. Returns false
/// for other attributes.
fn transport_attribute(media: &mut Media, name: &str, value: Option<&str>) -> Result<bool, Reason> {
    match (name, value) {
        ("ice-ufrag", Some(value)) => {
            media.ice_ufrag = Some(credential(
                value,
                UFRAG_LEN,
                "the ICE ufrag has 4 to 256 characters",
            )?);
        }
        ("ice-pwd", Some(value)) => {
            media.ice_pwd = Some(credential(
                value,
                PWD_LEN,
                "the ICE password has 22 to 256 characters",
            )?);
        }
        ("ice-options", Some(value)) => {
            // Spaces in RFC 8839, commas from libdatachannel.
            let separator = |c: char| c.is_ascii_whitespace() || c == ',';
            let options = value.split(separator).filter(|option| !option.is_empty());
            media.ice_options = options.take(MAX_ICE_OPTIONS).map(str::to_owned).collect();
        }
        ("fingerprint", Some(value)) => {
            let fingerprint: Fingerprint = value.parse()?;
            if media.fingerprint.is_none() || fingerprint.algorithm == "sha-256" {
                media.fingerprint = Some(fingerprint);
            }
        }
        ("setup", Some(value)) => {
            media.setup = Some(Setup::from_name(value).ok_or("the setup role is not known")?);
        }
        ("extmap", Some(value)) => parse_extension(media, value)?,
        ("end-of-candidates", None) => media.end_of_candidates = true,
        _ => return Ok(false),
    }
    Ok(true)
}

fn credential(value: &str, len: RangeInclusive<usize>, reason: Reason) -> Result<String, Reason> {
    if len.contains(&value.len()) {
        Ok(value.to_owned())
    } else {
        Err(reason)
    }
}

/// Parses `id[/direction] URI [attributes]` (RFC 8285 section 7). An id beyond the
/// two-byte form leaves the choice to the answer, and an extension of one direction
/// requires the other direction in the answer. Both are omitted, which refuses them.
fn parse_extension(media: &mut Media, value: &str) -> Result<(), Reason> {
    let mut words = value.split_ascii_whitespace();
    let (Some(id), Some(uri)) = (words.next(), words.next()) else {
        return Err("an extmap is an id and a URI");
    };
    if uri.len() > MAX_URI {
        return Err("the URI of an extmap is too long");
    }
    let (id, direction) = id.split_once('/').unwrap_or((id, "sendrecv"));
    let id: u16 = id.parse().map_err(|_| "the id of an extmap is a number")?;
    if let (Ok(id @ 1..), "sendrecv") = (u8::try_from(id), direction) {
        push_extension(&mut media.extensions, id, uri);
    }
    Ok(())
}

/// Adds an extension; the first use of an id wins.
fn push_extension(extensions: &mut Vec<(u8, String)>, id: u8, uri: &str) {
    if !extensions.iter().any(|(other, _)| *other == id) {
        extensions.push((id, uri.to_owned()));
    }
}

fn push_feedback(list: &mut Vec<String>, feedback: &str) {
    let feedback = feedback.trim_ascii();
    let fits = feedback.len() <= MAX_FEEDBACK_LEN && list.len() < MAX_FEEDBACK;
    if fits && !list.iter().any(|f| f == feedback) {
        list.push(feedback.to_owned());
    }
}

/// Parses an attribute of a media section. Returns false for unknown
/// attributes.
fn media_attribute(media: &mut Media, name: &str, value: Option<&str>) -> Result<bool, Reason> {
    match (name, value) {
        ("mid", Some(value)) => {
            let reason = "the mid is not a token of at most 16 characters";
            media.mid = Some(Mid::new(value).ok_or(reason)?);
        }
        ("rtpmap", Some(value)) => parse_rtpmap(media, value)?,
        ("fmtp", Some(value)) => {
            if let Some((payload, parameters)) = of_payload(media, value)? {
                if !payload.parameters.is_empty() {
                    payload.parameters.push(';');
                }
                payload.parameters.push_str(parameters);
                if payload.parameters.len() > MAX_LINE / 2 {
                    return Err("the parameters of a payload type are too long");
                }
            }
        }
        ("rtcp-fb", Some(value)) => {
            if let Some((payload, feedback)) = of_payload(media, value)? {
                push_feedback(&mut payload.feedback, feedback);
            }
        }
        ("candidate", Some(value)) => media.candidates.extend(Candidate::from_text(value)?),
        ("ssrc", Some(value)) => media.ssrcs.push(value.parse()?),
        ("ssrc-group", Some(value)) => media.ssrc_groups.push(value.parse()?),
        ("msid", Some(value)) if media.msid.is_none() => media.msid = Msid::from_text(value),
        ("rtcp-mux", None) => media.rtcp_mux = true,
        ("rtcp-rsize", None) => media.rtcp_rsize = true,
        ("bundle-only", None) => media.bundle_only = true,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Splits `payload-type text` and finds the payload; `None` if the `m=` line
/// does not list it, as some clients do after filtering codecs.
fn of_payload<'m, 'v>(
    media: &'m mut Media,
    value: &'v str,
) -> Result<Option<(&'m mut Payload, &'v str)>, Reason> {
    let (payload_type, text) = value.split_once(' ').ok_or("the attribute has two parts")?;
    let payload_type = parse_payload_type(payload_type)?;
    let payload = media
        .payloads
        .iter_mut()
        .find(|p| p.payload_type == payload_type);
    Ok(payload.map(|payload| (payload, text.trim_ascii())))
}

fn parse_rtpmap(media: &mut Media, value: &str) -> Result<(), Reason> {
    let Some((payload, encoding)) = of_payload(media, value)? else {
        return Ok(());
    };
    let mut parts = encoding.split('/');
    let codec = parts.next().unwrap_or_default();
    let clock_rate = parts.next().and_then(|rate| rate.parse().ok());
    let clock_rate = clock_rate.filter(|rate| *rate > 0 && !codec.is_empty());
    payload.clock_rate = clock_rate.ok_or("an encoding is a name and a clock rate")?;
    payload.codec = codec.to_owned();
    payload.channels = parts.next().and_then(|channels| channels.parse().ok());
    Ok(())
}

use super::{CONGESTION_FEEDBACK, Media, Payload, SessionDescription};
use std::fmt::{self, Display, Formatter};

impl Display for SessionDescription {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let origin = self.origin;
        let (id, version) = (origin.session_id, origin.version);
        write!(f, "v=0\r\no=- {id} {version} IN IP4 127.0.0.1\r\n")?;
        write!(f, "s=-\r\nt=0 0\r\n")?;
        if !self.bundle.is_empty() {
            f.write_str("a=group:BUNDLE")?;
            self.bundle.iter().try_for_each(|mid| write!(f, " {mid}"))?;
            f.write_str("\r\n")?;
        }
        flag(f, self.extmap_allow_mixed, "extmap-allow-mixed")?;
        flag(f, self.ice_lite, "ice-lite")?;
        self.media.iter().try_for_each(|media| media.fmt(f))
    }
}

impl Display for Media {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "m={} {} {}", self.kind, self.port, self.protocol)?;
        let types = self.payloads.iter().map(|p| p.payload_type.to_string());
        let mut formats: Vec<String> = self.formats.iter().cloned().chain(types).collect();
        if formats.is_empty() {
            formats.push("0".to_owned()); // required by RFC 8866 section 5.14
        }
        formats
            .iter()
            .try_for_each(|format| write!(f, " {format}"))?;
        f.write_str("\r\n")?;
        if let Some(title) = &self.title {
            write!(f, "i={title}\r\n")?;
        }
        f.write_str("c=IN IP4 0.0.0.0\r\n")?;
        self.fmt_transport(f)?;
        attribute(f, "mid", self.mid.as_ref())?;
        for (id, uri) in &self.extensions {
            write!(f, "a=extmap:{id} {uri}\r\n")?;
        }
        write!(f, "a={}\r\n", self.direction)?;
        attribute(f, "msid", self.msid.as_ref())?;
        flag(f, self.rtcp_mux, "rtcp-mux")?;
        flag(f, self.rtcp_rsize, "rtcp-rsize")?;
        flag(f, self.bundle_only, "bundle-only")?;
        if self.has_feedback(CONGESTION_FEEDBACK) {
            // RFC 8888 section 6: for all payload types or none.
            write!(f, "a=rtcp-fb:* {CONGESTION_FEEDBACK}\r\n")?;
        }
        self.payloads
            .iter()
            .try_for_each(|payload| payload.fmt(f))?;
        attribute(f, "ssrc-group", &self.ssrc_groups)?;
        attribute(f, "ssrc", &self.ssrcs)?;
        self.attributes
            .iter()
            .try_for_each(|(name, value)| match value {
                Some(value) => write!(f, "a={name}:{value}\r\n"),
                None => write!(f, "a={name}\r\n"),
            })
    }
}

impl Media {
    fn fmt_transport(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for candidate in &self.candidates {
            write!(f, "a={candidate}\r\n")?;
        }
        flag(f, self.end_of_candidates, "end-of-candidates")?;
        attribute(f, "ice-ufrag", self.ice_ufrag.as_ref())?;
        attribute(f, "ice-pwd", self.ice_pwd.as_ref())?;
        if !self.ice_options.is_empty() {
            write!(f, "a=ice-options:{}\r\n", self.ice_options.join(" "))?;
        }
        attribute(f, "fingerprint", self.fingerprint.as_ref())?;
        attribute(f, "setup", self.setup.as_ref())
    }
}

impl Payload {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let pt = self.payload_type;
        if !self.codec.is_empty() {
            write!(f, "a=rtpmap:{pt} {}/{}", self.codec, self.clock_rate)?;
            if let Some(channels) = self.channels {
                write!(f, "/{channels}")?;
            }
            f.write_str("\r\n")?;
        }
        let each = self.feedback.iter();
        for feedback in each.filter(|f| *f != CONGESTION_FEEDBACK) {
            write!(f, "a=rtcp-fb:{pt} {feedback}\r\n")?;
        }
        if !self.parameters.is_empty() {
            write!(f, "a=fmtp:{pt} {}\r\n", self.parameters)?;
        }
        Ok(())
    }
}

fn flag(f: &mut Formatter<'_>, present: bool, name: &str) -> fmt::Result {
    if present {
        write!(f, "a={name}\r\n")?;
    }
    Ok(())
}

fn attribute<T: Display>(
    f: &mut Formatter<'_>,
    name: &str,
    values: impl IntoIterator<Item = T>,
) -> fmt::Result {
    let mut values = values.into_iter();
    values.try_for_each(|value| write!(f, "a={name}:{value}\r\n"))
}

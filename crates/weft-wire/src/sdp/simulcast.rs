//! Simulcast: several encodings of one source in a media section (RFC 8853, RFC
//! 8851).

use super::Media;
use crate::rtp::Rid;

/// Maximum number of encodings of a section. Browsers send three.
pub const MAX_ENCODINGS: usize = 4;

const RID: &str = "rid";
const SIMULCAST: &str = "simulcast";

impl Media {
    /// Returns whether the section has encodings in either direction.
    #[must_use]
    pub fn has_encodings(&self) -> bool {
        self.attributes.iter().any(|(name, _)| name == SIMULCAST)
    }

    /// Returns the encodings that the section's author sends, in the order of
    /// `a=simulcast`, at most [`MAX_ENCODINGS`]; none without simulcast. Only the first
    /// of several alternatives counts.
    #[must_use]
    pub fn sent_encodings(&self) -> Vec<Rid> {
        self.encodings("send")
    }

    /// Returns the encodings that the section's author receives, like
    /// [`Media::sent_encodings`].
    #[must_use]
    pub fn received_encodings(&self) -> Vec<Rid> {
        self.encodings("recv")
    }

    fn encodings(&self, direction: &str) -> Vec<Rid> {
        let values = |name: &'static str| {
            let named = self.attributes.iter().filter(move |(n, _)| n == name);
            named.filter_map(|(_, value)| value.as_deref())
        };
        let Some(list) = values(SIMULCAST).find_map(|value| {
            let mut words = value.split_whitespace();
            words.find(|word| *word == direction)?;
            words.next()
        }) else {
            return Vec::new();
        };
        let described = |id: &str| {
            values(RID).any(|value| {
                let mut words = value.split_whitespace();
                words.next() == Some(id) && words.next() == Some(direction)
            })
        };
        let first = |alternatives: &'_ str| {
            let first = alternatives.split(',').next().unwrap_or_default();
            // A tilde means that it is initially paused.
            first.strip_prefix('~').unwrap_or(first).to_owned()
        };
        let ids = list.split(';').map(first).filter(|id| described(id));
        let mut encodings = Vec::new();
        for rid in ids.filter_map(|id| Rid::new(&id)) {
            if !encodings.contains(&rid) && encodings.len() < MAX_ENCODINGS {
                encodings.push(rid);
            }
        }
        encodings
    }

    /// Declares in an offer that the section sends these encodings.
    pub fn send_encodings(&mut self, encodings: &[Rid]) {
        self.add_encodings(encodings, "send");
    }

    /// Declares in an answer that the section receives these encodings.
    pub fn receive_encodings(&mut self, encodings: &[Rid]) {
        self.add_encodings(encodings, "recv");
    }

    fn add_encodings(&mut self, encodings: &[Rid], direction: &str) {
        if encodings.is_empty() {
            return;
        }
        let ids: Vec<String> = encodings.iter().map(Rid::to_string).collect();
        for id in &ids {
            let value = format!("{id} {direction}");
            self.attributes.push((RID.to_owned(), Some(value)));
        }
        let value = format!("{direction} {}", ids.join(";"));
        self.attributes.push((SIMULCAST.to_owned(), Some(value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_units::MediaKind;

    fn section(attributes: &[(&str, &str)]) -> Media {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), Some((*value).to_owned()));
        Media {
            attributes: attributes.iter().map(owned).collect(),
            ..Media::new(MediaKind::Video)
        }
    }

    fn encodings(attributes: &[(&str, &str)]) -> Vec<String> {
        let found = section(attributes).sent_encodings();
        found.iter().map(Rid::to_string).collect()
    }

    #[test]
    fn encodings_are_those_that_are_listed_and_described() {
        let rids = [("rid", "q send"), ("rid", "h send"), ("rid", "f send")];
        let with = |list| [&rids[..], &[("simulcast", list)]].concat();
        assert_eq!(encodings(&with("send q;h;f")), ["q", "h", "f"]);
        assert_eq!(encodings(&with("recv x;y send f,q;~h")), ["f", "h"]);
        assert_eq!(encodings(&with("send q;q;unknown")), ["q"]);
        assert_eq!(encodings(&with("recv q;h")), [""; 0]);
        assert_eq!(encodings(&rids), [""; 0]);
        let received = [("rid", "q recv"), ("simulcast", "send q")];
        assert_eq!(encodings(&received), [""; 0]);
        let many: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let sent: Vec<String> = many.iter().map(|n| format!("{n} send")).collect();
        let list = format!("send {}", many.join(";"));
        let mut lines: Vec<(&str, &str)> = sent.iter().map(|s| ("rid", &**s)).collect();
        lines.push(("simulcast", &list));
        assert_eq!(encodings(&lines).len(), MAX_ENCODINGS);
    }

    #[test]
    fn an_answer_lists_the_encodings_that_it_receives() {
        let mut media = Media::new(MediaKind::Video);
        let rids = ["q", "h"].map(|id| Rid::new(id).expect("a token"));
        media.receive_encodings(&rids);
        let lines: Vec<String> = media
            .attributes
            .iter()
            .map(|(n, v)| format!("{n}:{}", v.as_deref().unwrap_or_default()))
            .collect();
        assert_eq!(lines, ["rid:q recv", "rid:h recv", "simulcast:recv q;h"]);
    }
}

use weft_units::{Bytes, Instant, Rate, Rng};

use crate::family::Model;
use crate::packet::{Packet, Report};
use crate::receiver::Receiver;
use crate::sender::Sender;

/// Size of a report on the link: a header like that of media, and some RTCP blocks.
/// Chosen by us.
pub const REPORT_SIZE: Bytes = Bytes(80);

/// One end of a call: sends media, and reports on received media.
#[derive(Debug, Default)]
pub struct End {
    sender: Option<Sender>,
    receiver: Option<Receiver>,
}

/// Message from one end to the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Sound, pictures and redundancy.
    Media(Packet),
    /// Receiver report about the media.
    Report(Report),
}

impl Content {
    /// Returns the size on the link, all headers included.
    #[must_use]
    pub fn size(&self) -> Bytes {
        match self {
            Content::Media(packet) => packet.size,
            Content::Report(_) => REPORT_SIZE,
        }
    }
}

impl End {
    /// Creates an end that sends from now on and handles reports.
    #[must_use]
    pub fn sending(model: &Model, now: Instant, rng: &Rng) -> End {
        End {
            sender: Some(Sender::new(model, now, rng)),
            receiver: None,
        }
    }

    /// Makes this end also receive and report on media from now on.
    #[must_use]
    pub fn receiving(self, model: &Model, now: Instant) -> End {
        End {
            receiver: Some(Receiver::new(model, now)),
            ..self
        }
    }

    /// Makes the packets that are due.
    pub fn handle_timeout(&mut self, now: Instant) {
        if let Some(sender) = &mut self.sender {
            sender.handle_timeout(now);
        }
    }

    /// Handles a packet that the other end sent at `sent_at` by its own clock. Ignores
    /// content that this end does not handle.
    pub fn handle_packet(&mut self, now: Instant, sent_at: Instant, content: &Content) {
        match (content, &mut self.sender, &mut self.receiver) {
            (Content::Media(packet), _, Some(receiver)) => {
                receiver.handle_packet(now, sent_at, packet);
            }
            (Content::Report(report), Some(sender), _) => sender.handle_report(now, report),
            _ => {}
        }
    }

    /// Returns the next packet to send at once; call until `None`.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Content> {
        let media = self.sender.as_mut().and_then(Sender::poll_transmit);
        if let Some(packet) = media {
            return Some(Content::Media(packet));
        }
        let report = self.receiver.as_mut()?.poll_report(now)?;
        Some(Content::Report(report))
    }

    /// Returns the next time at which this end acts without a packet from the other end.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let sender = self.sender.as_ref().and_then(Sender::poll_timeout);
        let receiver = self.receiver.as_ref().and_then(Receiver::poll_timeout);
        let both = sender.into_iter().chain(receiver);
        both.map(|deadline| deadline.at).min()
    }

    /// Returns the present sending rate without reports; `None` if it sends no media.
    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        self.sender.as_ref().map(Sender::rate)
    }
}

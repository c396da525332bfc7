use weft_units::{Bytes, Instant, Rate, Rng};

use crate::family::Model;
use crate::packet::{Packet, Report};
use crate::receiver::Receiver;
use crate::sender::Sender;

/// A report on the link: a header as media has it, and some blocks of RTCP.
/// Chosen by us.
pub const REPORT_SIZE: Bytes = Bytes(80);

/// One end of a call: what it sends, and what it reports of what comes.
#[derive(Debug, Default)]
pub struct End {
    sender: Option<Sender>,
    receiver: Option<Receiver>,
}

/// What goes from one end to the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Sound, pictures and redundancy.
    Media(Packet),
    /// What became of them.
    Report(Report),
}

impl Content {
    /// On the link, all headers included.
    #[must_use]
    pub fn size(&self) -> Bytes {
        match self {
            Content::Media(packet) => packet.size,
            Content::Report(_) => REPORT_SIZE,
        }
    }
}

impl End {
    /// One that sends from now on, and takes reports.
    #[must_use]
    pub fn sending(model: &Model, now: Instant, rng: &Rng) -> End {
        End {
            sender: Some(Sender::new(model, now, rng)),
            receiver: None,
        }
    }

    /// The same, and it takes media from now on and reports them.
    #[must_use]
    pub fn receiving(self, model: &Model, now: Instant) -> End {
        End {
            receiver: Some(Receiver::new(model, now)),
            ..self
        }
    }

    /// Makes what is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        if let Some(sender) = &mut self.sender {
            sender.handle_timeout(now);
        }
    }

    /// Something of the other end came, which sent it at `sent_at` by its own
    /// clock. What this end has no use for changes nothing.
    pub fn handle_packet(&mut self, now: Instant, sent_at: Instant, content: &Content) {
        match (content, &mut self.sender, &mut self.receiver) {
            (Content::Media(packet), _, Some(receiver)) => {
                receiver.handle_packet(now, sent_at, packet);
            }
            (Content::Report(report), Some(sender), _) => sender.handle_report(now, report),
            _ => {}
        }
    }

    /// What is to be sent next, at once; call until `None`.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Content> {
        let media = self.sender.as_mut().and_then(Sender::poll_transmit);
        if let Some(packet) = media {
            return Some(Content::Media(packet));
        }
        let report = self.receiver.as_mut()?.poll_report(now)?;
        Some(Content::Report(report))
    }

    /// When there is something to do without a packet from the other end.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let sender = self.sender.as_ref().and_then(Sender::poll_timeout);
        let receiver = self.receiver.as_ref().and_then(Receiver::poll_timeout);
        let both = sender.into_iter().chain(receiver);
        both.map(|deadline| deadline.at).min()
    }

    /// What it sends now, reports not counted; `None` where it sends no media.
    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        self.sender.as_ref().map(Sender::rate)
    }
}

use weft_apps::{Model, Packet, Receiver, Report, Sender};
use weft_units::{Instant, Rng};

/// A report on the link: a header as media has it, and some blocks of RTCP.
/// Chosen by us.
const REPORT_SIZE: u16 = 80;

/// One end of a call: what it sends, and what it reports.
#[derive(Default)]
pub(super) struct End {
    sender: Option<Sender>,
    receiver: Option<Receiver>,
}

/// What a packet of the flow carries.
#[derive(Clone, Copy)]
pub(super) enum Content {
    Media(Packet),
    Report(Report),
}

impl End {
    pub fn sending(model: &Model, now: Instant, rng: &Rng) -> End {
        End {
            sender: Some(Sender::new(model, now, rng)),
            receiver: None,
        }
    }

    pub fn receiving(self, model: &Model, now: Instant) -> End {
        End {
            receiver: Some(Receiver::new(model, now)),
            ..self
        }
    }

    pub fn handle_timeout(&mut self, now: Instant) {
        if let Some(sender) = &mut self.sender {
            sender.handle_timeout(now);
        }
    }

    pub fn handle_packet(&mut self, now: Instant, sent_at: Instant, content: &Content) {
        match (content, &mut self.sender, &mut self.receiver) {
            (Content::Media(packet), _, Some(receiver)) => {
                receiver.handle_packet(now, sent_at, packet);
            }
            (Content::Report(report), Some(sender), _) => sender.handle_report(now, report),
            _ => {}
        }
    }

    /// The next packet, with its size on the link; call until `None`.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<(u16, Content)> {
        let media = self.sender.as_mut().and_then(Sender::poll_transmit);
        if let Some(packet) = media {
            return Some((packet.size.0 as u16, Content::Media(packet)));
        }
        let report = self.receiver.as_mut()?.poll_report(now)?;
        Some((REPORT_SIZE, Content::Report(report)))
    }

    pub fn poll_timeout(&self) -> Option<Instant> {
        let sender = self.sender.as_ref().and_then(Sender::poll_timeout);
        let receiver = self.receiver.as_ref().and_then(Receiver::poll_timeout);
        let both = sender.into_iter().chain(receiver);
        both.map(|deadline| deadline.at).min()
    }
}

//! Messages between people, on an ordered data channel of each publication.

use std::collections::BTreeMap;

use weft_peer::Peer;
use weft_peer::data::{ChannelConfig, ChannelId, Event, Message, Urgency};
use weft_units::{Duration, Instant};

/// Interval between two messages of a person.
const INTERVAL: Duration = Duration::from_millis(350);
const LABEL: &str = "notes";

/// Messages on one connection.
#[derive(Default)]
pub struct Talk {
    asked: bool,
    channel: Option<ChannelId>,
    /// Time since which the channel is open.
    pub since: Option<Instant>,
    next_at: Option<Instant>,
    /// Number of the next message.
    next: u64,
    /// Number and time of the last message of each person's connection.
    pub heard: BTreeMap<(usize, u64), (u64, Instant)>,
}

impl Talk {
    /// Opens the channel.
    pub fn open(&mut self, now: Instant, peer: &mut Peer) {
        if !std::mem::replace(&mut self.asked, true) {
            // A server that accepts no messages is detected by the missing messages.
            let _ = peer.open_channel(now, ChannelConfig::named(LABEL));
        }
    }

    pub fn poll_timeout(&self) -> Option<Instant> {
        self.next_at
    }

    /// Sends the message that is due. `by` is the person and the connection.
    pub fn speak(&mut self, now: Instant, by: (usize, u64), peer: &mut Peer) {
        let (Some(channel), true) = (self.channel, self.next_at.is_some_and(|at| at <= now)) else {
            return;
        };
        self.next_at = Some(now + INTERVAL);
        let text = format!("{} {} {}", by.0, by.1, self.next);
        let message = Message::Text(text);
        if peer
            .send_message(now, channel, &message, Urgency::Usual)
            .is_ok()
        {
            self.next += 1;
        }
    }

    /// Handles an event; returns a finding about the order of messages.
    pub fn on_event(&mut self, now: Instant, event: Event) -> Option<String> {
        match event {
            Event::Opened { channel, .. } => {
                self.channel = Some(channel);
                (self.since, self.next_at) = (Some(now), Some(now));
                None
            }
            Event::Closed { .. } | Event::Ended { .. } => {
                *self = Talk::default();
                self.asked = true;
                None
            }
            Event::Message { message, .. } => {
                let Message::Text(text) = message else {
                    return Some("a message of bytes".to_owned());
                };
                let words = text.split(' ').map(str::parse::<u64>);
                let words: Result<Vec<u64>, _> = words.collect();
                let Some([author, connection, number]) =
                    words.ok().and_then(|w| w.first_chunk().copied())
                else {
                    return Some(format!("a message {text:?}"));
                };
                let by = (author as usize, connection);
                let before = self.heard.insert(by, (number, now));
                match before {
                    Some((last, _)) if number != last + 1 => {
                        Some(format!("message {number} of {author} after {last}"))
                    }
                    _ => None,
                }
            }
        }
    }
}

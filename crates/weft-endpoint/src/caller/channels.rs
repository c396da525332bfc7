//! Data channels towards every peer that we send to.

use std::sync::mpsc::Sender;

use weft_net::Context;
use weft_peer::PeerKey;
use weft_peer::data::{Event, Message, SendError, Urgency};

use super::{Caller, News};

/// Message to send.
pub struct Said {
    /// Label of the channel.
    pub label: String,
    /// The message.
    pub message: Message,
    /// Whether it uses two paths.
    pub urgency: Urgency,
    /// Receives the outcome.
    pub reply: Sender<Result<(), ChannelError>>,
}

/// Error: a message was not sent.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ChannelError {
    /// The configuration has no channel with this label.
    #[error("the call has no data channel `{0}`; name it in its configuration")]
    NoSuchChannel(String),
    /// No peer has opened the channel, or it does not accept the message.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The call has ended.
    #[error("the call has ended")]
    Ended,
}

impl Caller {
    /// Opens the configured channels towards a new peer.
    pub(super) fn open_channels(&mut self, context: &mut Context<'_>, key: PeerKey) {
        let now = context.now;
        let Some(remote_peer) = self.peers.get_mut(&key) else {
            return;
        };
        let Some(peer) = context.peer(key).filter(|peer| peer.has_data_channels()) else {
            return;
        };
        for (place, config) in self.channels.iter().enumerate() {
            // The configuration was checked, and the connection is new.
            if let Ok(channel) = peer.open_channel(now, config.clone()) {
                remote_peer.channels.insert(channel, place);
            }
        }
    }

    pub(super) fn say(&mut self, context: &mut Context<'_>, said: Said) {
        let place = self.channels.iter().position(|c| c.label == said.label);
        let sent = match place {
            None => Err(ChannelError::NoSuchChannel(said.label)),
            Some(place) => self.say_to_all(context, place, &said.message, said.urgency),
        };
        // The caller may have stopped waiting for the outcome.
        let _ = said.reply.send(sent);
    }

    /// Sends a message to every peer; fails if none accepts it.
    fn say_to_all(
        &self,
        context: &mut Context<'_>,
        place: usize,
        message: &Message,
        urgency: Urgency,
    ) -> Result<(), ChannelError> {
        let now = context.now;
        let mut outcome = Err(SendError::NotOpen.into());
        for (key, remote_peer) in &self.peers {
            let channel = remote_peer.channels.iter().find(|(_, p)| **p == place);
            let (Some((channel, _)), Some(peer)) = (channel, context.peer(*key)) else {
                continue;
            };
            match peer.send_message(now, *channel, message, urgency) {
                Ok(()) => outcome = Ok(()),
                Err(error) if outcome.is_err() => outcome = Err(error.into()),
                Err(_) => {}
            }
        }
        outcome
    }

    pub(super) fn on_data(&mut self, key: PeerKey, event: Event) {
        let Some(remote_peer) = self.peers.get_mut(&key) else {
            return;
        };
        let label = |place: &usize| self.channels.get(*place).map(|c| c.label.clone());
        let news = match event {
            Event::Opened { channel, .. } => {
                let label = remote_peer.channels.get(&channel).and_then(label);
                label.map(News::ChannelOpened)
            }
            Event::Message { channel, message } => {
                let label = remote_peer.channels.get(&channel).and_then(label);
                label.map(|label| News::Message(label, message))
            }
            Event::Closed { channel } => {
                let place = remote_peer.channels.remove(&channel);
                place.as_ref().and_then(label).map(News::ChannelClosed)
            }
            Event::Ended { .. } => {
                let places = std::mem::take(&mut remote_peer.channels);
                for label in places.values().filter_map(label) {
                    remote_peer.news.send(News::ChannelClosed(label));
                }
                None
            }
        };
        if let Some(news) = news {
            remote_peer.news.send(news);
        }
    }
}

//! Messages on data channels. A message from a publishing participant goes to everybody
//! in the room who has a channel with the same label.

use crate::connection::Role;
use crate::plane::Plane;
use crate::relay::Message as Relay;
use crate::topics::Topic;
use weft_peer::PeerKey;
use weft_peer::data::{ChannelConfig, ChannelId, Event, Message, Persistence, Urgency};
use weft_units::Instant;

impl Plane {
    /// Handles an event of a peer's data channels.
    pub(crate) fn on_data(&mut self, now: Instant, key: PeerKey, event: Event) {
        match event {
            Event::Opened { channel, config } => self.enter_topic(key, channel, config),
            Event::Message { channel, message } => self.on_message(now, key, channel, message),
            Event::Closed { channel } => self.topics.leave(key, channel),
            Event::Ended { .. } => self.topics.remove(key),
        }
    }

    fn enter_topic(&mut self, key: PeerKey, channel: ChannelId, config: ChannelConfig) {
        let resource = self.resources.get(&key);
        let connection = resource.and_then(|resource| self.connections.get(resource));
        if let Some(connection) = connection {
            let topic = Topic {
                room: connection.participant.room.clone(),
                label: config.label,
            };
            // Messages with limited retransmission are worth a copy.
            let urgency = match config.persistence {
                Persistence::Reliable => Urgency::Usual,
                Persistence::Within(_) | Persistence::Repeats(_) => Urgency::Urgent,
            };
            self.topics.enter(key, channel, topic, urgency);
        }
    }

    fn on_message(&mut self, now: Instant, key: PeerKey, channel: ChannelId, message: Message) {
        let resource = self.resources.get(&key);
        let connection = resource.and_then(|resource| self.connections.get(resource));
        let publishes = connection.is_some_and(|c| matches!(c.role, Role::Publish(_)));
        let topic = self.topics.open.get(&(key, channel));
        let topic = topic.map(|(topic, _)| topic.clone()).filter(|_| publishes);
        let length = match &message {
            Message::Text(text) => text.len(),
            Message::Binary(bytes) => bytes.len(),
        };
        let Some(topic) = topic.filter(|_| self.topics.admits(now, key, length)) else {
            self.topics.dropped += 1;
            return;
        };
        for plane in self.steering.linked() {
            let (topic, message) = (topic.clone(), message.clone());
            self.traffic
                .relays
                .send(plane, Relay::Said { topic, message });
        }
        self.pass_on(now, &topic, &message, Some(key));
    }

    /// Sends a message to everybody on this plane who has a channel of the topic, except
    /// its sender.
    pub(crate) fn pass_on(
        &mut self,
        now: Instant,
        topic: &Topic,
        message: &Message,
        sender: Option<PeerKey>,
    ) {
        let channels = self.topics.channels.get(topic).into_iter().flatten();
        let receivers = channels.filter(|(key, _)| Some(*key) != sender);
        for (key, channel) in receivers.copied().collect::<Vec<_>>() {
            let urgency = self.topics.open.get(&(key, channel));
            let urgency = urgency.map_or(Urgency::Usual, |(_, urgency)| *urgency);
            let sent = self.peers.drive(key, |peer| {
                peer.send_message(now, channel, message, urgency)
            });
            match sent {
                Some(Ok(())) => self.topics.passed += 1,
                _ => self.topics.dropped += 1,
            }
        }
    }
}

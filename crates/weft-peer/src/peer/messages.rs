//! Messages on data channels.

use weft_data::{ChannelConfig, ChannelId, Message, OpenError, SendError, Urgency};
use weft_units::Instant;

use super::Peer;

impl Peer {
    /// Whether the connection has data channels, because both sides want them.
    #[must_use]
    pub fn has_data_channels(&self) -> bool {
        self.data.is_some()
    }

    /// Opens a data channel; [`weft_data::Event::Opened`] follows when the other side has
    /// agreed.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open_channel(
        &mut self,
        now: Instant,
        config: ChannelConfig,
    ) -> Result<ChannelId, OpenError> {
        let data = self.data.as_mut().ok_or(OpenError::NotNegotiated)?;
        let opened = data.channels.open(now, config);
        self.pump(now);
        opened
    }

    /// Sends a message on an open data channel.
    ///
    /// # Errors
    /// See [`SendError`]; on an error, nothing is sent.
    pub fn send_message(
        &mut self,
        now: Instant,
        channel: ChannelId,
        message: &Message,
        urgency: Urgency,
    ) -> Result<(), SendError> {
        let data = self.data.as_mut().ok_or(SendError::NotOpen)?;
        let sent = data.channels.send(now, channel, message, urgency);
        self.pump(now);
        sent
    }

    /// Closes a data channel.
    pub fn close_channel(&mut self, now: Instant, channel: ChannelId) {
        if let Some(data) = &mut self.data {
            data.channels.close(now, channel);
        }
        self.pump(now);
    }
}

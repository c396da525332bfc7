//! Chat of a room, with a bounded history for participants who join later.

use crate::seen::{Marks, is_shown};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thiserror::Error;
use weft_units::{Duration, Instant};

/// Maximum length of a message, in characters. Chosen by us: a page of text.
pub const MAX_CHAT_TEXT: usize = 2000;
/// Maximum length of the input for a message, in bytes: [`MAX_CHAT_TEXT`] characters of
/// four bytes, and as many invisible ones.
const MAX_TYPED: usize = 4 * MAX_CHAT_TEXT * 2;
/// Maximum length of a message's key, in bytes. Chosen by us: a UUID has 36.
const MAX_KEY: usize = 64;
/// Maximum number of messages in the history. Chosen by us, like the other bounds: the
/// chat of a meeting, which a newcomer gets in one event.
const MAX_MESSAGES: usize = 200;
/// Maximum size of the history in bytes: texts, names and keys.
const MAX_BYTES: usize = 64 * 1024;
/// Age at which the history forgets a message: a working day.
const MAX_AGE: Duration = Duration::from_secs(12 * 3600);

/// Message in a room's chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatMessage {
    /// Id, unique in the cluster also across restarts.
    pub id: String,
    /// Id of the author.
    pub from: String,
    /// Name of the author when the message was sent.
    pub name: String,
    /// Text, plain.
    pub text: String,
    /// Time of sending, in milliseconds since 1970.
    pub at: u64,
    #[serde(skip)]
    key: Option<String>,
    #[serde(skip)]
    said_at: Instant,
}

/// Message to send.
#[derive(Debug, Clone, Copy)]
pub struct Saying<'a> {
    /// Typed text.
    pub text: &'a str,
    /// Key chosen by the author: a repeated request with the same key does not send the
    /// message again.
    pub key: Option<&'a str>,
    /// Wall clock, in milliseconds since 1970.
    pub at: u64,
}

impl Saying<'_> {
    /// Checks that the message can be sent.
    ///
    /// # Errors
    /// See [`ChatError`].
    pub fn check(&self) -> Result<(), ChatError> {
        Chat::check(self).map(drop)
    }
}

/// Reason why a message is not sent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ChatError {
    /// The text has no visible characters.
    #[error("the message is empty")]
    Empty,
    /// The text is too long.
    #[error("the message is longer than {MAX_CHAT_TEXT} characters")]
    TooLong,
    /// The key is too long.
    #[error("the message's key is longer than {MAX_KEY} bytes")]
    BadKey,
}

/// Latest messages of a room.
#[derive(Debug)]
pub(crate) struct Chat {
    /// Beginning of the ids.
    epoch: String,
    messages: VecDeque<ChatMessage>,
    bytes: usize,
    /// Number of messages so far.
    count: u64,
}

impl Chat {
    pub(crate) fn new(epoch: &str) -> Chat {
        Chat {
            epoch: epoch.to_owned(),
            messages: VecDeque::new(),
            bytes: 0,
            count: 0,
        }
    }

    /// Checks a message and returns its text.
    pub(crate) fn check(saying: &Saying<'_>) -> Result<String, ChatError> {
        if saying.key.is_some_and(|key| key.len() > MAX_KEY) {
            return Err(ChatError::BadKey);
        }
        if saying.text.len() > MAX_TYPED {
            return Err(ChatError::TooLong);
        }
        let text = visible(saying.text);
        match text.chars().count() {
            0 => Err(ChatError::Empty),
            length if length > MAX_CHAT_TEXT => Err(ChatError::TooLong),
            _ => Ok(text),
        }
    }

    /// Message that this author has sent with this key.
    pub(crate) fn sent(&self, from: &str, key: Option<&str>) -> Option<&ChatMessage> {
        let same = |m: &&ChatMessage| m.from == from && m.key.as_deref() == key;
        key.and_then(|_| self.messages.iter().rev().find(same))
    }

    /// Adds a message with a text that [`Chat::check`] returned, and forgets
    /// the oldest ones beyond the bounds.
    pub(crate) fn add(
        &mut self,
        now: Instant,
        (from, name): (&str, &str),
        text: String,
        saying: &Saying<'_>,
    ) -> ChatMessage {
        self.count += 1;
        let message = ChatMessage {
            id: format!("{}-{}", self.epoch, self.count),
            from: from.to_owned(),
            name: name.to_owned(),
            text,
            at: saying.at,
            key: saying.key.map(str::to_owned),
            said_at: now,
        };
        self.keep(message.clone());
        message
    }

    /// Adds a message from another server; returns whether it is new.
    pub(crate) fn take(&mut self, now: Instant, message: &ChatMessage) -> bool {
        let is_new = self.messages.iter().all(|known| known.id != message.id);
        if is_new {
            let said_at = now;
            let message = message.clone();
            self.keep(ChatMessage { said_at, ..message });
        }
        is_new
    }

    fn keep(&mut self, message: ChatMessage) {
        self.bytes += message.bytes();
        self.messages.push_back(message);
        while self.messages.len() > MAX_MESSAGES || self.bytes > MAX_BYTES {
            self.forget_oldest();
        }
    }

    /// Returns the messages after the one with this id, or all if the history
    /// does not know it.
    pub(crate) fn since(&mut self, now: Instant, id: Option<&str>) -> Vec<&ChatMessage> {
        let is_old = |m: &ChatMessage| now.saturating_since(m.said_at) >= MAX_AGE;
        while self.messages.front().is_some_and(is_old) {
            self.forget_oldest();
        }
        let known = id.and_then(|id| self.messages.iter().position(|m| m.id == id));
        self.messages
            .iter()
            .skip(known.map_or(0, |place| place + 1))
            .collect()
    }

    fn forget_oldest(&mut self) {
        if let Some(oldest) = self.messages.pop_front() {
            self.bytes -= oldest.bytes();
        }
    }
}

impl ChatMessage {
    fn bytes(&self) -> usize {
        let key = self.key.as_ref().map_or(0, String::len);
        self.id.len() + self.from.len() + self.name.len() + self.text.len() + key
    }
}

/// Returns the text without characters that are invisible or affect others. It
/// keeps single line breaks and empty lines.
fn visible(typed: &str) -> String {
    let mut text = String::new();
    let mut marks = Marks::default();
    for c in typed.chars() {
        match c {
            '\n' if text.ends_with("\n\n") => {}
            '\n' => text.push(c),
            c if c.is_whitespace() && c != '\r' => text.push(' '),
            c if is_shown(c) && marks.admit(c) => text.push(c),
            _ => {}
        }
    }
    // Joiners alone are invisible.
    match text
        .chars()
        .any(|c| !c.is_whitespace() && crate::seen::is_seen(c))
    {
        true => text.trim().to_owned(),
        false => String::new(),
    }
}

#[cfg(test)]
mod tests;

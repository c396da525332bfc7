//! Names of rooms and participants.

use crate::JoinError;
use crate::seen::{Marks, is_seen, joins};
use std::collections::BTreeSet;
use unicode_normalization::UnicodeNormalization;

/// Maximum length of a room's or a participant's name, in characters. Chosen by us.
const MAX_NAME: usize = 64;
/// Maximum length of the input for a name; the rest is ignored. Chosen by us: a name of
/// [`MAX_NAME`] characters of four bytes, and the same amount of invisible characters.
const MAX_TYPED: usize = 512;

/// Returns the normalised room name for typed text; case is ignored.
///
/// # Errors
/// [`JoinError::BadRoomName`] if it is invalid.
pub fn room_name(typed: &str) -> Result<String, JoinError> {
    let name = typed.to_lowercase();
    match is_room_name(&name) {
        true => Ok(name),
        false => Err(JoinError::BadRoomName),
    }
}

/// Whether the name can be part of a URL unchanged; dots alone would mean
/// folders.
pub(crate) fn is_room_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let length = name.chars().count();
    (1..=MAX_NAME).contains(&length) && name.chars().all(plain) && name.chars().any(|c| c != '.')
}

/// Returns the display name for typed text: composed (Unicode Standard Annex
/// 15, NFC), without invisible characters, and with single spaces.
///
/// # Errors
/// [`JoinError::BadName`] if the result is empty or too long.
pub fn participant_name(typed: &str) -> Result<String, JoinError> {
    if typed.len() > MAX_TYPED {
        return Err(JoinError::BadName);
    }
    let mut name = String::new();
    let mut marks = Marks::default();
    let mut joiner = None;
    for c in typed.nfc() {
        if c.is_whitespace() {
            (marks, joiner) = (Marks::default(), None);
            if !name.is_empty() && !name.ends_with(' ') {
                name.push(' ');
            }
        } else if joins(c) {
            joiner = Some(c);
        } else if is_seen(c) {
            let bare = name.is_empty() || name.ends_with(' ');
            if !marks.admit(c) || (marks.is_mark() && bare) {
                continue;
            }
            if let Some(joiner) = joiner.take()
                && name.chars().next_back().is_some_and(is_joined)
                && is_joined(c)
            {
                name.push(joiner);
            }
            name.push(c);
        }
    }
    // Removing characters may allow their neighbours to compose.
    let name: String = name.trim_end().nfc().collect();
    match (1..=MAX_NAME).contains(&name.chars().count()) {
        true => Ok(name),
        false => Err(JoinError::BadName),
    }
}

/// Returns the name, or the first free one with a number: "Ada", "Ada 2". `taken` has the
/// [`key`]s of the others' names.
pub(crate) fn unique(name: &str, taken: &BTreeSet<String>) -> String {
    let numbered = (2u32..).map(|number| {
        let number = format!(" {number}");
        let room = MAX_NAME - number.chars().count();
        let start: String = name.chars().take(room).collect();
        start
            .trim_end_matches(|c: char| c.is_whitespace() || joins(c))
            .to_owned()
            + &number
    });
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names
        .find(|name| !taken.contains(&key(name)))
        .expect("there are more numbers than participants")
}

/// Returns the key of a name, which is equal for names that look the same:
/// compatible characters (NFKC), in lower case, without joiners.
pub(crate) fn key(name: &str) -> String {
    let folded = name.nfkc().flat_map(char::to_lowercase);
    folded.filter(|c| !joins(*c)).nfkc().collect()
}

/// Whether joiners change the shape of the character: from Arabic on, in Indic
/// scripts, in symbols; not in Latin, Greek, Cyrillic.
fn is_joined(c: char) -> bool {
    c >= '\u{600}'
}

#[cfg(test)]
mod tests;

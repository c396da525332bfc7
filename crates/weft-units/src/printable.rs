//! Escaping of untrusted text for terminals and logs.

use std::fmt::{self, Write as _};

/// Escapes every character that is invisible or has a special effect: control
/// characters, line ends, and characters that change the text direction
/// (`\u{1b}`, `\n`, `\u{202e}`). The result cannot control a terminal or start
/// a new line. All other characters stay, in any language.
#[must_use]
pub fn printable(text: &str) -> impl fmt::Display + '_ {
    Printable(text)
}

/// Whether [`printable`] leaves a character unchanged.
#[must_use]
pub fn is_printable(character: char) -> bool {
    let is_plain = character.is_ascii_graphic() || character == ' ';
    // A combining character is printed after another one.
    is_plain || !character.is_ascii() && escape(character).nth(1).is_none()
}

fn escape(character: char) -> impl Iterator<Item = char> {
    let pair: Vec<char> = String::from_iter(['a', character])
        .escape_debug()
        .skip(1)
        .collect();
    pair.into_iter()
}

struct Printable<'a>(&'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(|c| !is_printable(c)) {
            let (plain, other) = rest.split_at(at);
            f.write_str(plain)?;
            let mut characters = other.chars();
            for escaped in characters.next().into_iter().flat_map(escape) {
                f.write_char(escaped)?;
            }
            rest = characters.as_str();
        }
        f.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn only_what_does_not_stand_for_itself_is_escaped() {
        for (text, shown) in [
            (
                "Zoë's \"5G\" \\ 東京 हिन्दी e\u{301}",
                "Zoë's \"5G\" \\ 東京 हिन्दी e\u{301}",
            ),
            ("a\u{1b}[2Jb\u{9b}1m", "a\\u{1b}[2Jb\\u{9b}1m"),
            ("a\nb\r\0\u{7f}", "a\\nb\\r\\0\\u{7f}"),
            (
                "\u{202e}\u{2066}\u{200b}\u{2028}\u{e0041}\u{feff}",
                "\\u{202e}\\u{2066}\\u{200b}\\u{2028}\\u{e0041}\\u{feff}",
            ),
            ("", ""),
        ] {
            assert_eq!(printable(text).to_string(), shown);
            assert_eq!(printable(shown).to_string(), shown, "once is enough");
        }
    }
}

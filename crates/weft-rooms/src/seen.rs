//! Characters in displayed texts.

use unicode_normalization::char::is_combining_mark;

/// Whether a character is visible and does not affect its neighbours. Excludes
/// control characters, the default-ignorable characters of the Unicode
/// Character Database (DerivedCoreProperties.txt, 16.0) including the marks of
/// bidirectional text, blank symbols, interlinear annotation and private use.
pub(crate) fn is_seen(c: char) -> bool {
    let hidden = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffc}'
        | '\u{fffe}'..='\u{ffff}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{10ffff}');
    !c.is_control() && !hidden
}

/// Whether it is a zero-width joiner or variation selector: invisible, but
/// necessary in some scripts and in emoji.
pub(crate) fn joins(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

/// Whether a character may appear in displayed texts.
pub(crate) fn is_shown(c: char) -> bool {
    is_seen(c) || joins(c)
}

/// Maximum number of marks above and below one character. Chosen by us: two are
/// usual in Vietnamese and Hebrew; stacks of marks cover the adjacent text.
const MAX_MARKS: usize = 3;

/// Combining marks of the present character.
#[derive(Debug, Default)]
pub(crate) struct Marks(usize);

impl Marks {
    /// Whether the next character fits: counts it if it is a mark.
    pub(crate) fn admit(&mut self, c: char) -> bool {
        self.0 = if is_combining_mark(c) { self.0 + 1 } else { 0 };
        self.0 <= MAX_MARKS
    }

    /// Whether the last character is a mark.
    pub(crate) fn is_mark(&self) -> bool {
        self.0 > 0
    }
}

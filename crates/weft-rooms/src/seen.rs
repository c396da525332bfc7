//! Characters that others are shown.

/// Whether a character can be seen and leaves its neighbours as they are: not
/// control characters, not the default-ignorable ones of the Unicode Character
/// Database (DerivedCoreProperties.txt, 16.0), with the marks of bidirectional
/// text among them, not blank symbols, interlinear annotation or private use.
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

/// Zero-width joiners and variation selectors: not seen themselves, and needed
/// in some scripts and in emoji.
pub(crate) fn joins(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

/// Whether a character may stand in what others are shown.
pub(crate) fn is_shown(c: char) -> bool {
    is_seen(c) || joins(c)
}

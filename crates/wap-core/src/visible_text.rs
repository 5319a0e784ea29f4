//! Makes foreign text safe to show to a person, in a terminal or a chat window.

use std::borrow::Cow;
use std::ops::RangeInclusive;

/// The replacement of a control character.
const REPLACEMENT: char = '\u{fffd}';

/// Returns a text without anything that controls a terminal or changes the writing direction.
///
/// Control sequences for colours, the cursor and modes, which contain nothing but numbers, are removed, as is the carriage return
/// of a line that ends in CRLF. Every other control character except the newline and the tab, and each character that embeds,
/// overrides or isolates a direction, becomes U+FFFD, and the text after it stays: a shell executes text that a terminal takes
/// for a title. Plain text stays byte for byte; a second pass changes nothing.
///
/// # Example
///
/// ```
/// assert_eq!(wap_core::visible_text("\u{1b}[31mred\u{1b}[0m\r\nbell \u{7}\n"), "red\nbell \u{fffd}\n");
/// ```
#[must_use]
pub fn visible_text(text: &str) -> Cow<'_, str> {
    // Nearly every text is plain and is returned without a copy.
    let Some(first) = text.find(controls) else { return Cow::Borrowed(text) };
    let mut visible = String::with_capacity(text.len());
    visible.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(character) = rest.chars().next() {
        let length = sequence_length(rest);
        if length > 0 {
            rest = &rest[length..];
            continue;
        }
        if !rest.starts_with("\r\n") {
            visible.push(if controls(character) { REPLACEMENT } else { character });
        }
        rest = &rest[character.len_utf8()..];
    }
    Cow::Owned(visible)
}

/// Returns a text as one line of at most `most_characters`, without anything that controls a terminal.
///
/// Each run of whitespace becomes one space; a longer text ends in an ellipsis.
///
/// # Example
///
/// ```
/// assert_eq!(wap_core::visible_line("cargo\n  test", 20), "cargo test");
/// assert_eq!(wap_core::visible_line("cargo test", 6), "cargo…");
/// ```
#[must_use]
pub fn visible_line(text: &str, most_characters: usize) -> String {
    // A carriage return is whitespace here, like the ends of lines.
    let visible = visible_text(&text.replace('\r', "\n")).into_owned();
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most_characters {
        return line;
    }
    line.chars().take(most_characters.saturating_sub(1)).chain(['…']).collect()
}

/// The characters that have no glyph and do not modify another, in order: those that Unicode lets a renderer ignore, the
/// separators of lines and paragraphs, and the marks of annotations. Controls are not among them ([`char::is_control`]).
///
/// A reviewer has to see them: they change the writing direction, join text that looks separate, and carry text that only a model
/// reads. The web page has the same table, which its tests compare with this one.
pub const INVISIBLE: [RangeInclusive<char>; 17] = [
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    // Tags, and the variation selectors beyond the first sixteen.
    '\u{e0000}'..='\u{e0fff}',
];

/// Checks whether a character has no glyph of its own.
///
/// # Example
///
/// ```
/// assert!(wap_core::is_invisible('\u{200b}') && wap_core::is_invisible('\u{e0100}'));
/// assert!(!wap_core::is_invisible(' ') && !wap_core::is_invisible('\u{301}'));
/// ```
#[must_use]
pub fn is_invisible(character: char) -> bool {
    // Nearly every character is smaller than all of them.
    character >= *INVISIBLE[0].start() && INVISIBLE.iter().any(|range| range.contains(&character))
}

fn controls(character: char) -> bool {
    // The ranges are the bidirectional controls: with them a text can look like a different one.
    (character.is_control() && !matches!(character, '\n' | '\t'))
        || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the length in bytes of a control sequence at the start of a text that cannot hide anything; 0 if there is none.
fn sequence_length(text: &str) -> usize {
    // The last one selects the default character set, and often accompanies colours.
    let introducers = ["\u{1b}[", "\u{9b}", "\u{1b}(B"];
    let Some(introducer) = introducers.into_iter().find(|introducer| text.starts_with(introducer)) else {
        return 0;
    };
    if introducer.ends_with('B') {
        return introducer.len();
    }
    let rest = &text[introducer.len()..];
    let parameters =
        rest.bytes().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b';' | b':' | b'?'));
    let end = parameters.count();
    match rest.as_bytes().get(end) {
        Some(last) if last.is_ascii_alphabetic() => introducer.len() + end + 1,
        _ => 0,
    }
}

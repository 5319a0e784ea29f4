//! Text that must stay on one line, and text that must be split wherever any reader would see a new line.

use std::fmt::Write;

use wap_core::visible_text;

/// Iterates over the lines of a text, split at every character that some reader shows as a new line: LF, CR, CRLF, the vertical
/// tab, the form feed, the information separators and Unicode's line separators.
///
/// The empty text is one empty line.
pub(super) fn seen_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some((index, character)) = text.char_indices().find(|(_, character)| breaks_line(*character))
        else {
            rest = None;
            return Some(text);
        };
        let after = &text[index + character.len_utf8()..];
        // CRLF is one line end.
        rest = Some(if character == '\r' { after.strip_prefix('\n').unwrap_or(after) } else { after });
        Some(&text[..index])
    })
}

/// Returns [`seen_lines`] without the empty ones at either end.
pub(super) fn seen_lines_trimmed(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = seen_lines(text).skip_while(|line| line.is_empty()).collect();
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines
}

/// Returns a text with the line breaks of [`seen_lines`] and without terminal controls: messages are copied from terminals, and
/// their text comes from commands and models.
pub(crate) fn visible_lines(text: &str) -> String {
    visible_text(&seen_lines_trimmed(text).join("\n")).into_owned()
}

/// Folds a text onto one line: every run of whitespace and controls becomes one space, and is removed at the ends.
pub(super) fn fold(text: &str) -> String {
    let text = visible_lines(text);
    let is_gap = |character: char| character.is_whitespace() || character.is_control();
    let words: Vec<&str> = text.split(is_gap).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Renders a name on one line: controls, line breaks and characters that change the text direction become `\xNN`, byte by byte.
pub(super) fn escape_name(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for character in name.chars() {
        if character.is_control() || breaks_line(character) || turns_direction(character) {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                write!(escaped, "\\x{byte:02x}").expect("writing to a string cannot fail");
            }
        } else {
            escaped.push(character);
        }
    }
    escaped
}

fn turns_direction(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn breaks_line(character: char) -> bool {
    matches!(character, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

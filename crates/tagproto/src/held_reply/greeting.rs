//! The text with which a model begins a continuation. It is left out, so it must not be the rest of the line in which the held reply
//! was cut off, and lines behind that.

use crate::{
    outbox::FIRST_LINES,
    repair::{Fence, without_label},
};

/// Words that models write alone on a line.
const WORDS: [&str; 8] =
    ["continue", "continued", "continuing", "continuation", "sure", "certainly", "of course", "okay"];

/// Checks whether text reads as a greeting, if there is any: it begins as a sentence does and ends as one or in a blank line.
pub(super) fn is_greeting(lines: &[&str]) -> bool {
    let lines = without_label(lines);
    let Some(first) = first_text(lines) else { return true };
    let begins = first.chars().next().is_some_and(|first| {
        first.is_alphabetic() && !first.is_lowercase() || !first.is_ascii() || "*_#><".contains(first)
    });
    let ends = lines.last().is_some_and(|last| {
        let last = last.trim().trim_end_matches(['*', '_', '`']);
        last.is_empty()
            || Fence::read(last).is_some()
            || last.ends_with([':', '.', '!', '?', '…', '：', '。', '！'])
    });
    begins && (ends || lines.last() == Some(&FIRST_LINES))
}

/// Checks whether text reads as a greeting where the lines behind it show that the reply is a continuation: also a rule, words in
/// brackets, one word, or a sentence that begins with a small letter or a list mark and announces what follows.
pub(super) fn is_greeting_before_continuation(lines: &[&str]) -> bool {
    let texts: Vec<&str> = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    if let [line] = texts.as_slice() {
        let is_rule = line.chars().all(|c| "-=.…*_".contains(c));
        let is_in_brackets = [('[', ']'), ('(', ')')]
            .iter()
            .any(|(open, close)| line.starts_with(*open) && line.ends_with(*close));
        let word = line.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        if is_rule || is_in_brackets || WORDS.contains(&&*word) {
            return true;
        }
    }
    let announces = texts.last().is_some_and(|last| last.trim_end_matches(['*', '_']).ends_with(':'));
    announces && lines.last().is_some_and(|last| last.trim().is_empty())
}

fn first_text<'a>(lines: &[&'a str]) -> Option<&'a str> {
    lines.iter().find(|line| !line.trim().is_empty()).copied()
}

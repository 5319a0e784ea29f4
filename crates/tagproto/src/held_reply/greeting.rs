//! The text with which a model begins a continuation. It is left out, so it must not be the rest of the line in which the held
//! reply was cut off, or lines after it.

use crate::{
    outbox::FIRST_LINES,
    repair::{Fence, without_label},
};

/// Words that models write alone on a line.
const WORDS: [&str; 8] =
    ["continue", "continued", "continuing", "continuation", "sure", "certainly", "of course", "okay"];

/// Words with which a greeting begins, but rarely a line of a file.
const OPENINGS: [&str; 19] = [
    "sure",
    "certainly",
    "of course",
    "okay",
    "ok",
    "absolutely",
    "understood",
    "got it",
    "alright",
    "no problem",
    "sorry",
    "apologies",
    "my apologies",
    "thank you",
    "here it is",
    "here they are",
    "here you go",
    "picking up",
    "resuming",
];

/// Words about a continuation, anywhere in a line.
const OF_CONTINUING: [&str; 15] = [
    "continuing",
    "continuation",
    "continued",
    "i'll continue",
    "i will continue",
    "let me continue",
    "here is the rest",
    "here's the rest",
    "the remainder",
    "the remaining",
    "left off",
    "cut off",
    "requested lines",
    "lines you asked",
    "lines you requested",
];

/// The maximum number of lines before the requested lines that count as a greeting without a mark after them.
const MOST_LINES: usize = 2;

/// Checks whether a text is empty or reads as a greeting: it begins like a sentence, and ends like a sentence or in a blank line.
pub(super) fn is_greeting(lines: &[&str]) -> bool {
    let first = without_label(lines).iter().find(|line| !line.trim().is_empty());
    first.is_none_or(|first| begins_as_sentence(first) && ends_as_greeting(lines))
}

/// Evidence around the text before the requested lines that it is words of the model.
pub(super) struct Around<'l> {
    /// The rest of the line that was cut off, if it follows the requested lines. Empty if the line had been complete.
    pub(super) rest_of_cut_line: Option<&'l str>,
    /// True if the text opens a code fence, and the requested lines are not in a fence of the open block.
    pub(super) opens_fence: bool,
}

/// Checks whether text before the requested lines reads as a greeting.
///
/// The model may have continued directly after the cut, so the text may belong to the file, up to the next such lines. So it only
/// counts as a greeting in front of the mark of the message or of a fence, or if it mentions continuing; if the line that was cut
/// off follows as a whole, also as a rule, words in brackets, one word, or a line that announces the text.
pub(super) fn is_greeting_before_lines(lines: &[&str], around: &Around<'_>) -> bool {
    let is_text =
        |line: &&&str| !line.trim().is_empty() && Fence::read(line).is_none() && **line != FIRST_LINES;
    let texts: Vec<&str> = without_label(lines).iter().filter(is_text).copied().collect();
    let Some(first) = texts.first().map(|line| line.trim()) else { return is_greeting(lines) };
    let is_continued = around.rest_of_cut_line.is_some_and(|rest| !rest.is_empty() && rest.trim() != first);
    let introduces = |line: &&str| *line == FIRST_LINES || around.opens_fence && Fence::read(line).is_some();
    if lines.iter().rfind(|line| !line.trim().is_empty()).is_some_and(introduces) && is_greeting(lines) {
        return true;
    }
    if is_continued && texts.len() == 1 && (is_separator(first) || announces(texts[0])) {
        return true;
    }
    let speaks = |line: &&str| speaks_of_continuing(line);
    let is_prose = |line: &&str| begins_as_prose(line) || is_continued && is_unmarked(line) && speaks(line);
    let ends = ends_as_greeting(lines) || is_continued && announces(texts[texts.len() - 1]);
    texts.len() <= MOST_LINES && texts.iter().any(speaks) && texts.iter().all(is_prose) && ends
}

/// Checks for a rule, a symbol, words in brackets, or one word.
fn is_separator(line: &str) -> bool {
    let is_rule = line.chars().all(|c| "-=.…*_".contains(c) || !c.is_ascii() && !c.is_alphanumeric());
    let is_in_brackets = [('[', ']'), ('(', ')')]
        .iter()
        .any(|(open, close)| line.starts_with(*open) && line.ends_with(*close));
    let word = line.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    is_rule || is_in_brackets || WORDS.contains(&&*word)
}

/// Checks for a line that is a sentence in any language and announces the next text.
fn announces(line: &str) -> bool {
    begins_as_prose(line) && line.trim_end().trim_end_matches(['*', '_']).ends_with([':', '：'])
}

/// Checks whether a line begins like a sentence, and not like a heading, a comment or a tag.
fn begins_as_prose(line: &str) -> bool {
    begins_as_sentence(line) && is_unmarked(line)
}

fn is_unmarked(line: &str) -> bool {
    !line.starts_with(['#', '<', ' ', '\t'])
}

/// Checks whether a line mentions continuing, or begins like an answer.
fn speaks_of_continuing(line: &str) -> bool {
    let words = line.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('’', "'");
    let opens = |opening: &&str| {
        let rest = words.strip_prefix(opening);
        rest.is_some_and(|rest| {
            rest.trim_end_matches(['*', '_']).is_empty() || rest.starts_with([',', '.', '!', ':', ' '])
        })
    };
    let is_code = words.contains(['=', ';', '{', '}']);
    !is_code && (OPENINGS.iter().any(opens) || OF_CONTINUING.iter().any(|part| words.contains(part)))
}

fn begins_as_sentence(line: &str) -> bool {
    line.chars().next().is_some_and(|first| {
        first.is_alphabetic() && !first.is_lowercase() || !first.is_ascii() || "*_#><".contains(first)
    })
}

/// Checks whether the last line ends like a sentence, or is blank, a fence, or the mark of the message.
fn ends_as_greeting(lines: &[&str]) -> bool {
    without_label(lines).last().is_some_and(|last| {
        let text = last.trim().trim_end_matches(['*', '_', '`']);
        text.is_empty()
            || *last == FIRST_LINES
            || Fence::read(text).is_some()
            || text.ends_with([':', '.', '!', '?', '…', '：', '。', '！'])
    })
}

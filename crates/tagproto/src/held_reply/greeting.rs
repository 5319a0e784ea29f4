//! The text with which a model begins a continuation. It is left out, so it must not be the rest of the line in which the held reply
//! was cut off, and lines behind that.

use crate::{
    outbox::FIRST_LINES,
    repair::{Fence, without_label},
};

/// Words that models write alone on a line.
const WORDS: [&str; 8] =
    ["continue", "continued", "continuing", "continuation", "sure", "certainly", "of course", "okay"];

/// Words with which a greeting begins, and hardly any line of a file.
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

/// Words that speak of a continuation, anywhere in a line.
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

/// The most lines of words before the requested lines that count as a greeting without a mark behind them.
const MOST_LINES: usize = 2;

/// Checks whether text reads as a greeting, if there is any: it begins as a sentence does and ends as one or in a blank line.
pub(super) fn is_greeting(lines: &[&str]) -> bool {
    let first = without_label(lines).iter().find(|line| !line.trim().is_empty());
    first.is_none_or(|first| begins_as_sentence(first) && ends_as_greeting(lines))
}

/// The lines around text before the requested ones, as far as they show that text before these is words of the model.
pub(super) struct Around<'l> {
    /// The rest of the line that was cut off, if it stands behind the requested lines. Empty if nothing of it had been missing.
    pub(super) rest_of_cut_line: Option<&'l str>,
    /// True if the text opens a code fence, and the requested lines stand in none of the open block.
    pub(super) opens_fence: bool,
}

/// Checks whether text before the requested lines reads as a greeting.
///
/// The model may have continued right behind the cut, and the text may be that of the file up to the next such lines. So it counts in
/// front of the mark of the message or of a fence, or if it speaks of continuing; where the line that was cut off follows as a whole,
/// also a rule, words in brackets, one word, or a line that announces what follows.
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
    if is_continued && texts.len() == 1 && (is_sign(first) || announces(texts[0])) {
        return true;
    }
    let speaks = |line: &&str| speaks_of_continuing(line);
    let is_prose = |line: &&str| begins_as_prose(line) || is_continued && is_unmarked(line) && speaks(line);
    let ends = ends_as_greeting(lines) || is_continued && announces(texts[texts.len() - 1]);
    texts.len() <= MOST_LINES && texts.iter().any(speaks) && texts.iter().all(is_prose) && ends
}

/// Checks for a rule, a sign, words in brackets, or one word.
fn is_sign(line: &str) -> bool {
    let is_rule = line.chars().all(|c| "-=.…*_".contains(c) || !c.is_ascii() && !c.is_alphanumeric());
    let is_in_brackets = [('[', ']'), ('(', ')')]
        .iter()
        .any(|(open, close)| line.starts_with(*open) && line.ends_with(*close));
    let word = line.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    is_rule || is_in_brackets || WORDS.contains(&&*word)
}

/// Checks for a line that is a sentence and announces what follows, in any language.
fn announces(line: &str) -> bool {
    begins_as_prose(line) && line.trim_end().trim_end_matches(['*', '_']).ends_with([':', '：'])
}

/// Checks whether a line begins as a sentence does, and not as a heading, a comment or a tag does.
fn begins_as_prose(line: &str) -> bool {
    begins_as_sentence(line) && is_unmarked(line)
}

fn is_unmarked(line: &str) -> bool {
    !line.starts_with(['#', '<', ' ', '\t'])
}

/// Checks whether a line says that the model continues, or begins as an answer does.
fn speaks_of_continuing(line: &str) -> bool {
    let words = line.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('’', "'");
    let opens = |opening: &&str| {
        let behind = words.strip_prefix(opening);
        behind.is_some_and(|behind| {
            behind.trim_end_matches(['*', '_']).is_empty() || behind.starts_with([',', '.', '!', ':', ' '])
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

/// Checks whether the last line ends as a sentence does, or is blank, a fence, or the mark of the message.
fn ends_as_greeting(lines: &[&str]) -> bool {
    without_label(lines).last().is_some_and(|last| {
        let text = last.trim().trim_end_matches(['*', '_', '`']);
        text.is_empty()
            || *last == FIRST_LINES
            || Fence::read(text).is_some()
            || text.ends_with([':', '.', '!', '?', '…', '：', '。', '！'])
    })
}

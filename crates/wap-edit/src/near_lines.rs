//! The lines of a text that are most similar to a pattern without a match.

use std::collections::BTreeSet;

use memchr::memmem;
use text_edit::Source;
use wap_core::NearLine;

/// The most lines of one answer.
const MOST_LINES: usize = 3;

/// The longest text of one line, in characters.
const MOST_CHARACTERS: usize = 200;

/// The most words of a pattern that are searched for, so that the work is bounded by the length of the text.
const MOST_WORDS: usize = 8;

/// The fewest bytes of a word; shorter ones are in too many lines.
const LEAST_WORD_BYTES: usize = 2;

/// Returns the lines that contain most of the words of a regular expression, in the order of the text; none if no line contains a
/// word. ASCII case is ignored.
pub(crate) fn near_lines(source: &Source<'_>, pattern: &str) -> Vec<NearLine> {
    let words = words(pattern);
    let finders: Vec<_> = words.iter().map(|word| memmem::Finder::new(word.as_bytes())).collect();
    let mut best: Vec<(usize, usize)> = Vec::new();
    for number in 1..=source.total_lines() {
        let Some(line) = source.line_bytes(number) else { break };
        let lower = line.to_ascii_lowercase();
        let score = finders.iter().filter(|finder| finder.find(&lower).is_some()).count();
        // The list is full: a line must be better than its worst entry, so equal later lines do not enter.
        if score == 0 || best.len() == MOST_LINES && best.iter().all(|(least, _)| score <= *least) {
            continue;
        }
        best.push((score, number));
        // The best first; on a tie the earlier line.
        best.sort_by_key(|(score, number)| (std::cmp::Reverse(*score), *number));
        best.truncate(MOST_LINES);
    }
    let most = best.first().map_or(0, |(score, _)| *score);
    let mut numbers: Vec<_> =
        best.iter().filter(|(score, _)| *score == most).map(|(_, number)| *number).collect();
    numbers.sort_unstable();
    numbers.into_iter().filter_map(|number| near_line(source, number)).collect()
}

fn near_line(source: &Source<'_>, number: usize) -> Option<NearLine> {
    let text = source.line_text(number)?;
    let mut beginning: String = text.chars().take(MOST_CHARACTERS).collect();
    if beginning.len() < text.len() {
        beginning.push('…');
    }
    Some(NearLine { line: number as u64, text: beginning })
}

/// Returns the words of a pattern in lower case, without the letters of its escapes such as `\b`.
fn words(pattern: &str) -> BTreeSet<String> {
    let mut plain = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if character == '\\' {
            // The escaped character is skipped, and a space separates the words on both sides.
            characters.next();
            plain.push(' ');
        } else {
            plain.push(character);
        }
    }
    plain
        .split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| word.len() >= LEAST_WORD_BYTES)
        .map(str::to_ascii_lowercase)
        .take(MOST_WORDS)
        .collect()
}

//! The path in a line of prose that leads to a hunk: "In `web/app.js`:", "1. **web/app.js**: the sum".

use super::{Candidate, DENIALS, bare_word, file_name, is_usual_name, only_file};

/// Words that may stand before the path in a line that leads to a hunk of that file: "Now in `a.py`:".
const LEADS: [&str; 17] = [
    "in", "update", "edit", "change", "modify", "file", "fix", "patch", "now", "then", "next", "and", "also",
    "first", "second", "finally", "for",
];

/// The most of these words before a path.
const MOST_LEADS: usize = 2;

/// Words that lead to a path with another one behind them, if the line ends with it: "Changes to `a.py`:".
const CHANGES: [&str; 6] = ["changes", "change", "edits", "edit", "updates", "update"];

/// Words with which a line about a path says that nothing of it changes.
const UNCHANGED: [&str; 7] = ["unchanged", "unaffected", "already", "nothing", "stays", "remains", "see"];

/// Words with which a heading says that it is not about changes of its path.
const NOT_THERE: [&str; 18] = [
    " unchanged ",
    " unaffected ",
    " untouched ",
    " no change",
    " no edit",
    " no update",
    " no modif",
    " not change",
    " not touch",
    " not edit",
    " not modif",
    " not affect",
    " not need",
    " instead of ",
    " rather than ",
    " why not ",
    " unlike ",
    " except ",
];

/// Words with which it says so directly behind the path.
const AS_IT_IS: [&str; 6] = ["already", "nothing", "stays", "remains", "as-is", "same"];

/// Signs that stand alone before a path.
const BULLETS: &str = "📁📂📄📃📝📜📑🗎🔧🛠✏•→▶➤◆■●\u{fe0f}";

/// Signs between a path and what is said about it.
const DASHES: [&str; 4] = ["—", "–", "-", ":"];

/// Returns the path that a line leads to a hunk of, as "In `web/app.js`:" does: the only one in it, at its start or behind a few words,
/// and at its end unless that is a colon. Behind an emphasised path at the start may stand what changes.
pub(super) fn led_file(line: &str) -> Option<Candidate<'_>> {
    // Otherwise no path in it is certain.
    memchr::memchr2(b'`', b'/', line.as_bytes())?;
    let (path, is_certain) = only_file(line)?;
    let words: Vec<&str> = line.split_whitespace().skip_while(|word| is_marker(word)).collect();
    let at = words.iter().position(|word| bare_word(word) == path)?;
    let (leads, behind) = (&words[..at], &words[at + 1..]);
    let is_end = behind.iter().all(|word| is_rule(word));
    let is_lead = |word: &&str| LEADS.iter().any(|lead| bare_word(word).eq_ignore_ascii_case(lead));
    let is_led = leads.len() <= MOST_LEADS && leads.iter().all(is_lead);
    let is_whole = is_end || line.trim_end_matches(['*', '_', ' ']).ends_with(':');
    let is_name = file_name(path).contains('.') || is_usual_name(path);
    let is_meant = is_led && is_whole || is_end && speak_of_changes(leads);
    let is_described = !is_meant && leads.is_empty() && says_what_changes(words[at], behind);
    (is_certain && is_name && (is_meant || is_described))
        .then(|| Candidate { is_described, ..Candidate::certain(path) })
}

/// Checks whether a heading with a path says that nothing of it changes. Other words that deny may be about the change: "`a.py`: do not
/// panic".
pub(super) fn denies_change(heading: &str, path: &str) -> bool {
    let words: Vec<String> =
        heading.split_whitespace().map(|word| bare_word(word).to_ascii_lowercase()).collect();
    let text = format!(" {} ", words.join(" ").replace("n't ", " not "));
    let behind = words.iter().skip_while(|word| !word.eq_ignore_ascii_case(path)).skip(1);
    let mut said =
        behind.filter(|word| !word.is_empty() && !DASHES.contains(&word.as_str()) && *word != "is");
    NOT_THERE.iter().any(|phrase| text.contains(phrase))
        || said.next().is_some_and(|word| AS_IT_IS.contains(&word.as_str()))
}

/// Checks for the number of a step, the sign of a list, or another one that stands before a path.
fn is_marker(word: &str) -> bool {
    let number = word.trim_matches(['*', '#']).trim_end_matches(['.', ')', ':']);
    number.is_empty()
        || ["-", "+"].contains(&number)
        || number.bytes().all(|digit| digit.is_ascii_digit())
        || is_rule(word)
        || word.chars().all(|sign| BULLETS.contains(sign))
}

/// Checks for a word such as `===`, which stands on both sides of a title.
fn is_rule(word: &str) -> bool {
    word.bytes().all(|sign| sign == b'=')
}

/// Checks for the words before the path in "Changes to `web/app.js`:".
fn speak_of_changes(leads: &[&str]) -> bool {
    let [noun, to] = leads else { return false };
    CHANGES.iter().any(|change| bare_word(noun).eq_ignore_ascii_case(change))
        && ["to", "in"].iter().any(|word| to.eq_ignore_ascii_case(word))
}

/// Checks whether a line says behind its emphasised path what changes there: "**web/app.js** — the sum".
fn says_what_changes(path: &str, behind: &[&str]) -> bool {
    let is_emphasised = path.starts_with(['`']) || ["**", "__"].iter().any(|mark| path.starts_with(mark));
    let is_parted = path.trim_end_matches(['*', '_']).ends_with(':')
        || behind.first().is_some_and(|word| DASHES.contains(word));
    let denies = |word: &&str| {
        let word = bare_word(word);
        DENIALS.iter().chain(&UNCHANGED).any(|no| word.eq_ignore_ascii_case(no))
    };
    is_emphasised && is_parted && !behind.iter().any(denies)
}

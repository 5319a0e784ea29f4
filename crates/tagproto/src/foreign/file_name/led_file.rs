//! The path in a line of prose that introduces a hunk: "In `web/app.js`:", "1. **web/app.js**: the sum".

use super::{Candidate, DENIALS, bare_word, file_name, is_usual_name, only_file};

/// Words that may precede the path in a line that introduces a hunk of that file: "Now in `a.py`:".
const LEADS: [&str; 17] = [
    "in", "update", "edit", "change", "modify", "file", "fix", "patch", "now", "then", "next", "and", "also",
    "first", "second", "finally", "for",
];

/// The maximum number of these words before a path.
const MOST_LEADS: usize = 2;

/// Words that, with "to" or "in", introduce a path at the end of the line: "Changes to `a.py`:".
const CHANGES: [&str; 6] = ["changes", "change", "edits", "edit", "updates", "update"];

/// Words in a line about a path that deny a change of it.
const UNCHANGED: [&str; 7] = ["unchanged", "unaffected", "already", "nothing", "stays", "remains", "see"];

/// Phrases in a heading that deny a change of its path.
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

/// Words that deny it directly after the path.
const AS_IT_IS: [&str; 6] = ["already", "nothing", "stays", "remains", "as-is", "same"];

/// Characters that may be a word before a path.
const BULLETS: &str = "📁📂📄📃📝📜📑🗎🔧🛠✏•→▶➤◆■●\u{fe0f}";

/// Characters between a path and its description.
const DASHES: [&str; 4] = ["—", "–", "-", ":"];

/// Returns the path in a line that introduces a hunk, such as "In `web/app.js`:": the only path in it, at its start or after a
/// few words, and at its end unless that is a colon. An emphasised path at the start may be followed by a description of the
/// change.
pub(super) fn led_file(line: &str) -> Option<Candidate<'_>> {
    // Without either character, no path in it is certain.
    memchr::memchr2(b'`', b'/', line.as_bytes())?;
    let (path, is_certain) = only_file(line)?;
    let words: Vec<&str> = line.split_whitespace().skip_while(|word| is_marker(word)).collect();
    let at = words.iter().position(|word| bare_word(word) == path)?;
    let (leads, rest) = (&words[..at], &words[at + 1..]);
    let is_end = rest.iter().all(|word| is_rule(word));
    let is_lead = |word: &&str| LEADS.iter().any(|lead| bare_word(word).eq_ignore_ascii_case(lead));
    let is_led = leads.len() <= MOST_LEADS && leads.iter().all(is_lead);
    let is_whole = is_end || line.trim_end_matches(['*', '_', ' ']).ends_with(':');
    let is_name = file_name(path).contains('.') || is_usual_name(path);
    let is_meant = is_led && is_whole || is_end && speak_of_changes(leads);
    let is_described = !is_meant && leads.is_empty() && says_what_changes(words[at], rest);
    (is_certain && is_name && (is_meant || is_described))
        .then(|| Candidate { is_described, ..Candidate::certain(path) })
}

/// Checks whether a heading with a path denies a change of it. Other words of denial may be about the change: "`a.py`: do not
/// panic".
pub(super) fn denies_change(heading: &str, path: &str) -> bool {
    let words: Vec<String> =
        heading.split_whitespace().map(|word| bare_word(word).to_ascii_lowercase()).collect();
    let text = format!(" {} ", words.join(" ").replace("n't ", " not "));
    let rest = words.iter().skip_while(|word| !word.eq_ignore_ascii_case(path)).skip(1);
    let mut remarks =
        rest.filter(|word| !word.is_empty() && !DASHES.contains(&word.as_str()) && *word != "is");
    NOT_THERE.iter().any(|phrase| text.contains(phrase))
        || remarks.next().is_some_and(|word| AS_IT_IS.contains(&word.as_str()))
}

/// Checks for the number of a step, a list mark, or another mark before a path.
fn is_marker(word: &str) -> bool {
    let number = word.trim_matches(['*', '#']).trim_end_matches(['.', ')', ':']);
    number.is_empty()
        || ["-", "+"].contains(&number)
        || number.bytes().all(|digit| digit.is_ascii_digit())
        || is_rule(word)
        || word.chars().all(|c| BULLETS.contains(c))
}

/// Checks for a word such as `===`, which is on both sides of a title.
fn is_rule(word: &str) -> bool {
    word.bytes().all(|byte| byte == b'=')
}

/// Checks for the words before the path in "Changes to `web/app.js`:".
fn speak_of_changes(leads: &[&str]) -> bool {
    let [noun, to] = leads else { return false };
    CHANGES.iter().any(|change| bare_word(noun).eq_ignore_ascii_case(change))
        && ["to", "in"].iter().any(|word| to.eq_ignore_ascii_case(word))
}

/// Checks whether a line describes a change after its emphasised path: "**web/app.js** — the sum".
fn says_what_changes(path: &str, rest: &[&str]) -> bool {
    let is_emphasised = path.starts_with(['`']) || ["**", "__"].iter().any(|mark| path.starts_with(mark));
    let is_parted = path.trim_end_matches(['*', '_']).ends_with(':')
        || rest.first().is_some_and(|word| DASHES.contains(word));
    let denies = |word: &&str| {
        let word = bare_word(word);
        DENIALS.iter().chain(&UNCHANGED).any(|no| word.eq_ignore_ascii_case(no))
    };
    is_emphasised && is_parted && !rest.iter().any(denies)
}

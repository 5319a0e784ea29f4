//! The path in a line of prose that introduces a hunk: "In `web/app.js`:", "1. **web/app.js**: the sum".

use super::{Candidate, DENIALS, FILE_NOUNS, OTHER, bare_word, file_name, is_usual_name, only_file};

/// Words that may precede the path in a line that introduces a hunk of that file: "Now in `a.py`:".
const LEADS: [&str; 18] = [
    "in", "update", "edit", "change", "modify", "file", "fix", "patch", "now", "then", "next", "and", "also",
    "first", "second", "finally", "for", "replace",
];

/// Further such words, which also occur in lists of the reply's changes: "Updated `a.py`".
const LIST_LEADS: [&str; 6] = ["step", "updated", "modified", "changed", "edited", "fixed"];

/// Words between these that do not change their meaning: "Here is the fix for `a.py`:".
const FILLERS: [&str; 11] =
    ["here", "here's", "here’s", "is", "are", "the", "a", "this", "these", "following", "that"];

/// The maximum number of these words before a path.
const MOST_LEADS: usize = 2;

/// Words that, with "to" or "in", introduce a path at the end of the line: "Changes to `a.py`:".
const CHANGES: [&str; 6] = ["changes", "change", "edits", "edit", "updates", "update"];

/// Words in a line about a path that deny a change of it.
const UNCHANGED: [&str; 8] =
    ["unchanged", "unaffected", "untouched", "already", "nothing", "stays", "remains", "see"];

/// Phrases in a heading that deny a change of its path.
const STATES: [&str; 7] =
    [" unchanged ", " unaffected ", " untouched ", " no change", " no edit", " no update", " no modif"];

/// Phrases that do so directly before the path.
const LEFT_OUT: [&str; 6] =
    [" instead of ", " rather than ", " why not ", " unlike ", " except ", " not need "];

/// Verbs that do so after "not", without their endings.
const CHANGE: [&str; 5] = ["change", "touch", "edit", "modif", "affect"];

/// Words before "not" in a statement about the path, and in an order that may be about other things.
const STATEMENT: [&str; 8] = ["is", "are", "was", "does", "did", "will", "need", "needs"];
const ORDER: [&str; 3] = ["do", "must", "should"];

/// Words that deny a change directly after the path, unless a word of contrast follows: "`a.py` already reads it, but too often".
const AS_IT_IS: [&str; 6] = ["already", "nothing", "stays", "remains", "as-is", "same"];
const CONTRAST: [&str; 2] = ["but", "now"];

/// Words before a path from which something comes, and verbs with which it is changed all the same.
const SOURCES: [&str; 6] = ["from", "with", "by", "via", "using", "like"];
const TAKES_AWAY: [&str; 6] = ["remove", "delete", "drop", "move", "extract", "strip"];

/// Words directly before a path that speak of other files, with a relation to it.
const RELATIONS: [&str; 15] = [
    " callers of ",
    " clients of ",
    " consumers of ",
    " dependencies of ",
    " dependents of ",
    " importers of ",
    " usages of ",
    " users of ",
    " uses of ",
    " called by ",
    " caused by ",
    " imported by ",
    " needed by ",
    " required by ",
    " used by ",
];

/// Words directly after a path that do so.
const DEPENDS: [&str; 2] = ["depends on", "relies on"];

/// Characters that may be a word before a path.
const BULLETS: &str = "📁📂📄📃📝📜📑🗎🔧🛠✏•→▶➤◆■●\u{fe0f}";

/// Characters between a path and its description.
const DASHES: [&str; 4] = ["—", "–", "-", ":"];

/// Returns the path in a line that introduces a hunk, such as "In `web/app.js`:": the only path in it, at its start or after a
/// few words, and at its end unless that is a colon or a remark in brackets. An emphasised path at the start may be followed by a
/// description of the change.
pub(super) fn led_file(line: &str) -> Option<Candidate<'_>> {
    // Without either character, no path in it is certain.
    memchr::memchr2(b'`', b'/', line.as_bytes())?;
    let (path, is_certain) = only_file(line)?;
    let words: Vec<&str> = line.split_whitespace().skip_while(|word| is_marker(word)).collect();
    let at = words.iter().position(|word| bare_word(word) == path)?;
    let (before, rest) = (&words[..at], &words[at + 1..]);
    let leads: Vec<&str> = before.iter().copied().filter(|word| !is_filler(word)).collect();
    let has_remark = is_remark(&rest.join(" "));
    let is_end = has_remark || rest.iter().all(|word| is_rule(word));
    let is_any =
        |word: &str, words: &[&str]| words.iter().any(|lead| bare_word(word).eq_ignore_ascii_case(lead));
    let is_of_list = leads.iter().any(|word| is_any(word, &LIST_LEADS));
    let is_lead = |word: &&str| is_any(word, &LEADS) || is_any(word, &LIST_LEADS);
    let is_led = leads.len() <= MOST_LEADS && leads.iter().all(is_lead);
    let ends_in_colon = line.trim_end_matches(['*', '_', ' ']).ends_with(':');
    let is_whole = is_end || ends_in_colon;
    // Without a colon, these words make a statement about the file: "The loop is in `a.py`."
    let is_statement = !ends_in_colon && before.iter().any(|word| is_any(word, &FILLERS));
    let is_name = file_name(path).contains('.') || is_usual_name(path);
    let is_meant = !is_statement
        && (is_led && is_whole || is_end && speak_of_changes(&leads))
        && (is_end || !turns_to_another(rest));
    let is_own = !denies_change(line, path) && !is_about_others(line, path);
    let says_what_changes = !is_meant && before.is_empty() && says_what_changes(words[at], rest);
    let certain = Candidate::certain(path);
    (is_certain && is_name && is_own && (is_meant || says_what_changes)).then_some(Candidate {
        is_described: says_what_changes || is_of_list || has_remark,
        // The remark may be part of the name.
        may_be_new: certain.may_be_new && !has_remark,
        ..certain
    })
}

/// Checks whether a heading with a path denies a change of it. Other words of denial may be about the change: "`a.py`: do not
/// panic", "`a.py`: return 0 instead of an error".
pub(super) fn denies_change(heading: &str, path: &str) -> bool {
    let text = heading.to_ascii_lowercase().replace("n't ", " not ").replace("n’t ", " not ");
    let words = bare_words(&text);
    let Some(at) = words.iter().position(|word| word.eq_ignore_ascii_case(path)) else { return false };
    let joined = |words: &[&str]| format!(" {} ", words.join(" "));
    let (whole, before, after) = (joined(&words), joined(&words[..at]), &words[at + 1..]);
    let is_state = STATES.iter().any(|phrase| whole.contains(phrase));
    // One word may be between them: "instead of changing `a.py`".
    let is_just_before = |rest: &str| rest.split_whitespace().count() <= 1;
    let is_left_out = LEFT_OUT
        .iter()
        .any(|phrase| before.rsplit_once(phrase).is_some_and(|(_, rest)| is_just_before(rest)));
    let is_forbidden = CHANGE.iter().any(|verb| before.contains(&format!(" not {verb}")));
    let mut state = after.iter().skip_while(|word| **word == "is");
    let stays = state.next().is_some_and(|word| AS_IT_IS.contains(word))
        && !state.next().is_some_and(|word| CHANGES.contains(word) || *word == "fix");
    is_state
        || is_left_out
        || is_forbidden
        || says_not(after)
        || stays && !after.iter().any(|word| CONTRAST.contains(word))
}

/// Checks whether a line speaks of other files, with a relation to the one that it names: "Callers of `a.py`", "the file that
/// `a.py` imports", "`a.py` depends on this".
pub(super) fn is_about_others(line: &str, path: &str) -> bool {
    let text = line.to_ascii_lowercase();
    let words = bare_words(&text);
    let Some(at) = words.iter().position(|word| word.eq_ignore_ascii_case(path)) else { return false };
    let before: Vec<&str> = words[..at].iter().copied().filter(|word| *word != "the").collect();
    let (joined, after) = (format!(" {} ", before.join(" ")), words[at + 1..].join(" "));
    let is_related = RELATIONS.iter().any(|relation| joined.ends_with(relation));
    let is_noun = |word: &str| FILE_NOUNS.contains(&word.strip_suffix('s').unwrap_or(word));
    let is_clause = matches!(before.as_slice(), [.., noun, "that" | "which"] if is_noun(noun));
    is_related || is_clause || DEPENDS.iter().any(|verb| after.starts_with(verb))
}

/// Checks whether the words between a path and the colon at the end of its line begin another sentence, or turn to another file:
/// "`a.py` has it too, but first:".
fn turns_to_another(rest: &[&str]) -> bool {
    // An abbreviation has another dot.
    let ends_sentence = |word: &&str| {
        let word = word.trim_end_matches(['*', '_', '`', ')', '"']);
        word.strip_suffix(['.', '!', '?']).is_some_and(|word| !word.contains('.'))
    };
    let words: Vec<String> = rest.iter().map(|word| bare_word(word).to_ascii_lowercase()).collect();
    rest.iter().any(ends_sentence)
        || words.windows(2).any(|pair| pair[1] == "file" && OTHER.contains(&pair[0].as_str()))
        || words.ends_with(&["but".to_owned(), "first".to_owned()])
}

/// Checks whether the words after a path state that it does not change: "does not need a change", "not changed".
fn says_not(words: &[&str]) -> bool {
    let is_order = words.first().is_some_and(|word| ORDER.contains(word));
    let mut rest = words
        .iter()
        .skip_while(|word| STATEMENT.contains(word) || ORDER.contains(word))
        .filter(|word| **word != "be");
    let is_denied = rest.next() == Some(&"not")
        && rest.next().is_some_and(|verb| CHANGE.iter().chain(&["need"]).any(|stem| verb.starts_with(stem)));
    is_denied && (!is_order || rest.next().is_none())
}

/// Checks whether a heading names a path only as the source of something: "Read the port from `config.yaml`".
pub(super) fn names_a_source(heading: &str, path: &str) -> bool {
    let text = heading.to_ascii_lowercase();
    let words = bare_words(&text);
    let at = words.iter().position(|word| word.eq_ignore_ascii_case(path)).unwrap_or(0);
    words[..at].last().is_some_and(|word| SOURCES.contains(word))
        && !words.iter().any(|word| TAKES_AWAY.contains(word))
}

/// Returns the words of a line without punctuation and dashes.
fn bare_words(line: &str) -> Vec<&str> {
    let words = line.split_whitespace().map(bare_word);
    words.filter(|word| !word.is_empty() && !DASHES.contains(word)).collect()
}

/// Checks for a remark in brackets after a path, such as "(lines 3-7)", that does not deny a change.
pub(in crate::foreign) fn is_remark(text: &str) -> bool {
    let inner =
        text.trim_end_matches([':', '*', '_']).strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    inner.is_some_and(|inner| !inner.contains(['(', ')'])) && !text.split_whitespace().any(denies)
}

/// Checks for a word before a path that does not change the meaning of those around it: a number, a dash, or a name in the code.
fn is_filler(word: &str) -> bool {
    let is_code =
        word.len() > 2 && word.starts_with('`') && word.trim_end_matches(['*', ':', ',']).ends_with('`');
    is_code
        || is_marker(word)
        || DASHES.contains(&word)
        || FILLERS.iter().any(|filler| bare_word(word).eq_ignore_ascii_case(filler))
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
    is_emphasised && is_parted && !rest.iter().any(|word| denies(word))
}

/// Checks for a word of denial after a path.
fn denies(word: &str) -> bool {
    let word = bare_word(word);
    DENIALS.iter().chain(&UNCHANGED).any(|no| word.eq_ignore_ascii_case(no))
}

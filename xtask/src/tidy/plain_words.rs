//! Plain English: names, doc comments and texts without the words that plainer ones have replaced.
//!
//! The check covers every source of crates, examples and xtask, and the phrases in every page.

use super::Finding;
use super::plain_pages::paragraphs;
use super::source_code::{Piece, code_only, is_word, pieces};
use crate::Tree;

const CHECK: &str = "plain words";

/// The folders whose sources are checked; samples among the fixtures are data.
const FOLDERS: [&str; 3] = ["crates/", "examples/", "xtask/"];

/// Sources that hold the banned words as data.
const WORD_LISTS: [&str; 4] = [
    "xtask/src/house.rs",
    "xtask/src/tidy/plain_words.rs",
    "xtask/tests/it/house.rs",
    "xtask/tests/it/tidy.rs",
];

/// Words that no name may contain, and the words to use instead.
const NAME_PARTS: [(&str, &str); 11] = [
    ("anybody", "name the role"),
    ("covering", "overlay"),
    ("ground", "fixture, context, or the noun itself"),
    ("impatience", "write timeout"),
    ("mend", "repair"),
    ("mended", "repaired"),
    ("nobody", "name the role"),
    ("somebody", "name the role"),
    ("told", "report, render, notify"),
    ("torn", "partial write"),
    ("whoever", "name the role"),
];

/// Words that are no names by themselves, and the words to use instead.
const NAMES: [(&str, &str); 8] = [
    ("asked", "request"),
    ("found", "match, entry, or the noun itself"),
    ("known", "state, or the noun itself"),
    ("place", "entry, position, scope, location"),
    ("places", "paths"),
    ("seen", "snapshot, or the noun itself"),
    ("shown", "excerpt, version"),
    ("tell", "report, render, notify"),
];

/// Phrases that doc comments, string literals and pages do not use, and the phrases to use instead.
const PHRASES: [(&str, &str); 24] = [
    ("anybody", "name the role"),
    ("anyone", "name the role"),
    ("are no", "are not"),
    ("brought", "imported"),
    ("comes of it", "result"),
    ("covering", "overlay"),
    ("everybody", "name the role"),
    ("goes on", "resumes, continues"),
    ("impatience", "write timeout"),
    ("in the place of", "instead of"),
    ("is no", "is not"),
    ("mended", "repaired"),
    ("nobody", "name the role"),
    ("put away", "moved to processed"),
    ("set aside", "quarantined"),
    ("somebody", "name the role"),
    ("someone", "name the role"),
    ("taken back", "reverted"),
    ("taken over", "adopted"),
    ("that goes", "is removed"),
    ("the one who", "name the role"),
    ("told", "reported"),
    ("torn", "partial"),
    ("whoever", "name the role"),
];

/// Phrases that contain one of the others and are plain all the same.
const PLAIN: [&str; 6] =
    ["there is no", "there are no", "is no longer", "are no longer", "is no more than", "are no more than"];

/// Words that open a question, with which no doc comment begins.
const QUESTIONS: [&str; 6] = ["how", "what", "where", "whether", "which", "why"];

/// A file or folder, a word that it may use, and the reason.
type Exception = (&'static str, &'static str, &'static str);

const EXCEPTIONS: &[Exception] = &[
    ("crates/change-journal/src/error.rs", "found", "a public field that other crates match"),
    ("crates/change-journal/src/store/open.rs", "found", "fills that field"),
    ("crates/change-journal/tests/", "found", "matches that field"),
    ("crates/sandbox-exec/src/launcher/system_tree.rs", "nobody", "the name of a user in /etc/passwd"),
    ("crates/sandbox-exec/tests/", "anyone", "a word of the cases"),
    ("crates/wap-core/src/together.rs", "taken back", "a part of a key in journals"),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut is_used = [false; EXCEPTIONS.len()];
    let mut report = |path: &str, line_index: usize, word: &str, text: String| {
        let exception =
            EXCEPTIONS.iter().position(|(at, allowed, _)| path.starts_with(at) && *allowed == word);
        match exception {
            Some(index) => is_used[index] = true,
            None => findings.push(Finding::at(CHECK, path, line_index, text)),
        }
    };
    for (path, source) in tree.sources().filter(|(path, _)| is_checked(path)) {
        for (line_index, line) in code_only(source).lines().enumerate() {
            for (word, instead) in line.split(|character| !is_word(character)).filter_map(name_fault) {
                report(path, line_index, word, format!("the name `{word}`: say {instead}"));
            }
        }
        for passage in passages(&pieces(source)) {
            if let Some(word) = passage.question() {
                report(
                    path,
                    passage.line_index,
                    word,
                    format!("a doc comment opens with `{word}`: open with a verb or the noun"),
                );
            }
            for (line_index, phrase, instead) in passage.faults() {
                report(path, line_index, phrase, format!("`{phrase}`: say {instead}"));
            }
        }
    }
    let pages = tree.texts().filter(|(path, _)| path.ends_with(".md") && !path.starts_with("fixtures/"));
    for (path, text) in pages {
        for paragraph in paragraphs(text) {
            for (line_index, phrase, instead) in paragraph.faults() {
                report(path, line_index, phrase, format!("`{phrase}`: say {instead}"));
            }
        }
    }
    // An exception that outlives its reason would hide the next fault.
    let stale = EXCEPTIONS.iter().zip(is_used).filter(|((path, ..), used)| !used && covers(tree, path));
    let text = |word| format!("the exception for `{word}` is not needed any more");
    findings.extend(stale.map(|((path, word, _), _)| Finding::new(CHECK, *path, text(word))));
    findings
}

fn is_checked(path: &str) -> bool {
    FOLDERS.iter().any(|folder| path.starts_with(folder)) && !WORD_LISTS.contains(&path)
}

fn covers(tree: &Tree, path: &str) -> bool {
    tree.sources().chain(tree.texts()).any(|(file, _)| file.starts_with(path))
}

/// Returns the banned word in a name, with its replacement.
fn name_fault(name: &str) -> Option<(&'static str, &'static str)> {
    let lower = name.to_lowercase();
    let whole = NAMES.iter().find(|(word, _)| *word == lower);
    let parts = name_parts(name);
    let part = || NAME_PARTS.iter().find(|(word, _)| parts.iter().any(|part| part == word));
    let is_type = name.starts_with(char::is_uppercase);
    let suffix = || {
        NAMES
            .iter()
            .find(|(word, _)| is_type && *word == "place" && parts.last().is_some_and(|part| part == word))
    };
    whole.or_else(part).or_else(suffix).copied()
}

/// Splits `snake_case` and `CamelCase` names into lower-case words.
fn name_parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = '_';
    for character in name.chars() {
        let begins = character == '_' || character.is_uppercase() && !before.is_uppercase();
        if begins && parts.last().is_some_and(|part| !part.is_empty()) {
            parts.push(String::new());
        }
        if character != '_'
            && let Some(part) = parts.last_mut()
        {
            part.extend(character.to_lowercase());
        }
        before = character;
    }
    parts
}

/// Checks whether a phrase at an offset belongs to one that is plain.
fn is_plain(text: &str, offset: usize, phrase: &str) -> bool {
    PLAIN.iter().any(|plain| {
        let starts = plain.match_indices(phrase).filter_map(|(before, _)| offset.checked_sub(before));
        starts.into_iter().any(|start| text.get(start..).is_some_and(|rest| rest.starts_with(plain)))
    })
}

/// A doc comment, a string literal or a paragraph of a page, with its lines.
pub(super) struct Passage<'s> {
    pub(super) line_index: usize,
    pub(super) is_doc: bool,
    pub(super) lines: Vec<&'s str>,
}

/// Collects doc comments, whose lines are pieces of their own, and string literals.
fn passages<'s>(pieces: &[Piece<'s>]) -> Vec<Passage<'s>> {
    let mut passages: Vec<Passage<'s>> = Vec::new();
    for piece in pieces {
        match doc_text(piece.text) {
            Some(line) => match passages.last_mut() {
                Some(last) if last.is_doc && last.line_index + last.lines.len() == piece.line_index => {
                    last.lines.push(line);
                }
                _ => passages.push(Passage { line_index: piece.line_index, is_doc: true, lines: vec![line] }),
            },
            None if piece.text.starts_with("//") || piece.text.starts_with("/*") => {}
            None => passages.push(Passage {
                line_index: piece.line_index,
                is_doc: false,
                lines: piece.text.lines().collect(),
            }),
        }
    }
    passages
}

fn doc_text(comment: &str) -> Option<&str> {
    comment.strip_prefix("///").or_else(|| comment.strip_prefix("//!"))
}

impl Passage<'_> {
    /// Returns the question word with which a doc comment opens.
    fn question(&self) -> Option<&'static str> {
        let first = self.lines.first().filter(|_| self.is_doc)?.split_whitespace().next()?.to_lowercase();
        QUESTIONS.iter().find(|word| **word == first).copied()
    }

    /// Returns the banned phrases, each with its line and its replacement. A phrase may span two lines.
    fn faults(&self) -> Vec<(usize, &'static str, &'static str)> {
        let mut text = String::new();
        let mut starts = Vec::new();
        for line in &self.lines {
            starts.push(text.len());
            text.push_str(line.trim().to_lowercase().as_str());
            text.push(' ');
        }
        let line_of = |offset: usize| self.line_index + starts.partition_point(|start| *start <= offset) - 1;
        let mut faults = Vec::new();
        for (phrase, instead) in &PHRASES {
            for (offset, _) in text.match_indices(phrase) {
                let ends_word = !text[offset + phrase.len()..].starts_with(is_word);
                let begins_word = !text[..offset].ends_with(is_word);
                if begins_word && ends_word && !is_plain(&text, offset, phrase) {
                    faults.push((line_of(offset), *phrase, *instead));
                }
            }
        }
        faults
    }
}

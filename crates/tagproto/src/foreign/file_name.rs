//! The file of a SEARCH/REPLACE hunk, determined by the lines before it.

pub(super) mod led_file;
mod name_form;
pub(super) mod plain_name;

use std::collections::HashSet;

use self::led_file::{denies_change, is_about_others, led_file, names_a_source};
use self::name_form::{UNMISTAKABLE_NAMES, WORD_NAMES};
pub(super) use self::name_form::{is_file_name, is_path_like, is_usual_name};
use self::plain_name::{between_dashes, is_plain_name, is_word_of_prose, linked, peeled, without_lines};
use super::ForeignFault;
use super::markup_name::Markup;
use crate::repair::Fence;

/// The file name according to the lines before a hunk.
#[derive(Default)]
pub(super) struct FileName<'a> {
    last: Option<Candidate<'a>>,
    /// The file of the previous hunk.
    current: Option<&'a str>,
    /// The level of the heading that named the file; `None` if another line did.
    heading_level: Option<usize>,
    /// The level of the last heading without a file.
    section_level: Option<usize>,
    /// The last heading if it denies a change of its file: its line number and the path.
    unchanged: Option<(u32, &'a str)>,
    /// True if a line since that hunk may be about another file.
    may_be_another: bool,
    /// The open code fence.
    fence: Option<Fence>,
    /// True if the previous hunk has its file from the hunk or heading above it.
    pub(super) is_assumed: bool,
    /// The hunks so far with their files.
    hunks: HashSet<(&'a str, Vec<&'a str>, Vec<&'a str>)>,
    /// True if the last hunk with its own name was a repetition, as in a reply that was pasted twice.
    repeats: bool,
    /// The file of the last line since a hunk that describes a change of its file.
    described: Option<&'a str>,
}

#[derive(Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub(super) path: &'a str,
    /// True if the line is almost certainly a path.
    is_plain: bool,
    /// True if a file may be created at the path.
    may_be_new: bool,
    /// True if the line describes a change of the file: with several such lines, none is certain to be about the next hunk.
    is_described: bool,
}

impl<'a> Candidate<'a> {
    /// Returns a candidate for a line that is a path by its form.
    fn certain(path: &'a str) -> Candidate<'a> {
        let may_be_new = is_plain_name(path) && !is_word_of_prose(path);
        Candidate { path, is_plain: true, may_be_new, is_described: false }
    }
}

impl<'a> FileName<'a> {
    /// Forgets the files: the next lines may be about another file.
    pub(super) fn forget(&mut self) {
        let hunks = std::mem::take(&mut self.hunks);
        *self = FileName { fence: self.fence, hunks, ..FileName::default() };
    }

    /// Returns the open code fence.
    pub(super) fn fence(&self) -> Option<Fence> {
        self.fence
    }

    /// Returns the file that a line directly before the next hunk names.
    pub(super) fn given(&self) -> Option<&'a str> {
        self.last.map(|last| last.path)
    }

    /// Returns the file that a line directly before the next hunk names, or else the heading above it.
    pub(super) fn given_or_of_heading(&self) -> Option<&'a str> {
        let has_heading = self.heading_level.is_some() && !self.may_be_another;
        self.given().or(self.current.filter(|_| has_heading))
    }

    /// Processes a line before a hunk.
    pub(super) fn pass(&mut self, line: &'a str, number: u32) {
        if let Some(fence) = Fence::read(line) {
            match self.fence {
                Some(opening) if fence.closes(opening) => self.fence = None,
                Some(_) => {}
                None => self.fence = Some(fence),
            }
        }
        let line = between_dashes(line).unwrap_or(line).trim();
        if line.is_empty() {
            self.last = self.last.filter(|last| last.is_plain);
        } else if let Some(info) = fence_info(line) {
            self.pass_fence(info);
        } else if let Some(markup) =
            Markup::read(line).or_else(|| Markup::of_code_comment(line, self.fence.is_some()))
        {
            self.pass_markup(markup);
        } else if self.last.is_some() && is_code_label(line) {
            // The label of a code block that was copied with it.
        } else if is_heading(line) && self.fence.is_none() && self.is_about_current(line) {
            // The hunks below it are of the file of the heading above it.
        } else {
            self.last = candidate(line).or_else(|| led_file(line).filter(|_| self.fence.is_none()));
            self.may_be_another |= self.may_name_another(line);
            self.pass_description();
            // In a fence, the line may be a comment.
            if is_heading(line) && self.fence.is_none() {
                self.pass_heading(line, number);
            }
        }
    }

    /// Processes a line that describes a change of a file. Two such lines in a row are a list of the reply's changes.
    fn pass_description(&mut self) {
        let Some(path) = self.last.filter(|last| last.is_described).map(|last| last.path) else { return };
        if self.described.is_some_and(|other| other != path) {
            self.last = None;
        }
        self.described = Some(path);
    }

    /// Processes a heading. A file that it names is the file of the hunks below it, up to a heading of the same level without a
    /// file, or to a heading that denies a change of the file.
    fn pass_heading(&mut self, line: &'a str, number: u32) {
        let level = heading_level(line);
        self.unchanged = None;
        let Some((path, is_certain)) = only_file(line) else {
            let ends = match self.heading_level {
                Some(of_file) => level <= of_file,
                // Sections of one level, the file of which is named in the first, are steps about that file.
                None => level <= DEEPEST_SECTION && self.section_level != Some(level),
            };
            self.may_be_another |= ends && self.last.is_none();
            self.section_level = Some(level);
            return;
        };
        if denies_change(line, path) {
            (self.last, self.may_be_another) = (None, true);
            self.unchanged = Some((number, path));
            return;
        }
        if is_about_others(line, path) {
            (self.last, self.may_be_another) = (None, true);
            return;
        }
        self.heading_level = Some(level);
        if self.current.is_some_and(|current| file_name(current) == path) {
            return;
        }
        // A word with a dot may be the name of a product, so no file is created under it.
        self.last = is_certain.then(|| Candidate::certain(path)).or(self.last);
        (self.current, self.may_be_another) = (Some(path), false);
    }

    /// Checks for a heading below that of the current file which names another file only as a source: "Read it from `b.yml`".
    fn is_about_current(&self, heading: &str) -> bool {
        self.heading_level.is_some_and(|of_file| heading_level(heading) > of_file)
            && only_file(heading).is_some_and(|(path, _)| names_a_source(heading, path))
    }

    /// Returns the fault of a hunk that names no file.
    pub(super) fn fault(&self, line_number: u32) -> ForeignFault {
        match self.unchanged {
            Some((heading, path)) => {
                ForeignFault::UnchangedFile { line_number, heading, path: path.to_owned() }
            }
            None => ForeignFault::NoPath { line_number },
        }
    }

    /// Processes a tag or comment around a hunk.
    fn pass_markup(&mut self, markup: Markup<'a>) {
        self.last = self.last.filter(|last| !last.is_described || !matches!(markup, Markup::File(_)));
        let is_last =
            |path: &str| self.last.is_some_and(|last| last.path == path || file_name(last.path) == path);
        match markup {
            Markup::Nameless => {}
            Markup::File(path) if is_last(path) => {}
            // The file name precedes the whole path.
            Markup::File(path) if self.last.is_some_and(|last| last.path == file_name(path)) => {
                self.last = Some(Candidate::certain(path));
            }
            Markup::File(path) if self.last.is_none() => {
                self.last = Some(Candidate::certain(path));
                self.may_be_another = true;
            }
            // Two names: it is unknown which of them is meant.
            Markup::File(_) | Markup::Unclear => (self.last, self.may_be_another) = (None, true),
        }
    }

    /// Processes the info string of a fence: a language, a path, or both.
    fn pass_fence(&mut self, info: &'a str) {
        // The mark of a comment is not a path: "rust // src/a.rs".
        let is_word = |word: &&str| !word.trim_matches('/').is_empty();
        let words = || info.split([' ', '\t', ':', '=', ',', '{', '}', '(', ')', '"', '\'']).filter(is_word);
        let paths: Vec<&str> = words().filter(|word| is_path_like(word)).collect();
        self.last = self.last.filter(|last| !last.is_described || paths.is_empty());
        match (paths.as_slice(), self.last) {
            ([], _) => {}
            ([path], Some(last)) if last.path == *path => {}
            // A language may have a dot in its name, but no slash.
            ([path], Some(_)) if words().count() == 1 && info == *path && !path.contains('/') => {}
            ([path], None) => {
                self.last = Some(Candidate::certain(path));
                self.may_be_another = true;
            }
            // Two names: it is unknown which of them is meant.
            _ => (self.last, self.may_be_another) = (None, true),
        }
    }

    /// Returns the file of a hunk and keeps it for the next hunk. `None` if no line certainly names it.
    ///
    /// A hunk that creates its file needs its own name: under the name of the previous hunk, it would replace that file. So does
    /// a hunk that repeats an earlier hunk of that file, as in "The same in production:": there it would change nothing.
    pub(super) fn of_hunk(&mut self, search: &[&'a str], replacement: &[&'a str]) -> Option<&'a str> {
        let creates = search.is_empty();
        let candidate = self.last.take();
        // A file is only created under a name that looks like a file name, not under a word of prose.
        let can_be = |candidate: &Candidate<'a>| !creates || candidate.is_plain && candidate.may_be_new;
        let named = candidate.filter(can_be).map(|candidate| candidate.path);
        let current = self.current.filter(|_| !creates && !self.may_be_another);
        self.heading_level = self.heading_level.filter(|_| named.is_none() || named == self.current);
        (self.may_be_another, self.described, self.is_assumed) = (false, None, named.is_none());
        // After a hunk of an unknown file, the file of an earlier hunk is not meant either.
        self.current = named.or(current);
        let path = self.current?;
        let is_first = self.hunks.insert((path, search.to_vec(), replacement.to_vec()));
        if named.is_some() {
            self.repeats = !is_first;
        } else if !is_first && !self.repeats {
            self.current = None;
        }
        self.current
    }

    /// Checks whether a line of prose may be about another file than the previous hunk.
    fn may_name_another(&self, line: &str) -> bool {
        let Some(current) = self.current else { return false };
        let file_name = file_name(current);
        let words: Vec<&str> =
            line.split_whitespace().map(bare_word).filter(|word| !word.is_empty()).collect();
        let is_another_name = |word: &str| {
            let is_another = |name: &str| {
                let is_name = is_usual_name(name) || is_file_name(name, file_name, word.contains('`'));
                is_name && name != current && name != file_name
            };
            let label = word.split_once("](").map(|(label, _)| bare_word(label));
            is_another(bare_word(word)) || label.is_some_and(is_another)
        };
        let says_another = |pair: &[&str]| {
            pair[1].eq_ignore_ascii_case("file")
                && OTHER.iter().any(|other| pair[0].eq_ignore_ascii_case(other))
        };
        let is_noun = |pair: &[&str]| {
            let is_own = SAME_FILE.iter().any(|same| pair[0].eq_ignore_ascii_case(same));
            !is_own && FILE_NOUNS.iter().any(|noun| pair[1].eq_ignore_ascii_case(noun))
        };
        // Matches "The same for the b module", but not "in the same module".
        let repeats = |pair: &[&str]| {
            pair[0].eq_ignore_ascii_case("same")
                && ["for", "in", "to"].iter().any(|other| pair[1].eq_ignore_ascii_case(other))
        };
        let repeats_elsewhere = || words.windows(2).any(repeats) && words.windows(2).any(is_noun);
        let is_denied = || words.iter().any(|word| DENIALS.iter().any(|no| word.eq_ignore_ascii_case(no)));
        line.split_whitespace().any(is_another_name)
            || (words.windows(2).any(says_another) || repeats_elsewhere()) && !is_denied()
    }
}

/// Markdown characters around a path.
const MARKS: [char; 5] = ['`', '*', '#', ':', ' '];

/// Characters that join a path to another word.
const NOT_IN_NAMES: [char; 8] = ['`', ',', ':', ';', '"', '<', '>', '|'];

/// Words before a colon and a path.
const LABELS: [&str; 6] = ["file", "filename", "path", "file path", "filepath", "new file"];

/// The deepest level of headings that begin a section; deeper ones tend to divide what is about one file.
const DEEPEST_SECTION: usize = 2;

/// Words before "file" that refer to another file.
const OTHER: [&str; 6] = ["other", "another", "next", "second", "third", "new"];

/// Words for a file or the code in it.
const FILE_NOUNS: [&str; 8] =
    ["file", "module", "package", "crate", "page", "template", "script", "stylesheet"];

/// Words before such a word that refer to the file of the previous hunk.
const SAME_FILE: [&str; 2] = ["this", "same"];

/// Words of denial.
const DENIALS: [&str; 5] = ["no", "not", "without", "isn't", "don't"];

/// Returns the path that a line consists of, apart from the characters around it and a label such as `File:` or `File 2:`.
pub(super) fn candidate(line: &str) -> Option<Candidate<'_>> {
    let labelled = line.trim_matches(MARKS).split_once(':').filter(|(label, _)| {
        let label = label.trim_end_matches(|c: char| c.is_ascii_digit() || MARKS.contains(&c));
        LABELS.iter().any(|usual| label.trim_matches(MARKS).eq_ignore_ascii_case(usual))
    });
    let written = peeled(labelled.map_or(line, |(_, path)| path).trim_matches(MARKS));
    let path = without_lines(written);
    // A link or a tag that is still there does not name a path with certainty.
    let is_certain = || !path.contains("](") && !path.contains(['<', '>']);
    if path.is_empty() || memchr::memchr3(b' ', b'\t', b'"', path.as_bytes()).is_some() || !is_certain() {
        return None;
    }
    let is_marked = labelled.is_some() || line.contains('`');
    let is_plain = is_marked || path.contains('/') || path.trim_end_matches('.').contains('.');
    // Another word is prose, or the label of a code block.
    let is_name = || is_usual_name(path) || WORD_NAMES.contains(&path) || is_name_in_capitals(line);
    // A new file has no lines yet.
    let may_be_new =
        || path == written && (is_marked || path.contains('/') || is_path_like(path) || is_usual_name(path));
    let certain = Candidate::certain(path);
    let may_be_new = certain.may_be_new && may_be_new();
    (is_plain || is_name()).then_some(Candidate { is_plain, may_be_new, ..certain })
}

/// Checks for a line such as `CHANGES`. With a colon after it, the word is prose or a label.
fn is_name_in_capitals(line: &str) -> bool {
    let is_capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || "-_".contains(c);
    line.len() >= LEAST_CAPITALS && line.chars().all(is_capital) && !LANGUAGES_IN_CAPITALS.contains(&line)
}

/// Checks for a language or a button label above a code block.
fn is_code_label(line: &str) -> bool {
    let is_language = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "+#-".contains(c);
    ["Copy", "Copy code", "Edit", "CopyEdit"].contains(&line)
        || line.chars().all(is_language)
            && line.starts_with(|c: char| c.is_ascii_lowercase())
            && !is_usual_name(line)
            && !WORD_NAMES.contains(&line)
}

/// Checks for a Markdown heading.
fn is_heading(line: &str) -> bool {
    line.starts_with('#') && line.trim_start_matches('#').starts_with([' ', '\t'])
}

fn heading_level(heading: &str) -> usize {
    heading.len() - heading.trim_start_matches('#').len()
}

/// Returns the only file that a line names among other words, and true if the word is certainly a path: in backticks, or with a
/// folder.
fn only_file(line: &str) -> Option<(&str, bool)> {
    let mut only: Option<(&str, bool)> = None;
    for word in line.split_whitespace() {
        let (name, is_code) = (bare_word(word), word.contains('`'));
        if !is_usual_name(name) && !is_file_name(name, "", is_code) {
            continue;
        }
        let is_part_of_code =
            word.matches('`').count() % 2 == 1 || word.contains("](") && link(word).is_none();
        // Without backticks, such a name may be a word: Profile.
        let is_word = is_usual_name(name) && !is_code && !UNMISTAKABLE_NAMES.contains(&name);
        if is_word || is_part_of_code || name.ends_with('/') || name.contains(NOT_IN_NAMES) {
            return None;
        }
        let is_certain = is_code || name.contains('/');
        match only {
            Some((other, _)) if other != name => return None,
            Some((_, is_certain_before)) => only = Some((name, is_certain || is_certain_before)),
            None => only = Some((name, is_certain)),
        }
    }
    only
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns a word without the punctuation around it; for a link, its path, or else its address.
fn bare_word(word: &str) -> &str {
    let word = link(word).or_else(|| word.split_once("](").map(|(_, address)| address)).unwrap_or(word);
    let word = word.trim_start_matches(['(', '[', '"', '\'', '`', '*', '#', '<']);
    word.trim_end_matches(['.', ',', ':', ';', '!', '?', ')', ']', '"', '\'', '`', '*', '>'])
}

/// Returns the path of a link.
fn link(word: &str) -> Option<&str> {
    linked(word.trim_start_matches(['(', '*', '_']).trim_end_matches(['.', ',', ':', ';', '*', '_']))
}

/// The minimum length of a file name in capitals, such as NEWS: shorter words are names of languages.
const LEAST_CAPITALS: usize = 4;

/// Longer names of languages, which occur above code blocks.
const LANGUAGES_IN_CAPITALS: [&str; 5] = ["HTML", "JSON", "YAML", "TOML", "BASH"];

/// Tags around code, which a language may follow. The text after another tag may be a file name.
const CODE_TAGS: [&str; 5] = ["source", "sourcecode", "code", "codename", "pre"];

/// Returns the info string of a line around a hunk: backticks, tildes, a tag alone, or a tag around code with its language.
/// `None` for any other line.
pub(super) fn fence_info(line: &str) -> Option<&str> {
    let is_language = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "+#-_".contains(c));
    if let Some(mark) =
        ['`', '~'].into_iter().find(|mark| line.chars().take(3).filter(|c| c == mark).count() == 3)
    {
        return Some(line.trim_start_matches(mark).trim());
    }
    // A tag that is more than a word may name a file.
    let (name, text) = line.strip_prefix('<')?.split_once('>')?;
    let is_word = name.chars().all(|c| c.is_alphanumeric() || "/-_".contains(c))
        && !name.trim_start_matches('/').contains('/');
    let is_tag = is_word && (text.is_empty() || CODE_TAGS.contains(&name) && is_language(text));
    is_tag.then_some("")
}

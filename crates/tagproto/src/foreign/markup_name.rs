//! The file named by a line in angle brackets before a hunk: `<file path="a.html">`, `<a.html>`, `<!-- a.html -->`.

use super::file_name::led_file::is_remark;
use super::file_name::plain_name::{between_dashes, peeled};
use super::file_name::{candidate, is_file_name, is_path_like, is_usual_name};

/// Attributes whose value is a path, whatever its form.
const PATHS: [&str; 4] = ["path", "file", "filename", "filepath"];

/// Attributes whose value may be a path. Other attributes, such as `src`, refer to other files.
const NAMES: [&str; 3] = ["name", "title", "id"];

/// Tags around nothing but a path, as Cline and Roo write them.
const PATH_TAGS: [&str; 7] =
    ["path", "file", "filename", "filepath", "file_path", "file_name", "target_file"];

/// HTML tags around words, which do not change their meaning.
const WORD_TAGS: [&str; 16] =
    ["b", "strong", "em", "i", "u", "p", "code", "kbd", "tt", "summary", "h1", "h2", "h3", "h4", "h5", "h6"];

/// Tags with which a section begins that has a title.
const SECTIONS: [&str; 2] = ["<details>", "<details open>"];

/// Delimiters of comments in code.
const COMMENTS: [(&str, &str); 4] = [("// ", ""), ("-- ", ""), ("/*", "*/"), ("{/*", "*/}")];

/// A line in angle brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Markup<'a> {
    /// A line that names no file.
    Nameless,
    /// A line that names one file.
    File(&'a str),
    /// A line that may name several files, or a file that cannot be read.
    Unclear,
}

impl Markup<'_> {
    /// Reads a line that consists of one comment or one tag; `None` for any other line. A tag that begins a section may precede it.
    pub(super) fn read(line: &str) -> Option<Markup<'_>> {
        let section = SECTIONS.iter().find_map(|tag| line.strip_prefix(tag));
        let line = section.map(str::trim_start).filter(|rest| !rest.is_empty()).unwrap_or(line);
        if let Some(comment) = line.strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->")) {
            return Some(of_comment(comment));
        }
        let inner = line.strip_prefix('<')?.strip_suffix('>')?;
        if inner.is_empty() {
            return None;
        }
        if inner.contains(['<', '>']) {
            return of_element(line);
        }
        if inner.starts_with('/') {
            return Some(Markup::Nameless);
        }
        let inner = inner.trim_end_matches('/').trim_end();
        Some(match inner.split_once(char::is_whitespace) {
            Some((_, attributes)) => of_attributes(attributes),
            None if is_path_like(inner) => Markup::File(inner),
            None => Markup::Nameless,
        })
    }

    /// Reads a line that is a comment in code with nothing but a path; `None` for any other line. Outside of a code fence, `#`
    /// begins a Markdown heading instead.
    pub(super) fn of_code_comment(line: &str, in_fence: bool) -> Option<Markup<'_>> {
        let mut comments = COMMENTS.iter().chain(in_fence.then_some(&("# ", "")));
        let comment = comments.find_map(|(open, close)| line.strip_prefix(open)?.strip_suffix(close))?;
        let markup = of_comment(without_remark(comment));
        matches!(markup, Markup::File(path) if is_certain(path)).then_some(markup)
    }
}

/// Checks whether a path cannot be other words with a slash: client/server.
fn is_certain(path: &str) -> bool {
    is_file_name(path, "", false) || is_usual_name(path)
}

/// Reads a line that is one element with text in it, such as `<path>a.html</path>`.
fn of_element(line: &str) -> Option<Markup<'_>> {
    let (tag, rest) = line.strip_prefix('<')?.split_once('>')?;
    let name = tag.split_whitespace().next()?;
    let text = rest.strip_suffix('>')?.strip_suffix(name)?.strip_suffix("</")?.trim();
    let is_any = |names: &[&str]| names.iter().any(|other| name.eq_ignore_ascii_case(other));
    if is_any(&PATH_TAGS) {
        let path = peeled(text);
        let is_path = !path.is_empty() && !path.contains(char::is_whitespace) && !path.contains(['<', '>']);
        return Some(if is_path { Markup::File(path) } else { Markup::Unclear });
    }
    Some(match of_comment(text) {
        // The meaning of any other tag for the file is unknown.
        Markup::File(path) if !is_any(&WORD_TAGS) || !is_certain(path) => Markup::Unclear,
        markup => markup,
    })
}

/// Reads a comment. A comment of just a path, perhaps with a label, names that file; a path among other words may be about
/// another file.
fn of_comment(comment: &str) -> Markup<'_> {
    let is_name = |word: &str| is_file_name(word, "", true) || is_usual_name(word);
    let comment = between_dashes(comment).unwrap_or(comment);
    let only = candidate(comment.trim()).map(|candidate| candidate.path);
    match only.filter(|path| is_name(path) && !path.contains(BETWEEN_WORDS)) {
        Some(path) => Markup::File(path),
        None if comment.split(BETWEEN_WORDS).any(is_name) => Markup::Unclear,
        None => Markup::Nameless,
    }
}

/// Returns a comment without the remark in brackets at its end, unless that names a file or denies a change.
fn without_remark(comment: &str) -> &str {
    let Some((before, _)) = comment.split_once(" (") else { return comment };
    let remark = comment[before.len()..].trim();
    let names_a_file =
        remark.split(BETWEEN_WORDS).any(|word| is_file_name(word, "", true) || is_usual_name(word));
    if is_remark(remark) && !names_a_file { before } else { comment }
}

const BETWEEN_WORDS: [char; 9] = [' ', '\t', ',', ';', ':', '(', ')', '`', '"'];

fn of_attributes(mut rest: &str) -> Markup<'_> {
    let mut markup = Markup::Nameless;
    while let Some((key, tail)) = rest.split_once('=') {
        let key = key.rsplit(char::is_whitespace).next().unwrap_or(key);
        let quote = tail.chars().next().filter(|c| ['"', '\''].contains(c));
        let (value, tail) = match quote {
            Some(quote) => match tail[1..].split_once(quote) {
                Some(parts) => parts,
                None => return Markup::Unclear,
            },
            None => tail.split_once(char::is_whitespace).unwrap_or((tail, "")),
        };
        rest = tail;
        let is_key = |keys: &[&str]| keys.iter().any(|other| key.eq_ignore_ascii_case(other));
        let is_name = || is_key(&NAMES) && (is_file_name(value, "", true) || is_usual_name(value));
        if !is_key(&PATHS) && !is_name() {
            continue;
        }
        markup = match markup {
            _ if value.is_empty() || value.contains(char::is_whitespace) => return Markup::Unclear,
            Markup::File(other) if other != value => return Markup::Unclear,
            _ => Markup::File(value),
        };
    }
    markup
}

//! The file that a line in angle brackets names before a hunk: `<file path="a.html">`, `<a.html>`, `<!-- a.html -->`.

use super::file_name::{is_file_name, is_path_like, is_usual_name};

/// Attributes whose value is a path, whatever its form.
const PATHS: [&str; 4] = ["path", "file", "filename", "filepath"];

/// A line in angle brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Markup<'a> {
    /// It names no file.
    Nameless,
    /// It names one file.
    File(&'a str),
    /// It may name more than one, or one that cannot be read.
    Unclear,
}

impl Markup<'_> {
    /// Reads a line that consists of one comment or one tag; `None` for another one.
    pub(super) fn read(line: &str) -> Option<Markup<'_>> {
        if let Some(comment) = line.strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->")) {
            return Some(of_comment(comment));
        }
        let inner = line.strip_prefix('<')?.strip_suffix('>')?;
        if inner.contains(['<', '>']) || inner.is_empty() {
            return None;
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
}

/// A comment that has nothing but a path names that; one that has it among other words may be about another file.
fn of_comment(comment: &str) -> Markup<'_> {
    let comment = comment.trim();
    let is_name = |word: &str| is_file_name(word, "", true) || is_usual_name(word);
    const BETWEEN: [char; 9] = [' ', '\t', ',', ';', ':', '(', ')', '`', '"'];
    match comment.split(BETWEEN).any(is_name) {
        true if !comment.contains(BETWEEN) => Markup::File(comment),
        true => Markup::Unclear,
        false => Markup::Nameless,
    }
}

fn of_attributes(mut rest: &str) -> Markup<'_> {
    let mut markup = Markup::Nameless;
    while let Some((key, behind)) = rest.split_once('=') {
        let key = key.rsplit(char::is_whitespace).next().unwrap_or(key);
        let quote = behind.chars().next().filter(|sign| ['"', '\''].contains(sign));
        let (value, behind) = match quote {
            Some(quote) => match behind[1..].split_once(quote) {
                Some(parts) => parts,
                None => return Markup::Unclear,
            },
            None => behind.split_once(char::is_whitespace).unwrap_or((behind, "")),
        };
        rest = behind;
        let is_path = PATHS.iter().any(|path| key.eq_ignore_ascii_case(path));
        if !is_path && !is_file_name(value, "", true) && !is_usual_name(value) {
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

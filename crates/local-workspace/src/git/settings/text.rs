//! The text of a settings file, read as git reads it.

use std::fmt;

/// The characters that git cuts off the ends of a name or value. Others of Unicode's white space belong to it.
pub(super) const BLANKS: [char; 2] = [' ', '\t'];

/// One setting, as it is written in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// The section in lower case, a name in quotes behind a dot as it is.
    pub(super) section: String,
    /// True if the section has a name in quotes.
    pub(super) is_named: bool,
    /// In lower case.
    pub(super) key: String,
    /// As it is written; `None` if there is no `=`.
    pub(super) value: Option<String>,
}

impl fmt::Display for Setting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.section, self.key)
    }
}

/// The settings of a file, in its order; `None` if any part of it is not understood.
pub(super) fn settings(bytes: &[u8]) -> Option<Vec<Setting>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut settings = Vec::new();
    let mut section: Option<(String, bool)> = None;
    for line in text.lines() {
        let mut line = line.trim_matches(BLANKS);
        // A line that goes on, or that hides its end in quotes, is nothing that git writes by itself.
        if line.ends_with('\\') || line.contains(['\0', '\r']) {
            return None;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let (name, is_named, rest) = section_header(rest)?;
            section = Some((name, is_named));
            line = rest.trim_start_matches(BLANKS);
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let (name, is_named) = section.clone()?;
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key.trim_end_matches(BLANKS), Some(value.trim_matches(BLANKS).to_owned())),
            None => (line, None),
        };
        let is_key = key.starts_with(|first: char| first.is_ascii_alphabetic())
            && key.chars().all(|character| character.is_ascii_alphanumeric() || character == '-');
        if !is_key {
            return None;
        }
        settings.push(Setting { section: name, is_named, key: key.to_ascii_lowercase(), value });
    }
    Some(settings)
}

/// Reads `core]…` or `remote "origin"]…`. Answers with the name, whether a part of it was in quotes, and the rest.
fn section_header(text: &str) -> Option<(String, bool, &str)> {
    let end = text.find(|character: char| !(character.is_ascii_alphanumeric() || character == '-'))?;
    let (name, rest) = text.split_at(end);
    if name.is_empty() {
        return None;
    }
    let name = name.to_ascii_lowercase();
    if let Some(rest) = rest.strip_prefix(']') {
        return Some((name, false, rest));
    }
    let rest = rest.trim_start_matches(BLANKS).strip_prefix('"')?;
    let (inner, rest) = rest.split_once('"')?;
    // A quotation mark in the name would be escaped.
    if inner.contains('\\') {
        return None;
    }
    Some((format!("{name}.{inner}"), true, rest.strip_prefix(']')?))
}

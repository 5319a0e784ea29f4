//! The text of a settings file, read as git reads it.

use std::cmp::Ordering;
use std::fmt;
use std::rc::Rc;

/// The characters that git trims from a name or value. Other Unicode whitespace belongs to it.
pub(super) const SPACES: [char; 2] = [' ', '\t'];

/// The longest section that is read, in bytes: longer ones cannot name a branch or remote.
const SECTION_BYTES: usize = 4096;

/// The largest file that is read, in bytes: each setting takes a multiple of its length in memory.
const FILE_BYTES: usize = 1 << 20;

/// One setting of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// The section in lower case, with a quoted name after a dot in its original case. All settings of a
    /// section share it.
    pub(super) section: Rc<str>,
    /// True if the section has a quoted name.
    pub(super) is_named: bool,
    /// In lower case.
    pub(super) key: String,
    /// The value as git reads it; `None` if there is no `=`.
    pub(super) value: Option<String>,
    /// The value as it is written, with quotes and comments.
    pub(super) written: Option<String>,
}

impl Setting {
    /// Returns the parts that determine its effective value.
    fn parts(&self) -> (&str, bool, &str, Option<&str>) {
        (&self.section, self.is_named, &self.key, self.written.as_deref())
    }

    /// Returns the quoted name of its section, if the section is of this kind.
    pub(super) fn name_in(&self, kind: &str) -> Option<&str> {
        self.section.strip_prefix(kind).and_then(|rest| rest.strip_prefix('.')).filter(|_| self.is_named)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.section, self.key)
    }
}

impl Ord for Setting {
    fn cmp(&self, other: &Setting) -> Ordering {
        #[cfg(test)]
        COMPARED.set(COMPARED.get() + 1);
        self.parts().cmp(&other.parts())
    }
}

impl PartialOrd for Setting {
    fn partial_cmp(&self, other: &Setting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
thread_local! {
    /// The number of times that this thread has compared two settings.
    pub(crate) static COMPARED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// The number of files that this thread has read.
    pub(crate) static FILES_READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The settings of a file, in its order; `None` if any part of it is not understood.
pub(super) fn settings(bytes: &[u8]) -> Option<Vec<Setting>> {
    #[cfg(test)]
    FILES_READ.set(FILES_READ.get() + 1);
    let text = std::str::from_utf8(bytes).ok().filter(|_| bytes.len() <= FILE_BYTES)?;
    let mut settings = Vec::new();
    let mut section: Option<(Rc<str>, bool)> = None;
    for line in text.lines() {
        let mut line = line.trim_matches(SPACES);
        // Git itself does not write continued lines, or lines whose end is quoted.
        if line.ends_with('\\') || line.contains(['\0', '\r']) {
            return None;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let (name, is_named, rest) = section_header(rest)?;
            section = Some((name.into(), is_named));
            line = rest.trim_start_matches(SPACES);
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let (name, is_named) = section.clone()?;
        let (key, written) = match line.split_once('=') {
            Some((key, value)) => (key.trim_end_matches(SPACES), Some(value.trim_matches(SPACES))),
            None => (line, None),
        };
        let is_key = key.starts_with(|first: char| first.is_ascii_alphabetic())
            && key.chars().all(|character| character.is_ascii_alphanumeric() || character == '-');
        if !is_key {
            return None;
        }
        let value = match written {
            Some(written) => Some(value(written)?),
            None => None,
        };
        let (key, written) = (key.to_ascii_lowercase(), written.map(str::to_owned));
        settings.push(Setting { section: name, is_named, key, value, written });
    }
    Some(settings)
}

/// Returns a value as git reads it; `None` if git fails: at an unterminated quotation, or at an unknown escape.
fn value(written: &str) -> Option<String> {
    let mut value = String::new();
    let mut is_quoted = false;
    // Trailing spaces belong to the value only within quotes.
    let mut kept = 0;
    let mut characters = written.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            '\\' => value.push(match characters.next()? {
                'n' => '\n',
                't' => '\t',
                'b' => '\u{8}',
                other @ ('"' | '\\') => other,
                _ => return None,
            }),
            c if !is_quoted && SPACES.contains(&c) => {
                if !value.is_empty() {
                    value.push(c);
                }
                continue;
            }
            other => value.push(other),
        }
        kept = value.len();
    }
    value.truncate(kept);
    (!is_quoted).then_some(value)
}

/// Reads `core]…` or `remote "origin"]…`. Returns the name, true if a part of it was quoted, and the rest.
fn section_header(text: &str) -> Option<(String, bool, &str)> {
    let end = text.find(|character: char| !(character.is_ascii_alphanumeric() || character == '-'))?;
    if end > SECTION_BYTES {
        return None;
    }
    let (name, rest) = text.split_at(end);
    if name.is_empty() {
        return None;
    }
    let name = name.to_ascii_lowercase();
    if let Some(rest) = rest.strip_prefix(']') {
        return Some((name, false, rest));
    }
    // Git fails without a space.
    let rest = rest.strip_prefix(SPACES)?.trim_start_matches(SPACES).strip_prefix('"')?;
    let (inner, rest) = rest.split_once('"')?;
    // A quotation mark in the name would be escaped.
    if inner.contains('\\') || inner.len() > SECTION_BYTES {
        return None;
    }
    Some((format!("{name}.{inner}"), true, rest.strip_prefix(']')?))
}

#[cfg(test)]
mod tests {
    use super::{FILE_BYTES, SECTION_BYTES, settings, value};

    #[test]
    fn values_are_read_as_git_reads_them() {
        for (written, read) in [
            ("a b", "a b"),
            ("a # b", "a"),
            ("a;b", "a"),
            ("\"a # b\" ; c", "a # b"),
            ("\"a \" \"\" b", "a   b"),
            ("\"a \"  # b", "a "),
            ("\"\"  a", "a"),
            ("a\\tb\\n\\\\\\\"", "a\tb\n\\\""),
            ("\"\"", ""),
            ("# a", ""),
        ] {
            assert_eq!(value(written).as_deref(), Some(read), "{written}");
        }
        for written in ["\"a", "a\"b # c", "a\\q", "a\\"] {
            assert_eq!(value(written), None, "{written}");
        }
    }

    #[test]
    fn file_without_end_is_not_read() {
        let with = |length: usize| settings("#".repeat(length).as_bytes());
        assert!(with(FILE_BYTES).is_some());
        assert!(with(FILE_BYTES + 1).is_none());
    }

    #[test]
    fn section_with_an_endless_name_is_not_read() {
        let with = |length: usize| settings(format!("[a \"{}\"]\nx = 1\n", "b".repeat(length)).as_bytes());
        assert!(with(SECTION_BYTES).is_some());
        assert!(with(SECTION_BYTES + 1).is_none());
    }
}

//! Names that no file tool writes, deletes or renames.

use crate::path::RelPath;

/// The list of protected names.
///
/// An entry is one name or several joined by slashes, and protects what it names and everything beneath it, at any
/// depth, whether or not it exists. Names are compared the way the most generous file system would: case folded,
/// without characters that cannot be seen, without trailing dots and blanks, cut at a colon (which begins a stream
/// name on NTFS), with a backslash as a separator, and under their short 8.3 form (`GIT~1`).
///
/// Source: docs/files.md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedNames {
    /// Folded components of each entry; no entry is empty.
    entries: Vec<Vec<String>>,
    /// The entries as the user wrote them.
    shown: Vec<String>,
}

impl ProtectedNames {
    /// The entries of [`ProtectedNames::default`].
    pub const DEFAULT: [&'static str; 5] = [".git", ".agentd", ".vscode/tasks.json", ".idea", ".mcp.json"];

    /// Makes a list of its own in place of the default one. Entries without any name are left out.
    pub fn new<I>(entries: I) -> ProtectedNames
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let mut list = ProtectedNames::none();
        for entry in entries {
            list.add(entry.as_ref());
        }
        list
    }

    /// The empty list: nothing is protected. For folders that no message can name.
    pub const fn none() -> ProtectedNames {
        ProtectedNames { entries: Vec::new(), shown: Vec::new() }
    }

    /// Adds one entry; one without any name is ignored.
    pub fn add(&mut self, entry: &str) {
        let folded = fold_path(entry.as_bytes());
        if !folded.is_empty() {
            self.entries.push(folded);
            self.shown.push(entry.to_owned());
        }
    }

    /// The entries as they were given.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.shown.iter().map(String::as_str)
    }

    /// Whether `path` is protected: an entry, or anything beneath one.
    ///
    /// Looks at the path on paper. Where links or `..` steps may be involved, ask with the resolved path.
    pub fn protects(&self, path: &RelPath) -> bool {
        self.protected_by(path).is_some()
    }

    /// The entry that protects `path`, as it was given.
    pub fn protected_by(&self, path: &RelPath) -> Option<&str> {
        if self.entries.is_empty() {
            return None;
        }
        let names = fold_path(path.as_bytes());
        let position = self.entries.iter().position(|entry| {
            names.windows(entry.len()).any(|window| {
                window.iter().zip(entry).all(|(name, wanted)| name == wanted || is_short_form(name, wanted))
            })
        });
        position.map(|index| self.shown[index].as_str())
    }
}

/// `.git`, `.agentd`, `.vscode/tasks.json`, `.idea` and `.mcp.json`.
impl Default for ProtectedNames {
    fn default() -> ProtectedNames {
        ProtectedNames::new(ProtectedNames::DEFAULT)
    }
}

fn fold_path(path: &[u8]) -> Vec<String> {
    path.split(|byte| matches!(byte, b'/' | b'\\')).map(fold_name).filter(|name| !name.is_empty()).collect()
}

/// The form of a name in which all its disguises are equal. Bytes that are not UTF-8 only ever make it differ from
/// every entry, because U+FFFD is in none.
fn fold_name(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    let before_stream = text.split(':').next().unwrap_or_default();
    let folded: String = before_stream
        .chars()
        .filter(|character| !crate::new_name::is_invisible(*character))
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect();
    folded.trim_end_matches(|character: char| character == '.' || character.is_whitespace()).to_owned()
}

/// Whether `name` could be the 8.3 name that a FAT or NTFS volume gives to `wanted`: at most six characters of the
/// stem without dots, `~` and a digit, and at most three of the extension.
fn is_short_form(name: &str, wanted: &str) -> bool {
    let (wanted_stem, wanted_extension) = match wanted.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, extension),
        _ => (wanted, ""),
    };
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    let Some((base, digit)) = stem.split_once('~') else { return false };
    let one_digit = digit.len() == 1 && digit.bytes().all(|byte| matches!(byte, b'1'..=b'9'));
    let expected_base = wanted_stem.chars().filter(|character| !matches!(character, '.' | ' ')).take(6);
    // A stem that already is a valid short name gets none, unless a leading dot or its length made it invalid.
    let shortened = wanted_stem.starts_with('.') || wanted_stem.len() > 8 || wanted_extension.len() > 3;
    shortened
        && one_digit
        && base.chars().eq(expected_base)
        && extension.chars().eq(wanted_extension.chars().take(3))
}

//! Names that no file tool writes, deletes or renames, and names of which the user should see that they were.

use std::collections::BTreeMap;

use crate::obeyed_names::OBEYED_NAMES;
use crate::path::RelPath;
use crate::protected_name::{NameRule, ProtectedName};

/// The reason of a name that came without one.
const NO_REASON: &str = "it is on the list of protected names";

/// The names that other programs obey, on two lists: those of which nothing is ever changed, and those of which changes
/// are pointed out.
///
/// An entry is one name or several joined by slashes, and stands for what it names and everything beneath it, at any
/// depth, whether or not it exists. A `*` stands for any characters of one name. Names are compared the way the most
/// generous file system would: case folded, without characters that cannot be seen, without trailing dots and blanks,
/// cut at a colon (which begins a stream name on NTFS), with a backslash as a separator, and under their short 8.3 form
/// (`GIT~1`).
///
/// Source: docs/files.md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedNames {
    names: Vec<ProtectedName>,
    /// The entries that begin with a component without `*`, by that component in its folded form.
    by_first: BTreeMap<String, Vec<usize>>,
    /// The other entries.
    patterns: Vec<usize>,
}

impl ProtectedNames {
    /// Names that stay on the first list whatever the user says: without them nothing else holds.
    pub const FIXED: [&'static str; 2] = [".git", ".agentd"];

    /// Makes a list of its own in place of the default one, of which nothing is ever changed. Entries without any name
    /// are left out.
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
        ProtectedNames { names: Vec::new(), by_first: BTreeMap::new(), patterns: Vec::new() }
    }

    /// Adds one entry of which nothing is ever changed; one without any name is ignored.
    pub fn add(&mut self, entry: &str) {
        self.set(entry, NameRule::Never, NO_REASON);
    }

    /// Puts an entry on a list, in place of the same entry on either; one without any name is ignored.
    pub fn set(&mut self, entry: &str, rule: NameRule, reason: &str) {
        let folded = fold_path(entry.as_bytes());
        if folded.is_empty() {
            return;
        }
        let name = ProtectedName { folded, pattern: entry.to_owned(), rule, reason: reason.to_owned() };
        match self.names.iter_mut().find(|known| known.folded == name.folded) {
            Some(known) => *known = name,
            None => self.names.push(name),
        }
        self.sort_out();
    }

    /// Moves an entry that is on a list to another one, keeping its reason. Returns whether there was one.
    pub fn change(&mut self, entry: &str, rule: NameRule) -> bool {
        let folded = fold_path(entry.as_bytes());
        let known = self.names.iter_mut().find(|known| known.folded == folded);
        known.map(|known| known.rule = rule).is_some()
    }

    /// Takes an entry off both lists. Returns whether there was one.
    pub fn remove(&mut self, entry: &str) -> bool {
        let folded = fold_path(entry.as_bytes());
        let count = self.names.len();
        self.names.retain(|known| known.folded != folded);
        self.sort_out();
        self.names.len() < count
    }

    fn sort_out(&mut self) {
        self.by_first.clear();
        self.patterns.clear();
        for (index, name) in self.names.iter().enumerate() {
            match name.folded.first().filter(|first| !first.contains('*')) {
                Some(first) => self.by_first.entry(first.clone()).or_default().push(index),
                None => self.patterns.push(index),
            }
        }
    }

    /// Returns the entries of which nothing is ever changed, as they were given.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.names.iter().filter(|name| name.rule == NameRule::Never).map(ProtectedName::pattern)
    }

    /// Returns the entries of both lists.
    pub fn names(&self) -> impl Iterator<Item = &ProtectedName> {
        self.names.iter()
    }

    /// Finds the entry that is given in any spelling.
    pub fn entry(&self, entry: &str) -> Option<&ProtectedName> {
        let folded = fold_path(entry.as_bytes());
        self.names.iter().find(|known| known.folded == folded)
    }

    /// Whether `path` is protected: an entry of which nothing is ever changed, or anything beneath one.
    ///
    /// Looks at the path on paper. Where links or `..` steps may be involved, ask with the resolved path.
    pub fn protects(&self, path: &RelPath) -> bool {
        self.protected_by(path).is_some()
    }

    /// The entry that protects `path`, as it was given.
    pub fn protected_by(&self, path: &RelPath) -> Option<&str> {
        self.never(path).map(ProtectedName::pattern)
    }

    /// The entry by which nothing is ever changed at `path`, with its reason.
    pub fn never(&self, path: &RelPath) -> Option<&ProtectedName> {
        self.find(path, NameRule::Never)
    }

    /// The entry by which a change of `path` is to be pointed out; `None` also if nothing is ever changed there.
    pub fn asked(&self, path: &RelPath) -> Option<&ProtectedName> {
        let asked = self.find(path, NameRule::Asked)?;
        if self.protects(path) { None } else { Some(asked) }
    }

    /// The entry of a list that fits `path` most closely.
    fn find(&self, path: &RelPath, rule: NameRule) -> Option<&ProtectedName> {
        if self.names.is_empty() {
            return None;
        }
        let names = fold_path(path.as_bytes());
        let mut found: Option<&ProtectedName> = None;
        for start in 0..names.len() {
            let known = self.by_first.get(&names[start]).into_iter().flatten().chain(&self.patterns);
            // A short form can stand for any of them.
            let all = 0..if names[start].contains('~') { self.names.len() } else { 0 };
            for index in known.copied().chain(all) {
                let name = &self.names[index];
                let is_closer = found.is_none_or(|found| found.folded.len() < name.folded.len());
                if name.rule == rule && is_closer && name.begins(&names[start..]) {
                    found = Some(name);
                }
            }
        }
        found
    }
}

/// The table in docs/files.md: what starts programs of editors and agents unasked is never changed, what else other
/// programs obey is pointed out.
impl Default for ProtectedNames {
    fn default() -> ProtectedNames {
        let mut list = ProtectedNames::none();
        for (patterns, rule, reason) in OBEYED_NAMES {
            for pattern in *patterns {
                let folded = fold_path(pattern.as_bytes());
                let (pattern, reason) = ((*pattern).to_owned(), (*reason).to_owned());
                list.names.push(ProtectedName { folded, pattern, rule: *rule, reason });
            }
        }
        list.sort_out();
        list
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

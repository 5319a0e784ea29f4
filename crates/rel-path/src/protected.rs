//! Names that no file tool changes, and names whose changes are reported to the user.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use crate::found_names::{FoundNames, NameSource};
use crate::obeyed_names::OBEYED_NAMES;
use crate::path::RelPath;
use crate::protected_name::{NameRule, ProtectedName};

/// The reason of an entry that was added without one.
const NO_REASON: &str = "it is on the list of protected names";

/// The names that other programs obey, on two lists: entries that are never changed, and entries whose
/// changes are reported.
///
/// An entry is one name or several joined by slashes, and covers the named path and everything below it, at any depth, whether or
/// not it exists. A `*` stands for any characters of one name. Names are compared as the most permissive file system would: case
/// folded, without invisible characters, without trailing dots and spaces, truncated at a colon (which begins a stream name on
/// NTFS), with a backslash as a separator, and also in their short 8.3 form (`GIT~1`).
///
/// Source: docs/protected-names.md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedNames {
    names: Vec<ProtectedName>,
    /// The entries that begin with a component without `*`, by that component in its folded form.
    by_first: BTreeMap<String, Vec<usize>>,
    /// The other entries.
    patterns: Vec<usize>,
    /// Entries found while the program runs; clones share them.
    further: Option<Arc<FoundNames>>,
}

impl ProtectedNames {
    /// Names that no setting removes from the first list: every other protection depends on them.
    pub const FIXED: [&'static str; 2] = [".git", ".agentd"];

    /// Creates a list of protected entries that replaces the default one. Entries without a name are skipped.
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

    /// Returns the empty list, for folders that messages cannot name: nothing is protected.
    pub const fn none() -> ProtectedNames {
        ProtectedNames { names: Vec::new(), by_first: BTreeMap::new(), patterns: Vec::new(), further: None }
    }

    fn of_table() -> ProtectedNames {
        let mut list = ProtectedNames::none();
        for (patterns, rule, reason) in OBEYED_NAMES {
            for pattern in *patterns {
                let folded = fold_path(pattern.as_bytes());
                let (pattern, reason) = ((*pattern).to_owned(), (*reason).to_owned());
                list.names.push(ProtectedName { folded, pattern, rule: *rule, reason, is_exact: false });
            }
        }
        list.sort_out();
        list
    }

    /// Adds one entry to the first list; an entry without any name is ignored.
    pub fn add(&mut self, entry: &str) {
        self.set(entry, NameRule::Never, NO_REASON);
    }

    /// Sets the rule of an entry, replacing an earlier one; an entry without any name is ignored.
    pub fn set(&mut self, entry: &str, rule: NameRule, reason: &str) {
        let folded = fold_path(entry.as_bytes());
        if folded.is_empty() {
            return;
        }
        let (pattern, reason) = (entry.to_owned(), reason.to_owned());
        let name = ProtectedName { folded, pattern, rule, reason, is_exact: false };
        match self.names.iter_mut().find(|entry| entry.folded == name.folded) {
            Some(existing) => *existing = name,
            None => self.names.push(name),
        }
        self.sort_out();
    }

    /// Changes the rule of an entry and keeps its reason. Returns whether the entry exists.
    pub fn change(&mut self, entry: &str, rule: NameRule) -> bool {
        let folded = fold_path(entry.as_bytes());
        let existing = self.names.iter_mut().find(|entry| entry.folded == folded);
        existing.map(|entry| entry.rule = rule).is_some()
    }

    /// Removes an entry. Returns whether it existed.
    pub fn remove(&mut self, entry: &str) -> bool {
        let folded = fold_path(entry.as_bytes());
        let count = self.names.len();
        self.names.retain(|entry| entry.folded != folded);
        self.sort_out();
        self.names.len() < count
    }

    /// Adds the paths that a source finds, now and on each [`look_again`](Self::look_again). Clones share them; they are kept as
    /// long as any clone exists.
    #[must_use]
    pub fn with_found(self, source: impl NameSource + 'static) -> ProtectedNames {
        ProtectedNames { further: Some(Arc::new(FoundNames::new(source))), ..self }
    }

    /// Queries the source for further paths.
    pub fn look_again(&self) {
        if let Some(list) = &self.further {
            list.look_again();
        }
    }

    fn found_entries(&self) -> impl Iterator<Item = &ProtectedName> {
        self.further.iter().flat_map(|list| list.iter())
    }

    /// Returns a found entry that is `path` or is below it: a link there would replace its folder with another.
    pub fn found_at_or_beneath(&self, path: &RelPath) -> Option<&ProtectedName> {
        self.further.as_ref()?;
        let names = fold_path(path.as_bytes());
        let is_above = |name: &&ProtectedName| {
            let starts = if name.is_exact { 0..1 } else { 0..names.len().max(1) };
            starts.into_iter().any(|start| name.folded.starts_with(&names[start..]))
        };
        self.found_entries().find(is_above)
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

    /// Iterates over the entries of the first list, as given; found ones are not included.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.names.iter().filter(|name| name.rule == NameRule::Never).map(ProtectedName::pattern)
    }

    /// Iterates over the entries of both lists; found ones are not included.
    pub fn names(&self) -> impl Iterator<Item = &ProtectedName> {
        self.names.iter()
    }

    /// Finds an entry, given in any spelling; found ones are not included.
    pub fn entry(&self, entry: &str) -> Option<&ProtectedName> {
        let folded = fold_path(entry.as_bytes());
        self.names.iter().find(|entry| entry.folded == folded)
    }

    /// Checks whether `path` is protected: an entry of the first list, or anything below one.
    ///
    /// The comparison is lexical. If links or `..` steps may be involved, pass the resolved path.
    pub fn protects(&self, path: &RelPath) -> bool {
        self.protected_by(path).is_some()
    }

    /// Returns the entry that protects `path`, as given.
    pub fn protected_by(&self, path: &RelPath) -> Option<&str> {
        self.never(path).map(ProtectedName::pattern)
    }

    /// Returns the entry that protects `path`, with its reason.
    pub fn never(&self, path: &RelPath) -> Option<&ProtectedName> {
        self.find(path, &|name| name.rule == NameRule::Never)
    }

    /// Returns the entry that protects `path` among those for which `is_considered` returns true.
    pub fn never_among(
        &self,
        path: &RelPath,
        is_considered: &dyn Fn(&ProtectedName) -> bool,
    ) -> Option<&ProtectedName> {
        self.find(path, &|name| name.rule == NameRule::Never && is_considered(name))
    }

    /// Returns the entry that requires changes of `path` to be reported; `None` also if `path` is protected.
    pub fn reported(&self, path: &RelPath) -> Option<&ProtectedName> {
        let name = self.find(path, &|name| name.rule == NameRule::Reported)?;
        if self.protects(path) { None } else { Some(name) }
    }

    /// Finds the entry that matches `path` most closely among those that are considered.
    fn find(&self, path: &RelPath, is_considered: &dyn Fn(&ProtectedName) -> bool) -> Option<&ProtectedName> {
        if self.names.is_empty() && self.further.is_none() {
            return None;
        }
        let names = fold_path(path.as_bytes());
        let mut closest: Option<&ProtectedName> = None;
        // Entries apply at any depth, so each component may begin a match.
        for start in 0..names.len() {
            let indexes = self.by_first.get(&names[start]).into_iter().flatten().chain(&self.patterns);
            // A short 8.3 form can match any entry.
            let all = 0..if names[start].contains('~') { self.names.len() } else { 0 };
            let listed = indexes.copied().chain(all).map(|index| &self.names[index]);
            let further = self.found_entries().filter(|name| start == 0 || !name.is_exact);
            for name in listed.chain(further) {
                let is_closer = closest.is_none_or(|closest| closest.folded.len() < name.folded.len());
                // The entry with the most components is the closest: it overrides its parents.
                if is_considered(name) && is_closer && name.begins(&names[start..]) {
                    closest = Some(name);
                }
            }
        }
        closest
    }
}

/// Returns the table in docs/protected-names.md: names from which editors and agents start programs by themselves are
/// never changed, changes of the others are reported.
impl Default for ProtectedNames {
    fn default() -> ProtectedNames {
        static TABLE: LazyLock<ProtectedNames> = LazyLock::new(ProtectedNames::of_table);
        TABLE.clone()
    }
}

pub(crate) fn fold_path(path: &[u8]) -> Vec<String> {
    path.split(|byte| matches!(byte, b'/' | b'\\')).map(fold_name).filter(|name| !name.is_empty()).collect()
}

/// Folds a name so that all its disguises become equal, as in the most permissive file system. Bytes that are not UTF-8 become
/// U+FFFD, which no plain name contains, so such a name equals none.
pub fn fold_name(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    // NTFS opens the same file for `name` and `name::$DATA`.
    let before_stream = text.split(':').next().unwrap_or_default();
    let mut folded = fold_case(before_stream);
    let kept = folded.trim_end_matches(|character: char| character == '.' || character.is_whitespace()).len();
    folded.truncate(kept);
    folded
}

/// Unifies the spellings of a name that differ in case or in invisible characters.
fn fold_case(name: &str) -> String {
    // Nearly all names are ASCII, and do not need the tables of Unicode.
    if name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_control()) {
        return name.to_ascii_lowercase();
    }
    fold_any_case(name)
}

fn fold_any_case(name: &str) -> String {
    let visible = name.chars().filter(|character| !crate::new_name::is_ignorable(*character));
    // Upper then lower case also unifies characters with the same capital, such as the long s and s.
    visible.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{fold_any_case, fold_case};

    proptest! {
        #[test]
        fn plain_names_are_folded_like_others(name in "[\\x00-\\x7f]{0,20}") {
            prop_assert_eq!(fold_case(&name), fold_any_case(&name));
        }
    }
}

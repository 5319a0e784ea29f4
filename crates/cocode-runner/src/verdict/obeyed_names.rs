//! The names that other programs obey, for the paths of a tree, including the symlinks by which they are reached.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rel_path::{NameRule, ProtectedName, ProtectedNames, RelPath};

use crate::verdict::search_limit::LookBudget;
use crate::verdict::tree_links::{LinkEnd, LinkWay, TreeLinks};

/// The reason to refuse a symlink at the beginning of a listed name.
const LINK: &str = "a link or a submodule in place of a folder that git, an editor or an agent obeys";

/// The reason to refuse a symlink into a repository's folder or into agentd's own folders.
const INTO_OWN: &str = "a link into '.git', or into a folder of agentd";

/// The reason to report a symlink out of the folder.
const OUT: &str = "a link that leads out of the repository";

/// The reason to report a symlink that passes through too many others.
const ENDLESS: &str = "a link that leads nowhere";

/// The reason to refuse a symlink that git could not make.
const UNUSABLE: &str = "a link without a target, or with one that is too long for any file system";

/// The reason to refuse every change if there are too many links.
const TOO_MANY: &str = "more links than can be followed lead to what other programs obey";

/// A rule for a changed path, with the reason.
pub(super) type Finding = (NameRule, String);

/// A listed path that is reached through symlinks.
#[derive(Debug)]
struct Alias {
    path: Vec<u8>,
    way: LinkWay,
    /// The last symlink on the path.
    link: Vec<u8>,
    /// The alias of that symlink's folder.
    parent: Option<usize>,
}

/// A changed entry of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    /// A file, or no entry any more.
    File,
    Symlink,
    /// A submodule, whose folder receives another repository's files.
    Submodule,
}

/// The listed names of one tree.
#[derive(Debug)]
pub(super) struct ObeyedNames<'a> {
    names: &'a ProtectedNames,
    /// The beginnings of listed names, by the number of their parts.
    beginnings: BTreeMap<usize, ProtectedNames>,
    links: TreeLinks,
    /// The folders into which no symlink of any work leads.
    own: Vec<PathBuf>,
    root: PathBuf,
    /// The aliases, by their targets and by the symlinks that they pass through.
    aliases: Vec<Alias>,
    by_end: BTreeMap<Vec<u8>, Vec<usize>>,
    by_step: BTreeMap<Vec<u8>, Vec<usize>>,
    /// Once it is used up, aliases may be missing.
    budget: LookBudget,
}

impl<'a> ObeyedNames<'a> {
    pub(super) fn of(
        names: &'a ProtectedNames,
        links: TreeLinks,
        own: Vec<PathBuf>,
        root: &Path,
        budget: LookBudget,
    ) -> ObeyedNames<'a> {
        let mut beginnings: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for name in names.names() {
            let parts: Vec<&str> = name.pattern().split('/').filter(|part| !part.is_empty()).collect();
            for count in 1..parts.len() {
                beginnings.entry(count).or_default().push(parts[..count].join("/"));
            }
        }
        let beginnings = beginnings.into_iter().map(|(count, names)| (count, ProtectedNames::new(names)));
        let mut list = ObeyedNames {
            names,
            beginnings: beginnings.collect(),
            links,
            own,
            root: root.to_owned(),
            aliases: Vec::new(),
            by_end: BTreeMap::new(),
            by_step: BTreeMap::new(),
            budget,
        };
        list.collect_aliases();
        list
    }

    /// Returns whether all symlinks could be followed. If not, every path is refused.
    pub(super) fn has_all(&self) -> bool {
        !self.budget.is_over()
    }

    /// Returns the rules that apply to a changed path.
    pub(super) fn findings(&self, path: &[u8], kind: EntryKind) -> Vec<Finding> {
        let replaces_folder = kind != EntryKind::File;
        let mut findings = self.by_name(path, replaces_folder);
        if RelPath::from_bytes(path).is_err() {
            return findings;
        }
        if kind == EntryKind::Symlink {
            findings.extend(self.by_target(path));
        }
        let mut by_alias = |start: &[u8], rest: &[u8], replaces_folder| {
            if !self.budget.spend(start.len() + rest.len()) {
                return;
            }
            let alias = [start, rest].concat();
            let through = |(rule, reason)| {
                (rule, format!("it is '{}' by a link: {reason}", String::from_utf8_lossy(&alias)))
            };
            findings.extend(self.by_name(&alias, replaces_folder).into_iter().map(through));
        };
        for end in ancestors(path) {
            for index in self.by_end.get(end).into_iter().flatten() {
                by_alias(&self.aliases[*index].path, &path[end.len()..], replaces_folder);
            }
        }
        for index in self.by_step.get(path).into_iter().flatten() {
            // The folder was replaced; nothing else in it may have changed.
            by_alias(&self.aliases[*index].path, b"", true);
        }
        if !self.has_all() {
            findings.push((NameRule::Never, TOO_MANY.to_owned()));
        }
        findings
    }

    /// Consults the lists.
    fn by_name(&self, path: &[u8], replaces_folder: bool) -> Vec<Finding> {
        let path = match RelPath::from_bytes(path) {
            Ok(path) => path,
            Err(error) => return vec![(NameRule::Never, error.to_string())],
        };
        let finding = |rule| move |name: &ProtectedName| (rule, name.reason().to_owned());
        if let Some(never) = self.names.never(&path).map(finding(NameRule::Never)) {
            return vec![never];
        }
        if replaces_folder && self.begins_listed(&path) {
            return vec![(NameRule::Never, LINK.to_owned())];
        }
        self.names.reported(&path).map(finding(NameRule::Reported)).into_iter().collect()
    }

    /// Judges a symlink by its target.
    fn by_target(&self, path: &[u8]) -> Option<Finding> {
        if self.links.is_unusable(path) {
            return Some((NameRule::Never, UNUSABLE.to_owned()));
        }
        let (real, is_inside) = match self.links.follow(path, &self.budget).end {
            LinkEnd::Inside(path) => {
                let fixed = ProtectedNames::new(ProtectedNames::FIXED);
                let is_fixed = RelPath::from_bytes(&path).is_ok_and(|path| fixed.protects(&path));
                if is_fixed {
                    return Some((NameRule::Never, INTO_OWN.to_owned()));
                }
                (self.root.join(OsStr::from_bytes(&path)), true)
            }
            LinkEnd::Outside(path) => (path, false),
            LinkEnd::Endless => return Some((NameRule::Reported, ENDLESS.to_owned())),
        };
        if self.own.iter().any(|own| real.starts_with(own)) {
            return Some((NameRule::Never, INTO_OWN.to_owned()));
        }
        (!is_inside).then(|| (NameRule::Reported, OUT.to_owned()))
    }

    /// Returns whether a symlink there would replace a folder that contains listed names.
    fn begins_listed(&self, path: &RelPath) -> bool {
        let parts: Vec<&[u8]> = path.components().collect();
        let begins = |(count, names): (&usize, &ProtectedNames)| {
            let end = parts.len().checked_sub(*count).map(|start| parts[start..].join(&b'/'));
            end.and_then(|end| RelPath::from_bytes(&end).ok()).is_some_and(|end| names.protects(&end))
        };
        self.beginnings.iter().any(begins) || self.names.found_at_or_beneath(path).is_some()
    }

    /// Finds the symlinks that have listed names, or begin them, and those below the folders that they lead to.
    fn collect_aliases(&mut self) {
        let is_listed = |path: &[u8]| !self.by_name(path, true).is_empty();
        let alias = |path: Vec<u8>, link: &[u8], parent| {
            let way = self.links.follow(link, &self.budget);
            Alias { path, way, link: link.to_owned(), parent }
        };
        let listed = self.links.below(b"").filter(|link| is_listed(link));
        let mut aliases: Vec<Alias> = listed.map(|link| alias(link.to_owned(), link, None)).collect();
        let mut next = 0;
        while let Some(Alias { path, way: LinkWay { end, .. }, .. }) = aliases.get(next) {
            let parent = next;
            next += 1;
            let LinkEnd::Inside(folder) = end else { continue };
            let mut further = Vec::new();
            for rest in self.links.below(folder) {
                if !self.budget.spend(path.len() + rest.len()) {
                    return;
                }
                let join = |folder: &[u8]| {
                    if folder.is_empty() { rest.to_vec() } else { [folder, b"/", rest].concat() }
                };
                let (link, path) = (join(folder), join(path));
                if !self.was_followed(&aliases, parent, &link) && is_listed(&path) {
                    further.push(alias(path, &link, Some(parent)));
                }
            }
            aliases.extend(further);
        }
        for (index, alias) in aliases.iter().enumerate() {
            if let LinkEnd::Inside(end) = &alias.way.end {
                self.by_end.entry(end.clone()).or_default().push(index);
            }
            for step in &alias.way.through {
                if *step != alias.path {
                    self.by_step.entry(step.clone()).or_default().push(index);
                }
            }
        }
        self.aliases = aliases;
    }

    /// Returns whether a symlink is on the way of an alias already.
    fn was_followed(&self, aliases: &[Alias], last: usize, link: &[u8]) -> bool {
        let mut at = Some(last);
        while let Some(alias) = at.and_then(|index| aliases.get(index)) {
            if alias.link == link || !self.budget.spend(0) {
                return true;
            }
            at = alias.parent;
        }
        false
    }
}

/// Returns a path and the folders around it, the top as an empty one.
fn ancestors(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| &path[..at]);
    [&path[..0], path].into_iter().chain(slashes)
}

#[cfg(test)]
mod tests;

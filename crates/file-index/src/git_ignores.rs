//! Git's ignore rules, read from the `.gitignore` files on the path of a walk.
//!
//! The rules are those of the repository itself: every `.gitignore` from the root down, the nearest deciding, and
//! `.git/info/exclude` of the root. The user's own file of patterns is outside of the folder and is not read.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rel_path::RelPath;
use sandbox_fs::FileRoot;

/// The file with the rules of this clone, below the root.
const EXCLUDE_FILE: &str = ".git/info/exclude";

/// The largest `.gitignore` that is read.
const LIMIT_BYTES: u64 = 256 << 10;

/// The most bytes of the patterns with wildcards in one file of rules. They cost time, about 200 ms at the limit, whenever a
/// walk enters the folder; names without wildcards only have to be looked up.
const WILDCARD_BYTES: usize = 32 << 10;

/// The bytes that a pattern with wildcards costs besides its own.
const PATTERN_BYTES: usize = 16;

/// The most files that are reported.
const MOST_REPORTED: usize = 8;

/// The ignore rules of a tree, loaded folder by folder as a walk goes through it.
///
/// The rules are files of the folder itself, so they may only ever exclude paths; they never grant a
/// permission. A file that is larger than 256 KiB, or has more than 32 KiB of patterns with wildcards, is not obeyed: in its
/// folder nothing counts as ignored then, except by the rules of folders below.
#[derive(Debug)]
pub struct GitIgnores<'a> {
    root: &'a FileRoot,
    /// The folders from the root to the one that the walk is in, with their rules.
    levels: Vec<(RelPath, Rules)>,
    /// The files of rules that are not read from the folder.
    former: BTreeMap<RelPath, FormerRules>,
    not_obeyed: Vec<RelPath>,
}

/// A file of rules at an earlier moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormerRules {
    /// It did not exist.
    Absent,
    /// It had this content.
    Content(Vec<u8>),
    /// It existed, and its content was not kept. In its folder nothing counts as ignored.
    NotKept,
}

/// The rules of one folder.
#[derive(Debug)]
enum Rules {
    None,
    Obeyed(Gitignore),
    /// They may re-include paths that the rules of a folder above exclude.
    NotObeyed,
}

impl<'a> GitIgnores<'a> {
    /// Returns the rules below a root, without reading anything yet.
    #[must_use]
    pub fn new(root: &'a FileRoot) -> GitIgnores<'a> {
        GitIgnores::as_before(root, BTreeMap::new())
    }

    /// Returns the rules below a root with the given former contents of some files of rules, named by their paths. All others
    /// are read from the folder.
    #[must_use]
    pub fn as_before(root: &'a FileRoot, former: BTreeMap<RelPath, FormerRules>) -> GitIgnores<'a> {
        GitIgnores { root, levels: Vec::new(), former, not_obeyed: Vec::new() }
    }

    /// Returns the files of rules met so far that are not obeyed, each once, and at most eight of them.
    #[must_use]
    pub fn not_obeyed(&self) -> &[RelPath] {
        &self.not_obeyed
    }

    /// Returns whether git would ignore `path`, provided that it does not ignore the folders above. `.git`
    /// itself counts as ignored.
    pub fn ignores(&mut self, path: &RelPath, is_folder: bool) -> bool {
        if path.file_name() == Some(b".git") {
            return true;
        }
        let Some(parent) = path.parent() else { return false };
        self.enter(&parent);
        let nearest = self.levels.iter().rev().find_map(|(folder, rules)| {
            let offset = if folder.is_root() { 0 } else { folder.as_bytes().len() + 1 };
            let relative = Path::new(OsStr::from_bytes(&path.as_bytes()[offset..]));
            let matched = match rules {
                Rules::None => return None,
                Rules::Obeyed(rules) => rules.matched(relative, is_folder),
                Rules::NotObeyed => return Some(false),
            };
            (!matched.is_none()).then(|| matched.is_ignore())
        });
        nearest.unwrap_or(false)
    }

    /// Sets the levels to those from the root to `folder`. A walk in the order of paths loads each folder
    /// once.
    fn enter(&mut self, folder: &RelPath) {
        while self.levels.last().is_some_and(|(last, _)| !folder.starts_with(last)) {
            self.levels.pop();
        }
        let mut missing = Vec::new();
        let mut next = Some(folder.clone());
        while let Some(at) = next.filter(|at| self.levels.last().is_none_or(|(last, _)| last != at)) {
            next = at.parent();
            missing.push(at);
        }
        for at in missing.into_iter().rev() {
            let rules = self.load(&at);
            self.levels.push((at, rules));
        }
    }

    fn load(&mut self, folder: &RelPath) -> Rules {
        let mut builder = GitignoreBuilder::new("");
        // The rules of this clone have the lowest precedence, so they come first.
        let exclude = folder.is_root().then(|| RelPath::parse(EXCLUDE_FILE).ok()).flatten();
        let has_rules = exclude.is_some_and(|exclude| self.add(&mut builder, &exclude).unwrap_or(false));
        let Ok(file) = folder.child(b".gitignore") else { return Rules::None };
        match self.add(&mut builder, &file) {
            Ok(false) if !has_rules => Rules::None,
            Ok(_) => match builder.build() {
                Ok(rules) => Rules::Obeyed(rules),
                Err(_) => self.refuse(&file),
            },
            Err(NotObeyed) => Rules::NotObeyed,
        }
    }

    /// Adds the rules of a file, if it is there.
    fn add(&mut self, builder: &mut GitignoreBuilder, path: &RelPath) -> Result<bool, NotObeyed> {
        let bytes = match self.former.get(path) {
            Some(FormerRules::Absent) => return Ok(false),
            Some(FormerRules::NotKept) => None,
            Some(FormerRules::Content(bytes)) => {
                Some(bytes.clone()).filter(|bytes| bytes.len() as u64 <= LIMIT_BYTES)
            }
            None => {
                let Ok(file) = self.root.open_file(path) else { return Ok(false) };
                // Git follows no link to a `.gitignore`.
                if file.path() != path {
                    return Ok(false);
                }
                file.read_to_end(LIMIT_BYTES).ok()
            }
        };
        let text = bytes.as_deref().map(String::from_utf8_lossy);
        let Some(text) = text.filter(|text| wildcard_bytes(text) <= WILDCARD_BYTES) else {
            self.refuse(path);
            return Err(NotObeyed);
        };
        for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
            // A line that is not a glob is skipped, as git does.
            let _ = builder.add_line(None, line);
        }
        Ok(true)
    }

    fn refuse(&mut self, path: &RelPath) -> Rules {
        if self.not_obeyed.len() < MOST_REPORTED && !self.not_obeyed.contains(path) {
            self.not_obeyed.push(path.clone());
        }
        Rules::NotObeyed
    }
}

/// A file of rules that is not obeyed.
struct NotObeyed;

/// Returns the cost of compiling the patterns of a file.
fn wildcard_bytes(rules: &str) -> usize {
    let has_wildcards = |line: &&str| !line.starts_with('#') && line.contains(['*', '?', '[', '\\', '{']);
    rules.lines().filter(has_wildcards).map(|line| line.len() + PATTERN_BYTES).sum()
}

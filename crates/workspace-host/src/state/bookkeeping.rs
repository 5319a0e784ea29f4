//! Bookkeeping: changes that commands make to files that git ignores, or that git keeps for itself.
//!
//! A test run writes a cache, `git status` its index. Such changes are recorded and undone like others, but they are side
//! effects: views fold them into one line, and no undo consists of them alone. A change by a block of a reply is made on
//! purpose, whether git ignores the file or not.

use std::collections::HashMap;

use change_journal::{EntryKind, JournalError, JournalReader, RecordedChange, RunNumber, StepKind};
use file_index::GitIgnores;
use rel_path::RelPath;

/// The longest chain of undos of undos that is followed.
const LONGEST_CHAIN: u32 = 10_000;

/// Separates bookkeeping from changes made on purpose. It caches what it reads, so it serves one query only.
pub struct Bookkeeping<'a> {
    journal: &'a JournalReader,
    ignores: GitIgnores<'a>,
    runs: HashMap<RunNumber, RunFacts>,
}

/// The facts about a run that the decision needs.
struct RunFacts {
    /// The steps that are commands.
    commands: Vec<u32>,
    /// The folders in which the run has written a `.gitignore` that ignores everything, as caches do. An undo removes
    /// that file, so the current rules of the workspace do not suffice.
    self_ignored: Vec<RelPath>,
}

impl<'a> Bookkeeping<'a> {
    /// Returns a query; `ignores` are the current rules of the workspace.
    pub fn new(journal: &'a JournalReader, ignores: GitIgnores<'a>) -> Bookkeeping<'a> {
        Bookkeeping { journal, ignores, runs: HashMap::new() }
    }

    /// Checks whether a change is bookkeeping; an undo is bookkeeping if the change that it reverts is.
    pub fn holds(&mut self, change: &RecordedChange) -> Result<bool, JournalError> {
        // An undo is judged by the change at the end of its chain. Chains have no cycle, but the journal may be damaged.
        let mut at = change.clone();
        for _ in 0..LONGEST_CHAIN {
            let Some(undone) = at.undoes.map(|number| self.journal.change(number)).transpose()?.flatten()
            else {
                break;
            };
            at = undone;
        }
        let path = RelPath::from_bytes(&at.path).unwrap_or_default();
        let (run, step) = (at.run, at.step);
        let facts = self.facts(run)?;
        if !facts.commands.contains(&step) {
            return Ok(false);
        }
        if path.components().any(|name| name == b".git")
            || facts.self_ignored.iter().any(|folder| path.starts_with(folder))
        {
            return Ok(true);
        }
        let state = at.after.as_ref().or(at.before.as_ref());
        Ok(is_ignored(&mut self.ignores, &path, state.is_some_and(|state| state.kind == EntryKind::Folder)))
    }

    fn facts(&mut self, run: RunNumber) -> Result<&RunFacts, JournalError> {
        if !self.runs.contains_key(&run) {
            let steps = self.journal.steps(run)?;
            let commands =
                steps.iter().filter(|step| step.kind == StepKind::ShellCommand).map(|step| step.index);
            let commands: Vec<u32> = commands.collect();
            let self_ignored = if commands.is_empty() { Vec::new() } else { self.self_ignored(run)? };
            self.runs.insert(run, RunFacts { commands, self_ignored });
        }
        Ok(&self.runs[&run])
    }

    fn self_ignored(&self, run: RunNumber) -> Result<Vec<RelPath>, JournalError> {
        let mut folders = Vec::new();
        for change in self.journal.changes_of_run(run)? {
            let Ok(path) = RelPath::from_bytes(&change.path) else { continue };
            if path.file_name() != Some(b".gitignore") {
                continue;
            }
            let hash = change.after.as_ref().and_then(|after| after.content);
            let rules =
                hash.map(|hash| self.journal.content(&hash)).transpose()?.flatten().unwrap_or_default();
            let ignores_all = String::from_utf8_lossy(&rules).lines().any(|line| line.trim() == "*");
            if let Some(folder) = path.parent().filter(|folder| ignores_all && !folder.is_root()) {
                folders.push(folder);
            }
        }
        Ok(folders)
    }
}

/// Checks whether git ignores an entry, or a folder above it.
pub(crate) fn is_ignored(ignores: &mut GitIgnores<'_>, path: &RelPath, is_folder: bool) -> bool {
    let mut folders = Vec::new();
    let mut above = path.parent();
    while let Some(folder) = above.filter(|folder| !folder.is_root()) {
        above = folder.parent();
        folders.push(folder);
    }
    // From the top, as git does: below an ignored folder, no rule can include anything again.
    folders.iter().rev().any(|folder| ignores.ignores(folder, true)) || ignores.ignores(path, is_folder)
}

/// Returns the line that stands for the folded changes of `files` files; `None` for 0.
pub fn folded_line(files: usize) -> Option<String> {
    match files {
        0 => None,
        1 => Some("and 1 file that git ignores or that git keeps for itself (--all shows it)".to_owned()),
        _ => Some(format!(
            "and {files} files that git ignores or that git keeps for itself (--all shows them)"
        )),
    }
}

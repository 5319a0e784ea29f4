//! Repositories and working trees that a command moves: kept at their old path if they cannot be adopted at the new
//! one.

use std::collections::BTreeSet;

use change_journal::ContentHash;
use git_index::is_own_file;
use rel_path::RelPath;

use crate::adopt::verdicts::{ROUNDS, Refusals, Verdicts};
use crate::adopt::working_trees::with_folders;
use crate::change::present::PresentKind;
use crate::command::effect::{Effect, EffectSide};
use crate::git::guard::{Refusal, in_git_folder};

/// The queries about paths by which a moved repository is recognised.
pub(crate) struct Moves<'a> {
    /// Returns whether a path existed before the command.
    pub was_there: &'a dyn Fn(&RelPath) -> bool,
    /// Returns whether a path exists after it.
    pub is_there: &'a dyn Fn(&RelPath) -> bool,
    /// Returns whether a folder was a repository, and is gone.
    pub is_removed: &'a dyn Fn(&RelPath) -> bool,
}

/// A file relative to its `.git`, with its content: the same before and after a move.
type OwnFile = (Vec<u8>, ContentHash);

impl Verdicts<'_> {
    /// Judges links, references and moves until none of them refuses more: each depends on the refusals of the others.
    pub(crate) fn settle(
        &mut self,
        moves: &Moves<'_>,
        judge_link: &dyn Fn(&Verdicts<'_>, &Effect) -> Option<Refusal>,
        judge_references: &Refusals<'_>,
    ) {
        self.leave_out_rest_of_bare_repositories();
        self.keep_moved_repositories(moves);
        loop {
            // References depend on the adopted objects, and files that point to each other depend on references of
            // working trees.
            self.judge_links(judge_link);
            while self.judge_references(judge_references) {
                self.judge_links(judge_link);
            }
            if !self.keep_moved_repositories(moves) {
                return;
            }
        }
    }

    /// Keeps removed repositories and working trees if the effects also make one that is partly refused and may be the
    /// same under another name. The new one is refused as a whole if its folder is new. Returns true if more is refused
    /// than before.
    fn keep_moved_repositories(&mut self, moves: &Moves<'_>) -> bool {
        // A command could make a chain of them that needs a round for each.
        if self.move_rounds >= ROUNDS {
            return false;
        }
        self.move_rounds += 1;
        let before = self.refused().count();
        self.keep_moved_bare_repositories(moves);
        self.keep_moved_folders(moves);
        self.refused().count() > before
    }

    /// Returns the folders that refused parts would make bare repositories.
    fn made_bare_repositories(&self) -> BTreeSet<RelPath> {
        let folder_of = |why: &Refusal| match why {
            Refusal::BareRepository(folder) => Some(folder.clone()),
            _ => None,
        };
        self.refused().filter_map(|(_, why)| folder_of(why)).collect()
    }

    /// Drops the other files that git puts into a refused bare repository, such as a description and a list of
    /// branches: nothing obeys these, and alone they are useless. Files of other programs and their folders stay.
    fn leave_out_rest_of_bare_repositories(&mut self) {
        // A command may make many of them, so each path is looked up by the folders above it.
        let made = self.made_bare_repositories();
        if made.is_empty() {
            return;
        }
        let around = |effect: &Effect| {
            with_folders(&effect.path).find(|folder| effect.before.is_none() && made.contains(folder))
        };
        self.refuse_each(&|effect| {
            let folder = around(effect).filter(|_| effect.kind_after() == Some(PresentKind::File))?;
            let names = effect.path.components().skip(folder.components().count());
            is_own_file(names).then_some(Refusal::BareRepository(folder))
        });
        let is_of_them = |why: &Refusal| matches!(why, Refusal::BareRepository(_));
        let refused = self.refused().filter(|(_, why)| is_of_them(why));
        let emptied: BTreeSet<RelPath> = refused.flat_map(|(effect, _)| with_folders(&effect.path)).collect();
        let is_folder = |effect: &Effect| effect.kind_after() == Some(PresentKind::Folder);
        let is_emptied = |effect: &Effect| is_folder(effect) && emptied.contains(&effect.path);
        let used = self.allowed().filter(|effect| around(effect).is_some() && !is_emptied(effect));
        let used: BTreeSet<RelPath> = used.flat_map(|effect| with_folders(&effect.path)).collect();
        self.refuse_each(&|effect| {
            let folder = around(effect).filter(|_| is_emptied(effect) && !used.contains(&effect.path));
            folder.map(Refusal::BareRepository)
        });
    }

    fn keep_moved_bare_repositories(&mut self, moves: &Moves<'_>) {
        let made = self.made_bare_repositories();
        if made.is_empty() {
            return;
        }
        let heads = self.effects().iter().filter(|effect| {
            effect.after.is_none()
                && effect.path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(b"HEAD"))
        });
        // A `.git` is removed with the folder around it. Its entries are parts of it.
        let is_own = |folder: &RelPath| in_git_folder(folder).is_none_or(|part| part.names.is_empty());
        let removed: BTreeSet<RelPath> = heads
            .filter_map(|effect| effect.path.parent())
            .filter(|folder| is_own(folder) && (moves.is_removed)(folder))
            .collect();
        if removed.is_empty() {
            return;
        }
        self.refuse_all(&Refusal::OnlyRepository, &|effect| lies_in(effect, &removed));
        for folder in made.into_iter().filter(|folder| !folder.is_root() && !(moves.was_there)(folder)) {
            let refusal = Refusal::BareRepository(folder.clone());
            self.refuse_all(&refusal, &|effect| effect.path.starts_with(&folder));
        }
        self.refuse_what_depends();
    }

    /// Keeps folders with a `.git` that are removed, if a file of that `.git` is refused elsewhere, at the same path in
    /// another `.git` and with the same content: its settings and hooks, or the `.git` file of a working tree.
    fn keep_moved_folders(&mut self, moves: &Moves<'_>) {
        let is_new = |effect: &Effect| effect.before.is_none() && effect.after.is_some();
        let is_needed = |why: &Refusal| !matches!(why, Refusal::ObjectCache | Refusal::Lock);
        let refused = self.refused().filter(|(effect, why)| is_new(effect) && is_needed(why));
        let refused: Vec<(OwnFile, RelPath)> =
            refused.filter_map(|(effect, _)| own_file(effect, effect.after.as_ref())).collect();
        if refused.is_empty() {
            return;
        }
        let files: BTreeSet<&OwnFile> = refused.iter().map(|(file, _)| file).collect();
        let gone = self.effects().iter().filter(|effect| effect.after.is_none());
        let gone = gone.filter_map(|effect| own_file(effect, effect.before.as_ref()));
        let is_moved = |(file, folder): &(OwnFile, RelPath)| {
            files.contains(file) && !folder.is_root() && !(moves.is_there)(folder)
        };
        let moved: Vec<(OwnFile, RelPath)> = gone.filter(is_moved).collect();
        if moved.is_empty() {
            return;
        }
        let files: BTreeSet<&OwnFile> = moved.iter().map(|(file, _)| file).collect();
        let made = refused
            .iter()
            .filter(|(file, folder)| files.contains(file) && !folder.is_root() && !(moves.was_there)(folder));
        let folders: BTreeSet<RelPath> = moved.iter().chain(made).map(|(_, folder)| folder.clone()).collect();
        self.refuse_all(&Refusal::OnlyRepository, &|effect| lies_in(effect, &folders));
        self.refuse_what_depends();
    }
}

fn lies_in(effect: &Effect, folders: &BTreeSet<RelPath>) -> bool {
    with_folders(&effect.path).any(|folder| folders.contains(&folder))
}

/// Returns the file of a `.git` on one side of an effect, with the folder around the `.git`.
fn own_file(effect: &Effect, side: Option<&EffectSide>) -> Option<(OwnFile, RelPath)> {
    let Some(EffectSide::Kept(present)) = side else { return None };
    let part = in_git_folder(&effect.path).filter(|_| present.kind == PresentKind::File)?;
    Some(((part.names.join(&b'/'), present.hash), part.folder.parent()?))
}

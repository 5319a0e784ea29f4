//! Refuses to adopt effects of a command that would make git or an editor run something, later and outside of every
//! confinement.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use git_index::ObjectFormat;
use rel_path::{ProtectedName, ProtectedNames, RelPath};
use sandbox_fs::FileRoot;

use crate::adopt::build_folders::BuildFolders;
use crate::adopt::entry_beginnings::EntryBeginnings;
use crate::adopt::moved_repositories::Moves;
use crate::adopt::verdicts::{Decided, Verdicts};
use crate::adopt::working_trees::WorkingTrees;
use crate::change::present::PresentKind;
use crate::command::effect::Effect;
use crate::git::guard::{INDEX_BYTES, InRepository, Refusal, in_git_folder, is_index};
use crate::git::large_contents::{borrowing_repository, submodule_with_lasting_content};
use crate::git::linked_contents::{
    ContentsOnDisk, LinkedContents, Remembered, content_on_disk, content_on_disk_up_to,
};
use crate::git::packed_names::PackedNames;
use crate::git::rebases::{WorkContext, unfinished_refusal};
use crate::git::repository_context::{RepositoryContext, format_after};
use crate::git::repository_parts::{TouchedPaths, is_repository, part_refusal, repository_part};
use crate::git::stored_names::object_checks::object_refusal;
use crate::git::stored_names::{Fate, StoredNames, store_around};
use crate::git::version_control;
use crate::hidden::Hidden;

/// Returns whether the repository in a folder certainly lacks an object of this name.
type LacksObject<'a> = dyn Fn(&RelPath, &[u8]) -> bool + 'a;

/// Judges an effect by its content, and by the objects that are missing.
type ByContent<'a> = dyn Fn(&Verdicts<'_>, &Effect, &LacksObject<'_>) -> Option<Refusal> + 'a;

/// Sorts effects into those that are adopted and those that are refused.
pub(crate) struct Guard<'a> {
    pub protected: &'a ProtectedNames,
    pub hidden: &'a Hidden,
    /// Returns whether a path existed before the command.
    pub was_there: &'a dyn Fn(&RelPath) -> bool,
    /// Returns whether a path without an effect exists now: file tools may have created it while the command ran.
    pub is_there_now: &'a dyn Fn(&RelPath) -> bool,
    /// True if the effects are the command's alone, without those of concurrent programs.
    pub is_layered: bool,
    /// The build folders that the command could write to directly.
    pub written_through: &'a [RelPath],
    /// The workspace as it is now.
    pub root: &'a FileRoot,
}

/// Effects, sorted.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    pub allowed: Vec<Effect>,
    pub refused: Vec<(Effect, Refusal)>,
    /// Not adopted and not reported, because git recomputes it.
    pub dropped: Vec<Effect>,
    /// Working trees that the allowed effects add, remove or move.
    pub working_trees: WorkingTrees,
}

impl Guard<'_> {
    /// Sorts all effects of one command.
    pub(crate) fn sort(&self, effects: Vec<Effect>) -> Sorted {
        let (mut before, mut after) = (TouchedPaths::default(), TouchedPaths::default());
        for effect in &effects {
            before.add(&effect.path, effect.before.is_some());
            after.add(&effect.path, effect.after.is_some());
        }
        let is_there = |path: &RelPath| after.is_filled(path).unwrap_or_else(|| (self.is_there_now)(path));
        let was_there = |path: &RelPath| before.is_filled(path).unwrap_or_else(|| (self.was_there)(path));
        let workspace = self.root.path();
        let is_unjudged = |path: &RelPath| {
            self.written_through.iter().any(|folder| path.starts_with(folder))
                || BuildFolders::new(self.root).surrounds(path)
        };
        let positions: BTreeMap<&RelPath, usize> =
            effects.iter().enumerate().map(|(position, effect)| (&effect.path, position)).collect();
        let effect_on = |path: &RelPath| positions.get(path).map(|position| &effects[*position]);
        let text = |path: &RelPath| match effect_on(path) {
            Some(effect) => effect.text_after().map(<[u8]>::to_vec),
            None => content_on_disk(self.root, path),
        };
        let disk = ContentsOnDisk::new(self.root);
        let lists = Remembered::default();
        let packed = |list: &RelPath| {
            let Some(effect) = effect_on(list) else { return disk.packed(list) };
            let read = || Arc::new(PackedNames::read(effect.text_after().unwrap_or_default()));
            lists.get_or_read(list.clone(), read)
        };
        let stored = StoredNames::new(self.root, &effects, &positions, self.is_layered);
        // The refusal of settings does not depend on the object format. Files that point to each other are compared
        // once the others are judged.
        let plain = RepositoryContext {
            workspace,
            is_layered: self.is_layered,
            was_there: &was_there,
            is_there: &is_there,
            is_unjudged: &is_unjudged,
            format: &|_| Some(ObjectFormat::default()),
            lacks_object: &|_, _| false,
            text: &text,
            packed: &packed,
            content: None,
        };
        let is_refused = |effect: &Effect| {
            in_git_folder(&effect.path).is_some_and(|part| part.refusal(effect, &plain).is_some())
        };
        let formats = Remembered::default();
        let format = |settings: &RelPath| {
            let Some(effect) = effect_on(settings) else { return disk.format(settings) };
            formats.get_or_read(settings.clone(), || format_after(effect, &was_there, &is_refused))
        };
        let beginnings = LazyCell::new(|| EntryBeginnings::of(self.protected));
        // Without a layer, refused files are also in the folder until they are reverted.
        let kept = kept_repositories(&effects, &plain, &is_there);
        let kept_around = |path: &RelPath| {
            let mut around = std::iter::successors(Some(path.clone()), RelPath::parent);
            if kept.is_empty() { None } else { around.find_map(|folder| kept.get(&folder).cloned()) }
        };
        let refusal =
            |effect: &Effect, content: Option<&dyn LinkedContents>, lacks_object: &LacksObject<'_>| {
                let context = RepositoryContext { format: &format, lacks_object, content, ..plain };
                self.listed(effect, &beginnings)
                    .or_else(|| (self.is_layered && is_new_lock(effect)).then_some(Refusal::Lock))
                    .or_else(|| kept_around(&effect.path))
                    .or_else(|| {
                        let part = in_git_folder(&effect.path)?;
                        // A repository that is removed as a whole takes its settings and hooks with it.
                        if is_there(&part.folder) { part.refusal(effect, &context) } else { None }
                    })
                    .or_else(|| part_refusal(effect, &context))
            };
        let is_data = |path: &RelPath| in_git_folder(path).is_some_and(|part| part.inner(&plain).is_data());
        let mut verdicts = Verdicts::new(&effects, &positions, workspace, &is_data, &|effect| {
            refusal(effect, None, &|_, _| false)
        });
        verdicts.keep_packed_objects();
        if self.is_layered {
            verdicts.keep_packs_whole();
        }
        let worktrees = Remembered::default();
        let judge_by = |verdicts: &Verdicts<'_>, effect: &Effect, lacks_object: &LacksObject<'_>| {
            let decided = Decided { verdicts, root: self.root, disk: &disk, worktrees: &worktrees };
            refusal(effect, Some(&decided), lacks_object)
        };
        let judge_link = |verdicts: &Verdicts<'_>, effect: &Effect| judge_by(verdicts, effect, &|_, _| false);
        let context = RepositoryContext { format: &format, ..plain };
        let judge_references = |verdicts: &Verdicts<'_>, judged: &[usize]| {
            let judged = judged.iter().map(|position| &effects[*position]).collect();
            self.judge_by_objects(verdicts, judged, &context, &stored, &judge_by)
        };
        let is_removed = |folder: &RelPath| is_repository(folder, &was_there) && !is_there(folder);
        let moves = Moves { was_there: &was_there, is_there: &is_there, is_removed: &is_removed };
        verdicts.settle(&moves, &judge_link, &judge_references);
        verdicts.sorted()
    }

    /// Judges effects that depend on certain objects, by the objects adopted so far.
    fn judge_by_objects(
        &self,
        verdicts: &Verdicts<'_>,
        judged: Vec<&Effect>,
        context: &RepositoryContext<'_>,
        stored: &StoredNames<'_>,
        by_content: &ByContent<'_>,
    ) -> Vec<Option<Refusal>> {
        let fate = |position| verdicts.fate(position);
        let objects = stored.after(&fate);
        let unchanged = |_| Fate::Refused;
        let former = stored.after(&unchanged);
        let lacks_object = |folder: &RelPath, object: &[u8]| objects.lacks_something_of(folder, object);
        let content = |path: &RelPath| {
            verdicts.content(path, &|path| content_on_disk_up_to(self.root, path, INDEX_BYTES))
        };
        let work = WorkContext {
            context,
            content: &content,
            after: &objects,
            before: &former,
            root: self.root,
            in_use: Remembered::default(),
        };
        let judge = |effect: &Effect| {
            let part = repository_part(&effect.path, context);
            let is_index_of =
                |part: &InRepository<'_>| is_index(&effect.path) && !part.inner(context).is_data();
            // The rest of an index or object depends on no other object.
            let is_judged = store_around(&effect.path).is_some() || part.as_ref().is_some_and(is_index_of);
            let refusal = if is_judged { None } else { by_content(verdicts, effect, &lacks_object) };
            refusal.or_else(|| {
                let part = part?;
                object_refusal(&part, effect, context, &objects, &former)
                    .or_else(|| unfinished_refusal(&part, effect, &work))
            })
        };
        judged.into_iter().map(judge).collect()
    }

    /// Returns the entry of the list of protected names by which an effect is refused.
    fn never(&self, effect: &Effect) -> Option<&ProtectedName> {
        let name = self.protected.never(&effect.path)?;
        let is_git = name.pattern().eq_ignore_ascii_case(".git");
        let is_judged_elsewhere = is_git && in_git_folder(&effect.path).is_some()
            || version_control::is_its_own_matter(&effect.path, effect.kind_after());
        if !is_judged_elsewhere {
            return Some(name);
        }
        // Editors obey their files there, too. A branch, or a file in a store, may have any name without a leading dot.
        let is_of_other_program = |name: &ProtectedName| {
            let is_hidden = name.pattern().starts_with('.') && !name.pattern().starts_with("./");
            is_hidden && !version_control::is_folder(name.pattern())
        };
        self.protected.never_among(&effect.path, &is_of_other_program)
    }

    /// Consults the list of protected names, and the paths where a symlink would circumvent it.
    fn listed(
        &self,
        effect: &Effect,
        beginnings: &LazyCell<EntryBeginnings, impl FnOnce() -> EntryBeginnings>,
    ) -> Option<Refusal> {
        if self.hidden.hides(&effect.path) {
            return Some(Refusal::OwnState);
        }
        if let Some(name) = self.never(effect) {
            let (entry, reason) = (name.pattern().to_owned(), name.reason().to_owned());
            return Some(Refusal::Protected { entry, reason });
        }
        // A symlink at the beginning of a name on either list would replace its folder by one whose changes are not
        // noticed.
        let is_link = effect.kind_after() == Some(PresentKind::Other);
        let begins =
            || self.protected.found_at_or_beneath(&effect.path).is_some() || beginnings.end(&effect.path);
        (is_link && begins()).then_some(Refusal::Link)
    }
}

/// Returns whether git would take an effect for the lock of a running process, and refuse to work until it is removed,
/// or skip maintenance in the case of `gc.pid`: all processes of the command have ended. No reference has such a name.
pub(crate) fn is_new_lock(effect: &Effect) -> bool {
    let file = Some(PresentKind::File);
    let is_new_file = effect.kind_before() != file && effect.kind_after() == file;
    let is_lock = |name: &[u8]| name.ends_with(b".lock") || name == b"gc.pid";
    is_new_file && effect.path.file_name().is_some_and(is_lock) && in_git_folder(&effect.path).is_some()
}

/// The repositories in which nothing is adopted, each with the reason: `.git` folders from which the command has
/// removed essential parts, repositories that would have another format, new ones without their own objects, and those
/// of submodules that are removed with contents that could not be restored. A repository that is removed with its
/// working folder is like any other removed folder.
fn kept_repositories(
    effects: &[Effect],
    context: &RepositoryContext<'_>,
    is_there: &dyn Fn(&RelPath) -> bool,
) -> BTreeMap<RelPath, Refusal> {
    let kept = |effect: &Effect| {
        if let Some(repository) = borrowing_repository(effect, context.was_there) {
            return Some((repository, Refusal::BorrowedObjects));
        }
        if let Some(submodule) = submodule_with_lasting_content(effect, context) {
            return Some(submodule);
        }
        let Some(part) = in_git_folder(&effect.path) else {
            // Only settings determine the format.
            let is_settings = effect.path.file_name() == Some(b"config");
            let changes_format = is_settings && part_refusal(effect, context) == Some(Refusal::Format);
            return effect.path.parent().filter(|_| changes_format).map(|folder| (folder, Refusal::Format));
        };
        let refusal = part.refusal(effect, context);
        let refusal = refusal.filter(|why| matches!(why, Refusal::Removal | Refusal::Format));
        refusal.map(|why| (part.folder, why))
    };
    let stays = |folder: &RelPath, why: &Refusal| {
        matches!(why, Refusal::LargeObject | Refusal::LargeContent)
            || folder.parent().is_none_or(|around| around.is_root() || is_there(&around))
            || is_there(folder)
    };
    effects.iter().filter_map(kept).filter(|(folder, why)| stays(folder, why)).collect()
}

#[cfg(test)]
mod tests;

//! Recording what a command did on its layer, and adopting it.

use std::collections::BTreeSet;

use change_journal::{ChangeNumber, ChangeRecord as JournalChange, ChangeState, JournalError};
use cow_layer::{AdoptError, Layer, LayerChange, LayerChanges};
use rel_path::RelPath;
use sandbox_fs::OpenFile;

use crate::adopt::adoption::{Adopted, adopt};
use crate::adopt::guard::{Guard, Sorted};
use crate::adopt::layer_effects::{KeepLimits, effects, list};
use crate::adopt::selection::{Selection, shown_conflict};
use crate::change::late_writes::HELD_FILES;
use crate::command::answer::CommandOutcome;
use crate::command::effect::Effect;
use crate::command::effect_notes::EffectNotes;
use crate::command::effects::Recorded;
use crate::engine::LocalWorkspace;
use crate::git::guard::in_git_folder;
use crate::git::repository_parts::may_be_part;
use crate::runs::EngineRun;
use crate::step_record::encode;

/// The number of paths that are adopted before other changes get a turn.
const BATCH: usize = 256;

/// Contents above this size are written into the journal before the commit.
const MANY_BYTES: usize = 4 << 20;

/// A file that a command's version has replaced, still open, with its path and content.
type ReplacedFile = (RelPath, OpenFile, sandbox_fs::ContentHash);

/// Records how a command ended with its changes, in one commit.
type Record<'r> = dyn Fn(CommandOutcome, &[JournalChange<'_>]) -> Recorded + 'r;

/// The changes on a layer.
pub(crate) struct LayerSnapshot {
    changes: LayerChanges,
    /// The number of files whose names became separate files.
    separated: usize,
    sorted: Sorted,
    /// The last change of any run that was recorded before.
    last_change: ChangeNumber,
}

impl LocalWorkspace {
    /// Records the end of a command and its changes on its layer, adopts them, and drops the layer.
    pub(crate) fn record_layered(
        &self,
        run: &EngineRun<'_>,
        step: u32,
        outcome: CommandOutcome,
        layer: Layer,
    ) -> CommandOutcome {
        let record = |outcome, changes: &[JournalChange<'_>]| self.record(run, step, outcome, changes);
        // The layer is this command's alone, so no other call waits while it is read.
        let snapshot = self.look_at_layer(&layer);
        let mut turn = Some(self.lock_changes());
        let mut let_others_in = || {
            drop(turn.take());
            turn = Some(self.lock_changes());
        };
        let mut replaced = Vec::new();
        let (outcome, is_needed) =
            self.take_over(outcome, &layer, snapshot, (&record, &mut let_others_in), &mut replaced);
        drop(turn);
        if !is_needed {
            // Any rest is removed at the next opening.
            let _ = layer.discard();
        }
        for (path, file, content) in replaced {
            self.late_writes.watch(path, run.conversation(), file, content);
        }
        outcome
    }

    /// Records a command whose processes may not all have ended. They may still write to its layer, so nothing is
    /// adopted from it, and the next opening removes it.
    pub(crate) fn record_dropped(
        &self,
        run: &EngineRun<'_>,
        step: u32,
        outcome: CommandOutcome,
    ) -> CommandOutcome {
        let mut notes = EffectNotes::default();
        notes.other.push("nothing that the command changed was kept".to_owned());
        self.record(run, step, notes.add_to(outcome), &[]).outcome
    }

    /// Lists and reads the changes on a layer, and makes sure that their adoption can resume after a crash. Files may
    /// change in the meantime.
    pub(crate) fn look_at_layer(&self, layer: &Layer) -> Result<LayerSnapshot, String> {
        let newest = self.journal.reader().latest_changes(None, 1).map_err(|error| error.to_string())?;
        let last_change = newest.first().map_or(ChangeNumber(0), |change| change.number);
        let protected = &self.root.policy().protected;
        // The user may have changed the rules for such paths while the command ran.
        protected.look_again();
        let written_through = self.written_through().folders.clone();
        let (changes, separated) =
            list(layer, &self.root, protected, &written_through).map_err(|error| error.to_string())?;
        let sorted = self.sort_effects(effects(layer, &self.root, &changes, KeepLimits::default()));
        prepare(layer, &changes, &sorted.allowed).map_err(|error| error.to_string())?;
        self.keep_contents(&sorted);
        Ok(LayerSnapshot { changes, separated, sorted, last_change })
    }

    /// Selects the effects that may be adopted, by the workspace's state now.
    fn sort_effects(&self, effects: Vec<Effect>) -> Sorted {
        let was_there = |path: &RelPath| self.root.metadata(path).is_ok();
        let written_through = self.written_through().folders.clone();
        let guard = Guard {
            protected: &self.root.policy().protected,
            hidden: &self.hidden,
            was_there: &was_there,
            is_there_now: &was_there,
            is_layered: true,
            written_through: &written_through,
            root: &self.root,
        };
        guard.sort(effects)
    }

    /// Writes large contents into the journal before the commit that refers to them, so that others wait only for the
    /// commit.
    fn keep_contents(&self, sorted: &Sorted) {
        let effects = || sorted.allowed.iter().chain(sorted.refused.iter().map(|(effect, _)| effect));
        let contents =
            || effects().flat_map(|effect| [effect.content_before(), effect.content_after()]).flatten();
        if contents().map(<[u8]>::len).sum::<usize>() < MANY_BYTES {
            return;
        }
        let mut unflushed = 0;
        for bytes in contents() {
            // A failure here also fails the commit, which reports it.
            let _ = self.journal.keep_content(bytes);
            unflushed += bytes.len();
            if unflushed >= MANY_BYTES {
                unflushed = 0;
                let _ = self.journal.flush();
            }
        }
        let _ = self.journal.flush();
    }

    /// The paths that were changed through this engine after change `since`.
    fn changed_since(&self, since: ChangeNumber) -> Result<BTreeSet<RelPath>, JournalError> {
        let changes = self.journal.reader().changes(since, u32::MAX)?;
        let changes = changes.iter().filter(|change| change.state != ChangeState::Conflicted);
        Ok(changes.filter_map(|change| RelPath::from_bytes(&change.path).ok()).collect())
    }

    /// Adopts the changes on a layer, once `record` has recorded them with the outcome. The caller has the turn to
    /// change files, and yields it briefly whenever `let_others_in` is called, which is never before the commit. The
    /// last of the replaced files are added to `replaced`.
    ///
    /// Returns the outcome, and whether the layer has to be kept for the next opening.
    pub(crate) fn take_over(
        &self,
        outcome: CommandOutcome,
        layer: &Layer,
        snapshot: Result<LayerSnapshot, String>,
        (record, let_others_in): (&Record<'_>, &mut dyn FnMut()),
        replaced: &mut Vec<ReplacedFile>,
    ) -> (CommandOutcome, bool) {
        let mut notes = EffectNotes::default();
        let snapshot = snapshot.and_then(|snapshot| {
            let changed = self.changed_since(snapshot.last_change).map_err(|error| error.to_string())?;
            Ok((snapshot, changed))
        });
        let (LayerSnapshot { changes, separated, sorted, .. }, changed) = match snapshot {
            Ok(snapshot) => snapshot,
            Err(error) => {
                notes.other.push(format!("nothing that the command changed was kept: {error}"));
                return (record(notes.add_to(outcome), &[]).outcome, false);
            }
        };
        // The names that make a folder a repository depend on the entries that others have put there in the
        // meantime, and may put there until the last path is in place.
        let may_make_repository = sorted
            .allowed
            .iter()
            .any(|effect| may_be_part(&effect.path) && in_git_folder(&effect.path).is_none());
        let sorted = if may_make_repository { self.sort_again(sorted) } else { sorted };
        let selection = Selection::of(layer, &self.root, &changes, sorted, &changed);
        note_changes(&changes, separated, &mut notes);
        selection.note(&self.root, &mut notes);
        let Recorded { outcome, numbers, is_recorded } = record(notes.add_to(outcome), &selection.records());
        if !is_recorded {
            return (outcome, false);
        }
        // If they then change a path that is still to come, the exchange detects it and keeps their version.
        let let_others_in: &mut dyn FnMut() = if may_make_repository { &mut || {} } else { let_others_in };
        let recorded = RecordedEffects { changes: &changes, effects: &selection.wanted, numbers: &numbers };
        self.adopt_recorded(outcome, layer, &recorded, let_others_in, replaced)
    }

    /// Sorts the allowed effects once more, by the workspace's state now.
    fn sort_again(&self, sorted: Sorted) -> Sorted {
        let Sorted { allowed, mut refused, mut working_trees, .. } = sorted;
        let again = self.sort_effects(allowed);
        refused.extend(again.refused);
        working_trees.extend(again.working_trees);
        Sorted { allowed: again.allowed, refused, working_trees, ..again }
    }

    /// Moves recorded effects from the layer into the workspace. Returns what [`LocalWorkspace::take_over`] returns.
    fn adopt_recorded(
        &self,
        outcome: CommandOutcome,
        layer: &Layer,
        recorded: &RecordedEffects<'_>,
        let_others_in: &mut dyn FnMut(),
        replaced: &mut Vec<ReplacedFile>,
    ) -> (CommandOutcome, bool) {
        let RecordedEffects { changes, effects, numbers } = recorded;
        let change_of = |index: usize| changes.find(&effects[index].path);
        let mut in_batch = 0;
        let adopted = adopt(effects, self.root.path(), &mut |index| {
            if in_batch == BATCH {
                in_batch = 0;
                let_others_in();
            }
            in_batch += 1;
            match change_of(index) {
                Some(change) => layer.adopt(change).map(drop),
                None => Err(AdoptError::NotInLayer { path: effects[index].path.clone() }),
            }
        });
        let done = adopted.done.iter().filter_map(|index| change_of(*index));
        let unfinished = layer.finish_folders(done).err();
        let last = adopted.done.iter().rev().filter_map(|index| {
            let before = effects[*index].before.as_ref()?.present()?;
            let file = layer.open_before(change_of(*index)?).ok()??;
            let path = effects[*index].path.clone();
            Some((path.clone(), OpenFile::from_file(file, path).ok()?, before.hash))
        });
        replaced.extend(last.take(HELD_FILES));
        let (mut failures, returned) = failures(layer, changes, effects, &adopted);
        failures
            .other
            .extend(unfinished.map(|error| format!("the permissions of a folder were not set: {error}")));
        let published =
            adopted.done.iter().map(|index| (numbers[*index], effects[*index].path.clone())).collect();
        let failed = adopted.failed.iter().map(|(index, _)| *index).chain(adopted.left.iter().copied());
        let failed: Vec<_> = failed.map(|index| numbers[index]).collect();
        let outcome = self.finish_adoption(outcome, published, &failed, &failures);
        // Only the layer can resume changes that the journal does not keep, so the journal has to record the progress
        // first.
        let is_up_to_layer = effects.iter().any(|effect| !effect.is_undoable());
        (outcome, returned == Returned::NotAll || is_up_to_layer && self.journal.flush().is_err())
    }

    /// Records the outcomes of recorded changes in the journal.
    fn finish_adoption(
        &self,
        outcome: CommandOutcome,
        published: Vec<(ChangeNumber, RelPath)>,
        failed: &[ChangeNumber],
        failures: &EffectNotes,
    ) -> CommandOutcome {
        let outcome = failures.add_to(outcome);
        if !failed.is_empty() {
            // From now on the same step must give the answer given here. If even this fails, recovery reaches the same
            // result.
            let _ = self.journal.conflict_changes(failed, &encode(&outcome));
            let _ = self.journal.flush();
        }
        let numbers: Vec<_> = published.iter().map(|(number, _)| *number).collect();
        let _ = self.journal.publish_changes(&numbers);
        self.checkpoint.add(published);
        outcome
    }
}

/// Effects recorded in the journal.
struct RecordedEffects<'a> {
    /// The layer changes that they come from.
    changes: &'a LayerChanges,
    effects: &'a [Effect],
    /// The journal's numbers, in the same order.
    numbers: &'a [ChangeNumber],
}

/// Notes the parts of a layer that could not be kept unchanged.
fn note_changes(changes: &LayerChanges, separated: usize, notes: &mut EffectNotes) {
    if changes.unnameable() > 0 {
        notes.other.push(format!(
            "{} entries were not kept, because they are deeper, or have longer names, than any path may",
            changes.unnameable()
        ));
    }
    if separated > 0 {
        let files = match separated {
            1 => "a linked file".to_owned(),
            _ => format!("{separated} linked files"),
        };
        notes.other.push(format!("hard links were not kept: each name of {files} is now a separate file"));
    }
    notes.closed_folders = changes.closed_folders().iter().map(RelPath::to_string).collect();
    notes.rights = changes.left_out().iter().map(|left| (left.path.to_string(), left.right.into())).collect();
}

/// The fate of other programs' versions that an adoption left in the layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Returned {
    /// All are in the workspace, or there were none.
    All,
    /// The layer still holds one, so that it must not be discarded.
    NotAll,
}

/// Describes the failures of an adoption, and returns the versions that it left in the layer.
fn failures(
    layer: &Layer,
    changes: &LayerChanges,
    wanted: &[Effect],
    adopted: &Adopted,
) -> (EffectNotes, Returned) {
    let mut notes = EffectNotes::default();
    let mut returned = Returned::All;
    for (index, error) in &adopted.failed {
        let effect = &wanted[*index];
        match (error, changes.find(&effect.path)) {
            (AdoptError::Changed { .. } | AdoptError::FolderNotEmpty { .. }, _) => {
                notes.conflicts.push(shown_conflict(effect));
            }
            (AdoptError::LeftInLayer { .. }, Some(change)) => match return_displaced(layer, change) {
                Ok(None) => notes.conflicts.push(shown_conflict(effect)),
                Ok(Some(note)) => notes.other.push(note),
                Err(note) => {
                    returned = Returned::NotAll;
                    notes.other.push(note);
                }
            },
            (other, _) => notes.failed.push((effect.path.to_string(), other.to_string())),
        }
    }
    notes.conflicts.dedup();
    let left = adopted.left.iter().map(|index| wanted[*index].path.to_string());
    notes
        .failed
        .extend(left.map(|path| (path, "it stays, because another file could not be written".to_owned())));
    let lost = adopted.failed.iter().any(|(index, _)| !wanted[*index].is_undoable());
    if lost {
        notes.other.push(
            "content that was too large for the journal and could not be written is not kept".to_owned(),
        );
    }
    (notes, returned)
}

/// Moves another program's version out of a layer that is about to be discarded. Returns the note about it; `None` if
/// the layer has none. On failure, the layer is quarantined, and the error names it.
fn return_displaced(layer: &Layer, change: &LayerChange) -> Result<Option<String>, String> {
    let path = &change.path;
    match layer.return_displaced(change) {
        Ok(kept) => Ok(kept.map(|kept| {
            format!("another program saved `{path}` at the same moment: one of the two versions is kept as `{kept}`")
        })),
        Err(error) => {
            let name = layer.quarantine().map_or_else(|_| layer.name().to_string(), |name| name.to_string());
            Err(format!(
                "another program saved `{path}` at the same moment, and one of the two versions could not be moved next to it ({error}): \
                 it is in `layers/{name}` of the state folder, show this to the user"
            ))
        }
    }
}

/// Makes sure that an adoption can resume after a crash: contents that the journal does not keep are synced,
/// together with the list of changes.
fn prepare(layer: &Layer, changes: &LayerChanges, wanted: &[Effect]) -> Result<(), cow_layer::LayerError> {
    let mut unkept = wanted
        .iter()
        .filter(|effect| !effect.is_undoable())
        .filter_map(|effect| changes.find(&effect.path))
        .peekable();
    if unkept.peek().is_none() {
        return Ok(());
    }
    layer.sync(unkept)?;
    layer.seal(changes)
}

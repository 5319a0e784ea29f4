//! The effects of a command on files: detected, sorted, recorded with its outcome in one commit, and published.

use change_journal::{ChangeNumber, ChangeRecord as JournalChange, ChangeState, JournalError, Oversized};
use rel_path::RelPath;
use wap_core::WapError;

use crate::adopt::adoption::put_back;
use crate::adopt::build_folder_check::Moment;
use crate::adopt::guard::{Guard, Sorted, is_new_lock};
use crate::change::publish::{open_root, publish_file};
use crate::command::answer::{CommandOutcome, unrecorded, without_output};
use crate::command::beyond_comparison::look;
use crate::command::comparison::compare;
use crate::command::effect::{Effect, EffectSide};
use crate::command::effect_notes::{
    EffectNotes, changed_directions, changed_histories, obeyed_names, unfinished_work, unnoticed_changes,
    widened_access,
};
use crate::command::linked_names::separate;
use crate::command::only_versions::move_out;
use crate::command::rights::take_set_id_bits;
use crate::command::tree_snapshot::{SnapshotLimits, SnapshotScope, TreeSnapshot};
use crate::engine::LocalWorkspace;
use crate::errors::{fs_error, journal_error};
use crate::git::guard::is_main_index;
use crate::runs::EngineRun;
use crate::step_record::encode;

/// The state of the folder before a command that changes the folder itself.
#[derive(Debug)]
pub(crate) struct Before {
    snapshot: TreeSnapshot,
    /// The last change of any run that was recorded.
    last_change: ChangeNumber,
    moment: Moment,
}

impl Before {
    /// Returns the build folders, whose contents are unknown.
    pub(crate) fn build_folders(&self) -> Vec<RelPath> {
        self.snapshot.left_out.iter().cloned().collect()
    }
}

impl LocalWorkspace {
    /// Takes a snapshot of the whole folder, so that a command's effects on it can be determined afterwards.
    pub(crate) fn look_before(&self) -> Result<Before, WapError> {
        let _no_batch_meanwhile = self.lock_changes();
        let previous = self.last_snapshot().take();
        let snapshot = TreeSnapshot::before(&self.snapshot_scope(), previous.as_ref())
            .map_err(|error| fs_error(&error, ""))?;
        // Under the same lock as the snapshot: a batch between the two would count as the command's.
        let newest = self.journal.reader().latest_changes(None, 1).map_err(journal_error)?;
        let last_change = newest.first().map_or(ChangeNumber(0), |change| change.number);
        Ok(Before { snapshot, last_change, moment: Moment::now() })
    }

    fn snapshot_scope(&self) -> SnapshotScope<'_> {
        SnapshotScope {
            root: &self.root,
            hidden: &self.hidden,
            protected: &self.root.policy().protected,
            limits: SnapshotLimits::default(),
        }
    }

    /// Records the end of a command and its changes to the folder since `before`.
    pub(crate) fn record_compared(
        &self,
        run: &EngineRun<'_>,
        step: u32,
        outcome: CommandOutcome,
        before: Before,
    ) -> CommandOutcome {
        let _no_batch_meanwhile = self.lock_changes();
        let mut notes = EffectNotes::default();
        let after = match TreeSnapshot::after(&self.snapshot_scope(), &before.snapshot) {
            Ok(after) => after,
            Err(error) => {
                notes.other.push(format!("what the command did to files is not known: {error}"));
                return self.record(run, step, notes.add_to(outcome), &[]).outcome;
            }
        };
        note_gaps(&before.snapshot, &after, &mut notes);
        self.note_beyond(&before, &after, &mut notes);
        let effects = self.without_own_changes(compare(&before.snapshot, &after), before.last_change);
        let (taken, kept) = take_set_id_bits(&self.root, &effects, &before.snapshot, &after);
        notes.rights = taken;
        notes.rights_kept = kept;
        let Sorted { allowed, refused, dropped, .. } = Guard {
            protected: &self.root.policy().protected,
            hidden: &self.hidden,
            was_there: &|path| before.snapshot.entries.contains_key(path),
            is_there_now: &|path| self.root.metadata(path).is_ok(),
            is_layered: false,
            written_through: &before.build_folders(),
            root: &self.root,
        }
        .sort(effects);
        let mut failed = Vec::new();
        if !refused.is_empty() {
            let refused: Vec<_> = refused.iter().map(|(effect, _)| effect.clone()).collect();
            failed = match open_root(&self.root) {
                Ok(root) => {
                    notes.other.extend(move_out(&root, refused.iter(), &allowed));
                    put_back(&root, &refused)
                }
                Err(_) => refused.into_iter().map(|effect| effect.path).collect(),
            };
        }
        self.remove_dropped(&dropped);
        self.have_git_look_at_all_files(&allowed);
        notes.other.extend(note_linked(&separate(&self.root, &before.snapshot, &after)));
        notes.not_put_back = failed.iter().map(RelPath::to_string).collect();
        notes.refused = refused.iter().map(|(effect, why)| (effect.path.to_string(), why.clone())).collect();
        notes.other.extend(note_locks(&allowed));
        notes.obeyed = obeyed_names(&self.root, &allowed);
        notes.directions = changed_directions(&self.root, &allowed);
        notes.histories = changed_histories(&self.root, &allowed);
        notes.unfinished = unfinished_work(&self.root, &allowed);
        notes.unnoticed = unnoticed_changes(&self.root, &allowed);
        notes.widened = widened_access(&allowed);
        notes.not_undoable.extend(not_undoable(&allowed));
        let in_place = |effect| JournalChange { state: ChangeState::Published, ..Effect::record(effect) };
        let kept_out = |effect| JournalChange { state: ChangeState::Conflicted, ..Effect::record(effect) };
        let records: Vec<_> = allowed
            .iter()
            .map(in_place)
            .chain(refused.iter().map(|(effect, _)| {
                if failed.contains(&effect.path) { in_place(effect) } else { kept_out(effect) }
            }))
            .collect();
        let Recorded { outcome, numbers, .. } = self.record(run, step, notes.add_to(outcome), &records);
        // `allowed` comes first in `records`, so its paths pair with the first numbers.
        let paths = allowed.iter().map(|effect| effect.path.clone());
        self.checkpoint.add(numbers.into_iter().zip(paths).collect());
        *self.last_snapshot() = Some(after);
        outcome
    }

    /// Removes files that git computes itself, and restores the ones that a command removed.
    fn remove_dropped(&self, dropped: &[Effect]) {
        if dropped.is_empty() {
            return;
        }
        let going = |effect: &Effect| Effect {
            before: effect.before.clone().filter(|_| effect.after.is_none()),
            ..effect.clone()
        };
        if let Ok(root) = open_root(&self.root) {
            // Git works without the ones that stay missing.
            let _ = put_back(&root, &dropped.iter().map(going).collect::<Vec<_>>());
        }
    }

    /// Sets a time on changed indexes that makes git distrust their file data and read each file once. An index could
    /// claim that an edited file is as committed.
    fn have_git_look_at_all_files(&self, allowed: &[Effect]) {
        let Ok(root) = open_root(&self.root) else { return };
        for effect in allowed.iter().filter(|effect| is_main_index(&effect.path)) {
            if let Some(EffectSide::Kept(present)) = &effect.after {
                // The user's git may have written another index in the meantime.
                let _ = publish_file(&root, &effect.path, Some(present), Some(present));
            }
        }
    }

    /// Names the paths past the end of the comparison that git or an editor would obey.
    fn note_beyond(&self, before: &Before, after: &TreeSnapshot, notes: &mut EffectNotes) {
        let ends = [&before.snapshot.known_up_to, &after.known_up_to];
        let Some(known_up_to) = ends.into_iter().flatten().min() else { return };
        let names = (&self.root.policy().protected, &self.hidden);
        let beyond = look(&self.root, names, known_up_to, before.moment);
        notes.unprotected = beyond.obeyed;
        let reach = if beyond.is_cut { "and not all of it was looked through" } else { "but looked through" };
        notes.other.push(format!(
            "beyond `{known_up_to}` nothing that git or an editor obeys was protected from the command, {reach}"
        ));
    }

    /// Excludes changes that file tools have made and recorded while the command ran.
    fn without_own_changes(&self, effects: Vec<Effect>, since: ChangeNumber) -> Vec<Effect> {
        let recorded = self.journal.reader().changes(since, u32::MAX).unwrap_or_default();
        if recorded.is_empty() {
            return effects;
        }
        let is_own = |effect: &Effect| {
            // The newest only: an effect that restores an older recorded state is the command's own.
            let newest = recorded.iter().rev().find(|change| {
                change.path == effect.path.as_bytes() && change.state != ChangeState::Conflicted
            });
            let present = effect.after.as_ref().and_then(crate::command::effect::EffectSide::present);
            newest.is_some_and(|change| match (&present, &change.after) {
                (None, None) => effect.after.is_none(),
                (Some(present), Some(entry)) => present.is(entry),
                _ => false,
            })
        };
        effects.into_iter().filter(|effect| !is_own(effect)).collect()
    }

    /// Records the end of a command with its changes. On failure, the outcome says so.
    pub(crate) fn record(
        &self,
        run: &EngineRun<'_>,
        step: u32,
        outcome: CommandOutcome,
        changes: &[JournalChange<'_>],
    ) -> Recorded {
        let finish = |outcome: &CommandOutcome| {
            self.journal.finish_step(run.number(), step, &encode(outcome), changes)
        };
        let outcome_too_large =
            |error: &JournalError| matches!(error, JournalError::TooLarge { what: Oversized::Outcome, .. });
        let (outcome, finished) = match finish(&outcome) {
            // The changes matter more than the output: without them an undo would not know the command.
            Err(error) if outcome_too_large(&error) => {
                let outcome = without_output(outcome);
                let finished = finish(&outcome);
                (outcome, finished)
            }
            finished => (outcome, finished),
        };
        match finished {
            Ok(numbers) => Recorded { outcome, numbers, is_recorded: true },
            Err(error) => Recorded {
                outcome: Err(unrecorded(&error, &outcome)),
                numbers: Vec::new(),
                is_recorded: false,
            },
        }
    }
}

/// The outcome of recording a command.
pub(crate) struct Recorded {
    pub outcome: CommandOutcome,
    /// The numbers of its changes, in their order.
    pub numbers: Vec<ChangeNumber>,
    pub is_recorded: bool,
}

/// Returns the paths whose effects cannot be undone.
pub(crate) fn not_undoable(effects: &[Effect]) -> impl Iterator<Item = String> {
    effects.iter().filter(|effect| !effect.is_undoable()).map(|effect| effect.path.to_string())
}

/// Names the files with another, unknown name.
fn note_linked(paths: &[RelPath]) -> Option<String> {
    let names: Vec<_> = paths.iter().take(5).map(|path| format!("`{path}`")).collect();
    let more = paths.len().saturating_sub(names.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!paths.is_empty()).then(|| {
        format!(
            "hard-linked to where no change is noticed, a build folder for instance: {}{more}; put a copy in place of each",
            names.join(", ")
        )
    })
}

/// Names new git locks, which may belong to a concurrent program.
fn note_locks(allowed: &[Effect]) -> Option<String> {
    let locks: Vec<_> = allowed.iter().filter(|effect| is_new_lock(effect)).collect();
    let names: Vec<_> = locks.iter().take(5).map(|effect| format!("`{}`", effect.path)).collect();
    let more = if locks.len() > names.len() { " and others" } else { "" };
    (!locks.is_empty()).then(|| {
        format!(
            "git changes nothing while these locks are there: {}{more}; remove those that the command has left",
            names.join(", ")
        )
    })
}

/// Describes the gaps of a comparison.
fn note_gaps(before: &TreeSnapshot, after: &TreeSnapshot, notes: &mut EffectNotes) {
    let new = after.new_build_folders.iter().map(|folder| format!("{folder}/"));
    notes.not_undoable.extend(new);
    if before.known_up_to.is_some() || after.known_up_to.is_some() {
        notes.other.push(
            "the folder is too large to be compared as a whole: of what the command changed only a part is recorded"
                .to_owned(),
        );
    }
    if before.unreadable + after.unreadable > 0 {
        notes.other.push("what the command did in folders that cannot be read is not recorded".to_owned());
    }
}

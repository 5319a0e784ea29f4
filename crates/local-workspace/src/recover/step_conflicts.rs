//! Changes that were not made, recorded in the outcomes of their steps.

use std::collections::{BTreeMap, BTreeSet};

use change_journal::{ChangeNumber, ChangeState, Journal, JournalError, RecordedChange, RunNumber, StepKind};
use rel_path::RelPath;
use wap_core::{Reason, WapError};

use crate::command::answer::CommandOutcome;
use crate::command::effect_notes::EffectNotes;
use crate::step_record::{ChangeRecord, decode, encode};
use crate::undo::record::UndoRecord;

/// Conflicts that were found, by the step that had promised the change.
pub(crate) struct StepConflicts<'a> {
    journal: &'a Journal,
    by_step: BTreeMap<(RunNumber, u32), Vec<(ChangeNumber, RelPath)>>,
}

impl<'a> StepConflicts<'a> {
    pub(crate) fn new(journal: &'a Journal) -> StepConflicts<'a> {
        StepConflicts { journal, by_step: BTreeMap::new() }
    }

    /// Adds a path with its changes: those that were never published were not made.
    pub(crate) fn add(&mut self, path: &RelPath, changes: &[RecordedChange]) {
        for change in changes.iter().filter(|change| change.state == ChangeState::Intended) {
            let of_step = self.by_step.entry((change.run, change.step)).or_default();
            of_step.push((change.number, path.clone()));
        }
    }

    /// Records all of them. Returns the changes whose conflict cannot be recorded: they must stay unchanged, so that
    /// the next opening finds it again.
    pub(crate) fn note(self) -> BTreeSet<ChangeNumber> {
        let mut unnoted = BTreeSet::new();
        for ((run, index), conflicts) in &self.by_step {
            if self.note_in_step(*run, *index, conflicts).is_err() {
                unnoted.extend(conflicts.iter().map(|(number, _)| *number));
            }
        }
        unnoted
    }

    /// The kind of the step determines the form of its outcome, so nothing is recorded unless that can be read.
    fn note_in_step(
        &self,
        run: RunNumber,
        index: u32,
        conflicts: &[(ChangeNumber, RelPath)],
    ) -> Result<(), JournalError> {
        let steps = self.journal.reader().steps(run)?;
        match steps.into_iter().find(|step| step.index == index) {
            Some(step) if step.kind == StepKind::ShellCommand => {
                note_in_command(self.journal, step.outcome.as_deref().unwrap_or_default(), conflicts)
            }
            step => {
                let outcome = step.and_then(|step| step.outcome).unwrap_or_default();
                note_in_changes(self.journal, &outcome, conflicts)
            }
        }
    }
}

/// The command has run; only some of its changes were not published.
fn note_in_command(
    journal: &Journal,
    outcome: &[u8],
    conflicts: &[(ChangeNumber, RelPath)],
) -> Result<(), JournalError> {
    let notes = EffectNotes {
        conflicts: conflicts.iter().map(|(_, path)| path.to_string()).collect(),
        ..EffectNotes::default()
    };
    let numbers: Vec<_> = conflicts.iter().map(|(number, _)| *number).collect();
    match decode::<CommandOutcome>(outcome) {
        Ok(outcome) => journal.conflict_changes(&numbers, &encode(&notes.add_to(outcome))),
        // Another version of the program may be able to read it.
        Err(_) => journal.conflict_changes(&numbers, outcome),
    }
}

/// A step of file changes has failed, unless it is an undo that restored other paths.
fn note_in_changes(
    journal: &Journal,
    outcome: &[u8],
    conflicts: &[(ChangeNumber, RelPath)],
) -> Result<(), JournalError> {
    let paths: BTreeSet<_> = conflicts.iter().map(|(_, path)| path).collect();
    if let Some(outcome) = UndoRecord::without(outcome, &paths) {
        let numbers: Vec<_> = conflicts.iter().map(|(number, _)| *number).collect();
        return journal.conflict_changes(&numbers, &outcome);
    }
    for (number, path) in conflicts {
        let text = format!(
            "`{path}` was changed by another program while this change was under way, so that version stayed: read the file again"
        );
        let error = WapError::new(Reason::Conflict, text).with("path", path.to_string());
        let outcome = encode(&ChangeRecord { outcome: Err(error), line_map: None, request: None });
        journal.conflict_change(*number, &outcome)?;
    }
    Ok(())
}

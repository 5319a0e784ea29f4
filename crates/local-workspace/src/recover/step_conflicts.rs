//! Changes that did not come about, noted in the outcomes of their steps.

use std::collections::BTreeMap;

use change_journal::{ChangeNumber, ChangeState, Journal, RecordedChange, RunNumber, StepKind};
use rel_path::RelPath;
use wap_core::{Reason, WapError};

use crate::command::answer::CommandOutcome;
use crate::command::effect_notes::EffectNotes;
use crate::step_record::{ChangeRecord, decode, encode};

/// Conflicts that were found, by the step that had promised otherwise.
pub(crate) struct StepConflicts<'a> {
    journal: &'a Journal,
    by_step: BTreeMap<(RunNumber, u32), Vec<(ChangeNumber, RelPath)>>,
}

impl<'a> StepConflicts<'a> {
    pub(crate) fn new(journal: &'a Journal) -> StepConflicts<'a> {
        StepConflicts { journal, by_step: BTreeMap::new() }
    }

    /// Takes a path with its changes: those that were never seen in their place did not come about.
    pub(crate) fn add(&mut self, path: &RelPath, changes: &[RecordedChange]) {
        for change in changes.iter().filter(|change| change.state == ChangeState::Intended) {
            let of_step = self.by_step.entry((change.run, change.step)).or_default();
            of_step.push((change.number, path.clone()));
        }
    }

    /// Notes all of them. What cannot be noted, the next opening finds again.
    pub(crate) fn note(self) {
        for ((run, index), conflicts) in &self.by_step {
            let steps = self.journal.reader().steps(*run).unwrap_or_default();
            let step = steps.into_iter().find(|step| step.index == *index);
            let of_command = step
                .filter(|step| step.kind == StepKind::ShellCommand)
                .and_then(|step| decode::<CommandOutcome>(&step.outcome?).ok());
            match of_command {
                Some(outcome) => note_in_command(self.journal, outcome, conflicts),
                None => note_in_changes(self.journal, conflicts),
            }
        }
    }
}

/// A command did what it did; only some of it did not come into its place.
fn note_in_command(journal: &Journal, outcome: CommandOutcome, conflicts: &[(ChangeNumber, RelPath)]) {
    let notes = EffectNotes {
        conflicts: conflicts.iter().map(|(_, path)| path.to_string()).collect(),
        ..EffectNotes::default()
    };
    let numbers: Vec<_> = conflicts.iter().map(|(number, _)| *number).collect();
    let _ = journal.conflict_changes(&numbers, &encode(&notes.add_to(outcome)));
}

/// A step of file changes has failed.
fn note_in_changes(journal: &Journal, conflicts: &[(ChangeNumber, RelPath)]) {
    for (number, path) in conflicts {
        let text = format!(
            "`{path}` was changed by another program while this change was under way, so that version stayed: read the file again"
        );
        let error = WapError::new(Reason::Conflict, text).with("path", path.to_string());
        let outcome = encode(&ChangeRecord { outcome: Err(error), line_map: None, request: None });
        let _ = journal.conflict_change(*number, &outcome);
    }
}

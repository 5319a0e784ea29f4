//! Work that cannot be undone because its previous state was not recorded.

use std::collections::BTreeSet;

use change_journal::{
    ChangeNumber, JournalError, JournalReader, RecordedChange, RunFilter, RunNumber, StepKind,
};
use local_workspace::{Undone, effects_are_recorded, undone_by};
use rel_path::RelPath;

use crate::failure::{Exit, Failure};
use crate::secret_use::SecretRules;

/// The number of runs that one query reads.
const PAGE: u32 = 500;

/// The maximum number of characters of a step's description.
const DESCRIPTION_CHARACTERS: usize = 70;

/// The newest work of which no part can be undone.
#[derive(Debug)]
pub(super) struct UnrecordedWork {
    pub(super) run: RunNumber,
    step: u32,
    /// The changes without recorded contents; empty for a command with an unknown outcome.
    changes: Vec<RecordedChange>,
}

impl UnrecordedWork {
    /// Returns the work of a change, with all changes of it that cannot be restored.
    pub(super) fn of_changes(change: &RecordedChange, changes: Vec<RecordedChange>) -> UnrecordedWork {
        let step = changes.first().map_or(change.step, |first| first.step);
        UnrecordedWork { run: change.run, step, changes }
    }

    /// Returns the refusal of an undo, with advice on how to undo the `older` work.
    pub(super) fn refusal(
        &self,
        journal: &JournalReader,
        rules: &SecretRules,
        older: Option<RecordedChange>,
    ) -> Failure {
        let did = description(journal, rules, self.run, self.step);
        let (why, what_now) = match self.changes.split_first() {
            None => (
                format!("the newest command was interrupted, and what it changed is not known: {did}"),
                "look at the files that it may have changed",
            ),
            Some((first, others)) => {
                let path = RelPath::from_bytes(&first.path).unwrap_or_default();
                let more = match others.len() {
                    0 => String::new(),
                    more => format!(" and {more} more paths"),
                };
                let number = first.number;
                let why = "its content was too large to be recorded, or it is not a file";
                let change = format!("the newest change is number {number}, of `{path}`{more}, by {did}");
                (format!("{change}, and {why}"), "restore it by hand, or leave it as it is")
            }
        };
        let (before, next) = match older {
            None => ("nothing before it can be undone".to_owned(), String::new()),
            Some(RecordedChange { number: ChangeNumber(number), run, step, .. }) => {
                let before = description(journal, rules, run, step);
                let next = format!("; `agentd undo {number} --whole` undoes what was done before");
                (format!("before it, {before} made change {number}"), next)
            }
        };
        Failure::new(Exit::Failed, format!("nothing was undone: {why}; {before}"))
            .advise(format!("{what_now}{next}"))
    }
}

/// Returns the newest command after the run `after` whose outcome is unknown, and whose run was not undone in part.
pub(super) fn interrupted_command(
    journal: &JournalReader,
    after: Option<RunNumber>,
    reply: bool,
    is_running: &dyn Fn(RunNumber) -> bool,
) -> Result<Option<UnrecordedWork>, JournalError> {
    let mut filter = RunFilter::default();
    loop {
        let runs = journal.runs(&filter, PAGE)?;
        let Some(oldest) = runs.last() else { return Ok(None) };
        filter.before = Some(oldest.number);
        for run in &runs {
            if after.is_some_and(|after| run.number <= after) {
                return Ok(None);
            }
            if is_running(run.number) || reply && run.key.sequence == 0 {
                continue;
            }
            let steps = journal.steps(run.number)?;
            let is_interrupted = |step: &&change_journal::RecordedStep| {
                step.kind == StepKind::ShellCommand && !effects_are_recorded(step)
            };
            let Some(step) = steps.iter().rev().find(is_interrupted) else { continue };
            // The undo of the run's other changes has named the command.
            let mut undoing = Vec::new();
            for change in journal.changes_of_run(run.number)? {
                undoing.extend(undone_by(journal, change.number)?);
            }
            if !undos(journal, &undoing)?.iter().any(|undone| undone.commands.contains(&step.description)) {
                let (run, step) = (run.number, step.index);
                return Ok(Some(UnrecordedWork { run, step, changes: Vec::new() }));
            }
        }
    }
}

/// Returns what the undos that made these changes have recorded, each once.
pub(super) fn undos(journal: &JournalReader, undoing: &[ChangeNumber]) -> Result<Vec<Undone>, JournalError> {
    let mut steps = BTreeSet::new();
    for number in undoing {
        steps.extend(journal.change(*number)?.map(|change| (change.run, change.step)));
    }
    let mut undos = Vec::new();
    for (run, step) in steps {
        let steps = journal.steps(run)?;
        undos.extend(steps.iter().find(|other| other.index == step).and_then(Undone::recorded));
    }
    Ok(undos)
}

/// Returns the description of a step, as a line of bounded length; that of its first step for one without.
fn description(journal: &JournalReader, rules: &SecretRules, run: RunNumber, step: u32) -> String {
    let steps = journal.steps(run).unwrap_or_default();
    let step = steps.iter().find(|other| other.index == step);
    step.map_or_else(String::new, |step| {
        // Masked here: after the cut, a client could no longer recognise a secret.
        format!("`{}`", rules.mask_line(&step.description, DESCRIPTION_CHARACTERS))
    })
}

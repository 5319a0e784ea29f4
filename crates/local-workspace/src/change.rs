//! Carrying out a batch of file changes: plan, one commit, publish.

use change_journal::{
    ChangeNumber, ChangeRecord as JournalChange, Content, EntryKind, EntryRecord, StepKind, StepRecord,
};
use rel_path::RelPath;
use sandbox_fs::{Expected, FileMode, FileRoot, FsError};
use wap_core::{Call, FileChange, FileChanged, Reason, WapError};

use crate::engine::LocalWorkspace;
use crate::errors::{fs_error, journal_error};
use crate::plan::{Plan, PlannedFile, PlannedStep, Present, PresentKind};
use crate::runs::{EngineRun, Known};
use crate::step_record::{ChangeRecord, decode, encode};

type ItemOutcome = Result<FileChanged, WapError>;

impl LocalWorkspace {
    /// Carries out a batch; see [`wap_core::Workspace::change_files`].
    pub(crate) fn change(
        &self,
        call: &Call<'_>,
        changes: &[FileChange],
    ) -> Result<Vec<ItemOutcome>, WapError> {
        self.check_cancelled(call)?;
        let _one_batch_at_a_time = self.lock_changes();
        let run = EngineRun::enter(&self.journal, call.origin)?;
        if let Some(recorded) = recorded_outcomes(&run, call.origin.step, changes.len())? {
            return Ok(recorded);
        }
        if self.config.read_only {
            return Ok(changes.iter().map(|change| Err(read_only(change.path()))).collect());
        }
        let mut plan = Plan::new(&self.root, &self.hidden, &self.held);
        let planned: Vec<_> = changes.iter().map(|change| plan.change(change)).collect();
        let numbers = self.commit(&run, call.origin.step, changes, &planned)?;
        let failures = self.publish(plan.into_files());
        self.answer(call, planned, &numbers, &failures)
    }

    /// Records all steps of the batch in one commit. Returns the number of each step's change.
    fn commit(
        &self,
        run: &EngineRun<'_>,
        first_step: u32,
        changes: &[FileChange],
        planned: &[Result<PlannedStep, WapError>],
    ) -> Result<Vec<Option<ChangeNumber>>, WapError> {
        let outcomes: Vec<_> = planned.iter().map(encode_outcome).collect();
        let descriptions: Vec<_> = changes.iter().map(describe).collect();
        let steps: Vec<_> = planned
            .iter()
            .zip(outcomes.iter().zip(&descriptions))
            .map(|(planned, (outcome, description))| StepRecord {
                kind: StepKind::FileChange,
                description,
                outcome,
                changes: planned.iter().filter_map(journal_change).collect(),
            })
            .collect();
        let mut numbers =
            self.journal.record_steps(run.number(), first_step, &steps).map_err(journal_error)?.into_iter();
        Ok(steps.iter().map(|step| if step.changes.is_empty() { None } else { numbers.next() }).collect())
    }

    /// Puts every file of the plan in its place. Returns what could not be done, by path.
    fn publish(&self, files: Vec<(RelPath, PlannedFile)>) -> Vec<(RelPath, FsError)> {
        let publish = |(path, file): (RelPath, PlannedFile)| {
            publish_file(&self.root, &path, file.before.as_ref(), file.after.as_ref())
                .err()
                .map(|error| (path, error))
        };
        files.into_iter().filter_map(publish).collect()
    }

    /// Answers each item; what could not be published is told, and noted in the journal so that it is not redone.
    fn answer(
        &self,
        call: &Call<'_>,
        planned: Vec<Result<PlannedStep, WapError>>,
        numbers: &[Option<ChangeNumber>],
        failures: &[(RelPath, FsError)],
    ) -> Result<Vec<ItemOutcome>, WapError> {
        let mut settled = Vec::new();
        let mut outcomes = Vec::with_capacity(planned.len());
        for (step, number) in planned.into_iter().zip(numbers) {
            let step = match step {
                Ok(step) => step,
                Err(error) => {
                    outcomes.push(Err(error));
                    continue;
                }
            };
            if let Some((_, failure)) = failures.iter().find(|(path, _)| *path == step.path) {
                let error = fs_error(failure, &step.path.to_string());
                if let Some(number) = number {
                    let record = ChangeRecord { outcome: Err(error.clone()), line_map: None };
                    self.journal.conflict_change(*number, &encode(&record)).map_err(journal_error)?;
                }
                outcomes.push(Err(error));
                continue;
            }
            if let Some(number) = number {
                settled.push((*number, step.path.clone()));
            }
            if let Some(after) = &step.after {
                self.held.hold(after.hash, &after.bytes, call.origin.retention);
            }
            outcomes.push(Ok(step.changed));
        }
        self.checkpoint.add(settled);
        Ok(outcomes)
    }
}

/// Puts one file in its place, or removes it, if what is there is what the plan was made against.
pub(crate) fn publish_file(
    root: &FileRoot,
    path: &RelPath,
    before: Option<&Present>,
    after: Option<&Present>,
) -> Result<(), FsError> {
    let Some(after) = after else {
        let expected = before.filter(|present| present.kind == PresentKind::File);
        let expected = expected.map(|present| sandbox_fs::ContentHash::from_bytes(*present.hash.as_bytes()));
        return root.remove_file(path, expected.as_ref()).map(drop);
    };
    let expected = match before {
        None => Expected::Absent,
        Some(present) => Expected::Content(sandbox_fs::ContentHash::from_bytes(*present.hash.as_bytes())),
    };
    if let Some(folder) = path.parent().filter(|folder| before.is_none() && !folder.is_root()) {
        root.create_dirs(&folder)?;
    }
    root.stage(path, &after.bytes, FileMode::Keep)?.publish(expected).map(drop)
}

/// The outcomes of all steps of a batch, if they are in the record.
fn recorded_outcomes(
    run: &EngineRun<'_>,
    first: u32,
    count: usize,
) -> Result<Option<Vec<ItemOutcome>>, WapError> {
    let mut outcomes = Vec::with_capacity(count);
    for index in (first..).take(count) {
        match run.recall(index) {
            // A batch is recorded as a whole or not at all.
            Known::NotStarted | Known::Unknown => return Ok(None),
            Known::Finished(bytes) => outcomes.push(decode::<ChangeRecord>(bytes)?.outcome),
        }
    }
    Ok(Some(outcomes))
}

fn encode_outcome(planned: &Result<PlannedStep, WapError>) -> Vec<u8> {
    #[derive(serde::Serialize)]
    struct Record<'a> {
        outcome: Result<&'a FileChanged, &'a WapError>,
        #[serde(skip_serializing_if = "Option::is_none")]
        line_map: Option<&'a crate::step_record::MapRecord>,
    }
    let line_map = planned.as_ref().ok().and_then(|step| step.line_map.as_ref());
    encode(&Record { outcome: planned.as_ref().map(|step| &step.changed), line_map })
}

/// One line for the log.
fn describe(change: &FileChange) -> String {
    let verb = match change {
        FileChange::Write(_) => "write",
        FileChange::Modify(_) => "edit",
        FileChange::Delete(_) => "delete",
    };
    format!("{verb} {}", change.path())
}

fn journal_change(step: &PlannedStep) -> Option<JournalChange<'_>> {
    if step.before == step.after {
        return None;
    }
    Some(JournalChange::intended(
        step.path.as_bytes(),
        step.before.as_ref().map(entry),
        step.after.as_ref().map(entry),
    ))
}

fn entry(present: &Present) -> EntryRecord<'_> {
    EntryRecord {
        kind: match present.kind {
            PresentKind::File => EntryKind::File,
            PresentKind::Other => EntryKind::Symlink,
        },
        content: Content::Bytes(&present.bytes),
        mode: present.mode,
    }
}

fn read_only(path: &str) -> WapError {
    WapError::new(Reason::ReadOnly, "this workspace is read-only").with("path", path)
}

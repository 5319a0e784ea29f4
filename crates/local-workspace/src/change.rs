//! Carrying out a batch of file changes: plan, one commit, publish.

pub(crate) mod checkpoint;
pub(crate) mod dry_run;
pub(crate) mod expected_files;
pub(crate) mod folder_modes;
pub(crate) mod held_versions;
pub(crate) mod late_writes;
pub(crate) mod plan;
pub(crate) mod planned_change;
mod prepared_edits;
pub(crate) mod present;
pub(crate) mod publish;

use std::collections::{BTreeMap, BTreeSet};

use change_journal::{
    Attributes, ChangeNumber, ChangeRecord as JournalChange, Content, EntryKind, EntryRecord, StepKind,
    StepRecord,
};
use rel_path::RelPath;
use sandbox_fs::{FileKind, FsError};
use wap_core::{Call, ConversationId, FileChange, FileChanged, JudgedFile, Reason, Retention, WapError};

use crate::change::expected_files::ExpectedFiles;
use crate::change::plan::{Plan, PlannedFile, PlannedStep};
use crate::change::prepared_edits::PreparedEdits;
use crate::change::present::Present;
use crate::change::publish::{has_moment_without_entry, publish_and_hold};
use crate::engine::LocalWorkspace;
use crate::errors::{fs_error, journal_error};
use crate::runs::{EngineRun, StepState};
use crate::step_record::{ChangeRecord, decode, encode, other_request, request_digest};

/// The number of times that a batch is prepared again because files have changed.
const PREPARATIONS: usize = 3;

/// The longest description of a change in the journal, in characters.
const DESCRIPTION_CHARACTERS: usize = 4_096;

type ItemOutcome = Result<FileChanged, WapError>;

impl LocalWorkspace {
    /// Carries out a batch; see [`wap_core::Workspace::change_files`]. A change of an unexpected file is refused.
    pub(crate) fn change(
        &self,
        call: &Call<'_>,
        changes: &[FileChange],
        expected: &ExpectedFiles,
    ) -> Result<Vec<ItemOutcome>, WapError> {
        if !PreparedEdits::are_worth_it(changes) {
            let _one_batch_at_a_time = self.lock_changes_for(call);
            return self.change_in_turn(call, (changes, expected), None);
        }
        // Long edits are computed before the batch's turn, against the current files. If a file has changed by then,
        // they are computed again; a batch that is overtaken too often computes them while the others wait.
        let prepared = PreparedEdits::default();
        for _ in 0..PREPARATIONS {
            prepared.open();
            self.prepare(call, changes, &prepared);
            prepared.close();
            let _one_batch_at_a_time = self.lock_changes_for(call);
            let outcomes = self.change_in_turn(call, (changes, expected), Some(&prepared));
            if !prepared.has_missed() {
                return outcomes;
            }
        }
        prepared.open();
        let _one_batch_at_a_time = self.lock_changes_for(call);
        self.change_in_turn(call, (changes, expected), Some(&prepared))
    }

    /// Computes the long edits of a batch. Any errors are found again in the batch's turn.
    fn prepare(&self, call: &Call<'_>, changes: &[FileChange], prepared: &PreparedEdits) {
        if self.config.read_only {
            return;
        }
        let mut plan = Plan::new(&self.root, &self.hidden, &self.held).with_prepared(Some(prepared));
        for change in changes {
            if call.cancel.is_cancelled() {
                return;
            }
            let _ = plan.change(change, call.cancel);
        }
    }

    /// Carries out a batch that has its turn.
    fn change_in_turn(
        &self,
        call: &Call<'_>,
        (changes, expected): (&[FileChange], &ExpectedFiles),
        prepared: Option<&PreparedEdits>,
    ) -> Result<Vec<ItemOutcome>, WapError> {
        let run = EngineRun::enter_for(&self.journal, call.origin, changes.len())?;
        let mut outcomes = recorded_outcomes(&run, call.origin.step, changes)?;
        let (recorded, rest) = changes.split_at(outcomes.len());
        if rest.is_empty() {
            return Ok(outcomes);
        }
        let first_step = call.origin.step + small(recorded.len());
        match self.change_rest(call, &run, (first_step, rest), (expected, prepared)) {
            Ok(answers) => outcomes.extend(answers),
            // Recorded outcomes are also returned to a caller who has cancelled.
            Err(error) if error.reason() == Reason::Cancelled && !recorded.is_empty() => {
                outcomes.extend(rest.iter().map(|_| Err(error.clone())));
            }
            Err(error) => return Err(error),
        }
        Ok(outcomes)
    }

    /// Carries out the unrecorded rest.
    fn change_rest(
        &self,
        call: &Call<'_>,
        run: &EngineRun<'_>,
        (first_step, changes): (u32, &[FileChange]),
        (expected, prepared): (&ExpectedFiles, Option<&PreparedEdits>),
    ) -> Result<Vec<ItemOutcome>, WapError> {
        self.check_cancelled(call)?;
        if self.config.read_only {
            return Ok(changes.iter().map(|change| Err(read_only(change.path()))).collect());
        }
        let plan = Plan::new(&self.root, &self.hidden, &self.held);
        let mut plan = plan.with_prepared(prepared).expecting(expected).of_run(run.number());
        let mut planned = Vec::with_capacity(changes.len());
        for change in changes {
            // Until the commit nothing has happened, and a long plan takes its time.
            self.check_cancelled(call)?;
            let step = plan.change(change, call.cancel);
            if let Err(error) = &step
                && JudgedFile::has_refused(error)
            {
                return Err(error.clone());
            }
            planned.push(step);
            if prepared.is_some_and(PreparedEdits::has_missed) {
                return Err(WapError::new(Reason::Busy, "the file keeps changing: try again"));
            }
        }
        if let Some(check) = &self.syntax {
            plan.note_syntax(&mut planned, &**check);
        }
        // An edit that was cut short by the cancellation is not an outcome to record.
        self.check_cancelled(call)?;
        let folders = new_folders(&plan, &planned);
        let numbers = self.commit(run, first_step, changes, &planned, &folders)?;
        let failures = self.publish(&call.origin.conversation, plan.into_files());
        Ok(self.answer(planned, numbers, &failures))
    }

    /// Records all steps of the batch in one commit; `folders` are those that each step makes. Returns the numbers of
    /// each step's changes.
    fn commit(
        &self,
        run: &EngineRun<'_>,
        first_step: u32,
        changes: &[FileChange],
        planned: &[Result<PlannedStep, WapError>],
        folders: &[Vec<RelPath>],
    ) -> Result<Vec<StepNumbers>, WapError> {
        let outcomes: Vec<_> = planned.iter().zip(changes).map(encode_outcome).collect();
        let descriptions: Vec<_> = changes.iter().map(describe).collect();
        let steps: Vec<_> = planned
            .iter()
            .zip(folders)
            .zip(outcomes.iter().zip(&descriptions))
            .map(|((planned, folders), (outcome, description))| StepRecord {
                kind: StepKind::FileChange,
                description,
                outcome,
                changes: folders
                    .iter()
                    .map(folder_creation)
                    .chain(planned.iter().filter_map(journal_change))
                    .collect(),
            })
            .collect();
        let mut numbers =
            self.journal.record_steps(run.number(), first_step, &steps).map_err(journal_error)?.into_iter();
        let numbers = steps.iter().zip(folders).map(|(step, folders)| StepNumbers {
            folders: numbers.by_ref().take(folders.len()).zip(folders.iter().cloned()).collect(),
            file: if step.changes.len() > folders.len() { numbers.next() } else { None },
        });
        Ok(numbers.collect())
    }

    /// Publishes every file of the plan. Returns the failures, by path.
    fn publish(
        &self,
        conversation: &ConversationId,
        files: Vec<(RelPath, PlannedFile)>,
    ) -> BTreeMap<RelPath, Failure> {
        let publish = |(path, file): (RelPath, PlannedFile)| match publish_and_hold(
            &self.root,
            &path,
            file.before.as_ref(),
            file.after.as_ref(),
        ) {
            Ok(replaced) => {
                if let (Some(replaced), Some(before)) = (replaced, &file.before) {
                    self.late_writes.watch(path, conversation, replaced, before.hash);
                }
                None
            }
            Err(error) => {
                // A file that another program removes is not lost: recovery does not recreate it.
                let is_ours = file.before.as_ref().zip(file.after.as_ref()).is_some_and(|(before, after)| {
                    has_moment_without_entry(before.kind.entry_kind(), after.kind.entry_kind())
                });
                let is_lost = is_ours
                    && !matches!(error, FsError::NotFound { .. } | FsError::Changed { .. })
                    && matches!(Present::of_any_kind(&self.root, &path), Ok(None));
                Some((path, Failure { error, is_lost }))
            }
        };
        files.into_iter().filter_map(publish).collect()
    }

    /// Answers each item; failed publications are reported, and noted in the journal so that they are not redone.
    ///
    /// Nothing here can fail the batch any more: each file is published, or reported as failed.
    fn answer(
        &self,
        planned: Vec<Result<PlannedStep, WapError>>,
        numbers: Vec<StepNumbers>,
        failures: &BTreeMap<RelPath, Failure>,
    ) -> Vec<ItemOutcome> {
        let mut published = Vec::new();
        let mut outcomes = Vec::with_capacity(planned.len());
        for (step, StepNumbers { folders, file: number }) in planned.into_iter().zip(numbers) {
            let outcome = step.and_then(|step| {
                if let Some(failure) = failures.get(&step.path) {
                    let error = failure.answer(&step.path);
                    if failure.is_lost {
                        return Err(error);
                    }
                    // A folder that was made for a file that failed stays only if other files are in it.
                    let (made, missing): (Vec<_>, Vec<_>) =
                        folders.into_iter().partition(|(_, folder)| self.is_folder(folder));
                    published.extend(made);
                    for number in missing.into_iter().map(|(number, _)| number).chain(number) {
                        self.note_failure(number, &error);
                    }
                    return Err(error);
                }
                published.extend(folders);
                published.extend(number.map(|number| (number, step.path.clone())));
                if let Some(after) = &step.after {
                    // The journal has the bytes already, as a side of the change.
                    self.held.hold(after.hash, &after.bytes, Retention::Process);
                }
                Ok(step.changed)
            });
            outcomes.push(outcome);
        }
        if !failures.is_empty() {
            // From now on the same step must give the answer given here. If it cannot be recorded, that still
            // holds: recovery examines the file again and reaches the same result.
            let _ = self.journal.flush();
        }
        let numbers: Vec<_> = published.iter().map(|(number, _)| *number).collect();
        // It only spares recovery a doubt: without it, a later save by the user looks like a conflict after a crash.
        let _ = self.journal.publish_changes(&numbers);
        self.checkpoint.add(published);
        outcomes
    }

    fn is_folder(&self, path: &RelPath) -> bool {
        self.root.metadata(path).is_ok_and(|metadata| metadata.kind == FileKind::Folder)
    }

    /// If even this fails, the change stays intended, and recovery reaches the same result.
    pub(crate) fn note_failure(&self, number: ChangeNumber, error: &WapError) {
        let record = ChangeRecord { outcome: Err(error.clone()), line_map: None, request: None };
        let _ = self.journal.conflict_change(number, &encode(&record));
    }
}

/// A file of a plan that could not be published.
struct Failure {
    error: FsError,
    /// True if the path is now empty, but was not before. Its changes then stay intended, and recovery makes them.
    is_lost: bool,
}

impl Failure {
    fn answer(&self, path: &RelPath) -> WapError {
        let error = fs_error(&self.error, &path.to_string());
        if !self.is_lost {
            return error;
        }
        let text = format!(
            "{}; nothing is at `{path}` now, and the change is made when the workspace is next opened",
            error.message()
        );
        WapError::new(Reason::WriteError, text).with("path", path.to_string())
    }
}

/// The numbers of the changes of one step.
struct StepNumbers {
    /// The numbers of the folders that it makes, with their paths.
    folders: Vec<(ChangeNumber, RelPath)>,
    file: Option<ChangeNumber>,
}

/// The folders that each step of a plan makes: those that are missing above its file, unless an earlier step makes them,
/// and unless no file remains there in the end.
fn new_folders(plan: &Plan<'_>, planned: &[Result<PlannedStep, WapError>]) -> Vec<Vec<RelPath>> {
    let created = plan.folders_of_new_files();
    let mut claimed = BTreeSet::new();
    let mut of_step = |step: &PlannedStep| {
        let is_new = |folder: &&RelPath| created.contains(*folder) && claimed.insert((*folder).clone());
        step.missing_folders.iter().filter(is_new).cloned().collect()
    };
    planned.iter().map(|step| step.as_ref().map_or_else(|_| Vec::new(), &mut of_step)).collect()
}

pub(crate) fn folder_creation(path: &RelPath) -> JournalChange<'_> {
    let folder = EntryRecord {
        kind: EntryKind::Folder,
        content: Content::Bytes(&[]),
        mode: None,
        attributes: Attributes::Unknown,
    };
    JournalChange::intended(path.as_bytes(), None, Some(folder))
}

/// The outcomes of the first steps of a batch that are in the record: none, all, or those of a batch that ended
/// earlier, when another version divided the same calls differently.
fn recorded_outcomes(
    run: &EngineRun<'_>,
    first: u32,
    changes: &[FileChange],
) -> Result<Vec<ItemOutcome>, WapError> {
    let mut outcomes = Vec::with_capacity(changes.len());
    let mut is_missing = false;
    for (index, change) in (first..).zip(changes) {
        match run.recall(index, StepKind::FileChange)? {
            // Changes are recorded with their outcome.
            StepState::NotStarted | StepState::Unknown => is_missing = true,
            // Steps are carried out in their order, so these are not the calls that were recorded.
            StepState::Finished(_) if is_missing => {
                let text =
                    "later steps of this batch are on record and earlier ones are not, so nothing was done";
                return Err(WapError::new(Reason::Conflict, text));
            }
            StepState::Finished(bytes) => {
                let record = decode::<ChangeRecord>(bytes)?;
                if record.request.is_some_and(|request| request != request_digest(change)) {
                    return Err(other_request(index));
                }
                outcomes.push(record.outcome);
            }
        }
    }
    Ok(outcomes)
}

fn small(count: usize) -> u32 {
    u32::try_from(count).expect("a batch has fewer changes than 32 bits count")
}

fn encode_outcome((planned, change): (&Result<PlannedStep, WapError>, &FileChange)) -> Vec<u8> {
    #[derive(serde::Serialize)]
    struct Record<'a> {
        outcome: Result<&'a FileChanged, &'a WapError>,
        #[serde(skip_serializing_if = "Option::is_none")]
        line_map: Option<&'a crate::step_record::MapRecord>,
        request: String,
    }
    let line_map = planned.as_ref().ok().and_then(|step| step.line_map.as_ref());
    let outcome = planned.as_ref().map(|step| &step.changed);
    encode(&Record { outcome, line_map, request: request_digest(change) })
}

/// One line for the log. The path is as the request spelled it, so it may be anything, and is named whole or not at
/// all: masking does not recognise a truncated secret.
fn describe(change: &FileChange) -> String {
    let verb = match change {
        FileChange::Write(_) => "write",
        FileChange::Modify(_) => "edit",
        FileChange::Delete(_) => "delete",
    };
    let printable = |character: char| if character.is_control() { '\u{fffd}' } else { character };
    let path: String = change.path().chars().map(printable).collect();
    match path.chars().count() {
        ..=DESCRIPTION_CHARACTERS => format!("{verb} {path}"),
        characters => format!("{verb} a path of {characters} characters"),
    }
}

fn journal_change(step: &PlannedStep) -> Option<JournalChange<'_>> {
    if step.before == step.after {
        return None;
    }
    let [before, after] = [&step.before, &step.after].map(|side| side.as_ref().map(Present::entry));
    Some(JournalChange::intended(step.path.as_bytes(), before, after))
}

pub(crate) fn read_only(path: &str) -> WapError {
    WapError::new(Reason::ReadOnly, "this workspace is read-only").with("path", path)
}

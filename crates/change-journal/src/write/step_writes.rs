//! Owns the writes about steps and their changes.

use std::collections::HashSet;
use std::sync::Arc;

use rusqlite::{OptionalExtension, params};

use crate::change::{ChangeNumber, ChangeState, EntryKind, RecordedAttributes};
use crate::error::JournalError;
use crate::open_runs::OpenRun;
use crate::step::StepKind;
use crate::store::content_store::ContentRow;
use crate::store::rows::HashColumn;
use crate::write::work::{Work, Write};
use content_hash::ContentHash;

/// One side of a change, ready for the commit.
#[derive(Debug)]
pub(crate) struct EntryRow {
    pub(crate) kind: EntryKind,
    pub(crate) content: Option<ContentHash>,
    pub(crate) length_bytes: Option<usize>,
    pub(crate) mode: Option<u32>,
    pub(crate) attributes: RecordedAttributes,
    /// Set if the caller passed only the hash, so that recording fails unless the journal holds the content.
    pub(crate) must_be_held: bool,
}

#[derive(Debug)]
pub(crate) struct ChangeRow {
    pub(crate) step: u32,
    pub(crate) path: Vec<u8>,
    pub(crate) before: Option<EntryRow>,
    pub(crate) after: Option<EntryRow>,
    pub(crate) state: ChangeState,
    pub(crate) undoes: Option<ChangeNumber>,
}

/// Changes and the contents that they refer to.
#[derive(Debug, Default)]
pub(crate) struct ChangeRows {
    pub(crate) changes: Vec<ChangeRow>,
    pub(crate) contents: Vec<ContentRow>,
    /// The hashes of `contents`.
    pub(crate) hashes: HashSet<ContentHash>,
}

impl ChangeRows {
    fn weight_bytes(&self) -> usize {
        let inline: usize = self.contents.iter().filter_map(ContentRow::inline).map(<[u8]>::len).sum();
        // An estimate of a row without its contents.
        inline + 512 * self.changes.len()
    }

    fn apply(&self, run: &OpenRun, write: &Write<'_>) -> Result<Vec<ChangeNumber>, JournalError> {
        for content in &self.contents {
            content.insert(write)?;
        }
        self.changes.iter().map(|change| insert_change(run, change, write)).collect()
    }
}

fn insert_change(run: &OpenRun, change: &ChangeRow, write: &Write<'_>) -> Result<ChangeNumber, JournalError> {
    if let Some(undone) = change.undoes {
        let mut statement = write.connection.prepare_cached("SELECT 1 FROM change WHERE number = ?1")?;
        if !statement.exists([undone])? {
            return Err(JournalError::UnknownUndo);
        }
    }
    let [before_length, after_length] =
        [length_of(change.before.as_ref(), write)?, length_of(change.after.as_ref(), write)?];
    let (before, after) = (change.before.as_ref(), change.after.as_ref());
    let mut statement = write.connection.prepare_cached(
        "INSERT INTO change (run, step_index, path, before_kind, before_content, before_length_bytes, before_mode,
             after_kind, after_content, after_length_bytes, after_mode, state, undoes, opening, recorded_at_ms,
             before_attributes, after_attributes)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
    )?;
    statement.execute(params![
        run.number,
        change.step,
        change.path,
        before.map(|entry| entry.kind),
        before.and_then(|entry| entry.content).map(HashColumn),
        before_length,
        before.and_then(|entry| entry.mode),
        after.map(|entry| entry.kind),
        after.and_then(|entry| entry.content).map(HashColumn),
        after_length,
        after.and_then(|entry| entry.mode),
        change.state,
        change.undoes,
        write.opening,
        write.now_ms,
        before.map(|entry| entry.attributes),
        after.map(|entry| entry.attributes),
    ])?;
    Ok(ChangeNumber(write.connection.last_insert_rowid().cast_unsigned()))
}

/// Returns the length of a side's content. If the caller passed only the hash, it is read from the content's row.
fn length_of(entry: Option<&EntryRow>, write: &Write<'_>) -> Result<Option<i64>, JournalError> {
    let Some(EntryRow { content: Some(hash), must_be_held: true, .. }) = entry else {
        return Ok(entry.and_then(|entry| entry.length_bytes).map(|length| length as i64));
    };
    let mut statement =
        write.connection.prepare_cached("SELECT length_bytes FROM content WHERE hash = ?1")?;
    match statement.query_row([HashColumn(*hash)], |row| row.get(0)).optional()? {
        Some(length) => Ok(Some(length)),
        None => Err(JournalError::ContentMissing { hash: *hash }),
    }
}

/// Starts a step whose outcome comes later.
pub(crate) struct StartStep {
    pub(crate) run: Arc<OpenRun>,
    pub(crate) index: u32,
    pub(crate) kind: StepKind,
    pub(crate) description: String,
}

impl Work for StartStep {
    type Value = ();

    fn apply(&self, write: &Write<'_>) -> Result<(), JournalError> {
        insert_step(&self.run, self.index, self.kind, &self.description, None, write)
    }

    fn run(&self) -> Option<&Arc<OpenRun>> {
        Some(&self.run)
    }
}

/// Records the outcome of a started step and its changes to files.
pub(crate) struct FinishStep {
    pub(crate) run: Arc<OpenRun>,
    pub(crate) index: u32,
    pub(crate) outcome: Vec<u8>,
    pub(crate) rows: ChangeRows,
}

impl Work for FinishStep {
    type Value = Vec<ChangeNumber>;

    fn apply(&self, write: &Write<'_>) -> Result<Vec<ChangeNumber>, JournalError> {
        let mut statement = write.connection.prepare_cached(
            "UPDATE step SET outcome = ?3, finished_at_ms = ?4
             WHERE run = ?1 AND step_index = ?2 AND outcome IS NULL",
        )?;
        // Only an open step is updated, so a step gets one outcome and keeps it.
        if statement.execute(params![self.run.number, self.index, self.outcome, write.now_ms])? == 0 {
            return Err(JournalError::StepNotOpen { run: self.run.number, index: self.index });
        }
        self.rows.apply(&self.run, write)
    }

    fn weight_bytes(&self) -> usize {
        self.outcome.len() + self.rows.weight_bytes()
    }

    fn run(&self) -> Option<&Arc<OpenRun>> {
        Some(&self.run)
    }
}

pub(crate) struct StepRow {
    pub(crate) index: u32,
    pub(crate) kind: StepKind,
    pub(crate) description: String,
    pub(crate) outcome: Vec<u8>,
}

/// Records steps together with their outcomes and their changes to files.
pub(crate) struct RecordSteps {
    pub(crate) run: Arc<OpenRun>,
    pub(crate) steps: Vec<StepRow>,
    pub(crate) rows: ChangeRows,
}

impl Work for RecordSteps {
    type Value = Vec<ChangeNumber>;

    fn apply(&self, write: &Write<'_>) -> Result<Vec<ChangeNumber>, JournalError> {
        for step in &self.steps {
            insert_step(&self.run, step.index, step.kind, &step.description, Some(&step.outcome), write)?;
        }
        self.rows.apply(&self.run, write)
    }

    fn weight_bytes(&self) -> usize {
        self.steps.iter().map(|step| step.outcome.len() + 512).sum::<usize>() + self.rows.weight_bytes()
    }

    fn run(&self) -> Option<&Arc<OpenRun>> {
        Some(&self.run)
    }
}

fn insert_step(
    run: &OpenRun,
    index: u32,
    kind: StepKind,
    description: &str,
    outcome: Option<&[u8]>,
    write: &Write<'_>,
) -> Result<(), JournalError> {
    let mut statement = write.connection.prepare_cached(
        "INSERT INTO step (run, step_index, kind, description, opening, started_at_ms, finished_at_ms, outcome)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (run, step_index) DO NOTHING",
    )?;
    let finished_at_ms = outcome.map(|_| write.now_ms);
    let inserted = statement.execute(params![
        run.number,
        index,
        kind,
        description,
        write.opening,
        write.now_ms,
        finished_at_ms,
        outcome
    ])?;
    // The count tells a repeated step from the errors of the database.
    if inserted == 0 {
        return Err(JournalError::StepRecorded { run: run.number, index });
    }
    Ok(())
}

/// Moves changes to a later state. A change that is already in that state or a later one stays unchanged.
pub(crate) struct MarkChanges {
    pub(crate) numbers: Vec<ChangeNumber>,
    pub(crate) state: ChangeState,
}

impl Work for MarkChanges {
    type Value = ();

    fn apply(&self, write: &Write<'_>) -> Result<(), JournalError> {
        let mut statement = write.connection.prepare_cached(
            "UPDATE change SET state = ?2
             WHERE number = ?1 AND (state = 'intended' OR (state = 'published' AND ?2 <> 'published'))",
        )?;
        for number in &self.numbers {
            statement.execute(params![number, self.state])?;
        }
        Ok(())
    }

    fn weight_bytes(&self) -> usize {
        64 * self.numbers.len()
    }
}

/// Marks changes of one step as conflicted and replaces the outcome of the step, which claimed that they
/// apply.
pub(crate) struct ConflictChanges {
    pub(crate) numbers: Vec<ChangeNumber>,
    pub(crate) outcome: Vec<u8>,
}

impl Work for ConflictChanges {
    type Value = ();

    fn apply(&self, write: &Write<'_>) -> Result<(), JournalError> {
        let mark = MarkChanges { numbers: self.numbers.clone(), state: ChangeState::Conflicted };
        mark.apply(write)?;
        let mut conflicted = write
            .connection
            .prepare_cached("SELECT 1 FROM change WHERE number = ?1 AND state = 'conflicted'")?;
        let mut statement = write.connection.prepare_cached(
            "UPDATE step SET outcome = ?2 WHERE outcome IS NOT NULL AND (run, step_index) IN
                 (SELECT run, step_index FROM change WHERE number = ?1 AND state = 'conflicted')",
        )?;
        for number in &self.numbers {
            if conflicted.exists([number])? {
                statement.execute(params![number, self.outcome])?;
                // All changes belong to one step, so one update replaces its outcome.
                break;
            }
        }
        Ok(())
    }

    fn weight_bytes(&self) -> usize {
        self.outcome.len() + 64 * self.numbers.len() + 256
    }
}

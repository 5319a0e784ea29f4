//! Owns the writes that finish runs and set documents.

use std::sync::Arc;

use rusqlite::{OptionalExtension, params};

use crate::document::DocumentVersion;
use crate::error::JournalError;
use crate::open_runs::OpenRun;
use crate::run::RunNumber;
use crate::store::rows::HashColumn;
use crate::write::work::{Work, Write};
use content_hash::ContentHash;

pub(crate) struct DocumentRow {
    pub(crate) name: String,
    /// `None` removes the document.
    pub(crate) value: Option<(ContentHash, Vec<u8>)>,
}

/// Writes documents, on their own or with the end of a run.
pub(crate) struct WriteDocuments {
    pub(crate) documents: Vec<DocumentRow>,
}

impl WriteDocuments {
    fn apply_for(
        &self,
        run: Option<RunNumber>,
        write: &Write<'_>,
    ) -> Result<Vec<Option<DocumentVersion>>, JournalError> {
        let mut versions = Vec::with_capacity(self.documents.len());
        for document in &self.documents {
            // Deleting the row first gives the next value a fresh row number, which is its version.
            let mut removal = write.connection.prepare_cached("DELETE FROM document WHERE name = ?1")?;
            removal.execute([&document.name])?;
            versions.push(match &document.value {
                None => None,
                Some((hash, bytes)) => {
                    let mut insertion = write.connection.prepare_cached(
                        "INSERT INTO document (name, hash, run, written_at_ms, bytes) VALUES (?1, ?2, ?3, ?4, ?5)",
                    )?;
                    insertion.execute(params![document.name, HashColumn(*hash), run, write.now_ms, bytes])?;
                    Some(DocumentVersion(write.connection.last_insert_rowid().cast_unsigned()))
                }
            });
        }
        Ok(versions)
    }
}

impl Work for WriteDocuments {
    type Value = Vec<Option<DocumentVersion>>;

    fn apply(&self, write: &Write<'_>) -> Result<Self::Value, JournalError> {
        self.apply_for(None, write)
    }

    fn weight_bytes(&self) -> usize {
        let bytes = |row: &DocumentRow| row.value.as_ref().map_or(0, |(_, bytes)| bytes.len()) + 256;
        self.documents.iter().map(bytes).sum()
    }

    fn is_relied_on(&self) -> bool {
        true
    }
}

/// Finishes a run together with the documents that its end changes.
pub(crate) struct FinishRun {
    pub(crate) run: Arc<OpenRun>,
    pub(crate) outcome: Vec<u8>,
    pub(crate) documents: WriteDocuments,
}

impl Work for FinishRun {
    type Value = Vec<Option<DocumentVersion>>;

    fn apply(&self, write: &Write<'_>) -> Result<Self::Value, JournalError> {
        let run = self.run.number;
        // Inside the transaction: no step can start between this check and the update.
        let mut unfinished = write.connection.prepare_cached(
            "SELECT step_index FROM step WHERE run = ?1 AND outcome IS NULL ORDER BY step_index LIMIT 1",
        )?;
        if let Some(index) = unfinished.query_row([run], |row| row.get(0)).optional()? {
            return Err(JournalError::StepUnfinished { run, index });
        }
        let mut finish = write.connection.prepare_cached(
            "UPDATE run SET outcome = ?2, finished_at_ms = ?3 WHERE number = ?1 AND outcome IS NULL",
        )?;
        if finish.execute(params![run, self.outcome, write.now_ms])? == 0 {
            return Err(JournalError::RunNotOpen { run });
        }
        self.documents.apply_for(Some(run), write)
    }

    fn weight_bytes(&self) -> usize {
        self.outcome.len() + self.documents.weight_bytes()
    }

    fn run(&self) -> Option<&Arc<OpenRun>> {
        Some(&self.run)
    }
}

/// Marks every quarantined database as acknowledged.
pub(crate) struct AcknowledgeSetAside;

impl Work for AcknowledgeSetAside {
    type Value = ();

    fn apply(&self, write: &Write<'_>) -> Result<(), JournalError> {
        write.connection.execute(
            "UPDATE set_aside SET acknowledged_at_ms = ?1 WHERE acknowledged_at_ms IS NULL",
            [write.now_ms],
        )?;
        Ok(())
    }
}

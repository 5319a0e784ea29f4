//! The records of agents, durable: documents of a journal.

use std::path::Path;

use change_journal::{DocumentWrite, Journal, JournalLimits, JournalReader, OpenError};

use crate::error::RunnerError;
use crate::record::AgentRecord;

const RECORDS: &str = "agent/";
const BODIES: &str = "body/";

/// The records, for reading and writing. One process has them open.
#[derive(Debug)]
pub(crate) struct Store {
    journal: Journal,
}

impl Store {
    /// Opens the records in a folder, and makes it if it is missing.
    pub(crate) fn open(folder: &Path) -> Result<Store, RunnerError> {
        let (journal, _) = Journal::open(folder, JournalLimits::default()).map_err(RunnerError::Open)?;
        Ok(Store { journal })
    }

    pub(crate) fn records(&self) -> Result<Vec<AgentRecord>, RunnerError> {
        records(self.journal.reader())
    }

    /// Returns the record of an agent by its key; `None` if there is none.
    pub(crate) fn record(&self, key: &str) -> Result<Option<AgentRecord>, RunnerError> {
        let document = self.journal.reader().document(&format!("{RECORDS}{key}"))?;
        document
            .map(|document| serde_json::from_slice(&document.bytes).map_err(RunnerError::Record))
            .transpose()
    }

    /// Writes a record. It is on the disk when this returns.
    pub(crate) fn put(&self, record: &AgentRecord) -> Result<(), RunnerError> {
        self.write(record, None)
    }

    /// Writes a record with the text.
    pub(crate) fn put_with_body(&self, record: &AgentRecord, body: &str) -> Result<(), RunnerError> {
        self.write(record, Some(body))
    }

    pub(crate) fn body(&self, key: &str) -> Result<String, RunnerError> {
        let document = self.journal.reader().document(&format!("{BODIES}{key}"))?;
        Ok(document.map(|body| String::from_utf8_lossy(&body.bytes).into_owned()).unwrap_or_default())
    }

    /// Removes the record of an agent, and its issue's text.
    pub(crate) fn remove(&self, key: &str) -> Result<(), RunnerError> {
        let names = [format!("{RECORDS}{key}"), format!("{BODIES}{key}")];
        let removals: Vec<_> = names.iter().map(|name| DocumentWrite::Remove { name }).collect();
        self.journal.write_documents(&removals)?;
        Ok(())
    }

    fn write(&self, record: &AgentRecord, body: Option<&str>) -> Result<(), RunnerError> {
        let (name, body_name) = (format!("{RECORDS}{}", record.key()), format!("{BODIES}{}", record.key()));
        let bytes = serde_json::to_vec(record).map_err(RunnerError::Record)?;
        // Both in one write: the verdict of a recovered agent needs the text.
        let mut writes = vec![DocumentWrite::Put { name: &name, bytes: &bytes }];
        if let Some(body) = body {
            writes.push(DocumentWrite::Put { name: &body_name, bytes: body.as_bytes() });
        }
        self.journal.write_documents(&writes)?;
        Ok(())
    }
}

/// Reads the records, also while another process has them open; none if there are none yet.
pub(crate) fn read(folder: &Path) -> Result<Vec<AgentRecord>, RunnerError> {
    match Journal::open_read_only(folder) {
        Ok(reader) => records(&reader),
        Err(OpenError::Missing) => Ok(Vec::new()),
        Err(error) => Err(RunnerError::Open(error)),
    }
}

/// Returns all records, those of the newest run first.
fn records(reader: &JournalReader) -> Result<Vec<AgentRecord>, RunnerError> {
    let mut records = Vec::new();
    for head in reader.documents(RECORDS)? {
        if let Some(document) = reader.document(&head.name)? {
            records.push(serde_json::from_slice(&document.bytes).map_err(RunnerError::Record)?);
        }
    }
    records.sort_by(|one: &AgentRecord, other: &AgentRecord| {
        other.recorded_at_ms.cmp(&one.recorded_at_ms).then_with(|| one.agent.cmp(&other.agent))
    });
    Ok(records)
}

//! The records of agents, durable: documents of a journal.

use std::path::Path;

use change_journal::{DocumentWrite, Journal, JournalLimits, JournalReader, OpenError};

use crate::error::RunnerError;
use crate::record::AgentRecord;

const RECORDS: &str = "agent/";
const BODIES: &str = "body/";

/// The records, to read and write. One process has them open.
#[derive(Debug)]
pub(crate) struct Store {
    journal: Journal,
}

impl Store {
    /// Opens the records in a folder that is made if need be.
    pub(crate) fn open(folder: &Path) -> Result<Store, RunnerError> {
        let (journal, _) = Journal::open(folder, JournalLimits::default()).map_err(RunnerError::Open)?;
        Ok(Store { journal })
    }

    pub(crate) fn records(&self) -> Result<Vec<AgentRecord>, RunnerError> {
        records(self.journal.reader())
    }

    /// Writes a record; it is on the disk afterwards.
    pub(crate) fn put(&self, record: &AgentRecord) -> Result<(), RunnerError> {
        self.write(record, None)
    }

    /// Writes a record with the text.
    pub(crate) fn put_with_body(&self, record: &AgentRecord, body: &str) -> Result<(), RunnerError> {
        self.write(record, Some(body))
    }

    pub(crate) fn body(&self, key: &str) -> Result<String, RunnerError> {
        let document = self.journal.reader().document(&format!("{BODIES}{key}"))?;
        Ok(document.map(|found| String::from_utf8_lossy(&found.bytes).into_owned()).unwrap_or_default())
    }

    /// Forgets an agent.
    pub(crate) fn remove(&self, key: &str) -> Result<(), RunnerError> {
        let names = [format!("{RECORDS}{key}"), format!("{BODIES}{key}")];
        let removals: Vec<_> = names.iter().map(|name| DocumentWrite::Remove { name }).collect();
        self.journal.write_documents(&removals)?;
        Ok(())
    }

    fn write(&self, record: &AgentRecord, body: Option<&str>) -> Result<(), RunnerError> {
        let (name, body_name) = (format!("{RECORDS}{}", record.key()), format!("{BODIES}{}", record.key()));
        let bytes = serde_json::to_vec(record).map_err(RunnerError::Record)?;
        let mut writes = vec![DocumentWrite::Put { name: &name, bytes: &bytes }];
        if let Some(body) = body {
            writes.push(DocumentWrite::Put { name: &body_name, bytes: body.as_bytes() });
        }
        self.journal.write_documents(&writes)?;
        Ok(())
    }
}

/// Reads the records beside whoever has them open; none if there are none yet.
pub(crate) fn read(folder: &Path) -> Result<Vec<AgentRecord>, RunnerError> {
    match Journal::open_read_only(folder) {
        Ok(reader) => records(&reader),
        Err(OpenError::Missing) => Ok(Vec::new()),
        Err(error) => Err(RunnerError::Open(error)),
    }
}

/// All records, those of the newest run first.
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

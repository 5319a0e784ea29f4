//! Reading and writing the documents of the queue.

use change_journal::DocumentWrite;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Queue, QueueError};
use crate::proposal::ProposalId;

impl Queue {
    pub(super) fn write<T: Serialize>(&self, name: &str, value: &T) -> Result<(), QueueError> {
        self.journal.write_documents(&[DocumentWrite::Put { name, bytes: &encoded(value) }])?;
        Ok(())
    }

    pub(super) fn read<T: DeserializeOwned>(
        &self,
        name: &str,
        id: ProposalId,
    ) -> Result<Option<T>, QueueError> {
        let Some(document) = self.journal.reader().document(name)? else { return Ok(None) };
        let read = serde_json::from_slice(&document.bytes);
        read.map(Some).map_err(|error| QueueError::Damaged { id, error: error.to_string() })
    }
}

pub(super) fn encoded<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("the values have string keys")
}

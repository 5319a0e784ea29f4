//! Owns making rows of the caller's values: lengths are checked, contents hashed and large ones stored as
//! files before the writer thread receives them.

use std::collections::HashSet;

use crate::change::{Attributes, ChangeRecord, Content, EntryRecord, RecordedAttributes};
use crate::document::DocumentWrite;
use crate::error::{JournalError, Oversized};
use crate::limits::JournalLimits;
use crate::reader::JournalReader;
use crate::store::content_store::{BlobFiles, ContentBytes, ContentRow};
use crate::write::run_writes::{DocumentRow, WriteDocuments};
use crate::write::step_writes::{ChangeRow, ChangeRows, EntryRow};
use content_hash::ContentHash;

/// The parts of the journal that making rows needs.
pub(crate) struct Preparation<'a> {
    pub(crate) limits: &'a JournalLimits,
    pub(crate) reader: &'a JournalReader,
    /// `None` without a folder, so that every content is part of the commit.
    pub(crate) blobs: Option<&'a BlobFiles>,
}

impl Preparation<'_> {
    /// Makes rows of the changes of step `step` and adds them to `rows`.
    pub(crate) fn add_changes(
        &self,
        step: u32,
        changes: &[ChangeRecord<'_>],
        rows: &mut ChangeRows,
    ) -> Result<(), JournalError> {
        for change in changes {
            if change.before.is_none() && change.after.is_none() {
                return Err(JournalError::EmptyChange);
            }
            let mut side = |record: Option<EntryRecord<'_>>| {
                record.map(|record| self.entry(&record, &mut rows.hashes, &mut rows.contents)).transpose()
            };
            let (before, after) = (side(change.before)?, side(change.after)?);
            rows.changes.push(ChangeRow {
                step,
                path: change.path.to_owned(),
                before,
                after,
                state: change.state,
                undoes: change.undoes,
            });
        }
        Ok(())
    }

    fn entry(
        &self,
        record: &EntryRecord<'_>,
        hashes: &mut HashSet<ContentHash>,
        contents: &mut Vec<ContentRow>,
    ) -> Result<EntryRow, JournalError> {
        let (content, length_bytes, must_be_held) = match record.content {
            // Whether the journal holds it is checked inside the transaction, since a collection may run
            // until then.
            Content::Held(hash) => (Some(hash), None, true),
            Content::NotKept(hash) => (hash, None, false),
            Content::Bytes(bytes) => {
                check(Oversized::Content, bytes.len(), self.limits.content_bytes)?;
                let hash = ContentHash::of(bytes);
                if hashes.insert(hash) {
                    contents.push(self.content(hash, bytes)?);
                }
                (Some(hash), Some(bytes.len()), false)
            }
        };
        let attributes = match record.attributes {
            Attributes::Unknown => RecordedAttributes::Unknown,
            Attributes::Bytes([]) => RecordedAttributes::None,
            Attributes::Bytes(bytes) => {
                check(Oversized::Content, bytes.len(), self.limits.content_bytes)?;
                let hash = ContentHash::of(bytes);
                if hashes.insert(hash) {
                    contents.push(self.content(hash, bytes)?);
                }
                RecordedAttributes::Content(hash)
            }
            Attributes::Recorded(recorded) => recorded,
        };
        Ok(EntryRow { kind: record.kind, content, length_bytes, mode: record.mode, attributes, must_be_held })
    }

    fn content(&self, hash: ContentHash, bytes: &[u8]) -> Result<ContentRow, JournalError> {
        let length_bytes = bytes.len();
        let bytes = match self.blobs {
            Some(blobs) if bytes.len() > self.limits.inline_content_bytes => {
                // The file comes before its row: a crash may leave a file without a row, and never a row without its file.
                ContentBytes::File(blobs.keep(&hash, bytes, || self.reader.holds_content(&hash))?)
            }
            _ => ContentBytes::Inline(bytes.to_owned()),
        };
        Ok(ContentRow { hash, length_bytes, bytes })
    }

    /// Makes a row of a content that no change refers to.
    pub(crate) fn kept_content(&self, bytes: &[u8]) -> Result<ContentRow, JournalError> {
        check(Oversized::Content, bytes.len(), self.limits.content_bytes)?;
        self.content(ContentHash::of(bytes), bytes)
    }

    /// Checks the limit on an outcome and copies it.
    pub(crate) fn outcome(&self, outcome: &[u8]) -> Result<Vec<u8>, JournalError> {
        check(Oversized::Outcome, outcome.len(), self.limits.outcome_bytes)?;
        Ok(outcome.to_owned())
    }

    /// Makes rows of document writes.
    pub(crate) fn documents(&self, writes: &[DocumentWrite<'_>]) -> Result<WriteDocuments, JournalError> {
        let row = |write: &DocumentWrite<'_>| match *write {
            DocumentWrite::Remove { name } => Ok(DocumentRow { name: name.to_owned(), value: None }),
            DocumentWrite::Put { name, bytes } => {
                check(Oversized::Document, bytes.len(), self.limits.document_bytes)?;
                let value = Some((ContentHash::of(bytes), bytes.to_owned()));
                Ok(DocumentRow { name: name.to_owned(), value })
            }
        };
        Ok(WriteDocuments { documents: writes.iter().map(row).collect::<Result<_, JournalError>>()? })
    }
}

fn check(what: Oversized, length_bytes: usize, limit_bytes: usize) -> Result<(), JournalError> {
    if length_bytes > limit_bytes {
        return Err(JournalError::TooLarge { what, length_bytes, limit_bytes });
    }
    Ok(())
}

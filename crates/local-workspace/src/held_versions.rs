//! Versions of files whose bytes are still held, so that line numbers of an older version can be understood.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use change_journal::{ContentHash, Journal};
use rel_path::RelPath;
use text_edit::{LineMap, Source};
use wap_core::{FileVersion, Retention};

use crate::step_record::{ChangeRecord, decode};

/// The largest file whose bytes are held.
pub(crate) const HELD_FILE_BYTES: u64 = 4 << 20;

/// How many bytes are held in memory altogether.
const MEMORY_BYTES: usize = 16 << 20;

/// How many changes of a path are followed back.
const EDITS_FOLLOWED: u32 = 256;

/// Bytes of versions, in memory for a while and in the journal for conversations that outlive the process.
#[derive(Debug)]
pub(crate) struct HeldVersions {
    journal: Journal,
    recent: Mutex<Recent>,
}

#[derive(Debug, Default)]
struct Recent {
    bytes: usize,
    versions: VecDeque<(ContentHash, Arc<[u8]>)>,
}

/// The way from one version to the next by an edit of ours.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    pub before: ContentHash,
    pub after: ContentHash,
    pub line_map: LineMap,
}

/// The name of a version.
pub(crate) fn version(hash: &ContentHash) -> FileVersion {
    FileVersion(hash.to_string())
}

impl HeldVersions {
    pub(crate) fn new(journal: Journal) -> HeldVersions {
        HeldVersions { journal, recent: Mutex::default() }
    }

    /// Holds the bytes of a version that a conversation is being shown.
    pub(crate) fn hold(&self, hash: ContentHash, bytes: &[u8], retention: Retention) {
        if bytes.len() as u64 > HELD_FILE_BYTES {
            return;
        }
        if retention == Retention::Durable {
            // It rides with the next commit, at the latest the one that ends the reply. If it fails, later line numbers
            // of this version are refused, which is safe.
            let _ = self.journal.keep_content(bytes);
        }
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = recent.versions.iter().position(|(held, _)| *held == hash) {
            if let Some(found) = recent.versions.remove(index) {
                recent.versions.push_back(found);
            }
            return;
        }
        recent.bytes += bytes.len();
        recent.versions.push_back((hash, bytes.into()));
        while recent.bytes > MEMORY_BYTES {
            let Some((_, oldest)) = recent.versions.pop_front() else { break };
            recent.bytes -= oldest.len();
        }
    }

    /// Returns the bytes of a version if they are held.
    pub(crate) fn bytes(&self, hash: &ContentHash) -> Option<Arc<[u8]>> {
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, bytes)) = recent.versions.iter().find(|(held, _)| held == hash) {
            return Some(Arc::clone(bytes));
        }
        drop(recent);
        self.journal.reader().content(hash).ok().flatten().map(Arc::from)
    }

    /// Finds out where the lines of version `from` are in version `to` of a file.
    ///
    /// Edits of ours are followed exactly, first those in the journal, then `planned` ones that are not yet there. Where
    /// somebody else has changed the file, the texts are compared. `None` if the bytes of `from` are not held.
    pub(crate) fn line_map(
        &self,
        path: &RelPath,
        from: &ContentHash,
        to: &ContentHash,
        current: &Source<'_>,
        planned: &[Edit],
    ) -> Option<LineMap> {
        let shown = self.bytes(from)?;
        let shown = Source::parse(&shown).ok()?;
        let mut map = LineMap::identity(shown.total_lines());
        let mut at = *from;
        for edit in self.recorded_edits(path).iter().chain(planned) {
            if edit.before == at && edit.line_map.old_lines() == map.new_lines() {
                map = map.compose(&edit.line_map);
                at = edit.after;
            }
        }
        if at == *to {
            return Some(map);
        }
        // The rest of the way was somebody else's. Without the bytes at the fork the whole way is compared.
        match self.bytes(&at) {
            Some(fork) => {
                let fork = Source::parse(&fork).ok()?;
                Some(map.compose(&LineMap::between(&fork, current)))
            }
            None => Some(LineMap::between(&shown, current)),
        }
    }

    /// The edits of a path that the journal knows, oldest first.
    fn recorded_edits(&self, path: &RelPath) -> Vec<Edit> {
        let reader = self.journal.reader();
        let Ok(mut changes) = reader.changes_of_path(path.as_bytes(), EDITS_FOLLOWED) else {
            return Vec::new();
        };
        changes.reverse();
        let edit = |change: change_journal::RecordedChange| {
            let before = change.before?.content?;
            let after = change.after?.content?;
            let steps = reader.steps(change.run).ok()?;
            let outcome = steps.into_iter().find(|step| step.index == change.step)?.outcome?;
            let record: ChangeRecord = decode(&outcome).ok()?;
            Some(Edit { before, after, line_map: record.line_map?.line_map()? })
        };
        changes.into_iter().filter_map(edit).collect()
    }
}

//! Versions of files whose bytes are still held, to interpret line numbers of older versions.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use change_journal::{ChangeState, ContentHash, Entry, Journal, RunNumber};
use rel_path::RelPath;
use text_edit::{LineMap, Source};
use wap_core::{FileVersion, Retention};

use crate::change::present::Present;
use crate::step_record::{ChangeRecord, decode};

/// The largest file whose bytes are held.
pub(crate) const HELD_FILE_BYTES: u64 = 4 << 20;

/// The limit on bytes that are held in memory.
const MEMORY_BYTES: usize = 16 << 20;

/// The number of changes of a path that are followed back.
const EDITS_FOLLOWED: u32 = 256;

/// Bytes of versions, in memory temporarily and in the journal for conversations that outlive the process.
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

/// The step from one version to the next by one of our edits.
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

    /// Holds the bytes of a version that is being shown to a conversation.
    pub(crate) fn hold(&self, hash: ContentHash, bytes: &[u8], retention: Retention) {
        if bytes.len() as u64 > HELD_FILE_BYTES {
            return;
        }
        if retention == Retention::Durable {
            // It is part of the next commit, at the latest the one that ends the reply. If it fails, later line numbers
            // of this version are refused, which is safe.
            let _ = self.journal.keep_content(bytes);
        }
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = recent.versions.iter().position(|(held, _)| *held == hash) {
            if let Some(held) = recent.versions.remove(index) {
                recent.versions.push_back(held);
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

    /// Checks whether the bytes of a version are in memory; if so they are forgotten last.
    pub(crate) fn keeps(&self, hash: &ContentHash) -> bool {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(index) = recent.versions.iter().position(|(held, _)| held == hash) else { return false };
        if let Some(held) = recent.versions.remove(index) {
            recent.versions.push_back(held);
        }
        true
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

    /// Maps the lines of version `from` to version `to` of a file, whose text is `current`.
    ///
    /// Our edits are followed exactly, first those in the journal, then `planned` ones. If another program has changed
    /// the file in between, the texts before and after are compared. `on_disk` is the version that the planned edits begin with,
    /// which may be another program's and not be held. `None` if the bytes of `from` are not held.
    pub(crate) fn line_map(
        &self,
        path: &RelPath,
        from: &ContentHash,
        to: &ContentHash,
        current: &Source<'_>,
        (on_disk, planned): (Option<&Present>, &[Edit]),
    ) -> Option<LineMap> {
        let base = self.bytes(from)?;
        let base = Source::parse(&base).ok()?;
        let edits = self.edits_since(path, from, to, planned);
        let map = self.follow((from, &base), &edits, (to, current), on_disk);
        // If a record does not fit the texts, or an intermediate version is gone, the ends are compared.
        Some(map.unwrap_or_else(|| LineMap::between_versions(&base, current)))
    }

    /// Returns the version from which only changes of a run led to the version `to` of a file; `to` itself if there are
    /// none.
    pub(crate) fn before_run(&self, path: &RelPath, run: RunNumber, to: ContentHash) -> ContentHash {
        let changes =
            self.journal.reader().changes_of_path(path.as_bytes(), EDITS_FOLLOWED).unwrap_or_default();
        let mut first = to;
        for change in changes.iter().filter(|change| change.state != ChangeState::Conflicted) {
            let content = |entry: &Option<Entry>| entry.as_ref().and_then(|entry| entry.content);
            match (content(&change.before), content(&change.after)) {
                (Some(before), Some(after)) if change.run == run && after == first => first = before,
                _ => break,
            }
        }
        first
    }

    /// The map along `edits`, with a comparison wherever an edit does not start from the current version.
    fn follow(
        &self,
        (from, base): (&ContentHash, &Source<'_>),
        edits: &[Edit],
        (to, current): (&ContentHash, &Source<'_>),
        on_disk: Option<&Present>,
    ) -> Option<LineMap> {
        let bytes = |hash: &ContentHash| match on_disk.filter(|on_disk| on_disk.hash == *hash) {
            Some(on_disk) => Some(Arc::clone(&on_disk.bytes)),
            None => self.bytes(hash),
        };
        let mut map = LineMap::identity(base.total_lines());
        let mut at = *from;
        for edit in edits {
            if edit.before != at {
                let (fork, joint) = (bytes(&at)?, bytes(&edit.before)?);
                let between =
                    LineMap::between_versions(&Source::parse(&fork).ok()?, &Source::parse(&joint).ok()?);
                map = compose(&map, &between)?;
            }
            map = compose(&map, &edit.line_map)?;
            at = edit.after;
        }
        if at != *to {
            let fork = bytes(&at)?;
            map = compose(&map, &LineMap::between_versions(&Source::parse(&fork).ok()?, current))?;
        }
        (map.new_lines() == current.total_lines()).then_some(map)
    }

    /// The edits since the file last held version `from`, oldest first. If no edit has that version, those that lead
    /// up to `to` without a gap: the version was shown before all of them.
    fn edits_since(
        &self,
        path: &RelPath,
        from: &ContentHash,
        to: &ContentHash,
        planned: &[Edit],
    ) -> Vec<Edit> {
        let mut edits = Vec::new();
        let newest_first = planned.iter().rev().cloned().chain(self.recorded_edits(path));
        let mut unbroken = 0;
        let mut leads_to = *to;
        for edit in newest_first {
            if edit.after == *from {
                edits.reverse();
                return edits;
            }
            if edit.after == leads_to && unbroken == edits.len() {
                unbroken += 1;
                leads_to = edit.before;
            }
            let is_first = edit.before == *from;
            edits.push(edit);
            if is_first {
                edits.reverse();
                return edits;
            }
        }
        edits.truncate(unbroken);
        edits.reverse();
        edits
    }

    /// The edits of a path in the journal, newest first, read lazily.
    fn recorded_edits(&self, path: &RelPath) -> impl Iterator<Item = Edit> {
        let reader = self.journal.reader();
        // A journal that cannot be read has no edits: texts are compared then.
        let changes = reader.changes_of_path(path.as_bytes(), EDITS_FOLLOWED).unwrap_or_default();
        // Changes of one run are adjacent, so its steps are read once.
        let mut steps_of_run = None;
        changes.into_iter().filter(|change| change.state != ChangeState::Conflicted).filter_map(
            move |change| {
                if steps_of_run.as_ref().is_none_or(|(run, _)| *run != change.run) {
                    steps_of_run = Some((change.run, reader.steps(change.run).ok()?));
                }
                let (_, steps) = steps_of_run.as_ref()?;
                let step = steps.iter().find(|step| step.index == change.step)?;
                let record: ChangeRecord = decode(step.outcome.as_deref()?).ok()?;
                Some(Edit {
                    before: change.before?.content?,
                    after: change.after?.content?,
                    line_map: record.line_map?.line_map()?,
                })
            },
        )
    }
}

/// Composes two maps, if they meet in a version of the same length.
pub(crate) fn compose(first: &LineMap, second: &LineMap) -> Option<LineMap> {
    (first.new_lines() == second.old_lines()).then(|| first.compose(second))
}

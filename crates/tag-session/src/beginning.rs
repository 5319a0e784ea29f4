//! The files of a workspace at the beginning of a session, as far as they can still be determined.

use std::collections::BTreeMap;

use change_journal::{ChangeState, EntryKind, JournalReader, RecordedChange, RunFilter};
use rel_path::RelPath;
use sandbox_fs::{FileKind, FileRoot, FsError};
use serde::{Deserialize, Serialize};
use tagproto::{Session, SessionId, listed_entry, read_outbox};
use wap_core::TaskFile;

use crate::documents;
use crate::error::SessionError;
use crate::transcript::{LeftOut, TranscriptFile};

/// The maximum number of bytes of files in a transcript; the rest is listed as left out.
const FILES_LIMIT_BYTES: usize = 16 << 20;

/// The state in which a session began, as kept in the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct BeginningDocument {
    /// The files that matter for the task, as they were ranked.
    pub(crate) task_files: Vec<TaskFile>,
    /// The files that the first message shows whole.
    #[serde(default)]
    pub(crate) read_files: Vec<String>,
    /// The lines of the list of files, including files that the first message only shows by their folder.
    pub(crate) listed: Vec<String>,
}

impl BeginningDocument {
    /// Reads the document of a session; empty for a session of an earlier version.
    pub(crate) fn read(journal: &JournalReader, id: SessionId) -> Result<BeginningDocument, SessionError> {
        let document = journal.document(&documents::beginning(id))?;
        let damaged = |source| SessionError::Damaged { id: id.to_string(), source };
        document.map_or_else(
            || Ok(BeginningDocument::default()),
            |document| serde_json::from_slice(&document.bytes).map_err(damaged),
        )
    }
}

/// A collector of the files at the beginning of a session.
pub(crate) struct Beginning<'a> {
    journal: &'a JournalReader,
    workspace: &'a FileRoot,
    pub(crate) files: Vec<TranscriptFile>,
    pub(crate) left_out: Vec<LeftOut>,
    bytes: usize,
}

impl<'a> Beginning<'a> {
    pub(crate) fn new(journal: &'a JournalReader, workspace: &'a FileRoot) -> Beginning<'a> {
        Beginning { journal, workspace, files: Vec::new(), left_out: Vec::new(), bytes: 0 }
    }

    /// Collects the files listed by `document` or `first`, which is the first of `outboxes`, and the files that the session
    /// changed.
    pub(crate) fn collect(
        &mut self,
        session: &Session,
        document: &BeginningDocument,
        first: &str,
        outboxes: &[&str],
    ) -> Result<(), SessionError> {
        let changed = self.first_changes(session)?;
        let lines = document.listed.iter().filter_map(|line| listed_entry(line));
        let mut listed: BTreeMap<String, u64> = lines.map(|entry| (entry.path, entry.size_bytes)).collect();
        match read_outbox(first) {
            Ok(parts) => {
                listed.extend(parts.listing.into_iter().map(|entry| (entry.path, entry.size_bytes)));
                if let Some(note) = parts.listing_note {
                    self.leave_out("files that the first message does not list", &note);
                }
            }
            Err(error) => self.leave_out("the files that nothing has changed", &error.to_string()),
        }
        let sent = sent_texts(outboxes);
        for (path, change) in &changed {
            self.add_changed(path, change)?;
        }
        for (path, size_bytes) in listed.iter().filter(|(path, _)| !changed.contains_key(*path)) {
            // An unchanged size is the only evidence that a text sent later is still the original one.
            match sent.get(path).filter(|text| text.len() as u64 == *size_bytes) {
                Some(text) => {
                    let mode = self.now(path).ok().flatten().and_then(|now| now.mode);
                    self.add(path, mode, EntryKind::File, text.clone().into_bytes());
                }
                None => self.add_current(path, *size_bytes),
            }
        }
        self.files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(())
    }

    /// Returns the session's first change of each path, by path.
    fn first_changes(&self, session: &Session) -> Result<BTreeMap<String, RecordedChange>, SessionError> {
        let filter = RunFilter { conversation: Some(session.session_id.to_string()), ..RunFilter::default() };
        let mut first = BTreeMap::new();
        // The oldest run first, so that `or_insert` keeps the first change of each path.
        for run in self.journal.runs(&filter, u32::MAX)?.into_iter().rev() {
            for change in self.journal.changes_of_run(run.number)? {
                let is_folder =
                    [change.before, change.after].iter().flatten().all(|side| side.kind == EntryKind::Folder);
                if let Ok(path) = RelPath::from_bytes(&change.path)
                    // A conflicted change never reached the file.
                    && change.state != ChangeState::Conflicted
                    && !is_folder
                {
                    first.entry(path.to_string()).or_insert(change);
                }
            }
        }
        Ok(first)
    }

    fn add_changed(&mut self, path: &str, change: &RecordedChange) -> Result<(), SessionError> {
        let Some(before) = change.before else { return Ok(()) };
        match before.content.map(|hash| self.journal.content(&hash)).transpose()?.flatten() {
            Some(bytes) => self.add(path, before.mode, before.kind, bytes),
            None => self.leave_out(path, "its earlier content is no longer kept"),
        }
        Ok(())
    }

    /// Adds the current file, if its size is still the listed one.
    fn add_current(&mut self, path: &str, size_bytes: u64) {
        match self.now(path) {
            Ok(Some(now)) if now.kind != EntryKind::File || now.bytes.len() as u64 == size_bytes => {
                self.add(path, now.mode, now.kind, now.bytes);
            }
            Ok(_) => {
                self.leave_out(path, "it has changed since, and the session has neither read nor changed it")
            }
            Err(error) => self.leave_out(path, &error.to_string()),
        }
    }

    fn now(&self, path: &str) -> Result<Option<Now>, FsError> {
        let path = RelPath::parse(path)?;
        let metadata = match self.workspace.metadata(&path) {
            Ok(metadata) => metadata,
            Err(FsError::NotFound { .. } | FsError::ParentMissing { .. } | FsError::NotAFolder { .. }) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        Ok(match metadata.kind {
            FileKind::File => {
                let bytes = self.workspace.open_file(&path)?.read_to_end(FILES_LIMIT_BYTES as u64)?;
                Some(Now { kind: EntryKind::File, mode: Some(metadata.mode), bytes })
            }
            FileKind::Link => {
                let target = self.workspace.link_target(&path)?;
                target.map(|bytes| Now { kind: EntryKind::Symlink, mode: None, bytes })
            }
            _ => None,
        })
    }

    fn add(&mut self, path: &str, mode: Option<u32>, kind: EntryKind, bytes: Vec<u8>) {
        if self.bytes + bytes.len() > FILES_LIMIT_BYTES {
            return self.leave_out(path, "the transcript would have become too large");
        }
        let length = bytes.len();
        // Only the permissions: a replay must not restore setuid bits.
        match TranscriptFile::of(path, mode.map(|mode| mode & 0o777), kind, bytes) {
            Some(file) => {
                self.bytes += length;
                self.files.push(file);
            }
            None => self.leave_out(path, "it is not a file"),
        }
    }

    fn leave_out(&mut self, what: &str, reason: &str) {
        self.left_out.push(LeftOut { what: what.to_owned(), why: reason.to_owned() });
    }
}

/// The current content of a path of the workspace.
struct Now {
    kind: EntryKind,
    mode: Option<u32>,
    bytes: Vec<u8>,
}

/// Returns the first whole text of each file that a message contains, by path.
fn sent_texts(outboxes: &[&str]) -> BTreeMap<String, String> {
    let mut sent = BTreeMap::new();
    for parts in outboxes.iter().filter_map(|outbox| read_outbox(outbox).ok()) {
        for file in parts.files.into_iter().chain(parts.suggested).filter(|file| file.parts.is_none()) {
            if let (Some(text), None) = (file.text, file.lines) {
                sent.entry(file.path).or_insert(text);
            }
        }
    }
    sent
}

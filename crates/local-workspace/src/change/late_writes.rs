//! Files that were replaced or removed while a program had them open, and to which it writes all the same.
//!
//! Such a write goes to a file without a name and would be lost with it, unnoticed. Nothing can see it coming, so the
//! last replaced files are held open for a while and looked at now and then.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use change_journal::{
    ChangeRecord, ChangeState, Content, EntryRecord, Journal, JournalError, RunKey, RunState, StepKind,
    StepRecord,
};
use rel_path::RelPath;
use sandbox_fs::{ContentHash, Expected, FileMode, FileRoot, FsError, Metadata, OpenFile};
use wap_core::ConversationId;

use crate::change::present::CONTENT_LIMIT_BYTES;
use crate::change::publish::restoring_root;

/// The limit on late writes that wait to be reported; the journal has the others.
const MOST_NOTICED: usize = 256;

/// Under which conversation the journal has late writes.
const CONVERSATION: &str = "late-write";

/// Most files that are held open.
pub(crate) const HELD_FILES: usize = 64;

/// Most bytes of the files that are held open: their space is free only when they are closed.
const HELD_BYTES: u64 = 64 << 20;

/// The largest file that is read to find out whether it was written to; of larger ones size and time decide.
const READ_BYTES: u64 = 4 << 20;

/// The age of a file's time at which a later write shows in it: file systems take it from a clock that ticks every few
/// milliseconds, some every two seconds.
const SETTLED: Duration = Duration::from_secs(3);

/// The prefix of files that keep another program's version.
const KEPT_PREFIX: &str = ".agentd-kept-";

/// A write of another program to a file that had just been replaced or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LateWrite {
    /// Canonical path that the file had.
    pub path: String,
    /// Canonical path of the file that holds what was written; the reason if it could not be kept.
    pub kept_as: Result<String, FsError>,
}

impl fmt::Display for LateWrite {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.kept_as {
            Ok(kept) => write!(
                out,
                "`{path}` was written to by a program that had it open from before it was replaced: what it wrote is \
                 kept as `{kept}`"
            ),
            Err(error) => write!(
                out,
                "`{path}` was written to by a program that had it open from before it was replaced, and what it wrote \
                 could not be kept: {error}"
            ),
        }
    }
}

/// The files that are watched, and what was found.
#[derive(Debug)]
pub(crate) struct LateWrites {
    root: Arc<FileRoot>,
    journal: Journal,
    watched: Mutex<VecDeque<Replaced>>,
    noticed: Mutex<VecDeque<(ConversationId, LateWrite)>>,
}

/// A file that has no name any more.
#[derive(Debug)]
struct Replaced {
    path: RelPath,
    /// Whose change has replaced it.
    conversation: ConversationId,
    file: OpenFile,
    /// The content that it held when it was replaced.
    content: ContentHash,
    /// The metadata at the last check; `None` before the first, and if a later write might not show in it.
    last_metadata: Option<Metadata>,
}

impl LateWrites {
    pub(crate) fn new(root: Arc<FileRoot>, journal: Journal) -> LateWrites {
        LateWrites { root, journal, watched: Mutex::default(), noticed: Mutex::default() }
    }

    /// Watches a file that had this content when it lost its name. The oldest ones are looked at a last time and let go.
    ///
    /// A file that has other names is none of these: what is written to it is found there.
    pub(crate) fn watch(
        &self,
        path: RelPath,
        conversation: &ConversationId,
        file: OpenFile,
        content: ContentHash,
    ) {
        if file.metadata_now().is_ok_and(|now| now.links > 0) {
            return;
        }
        let mut watched = self.watched();
        watched.push_back(Replaced {
            path,
            conversation: conversation.clone(),
            file,
            content,
            last_metadata: None,
        });
        let bytes = |watched: &VecDeque<Replaced>| -> u64 {
            watched.iter().map(|replaced| replaced.file.metadata().size_bytes).sum()
        };
        // Each watched file costs an open handle, and its space on the disk.
        while watched.len() > HELD_FILES || bytes(&watched) > HELD_BYTES {
            let Some(mut oldest) = watched.pop_front() else { break };
            self.look_at(&mut oldest);
        }
    }

    /// Looks at all of them.
    pub(crate) fn look(&self) {
        for replaced in self.watched().iter_mut() {
            self.look_at(replaced);
        }
    }

    /// Takes the late writes that were noticed since the last call.
    pub(crate) fn take(&self) -> Vec<LateWrite> {
        std::mem::take(&mut *self.noticed()).into_iter().map(|(_, noticed)| noticed).collect()
    }

    /// The same of files that a conversation's changes have replaced.
    pub(crate) fn take_of(&self, conversation: &ConversationId) -> Vec<LateWrite> {
        let mut noticed = self.noticed();
        let (theirs, others) =
            std::mem::take(&mut *noticed).into_iter().partition(|(whose, _)| whose == conversation);
        *noticed = others;
        let theirs: VecDeque<_> = theirs;
        theirs.into_iter().map(|(_, noticed)| noticed).collect()
    }

    fn noticed(&self) -> MutexGuard<'_, VecDeque<(ConversationId, LateWrite)>> {
        self.noticed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what was found: in the journal, where `agentd log` has it, and for those who ask.
    fn note(&self, replaced: &Replaced, late: LateWrite) {
        // If it cannot be recorded, what was written is kept beside the file all the same, and said.
        let _ = self.record(replaced, &late);
        let mut noticed = self.noticed();
        if noticed.len() == MOST_NOTICED {
            noticed.pop_front();
        }
        noticed.push_back((replaced.conversation.clone(), late));
    }

    /// Records it as a change that did not come about: nothing puts it into the path's place or takes it back, and the
    /// journal holds what was written.
    fn record(&self, replaced: &Replaced, late: &LateWrite) -> Result<(), JournalError> {
        let bytes = replaced.file.read_to_end(CONTENT_LIMIT_BYTES).ok();
        let content = match &bytes {
            Some(bytes) => Content::Bytes(bytes),
            None => Content::NotKept(None),
        };
        let written = EntryRecord { mode: None, content, ..EntryRecord::file(b"") };
        let change = ChangeRecord::intended(replaced.path.as_bytes(), None, Some(written));
        let change = ChangeRecord { state: ChangeState::Conflicted, ..change };
        // The same file may be written to again with what it held before.
        let unique = format!("{} {:?} {}", std::process::id(), SystemTime::now(), replaced.path);
        let key = RunKey::once(CONVERSATION, unique.as_bytes());
        let RunState::New(run) = self.journal.begin_run(&key)? else { return Ok(()) };
        let step = StepRecord {
            kind: StepKind::FileChange,
            description: &late.to_string(),
            outcome: b"",
            changes: vec![change],
        };
        self.journal.record_steps(run.number(), 0, &[step])?;
        self.journal.finish_run_lazily(run.number(), b"")
    }

    fn watched(&self) -> MutexGuard<'_, VecDeque<Replaced>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look_at(&self, replaced: &mut Replaced) {
        // A file that cannot be looked at has failed as a whole: there is nothing left to be kept.
        let Ok(now) = replaced.file.metadata_now() else { return };
        let is_same = |last_metadata: &Metadata| {
            (last_metadata.size_bytes, last_metadata.modified_nanoseconds)
                == (now.size_bytes, now.modified_nanoseconds)
        };
        let is_as_it_was = match &replaced.last_metadata {
            Some(last_metadata) => is_same(last_metadata),
            // Its clock may not have ticked since the write before.
            None => now.size_bytes > READ_BYTES && is_same(replaced.file.metadata()),
        };
        if is_as_it_was {
            return;
        }
        // From before the content is read: a write during the reading changes it again, and the next check finds that. A time that
        // is so young that a write after this check may have the same one says nothing.
        replaced.last_metadata = is_settled(&now).then_some(now);
        match replaced.file.content_hash() {
            Ok(content) if content != replaced.content => {
                replaced.content = content;
                let kept_as = self.keep(replaced).map(|path| path.to_string());
                let noticed = LateWrite { path: replaced.path.to_string(), kept_as };
                self.note(replaced, noticed);
            }
            _ => {}
        }
    }

    /// Writes what the file holds beside the place that it had, or into the root if that folder is gone.
    fn keep(&self, replaced: &Replaced) -> Result<RelPath, FsError> {
        let bytes = replaced.file.read_to_end(CONTENT_LIMIT_BYTES)?;
        let root = restoring_root(&self.root)?;
        let name = format!("{KEPT_PREFIX}{:.32}", replaced.content.to_string());
        let folder = replaced.path.parent().unwrap_or_default();
        match put(&root, &folder.child(name.as_bytes())?, &bytes) {
            Err(FsError::ParentMissing { .. } | FsError::NotFound { .. } | FsError::NotAFolder { .. }) => {
                put(&root, &RelPath::root().child(name.as_bytes())?, &bytes)
            }
            kept => kept,
        }
    }
}

/// Checks whether every later write gives the file another time than this.
fn is_settled(metadata: &Metadata) -> bool {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let settled = now.saturating_sub(SETTLED).as_nanos();
    i128::try_from(settled).is_ok_and(|settled| metadata.modified_nanoseconds < settled)
}

/// Writes a file that is named by its content, unless it is there.
fn put(root: &FileRoot, path: &RelPath, bytes: &[u8]) -> Result<RelPath, FsError> {
    match root
        .stage(path, bytes, FileMode::Exact(0o600))
        .and_then(|staged| staged.publish_synced(Expected::Absent))
    {
        Ok(published) => Ok(published.path),
        Err(FsError::AlreadyExists { .. }) => Ok(path.clone()),
        Err(error) => Err(error),
    }
}

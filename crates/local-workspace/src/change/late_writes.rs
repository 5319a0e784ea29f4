//! Files that were replaced or removed while a program had them open, and to which it still writes.
//!
//! Such a write goes to a file without a name and would be lost with it, unnoticed. It cannot be predicted, so the
//! last replaced files are held open for a while and checked now and then.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

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

/// The conversation under which the journal records late writes.
const CONVERSATION: &str = "late-write";

/// The maximum number of files held open.
pub(crate) const HELD_FILES: usize = 64;

/// The maximum size of the files held open: their space is freed only when they are closed.
const HELD_BYTES: u64 = 64 << 20;

/// The largest file that is read to detect writes; for larger ones, size and time are compared.
const READ_BYTES: u64 = 4 << 20;

/// The number of versions of one file that are kept before its last check, each replacing the previous: a server with
/// an open log writes to it all the time.
const MOST_VERSIONS: u32 = 16;

/// The limit on the bytes of these versions together.
const MOST_VERSIONS_BYTES: u64 = 64 << 20;

/// The age at which a file's time reveals any later write: file systems take it from a clock that ticks every few
/// milliseconds, some every two seconds.
const SETTLED: Duration = Duration::from_secs(3);

/// The prefix of files that keep another program's version.
const KEPT_PREFIX: &str = ".agentd-kept-";

/// A write of another program to a file that had just been replaced or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LateWrite {
    /// The canonical path that the file had.
    pub path: String,
    /// The canonical path of the file that holds the written content; the reason if it could not be kept.
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
    /// The conversation whose change has replaced it.
    conversation: ConversationId,
    file: OpenFile,
    /// The content that it held when it was replaced, or that was kept last.
    content: ContentHash,
    /// The metadata at the last check; `None` before the first, or if it might not reveal a later write.
    last_metadata: Option<Metadata>,
    /// The metadata and since when it is unchanged, if another machine's clock provides the times.
    unchanged_since: Option<(Metadata, Instant)>,
    /// The file that keeps late writes, once there was one.
    kept: Option<Kept>,
    /// The content recorded in the journal, and true if that record names a kept file.
    recorded: Option<(ContentHash, bool)>,
    /// True while late writes cannot be kept, which is reported once.
    is_failing: bool,
}

/// A file of ours that keeps late writes to a replaced file.
#[derive(Debug)]
struct Kept {
    path: RelPath,
    content: ContentHash,
    /// The number of versions written, including this one.
    versions: u32,
    /// Their total size.
    bytes: u64,
}

/// A check of a watched file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// More checks follow.
    OneOfMany,
    /// The file is closed after it.
    Last,
}

impl Replaced {
    fn may_be_written_to(&self, now: &Metadata) -> bool {
        !match &self.last_metadata {
            Some(last_metadata) => is_same(last_metadata, now),
            // Its clock may not have ticked since the write before.
            None => now.size_bytes > READ_BYTES && is_same(self.file.metadata(), now),
        }
    }

    /// Checks whether every later write changes the file's time.
    fn is_settled(&mut self, now: &Metadata) -> bool {
        if self.file.has_local_times() {
            return is_old(now);
        }
        // Another machine's clock may lag, so only time that has passed here counts.
        match &self.unchanged_since {
            Some((before, since)) if is_same(before, now) => since.elapsed() >= SETTLED,
            _ => {
                self.unchanged_since = Some((*now, Instant::now()));
                false
            }
        }
    }

    /// Checks whether a further version has to wait for the last check.
    fn is_used_up(&self, now: &Metadata) -> bool {
        let is_too_large = self.is_failing && now.size_bytes > CONTENT_LIMIT_BYTES;
        is_too_large
            || self.kept.as_ref().is_some_and(|kept| {
                kept.versions >= MOST_VERSIONS || kept.bytes + now.size_bytes > MOST_VERSIONS_BYTES
            })
    }
}

impl LateWrites {
    pub(crate) fn new(root: Arc<FileRoot>, journal: Journal) -> LateWrites {
        LateWrites { root, journal, watched: Mutex::default(), noticed: Mutex::default() }
    }

    /// Watches a file that had this content when it lost its name. The oldest files are checked a last time and closed.
    ///
    /// A file with other names is not watched: writes to it are visible there.
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
            unchanged_since: None,
            kept: None,
            recorded: None,
            is_failing: false,
        });
        let bytes = |watched: &VecDeque<Replaced>| -> u64 {
            watched.iter().map(|replaced| replaced.file.metadata().size_bytes).sum()
        };
        // Each watched file costs an open handle, and its space on the disk.
        while watched.len() > HELD_FILES || bytes(&watched) > HELD_BYTES {
            let Some(mut oldest) = watched.pop_front() else { break };
            self.look_at(&mut oldest, Look::Last);
        }
    }

    /// Checks all of them.
    pub(crate) fn look(&self) {
        for replaced in self.watched().iter_mut() {
            self.look_at(replaced, Look::OneOfMany);
        }
    }

    /// Checks all of them a last time.
    pub(crate) fn look_last(&self) {
        for replaced in self.watched().iter_mut() {
            self.look_at(replaced, Look::Last);
        }
    }

    /// Takes the late writes that were noticed since the last call.
    pub(crate) fn take(&self) -> Vec<LateWrite> {
        std::mem::take(&mut *self.noticed()).into_iter().map(|(_, noticed)| noticed).collect()
    }

    /// The same for files that a conversation's changes have replaced.
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

    /// Notes a late write for the callers that ask.
    fn note(&self, conversation: &ConversationId, late: LateWrite) {
        let mut noticed = self.noticed();
        if noticed.len() == MOST_NOTICED {
            noticed.pop_front();
        }
        noticed.push_back((conversation.clone(), late));
    }

    /// Records it as a change that was not made, which `agentd log` lists: it is neither published nor reverted, and
    /// the journal holds the written content. `None` stands for unavailable bytes.
    fn record(&self, path: &RelPath, late: &LateWrite, bytes: Option<&[u8]>) -> Result<(), JournalError> {
        let content = bytes.map_or(Content::NotKept(None), Content::Bytes);
        let written = EntryRecord { mode: None, content, ..EntryRecord::file(b"") };
        let change = ChangeRecord::intended(path.as_bytes(), None, Some(written));
        let change = ChangeRecord { state: ChangeState::Conflicted, ..change };
        // The same file may be written to again with what it held before.
        let key = RunKey::once(CONVERSATION, unique(path).as_bytes());
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

    fn look_at(&self, replaced: &mut Replaced, look: Look) {
        // If the metadata of a file is unavailable, there is nothing left to keep.
        let Ok(now) = replaced.file.metadata_now() else { return };
        if replaced.may_be_written_to(&now) && (look == Look::Last || !replaced.is_used_up(&now)) {
            self.keep_if_written_to(replaced, now);
        }
        // Of many versions the journal keeps the first and the last: each takes space that an undo may need.
        if look == Look::Last
            && let Some(kept) = &replaced.kept
            && replaced.recorded != Some((kept.content, true))
            && let Ok(bytes) = replaced.file.read_to_end(CONTENT_LIMIT_BYTES)
        {
            let late = LateWrite { path: replaced.path.to_string(), kept_as: Ok(kept.path.to_string()) };
            let _ = self.record(&replaced.path, &late, Some(&bytes));
        }
    }

    /// Keeps the file's content if it differs from the kept one. On failure, the next check tries again.
    fn keep_if_written_to(&self, replaced: &mut Replaced, now: Metadata) {
        // From before the content is read: a write during the reading changes it again, and the next check finds that.
        // A time that is so recent that a write after this check may have the same one proves nothing.
        let last_metadata = replaced.is_settled(&now).then_some(now);
        let Ok(content) = replaced.file.content_hash() else { return };
        if content == replaced.content {
            replaced.last_metadata = last_metadata;
            return;
        }
        let bytes = replaced.file.read_to_end(CONTENT_LIMIT_BYTES);
        let content = bytes.as_ref().map_or(content, |bytes| ContentHash::of(bytes));
        let kept = bytes.as_deref().map_err(Clone::clone).and_then(|bytes| self.keep(replaced, bytes));
        let was_failing = std::mem::replace(&mut replaced.is_failing, kept.is_err());
        let is_kept = kept.is_ok();
        let kept_as = kept.map(|kept| replaced.kept.insert(kept).path.to_string());
        if is_kept {
            replaced.content = content;
            replaced.last_metadata = last_metadata;
        } else if was_failing {
            return;
        }
        let late = LateWrite { path: replaced.path.to_string(), kept_as };
        // If it cannot be recorded, the written content is still kept next to the file, and reported.
        if replaced.recorded.is_none() && self.record(&replaced.path, &late, bytes.as_deref().ok()).is_ok() {
            replaced.recorded = Some((content, is_kept));
        }
        self.note(&replaced.conversation, late);
    }

    /// Writes these bytes of a file into the file that keeps them. The first time, or if that file is not as we left
    /// it, a new one is made next to the path that the file had, or in the root if that folder is gone.
    fn keep(&self, replaced: &Replaced, bytes: &[u8]) -> Result<Kept, FsError> {
        let root = restoring_root(&self.root)?;
        let (versions, all_bytes) = replaced.kept.as_ref().map_or((0, 0), |kept| (kept.versions, kept.bytes));
        let kept_at = |path| Kept {
            path,
            content: ContentHash::of(bytes),
            versions: versions + 1,
            bytes: all_bytes + bytes.len() as u64,
        };
        if let Some(kept) = &replaced.kept {
            match write_kept(&root, &kept.path, bytes, Expected::Content(kept.content)) {
                Ok(path) => return Ok(kept_at(path)),
                // The user has changed, moved or protected it, and its content is the user's now.
                Err(
                    FsError::Changed { .. }
                    | FsError::LeftBehind { .. }
                    | FsError::NotFound { .. }
                    | FsError::ParentMissing { .. }
                    | FsError::NotAFolder { .. }
                    | FsError::NotAFile { .. }
                    | FsError::IsLink { .. }
                    | FsError::ReadOnly { .. },
                ) => {}
                Err(error) => return Err(error),
            }
        }
        let name =
            format!("{KEPT_PREFIX}{:.32}", ContentHash::of(unique(&replaced.path).as_bytes()).to_string());
        let folder = replaced.path.parent().unwrap_or_default();
        let kept = match write_kept(&root, &folder.child(name.as_bytes())?, bytes, Expected::Absent) {
            Err(FsError::ParentMissing { .. } | FsError::NotFound { .. } | FsError::NotAFolder { .. }) => {
                write_kept(&root, &RelPath::root().child(name.as_bytes())?, bytes, Expected::Absent)
            }
            kept => kept,
        };
        kept.map(kept_at)
    }
}

/// Returns a text that no other call returns for a path.
fn unique(path: &RelPath) -> String {
    format!("{} {:?} {path}", std::process::id(), SystemTime::now())
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.size_bytes, one.modified_nanoseconds) == (other.size_bytes, other.modified_nanoseconds)
}

/// Checks whether the clock of this machine has ticked since the file's time.
fn is_old(metadata: &Metadata) -> bool {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let settled = now.saturating_sub(SETTLED).as_nanos();
    i128::try_from(settled).is_ok_and(|settled| metadata.modified_nanoseconds < settled)
}

fn write_kept(root: &FileRoot, path: &RelPath, bytes: &[u8], expected: Expected) -> Result<RelPath, FsError> {
    let staged = root.stage(path, bytes, FileMode::Exact(0o600))?;
    staged.publish_synced(expected).map(|published| published.path)
}

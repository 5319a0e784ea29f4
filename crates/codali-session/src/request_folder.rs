//! A folder for requests and their responses.
//!
//! Any program may put anything there. Only regular files are read, none through a symbolic link, and a response appears as a
//! whole. A response has the modification time of its request, so that a restarted program recognises answered requests.

mod response_file;
mod response_name;

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use drop_folder::{
    DroppedFile, Observation, Observations, TEXT_LIMIT_BYTES, decode_text, list, open_for_writing,
};
use rel_path::RelPath;
use sandbox_fs::{FileKind, FileRoot, FileStamp, FsError, FsPolicy, RootRules};

use response_name::response_name;

/// The polling interval for a file that a program still has open for writing.
const OPEN_POLL: Duration = Duration::from_millis(250);

/// The age from which a file counts as complete, even if a program has it open.
const OLD: Duration = Duration::from_secs(60);

/// The pause before retrying a response that could not be written; it doubles up to the second one.
const WRITE_AGAIN: Duration = Duration::from_secs(1);
const LAST_WRITE_AGAIN: Duration = Duration::from_secs(60);

/// A folder of requests, held by a handle, and the progress of the files in it.
#[derive(Debug)]
pub struct RequestFolder {
    root: FileRoot,
    path: PathBuf,
    observations: Observations<Progress>,
    /// Holds the lock that lets only one process at a time answer the requests of a folder.
    _lock: File,
}

/// A file that may be a request.
#[derive(Clone, Debug)]
pub struct DroppedRequest {
    /// The file.
    pub file: DroppedFile,
    /// The name of its response; `None` if that name would be too long for a file.
    pub response: Option<RelPath>,
    /// True if its name marks it as a request: then it always receives a response.
    pub is_named_request: bool,
}

/// The reason for which a file is not read. The text completes a sentence that begins with the file's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// A folder, symbolic link, pipe, socket or device.
    #[error("is a {0}, which is not read")]
    NotAFile(FileKind),
    /// The file is larger than the limit for texts.
    #[error("has more than {TEXT_LIMIT_BYTES} bytes")]
    TooLarge,
    /// The file is neither UTF-8 nor UTF-16 with a mark.
    #[error("is not text")]
    NotText,
    /// The system refuses to read the file.
    #[error("cannot be read")]
    Unreadable,
    /// The name of its response would be longer than a file name may be.
    #[error("has a name so long that its response cannot have one")]
    LongName,
}

/// A folder whose requests cannot be processed.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder cannot be opened.
    #[error("{path}: {cause}", path = path.display())]
    Unusable {
        /// The folder, as named by the caller.
        path: PathBuf,
        /// The cause.
        cause: String,
    },
    /// Another process answers its requests.
    #[error("{path}: another process answers the requests in this folder", path = path.display())]
    Held {
        /// The folder, as named by the caller.
        path: PathBuf,
    },
    /// Responses cannot be written into it.
    #[error("{path}: responses cannot be written: {error}", path = path.display())]
    ReadOnly {
        /// The folder, as named by the caller.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
}

/// The state of the folder at one moment.
#[derive(Debug, Default)]
pub struct Look {
    /// Unanswered files that appear to be complete, oldest first.
    pub ready: Vec<DroppedRequest>,
    /// The time after which another file may be complete; `None` if none is in progress.
    pub again: Option<Duration>,
}

impl Look {
    fn look_again_after(&mut self, time: Duration) {
        self.again = Some(self.again.map_or(time, |soonest| soonest.min(time)));
    }

    /// Removes the files that a program still has open for writing.
    fn leave_out_open(&mut self) {
        let young: Vec<_> =
            self.ready.iter().map(|dropped| &dropped.file).filter(|file| !is_old(&file.stamp)).collect();
        let named = young.iter().map(|file| (OsStr::from_bytes(file.name.as_bytes()), file.stamp));
        let named: Vec<_> = named.collect();
        if named.is_empty() {
            return;
        }
        let open: HashSet<RelPath> =
            open_for_writing(&named).into_iter().map(|index| young[index].name.clone()).collect();
        if !open.is_empty() {
            self.ready.retain(|dropped| !open.contains(&dropped.file.name));
            self.look_again_after(OPEN_POLL);
        }
    }
}

/// The progress of one version of a file.
#[derive(Debug, Default)]
struct Progress {
    is_done: bool,
    postponed: Option<Postponed>,
}

/// A response that could not be written.
#[derive(Clone, Copy, Debug)]
struct Postponed {
    since: Instant,
    time: Duration,
}

impl RequestFolder {
    /// Opens and locks a folder, so that no other process answers its requests.
    ///
    /// # Errors
    ///
    /// [`FolderError`] if it cannot be opened, locked or written.
    pub fn open(path: &Path) -> Result<RequestFolder, FolderError> {
        let unusable = |cause: String| FolderError::Unusable { path: path.to_owned(), cause };
        let root = FileRoot::open(path, &RootRules::none(), FsPolicy::private()).map_err(|error| {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
            unusable(format!("{error}{}", cause.unwrap_or_default()))
        })?;
        let lock = File::open(path).map_err(|error| unusable(error.to_string()))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(FolderError::Held { path: path.to_owned() });
            }
            // Some file systems have no locks. There the user is responsible.
            Err(std::fs::TryLockError::Error(_)) => {}
        }
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let folder =
            RequestFolder { root, path: absolute, observations: Observations::default(), _lock: lock };
        // The lock is held, so an unfinished response belongs to a dead process.
        folder.remove_unfinished().map_err(|error| FolderError::ReadOnly { path: path.to_owned(), error })?;
        Ok(folder)
    }

    /// Returns the absolute path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the absolute path of a file in it, for messages.
    #[must_use]
    pub fn path_of(&self, name: &RelPath) -> PathBuf {
        self.path.join(OsStr::from_bytes(name.as_bytes()))
    }

    /// Lists the folder once.
    ///
    /// # Errors
    ///
    /// [`FsError`] if the folder was removed or can no longer be read.
    pub fn look(&mut self) -> Result<Look, FsError> {
        self.root.check_alive()?;
        let files = list(&self.root)?;
        let is_file = |file: &&DroppedFile| file.kind == FileKind::File;
        let times = files.iter().filter(is_file).map(|file| (&file.name, file.stamp.modified_nanoseconds));
        let answers: HashMap<&RelPath, i128> = times.collect();
        self.observations.observe(&files);
        let mut look = Look::default();
        for dropped in files.iter().filter_map(candidate) {
            let Some(observation) = self.observations.get_mut(&dropped.file) else { continue };
            let time = dropped.response.as_ref().and_then(|response| answers.get(response));
            // A response to an earlier version may have the same time if the file system's clock is coarse.
            let is_answered =
                !observation.has_replaced_another() && time == Some(&dropped.file.stamp.modified_nanoseconds);
            observation.notes.is_done |= is_answered;
            if observation.notes.is_done {
                continue;
            }
            match time_left(&dropped.file, observation) {
                Duration::ZERO => look.ready.push(dropped),
                left => look.look_again_after(left),
            }
        }
        look.leave_out_open();
        Ok(look)
    }

    /// Reads a file; `None` if it was changed or removed after the look.
    #[must_use]
    pub fn read(&self, dropped: &DroppedRequest) -> Option<Result<String, Unusable>> {
        let file = &dropped.file;
        if file.kind != FileKind::File {
            return Some(Err(Unusable::NotAFile(file.kind)));
        }
        if dropped.response.is_none() {
            return Some(Err(Unusable::LongName));
        }
        match drop_folder::read(&self.root, file, TEXT_LIMIT_BYTES) {
            Ok(None) | Err(FsError::NotFound { .. }) => None,
            Ok(Some(bytes)) => Some(decode_text(bytes).map_err(|_| Unusable::NotText)),
            Err(FsError::TooLarge { .. }) => Some(Err(Unusable::TooLarge)),
            Err(FsError::NotAFile { kind, .. }) => Some(Err(Unusable::NotAFile(kind))),
            Err(FsError::IsLink { .. }) => Some(Err(Unusable::NotAFile(FileKind::Link))),
            Err(_) => Some(Err(Unusable::Unreadable)),
        }
    }

    /// Records that this version of a file is done.
    pub fn finish(&mut self, dropped: &DroppedRequest) {
        if let Some(observation) = self.observations.get_mut(&dropped.file) {
            observation.notes.is_done = true;
        }
    }

    /// Postpones the response to this version of a file, which could not be written. Returns true on its first failure.
    pub fn postpone(&mut self, dropped: &DroppedRequest) -> bool {
        let Some(observation) = self.observations.get_mut(&dropped.file) else { return true };
        let before = observation.notes.postponed.map(|before| before.time);
        let time = before.map_or(WRITE_AGAIN, |time| (time * 2).min(LAST_WRITE_AGAIN));
        observation.notes.postponed = Some(Postponed { since: Instant::now(), time });
        before.is_none()
    }
}

/// Returns the time that a file still has to stay unchanged before it is read.
fn time_left(file: &DroppedFile, observation: &Observation<Progress>) -> Duration {
    if let Some(postponed) = observation.notes.postponed {
        return postponed.time.saturating_sub(postponed.since.elapsed());
    }
    if file.kind != FileKind::File || file.stamp.size_bytes > TEXT_LIMIT_BYTES || is_old(&file.stamp) {
        return Duration::ZERO;
    }
    observation.time_left()
}

fn candidate(file: &DroppedFile) -> Option<DroppedRequest> {
    let name = file.name.file_name()?;
    let (response, is_named_request) = response_name(name)?;
    // An empty file is about to be written, and a folder is not a request.
    let is_empty = file.kind == FileKind::File && file.stamp.size_bytes == 0;
    if file.kind == FileKind::Folder || is_empty {
        return None;
    }
    Some(DroppedRequest {
        file: file.clone(),
        response: RelPath::from_bytes(&response).ok(),
        is_named_request,
    })
}

fn is_old(stamp: &FileStamp) -> bool {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let now = i128::try_from(now.as_nanos()).unwrap_or(i128::MAX);
    let old = i128::try_from(OLD.as_nanos()).unwrap_or(i128::MAX);
    // A file that was moved here has an old modification time and a new status change time.
    now.saturating_sub(stamp.modified_nanoseconds.max(stamp.status_changed_nanoseconds)) > old
}

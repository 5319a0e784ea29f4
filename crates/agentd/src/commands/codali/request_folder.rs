//! A folder that requests are put into and responses are written to.
//!
//! Anybody may put anything there. Only ordinary files are read, none through a link, and a response takes its place as a whole.
//! A response carries the time of its request: by that it is known, after a restart too, what was answered.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use drop_folder::{DroppedFile, Observation, Observations, decode_text, list, open_for_writing};
use rel_path::RelPath;
use rustix::fs::{AtFlags, Mode, OFlags, Timespec, Timestamps};
use sandbox_fs::{FileKind, FileRoot, FileStamp, FsError, FsPolicy, RootRules};
use tag_session::REPLY_LIMIT_BYTES;

use crate::exit::{Exit, Failure};

/// How soon a file is looked at again that a program still has open.
const OPEN_POLL: Duration = Duration::from_millis(250);

/// A file that was written longer ago than this is complete, whoever has it open.
const OLD: Duration = Duration::from_secs(60);

/// How soon it is tried again to write a response that could not be written; each time twice as long, up to the last.
const WRITE_AGAIN: Duration = Duration::from_secs(1);
const LAST_WRITE_AGAIN: Duration = Duration::from_secs(60);

/// Where a response is written before it takes its place.
const UNFINISHED: &str = ".agentd-response.tmp";

/// Endings of files that somebody is going to rename.
const UNFINISHED_ENDINGS: [&[u8]; 7] =
    [b"~", b".tmp", b".part", b".partial", b".crdownload", b".swp", b".swx"];

/// The folder, held by a handle, and what is known about the files in it.
#[derive(Debug)]
pub(crate) struct RequestFolder {
    root: FileRoot,
    path: PathBuf,
    observations: Observations<Progress>,
    /// One process at a time answers what is put into a folder.
    _held: File,
}

/// A file that may be a request.
#[derive(Clone, Debug)]
pub(crate) struct Dropped {
    pub(crate) file: DroppedFile,
    /// Where its response belongs; `None` if the name of that would be too long.
    pub(crate) response: Option<RelPath>,
    /// Whether its name says that it is a request: then there is a response in any case.
    pub(crate) is_named_request: bool,
}

/// Why a file is not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("is a {0}, which is not read")]
    NotAFile(FileKind),
    #[error("has more than {REPLY_LIMIT_BYTES} bytes")]
    TooLarge,
    #[error("is not text")]
    NotText,
    #[error("cannot be read")]
    Unreadable,
    #[error("has a name so long that there is none for its response")]
    LongName,
}

/// What a look at the folder gives.
#[derive(Debug, Default)]
pub(crate) struct Look {
    /// Files that are complete, as far as that can be told, and not answered; the oldest first.
    pub(crate) ready: Vec<Dropped>,
    /// How soon others may be.
    pub(crate) again: Option<Duration>,
}

impl Look {
    fn look_again_after(&mut self, time: Duration) {
        self.again = Some(self.again.map_or(time, |soonest| soonest.min(time)));
    }

    /// Leaves out what somebody still writes.
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

/// What was done about one version of a file.
#[derive(Debug, Default)]
struct Progress {
    is_done: bool,
    put_off: Option<PutOff>,
}

/// A response that could not be written.
#[derive(Clone, Copy, Debug)]
struct PutOff {
    since: Instant,
    time: Duration,
}

impl RequestFolder {
    /// Takes a folder; nobody else answers what is put into it then.
    pub(crate) fn open(path: &Path) -> Result<RequestFolder, Failure> {
        let failure = |why: String| Failure::new(Exit::Usage, format!("{}: {why}", path.display()));
        let root = FileRoot::open(path, &RootRules::none(), FsPolicy::private())
            .map_err(|error| failure(error.to_string()))?;
        let held = File::open(path).map_err(|error| failure(error.to_string()))?;
        match held.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                let why = "another process answers what is put into this folder".to_owned();
                return Err(Failure { exit: Exit::Held, ..failure(why) });
            }
            // Some file systems have no locks. Then it is up to the user.
            Err(std::fs::TryLockError::Error(_)) => {}
        }
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let folder = RequestFolder { root, path, observations: Observations::default(), _held: held };
        folder.remove_unfinished().map_err(|error| {
            failure(format!("responses cannot be written: {error}"))
                .advise("choose a folder that you may write to")
        })?;
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The place of a file for people.
    pub(crate) fn place(&self, name: &RelPath) -> PathBuf {
        self.path.join(OsStr::from_bytes(name.as_bytes()))
    }

    /// Looks once.
    pub(crate) fn look(&mut self) -> Result<Look, FsError> {
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

    /// Reads a file; `None` if it has changed since it was looked at, or is gone.
    pub(crate) fn read(&self, dropped: &Dropped) -> Option<Result<String, Unusable>> {
        let file = &dropped.file;
        if file.kind != FileKind::File {
            return Some(Err(Unusable::NotAFile(file.kind)));
        }
        if dropped.response.is_none() {
            return Some(Err(Unusable::LongName));
        }
        match drop_folder::read(&self.root, file, REPLY_LIMIT_BYTES) {
            Ok(None) | Err(FsError::NotFound { .. }) => None,
            Ok(Some(bytes)) => Some(decode_text(bytes).map_err(|_| Unusable::NotText)),
            Err(FsError::TooLarge { .. }) => Some(Err(Unusable::TooLarge)),
            Err(FsError::NotAFile { kind, .. }) => Some(Err(Unusable::NotAFile(kind))),
            Err(FsError::IsLink { .. }) => Some(Err(Unusable::NotAFile(FileKind::Link))),
            Err(_) => Some(Err(Unusable::Unreadable)),
        }
    }

    /// Records that nothing more is to be done about this version of a file.
    pub(crate) fn is_done_with(&mut self, dropped: &Dropped) {
        if let Some(observation) = self.observations.get_mut(&dropped.file) {
            observation.notes.is_done = true;
        }
    }

    /// Records that the response to this version of a file could not be written, so that it is tried again later. Returns whether
    /// this is the first failure.
    pub(crate) fn put_off(&mut self, dropped: &Dropped) -> bool {
        let Some(observation) = self.observations.get_mut(&dropped.file) else { return true };
        let before = observation.notes.put_off.map(|before| before.time);
        let time = before.map_or(WRITE_AGAIN, |time| (time * 2).min(LAST_WRITE_AGAIN));
        observation.notes.put_off = Some(PutOff { since: Instant::now(), time });
        before.is_none()
    }

    /// Writes the response to a file, in place of what is there: beside it, then renamed. It may be read by whoever may read the
    /// request, and has its time.
    pub(crate) fn respond(&self, dropped: &Dropped, text: &str) -> io::Result<()> {
        let file = &dropped.file;
        let response = dropped.response.as_ref().ok_or(io::ErrorKind::InvalidFilename)?;
        self.remove_unfinished()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode((file.mode & 0o666) | 0o600);
        let handle = self.root.handle();
        let written = (|| {
            let mut open = File::from(rustix::fs::openat(handle, UNFINISHED, flags, mode)?);
            open.write_all(text.as_bytes())?;
            open.sync_data()?;
            let time = timespec(file.stamp.modified_nanoseconds);
            let times = Timestamps { last_access: time, last_modification: time };
            rustix::fs::futimens(&open, &times)?;
            rustix::fs::renameat(handle, UNFINISHED, handle, OsStr::from_bytes(response.as_bytes()))?;
            Ok(())
        })();
        if written.is_err() {
            let _ = self.remove_unfinished();
        }
        written
    }

    /// Removes what a process that was killed has left.
    fn remove_unfinished(&self) -> io::Result<()> {
        match rustix::fs::unlinkat(self.root.handle(), UNFINISHED, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns how long a file still has to stay as it is before it is read.
fn time_left(file: &DroppedFile, observation: &Observation<Progress>) -> Duration {
    if let Some(put_off) = observation.notes.put_off {
        return put_off.time.saturating_sub(put_off.since.elapsed());
    }
    if file.kind != FileKind::File || file.stamp.size_bytes > REPLY_LIMIT_BYTES || is_old(&file.stamp) {
        return Duration::ZERO;
    }
    observation.time_left()
}

fn candidate(file: &DroppedFile) -> Option<Dropped> {
    let name = file.name.file_name()?;
    let (response, is_named_request) = response_name(name)?;
    // An empty file will be filled, and a folder asks nothing.
    let is_empty = file.kind == FileKind::File && file.stamp.size_bytes == 0;
    if file.kind == FileKind::Folder || is_empty {
        return None;
    }
    Some(Dropped { file: file.clone(), response: RelPath::from_bytes(&response).ok(), is_named_request })
}

/// The name of the response to a file, and whether the file's name says that it is a request: `NAME.request.EXT` is answered by
/// `NAME.response.EXT`, and any other `NAME` by `NAME.response`. `None` for what is no request: responses, hidden files, and
/// what somebody is going to rename.
fn response_name(name: &[u8]) -> Option<(Vec<u8>, bool)> {
    let is_unfinished = UNFINISHED_ENDINGS.iter().any(|ending| name.ends_with(ending));
    if name.starts_with(b".") || is_unfinished || name.ends_with(b".response") {
        return None;
    }
    if let Some(dot) = name.iter().rposition(|byte| *byte == b'.') {
        let (stem, ending) = name.split_at(dot);
        if stem == b"response" || stem.ends_with(b".response") {
            return None;
        }
        let before = stem.strip_suffix(b"request".as_slice());
        if let Some(before) = before.filter(|before| before.is_empty() || before.ends_with(b".")) {
            return Some(([before, b"response", ending].concat(), true));
        }
    }
    Some(([name, b".response"].concat(), false))
}

fn is_old(stamp: &FileStamp) -> bool {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let now = i128::try_from(now.as_nanos()).unwrap_or(i128::MAX);
    let old = i128::try_from(OLD.as_nanos()).unwrap_or(i128::MAX);
    // A file that was moved here has an old content and a new place.
    now.saturating_sub(stamp.modified_nanoseconds.max(stamp.status_changed_nanoseconds)) > old
}

fn timespec(nanoseconds: i128) -> Timespec {
    let seconds = nanoseconds.div_euclid(1_000_000_000);
    Timespec {
        tv_sec: i64::try_from(seconds).unwrap_or(0),
        tv_nsec: i64::try_from(nanoseconds.rem_euclid(1_000_000_000)).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::response_name;

    #[test]
    fn every_name_has_a_response_of_its_own_or_is_none() {
        let answered: [(&str, &str, bool); 7] = [
            ("a.request.yaml", "a.response.yaml", true),
            ("request.txt", "response.txt", true),
            ("a.b.request.md", "a.b.response.md", true),
            ("a.txt", "a.txt.response", false),
            ("a", "a.response", false),
            ("a.request", "a.request.response", false),
            ("arequest.txt", "arequest.txt.response", false),
        ];
        for (name, response, is_named) in answered {
            assert_eq!(response_name(name.as_bytes()), Some((response.into(), is_named)), "{name}");
            assert_eq!(response_name(response.as_bytes()), None, "{response}");
        }
        for name in
            [".request.yaml", "a.request.yaml~", "a.request.yaml.tmp", "response.txt", "a.response", ""]
        {
            assert_eq!(response_name(name.as_bytes()).filter(|_| !name.is_empty()), None, "{name}");
        }
    }
}

//! Waiting for a reply in the inbox.

pub(crate) mod file;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use drop_folder::{DroppedFile, FolderWatcher, Observation, Observations, open_for_writing};
use rel_path::RelPath;
use sandbox_fs::{FileKind, FsError};
use tagproto::{Item, ParseErrorKind, Strictness};
use wap_core::CancelFlag;

use crate::folders::StateFolders;
use crate::inbox::file::{InboxFile, Unusable, candidates, read};
use crate::projection::{self, SetAside};

/// How often a file is looked at that a program has still open.
const OPEN_POLL: Duration = Duration::from_millis(250);

/// How long a file may be open without being written to before the user is told.
const OPEN_FOR: Duration = Duration::from_secs(5);

/// How long a file whose last block is not closed must stay as it is: cut off by the chat, or not all there yet.
const UNCLOSED: Duration = Duration::from_secs(3);

/// What the inbox has to tell.
#[derive(Debug)]
pub enum Found {
    /// A reply, complete and readable.
    Reply(InboxFile),
    /// A file that is no reply; told once for each of its versions.
    Unusable {
        /// The file.
        name: RelPath,
        /// Why.
        why: Unusable,
        /// Where it is now, if it was moved.
        set_aside: Option<SetAside>,
    },
}

/// How waiting ended.
#[derive(Debug)]
pub enum Waited {
    /// There is something to tell.
    Found(Found),
    /// The flag was raised.
    Cancelled,
}

/// The inbox of one state folder, and what is known about the files in it.
#[derive(Debug, Default)]
pub struct Inbox {
    observations: Observations<Reported>,
}

/// What was done about one version of a file.
#[derive(Debug, Default)]
struct Reported {
    /// The user knows that it is not a reply, or it is left to another process.
    is_passed_over: bool,
    /// The user knows that a program still has it open.
    is_open: bool,
}

impl Inbox {
    /// Blocks until there is something to tell or the flag is raised.
    ///
    /// # Errors
    ///
    /// If the inbox cannot be listed, or a file cannot be set aside.
    pub fn wait(&mut self, folders: &StateFolders, cancel: &CancelFlag) -> Result<Waited, FsError> {
        // The watcher starts before the first look, so that nothing can arrive unseen in between.
        let watcher = FolderWatcher::new(&folders.inbox_path(), cancel);
        loop {
            if cancel.is_cancelled() {
                return Ok(Waited::Cancelled);
            }
            match self.look(folders)? {
                Look::Found(found) => return Ok(Waited::Found(found)),
                Look::Again(pause) => watcher.wait(Some(pause)),
                Look::Nothing => watcher.wait(None),
            }
        }
    }

    /// Leaves a file to another process: it is not found again unless it changes.
    pub fn leave(&mut self, name: &RelPath) {
        if let Some(observation) = self.observations.latest_mut(name) {
            observation.notes.is_passed_over = true;
        }
    }

    /// Looks once.
    fn look(&mut self, folders: &StateFolders) -> Result<Look, FsError> {
        let candidates = candidates(folders)?;
        self.observations.observe(&candidates);
        let mut soonest: Option<Duration> = None;
        for candidate in candidates {
            let Some(observation) = self.observations.get_mut(&candidate) else { continue };
            // Only a new version of the file changes that.
            if observation.notes.is_passed_over {
                continue;
            }
            let look_again = match look_at(observation, folders, &candidate) {
                Settled::Not(left) => left,
                Settled::Reply(file) => return Ok(Look::Found(Found::Reply(file))),
                Settled::Unusable(why) => {
                    let set_aside = if why.is_set_aside() {
                        Some(projection::set_aside(folders, &candidate.name)?)
                    } else {
                        None
                    };
                    return Ok(Look::Found(Found::Unusable { name: candidate.name, why, set_aside }));
                }
            };
            soonest = Some(soonest.map_or(look_again, |soonest| soonest.min(look_again)));
            // Replies are taken in order: one that is still being written holds up those behind it, except an empty
            // one, which may never be filled.
            if candidate.stamp.size_bytes > 0 {
                break;
            }
        }
        Ok(soonest.map_or(Look::Nothing, Look::Again))
    }
}

/// What a look at one file gives.
enum Settled {
    /// It may not be complete; look again after this time.
    Not(Duration),
    Reply(InboxFile),
    Unusable(Unusable),
}

/// Looks at one candidate, and takes note of what the user is then informed of.
fn look_at(
    observation: &mut Observation<Reported>,
    folders: &StateFolders,
    candidate: &DroppedFile,
) -> Settled {
    if candidate.kind != FileKind::File {
        observation.notes.is_passed_over = true;
        return Settled::Unusable(Unusable::NotAFile(candidate.kind));
    }
    let left = observation.time_left();
    if !left.is_zero() {
        return Settled::Not(left);
    }
    let age = observation.age();
    let name = OsStr::from_bytes(candidate.name.as_bytes());
    if !open_for_writing(&[(name, candidate.stamp)]).is_empty() {
        if age < OPEN_FOR || observation.notes.is_open {
            return Settled::Not(OPEN_POLL);
        }
        observation.notes.is_open = true;
        return Settled::Unusable(Unusable::BeingWritten);
    }
    match read(folders, candidate) {
        Ok(None) => Settled::Not(OPEN_POLL),
        Ok(Some(file)) if age < UNCLOSED && ends_unclosed(&file.text) => Settled::Not(UNCLOSED - age),
        Ok(Some(file)) => Settled::Reply(file),
        Err(why) => {
            observation.notes.is_passed_over = true;
            Settled::Unusable(why)
        }
    }
}

/// Reports whether a text stops within a block.
fn ends_unclosed(text: &str) -> bool {
    let reply = tagproto::read(text, Strictness::Repair);
    match reply.items.last() {
        Some(Item::Error(error)) => matches!(error.kind, ParseErrorKind::Unclosed { .. }),
        _ => false,
    }
}

enum Look {
    Found(Found),
    Again(Duration),
    Nothing,
}

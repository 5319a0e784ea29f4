//! The wait for a reply in the inbox.

pub(crate) mod file;
pub(crate) mod moving;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use drop_folder::{DroppedFile, FolderWatcher, Observation, Observations, open_for_writing};
use rel_path::RelPath;
use sandbox_fs::{FileKind, FsError};
use tagproto::{Dialect, Item, ParseErrorKind, Strictness};
use wap_core::CancelFlag;

use crate::folders::StateFolders;
use crate::inbox::file::{InboxFile, Unusable, has_name_of_reply, may_be_misnamed, read};
use crate::inbox::moving::SetAside;

/// The interval at which a file that is still open in a program is checked.
const OPEN_POLL: Duration = Duration::from_millis(250);

/// The time for which a file may be open without a write before this is reported to the user.
const OPEN_FOR: Duration = Duration::from_secs(5);

/// The time for which a file with an unclosed last block must stay unchanged: either the chat cut it off, or it is incomplete.
const UNCLOSED: Duration = Duration::from_secs(3);

/// An event of the inbox.
#[derive(Debug)]
pub enum InboxEvent {
    /// A reply, complete and readable.
    Reply(InboxFile),
    /// A file that is not a reply; reported once per version.
    Unusable {
        /// The file.
        name: RelPath,
        /// The reason.
        why: Unusable,
        /// The path in the quarantine; `None` if it was not moved.
        set_aside: Option<SetAside>,
    },
}

/// The end of a wait.
#[derive(Debug)]
pub enum Waited {
    /// There is something to report.
    Event(InboxEvent),
    /// The flag was raised.
    Cancelled,
}

/// The inbox of a state folder, with the observations of its files.
#[derive(Debug, Default)]
pub struct Inbox {
    observations: Observations<Reported>,
    /// The names reported to the user as unsuitable for replies.
    misnamed: BTreeSet<RelPath>,
}

/// The reports about one version of a file.
#[derive(Debug, Default)]
struct Reported {
    /// True if it was reported as not a reply, or is left to another process.
    is_passed_over: bool,
    /// True if it was reported as still open in a program.
    is_open: bool,
}

impl Inbox {
    /// Blocks until there is something to report or the flag is raised.
    ///
    /// # Errors
    ///
    /// If the inbox cannot be listed, or a file cannot be quarantined.
    pub fn wait(&mut self, folders: &StateFolders, cancel: &CancelFlag) -> Result<Waited, FsError> {
        // The watcher starts before the first check, so no file can arrive unnoticed in between.
        let watcher = FolderWatcher::new(&folders.inbox_path(), cancel);
        loop {
            if cancel.is_cancelled() {
                return Ok(Waited::Cancelled);
            }
            match self.look(folders)? {
                Look::Event(event) => return Ok(Waited::Event(event)),
                Look::Again(pause) => watcher.wait(Some(pause)),
                Look::Nothing => watcher.wait(None),
            }
        }
    }

    /// Leaves a file to another process: it is not reported again unless it changes.
    pub fn leave(&mut self, name: &RelPath) {
        if let Some(observation) = self.observations.latest_mut(name) {
            observation.notes.is_passed_over = true;
        }
    }

    /// Checks every candidate once.
    fn look(&mut self, folders: &StateFolders) -> Result<Look, FsError> {
        let mut candidates = drop_folder::list(&folders.inbox)?;
        candidates.retain(|file| has_name_of_reply(&file.name) || may_be_misnamed(file));
        self.observations.observe(&candidates);
        self.misnamed.retain(|name| candidates.iter().any(|file| file.name == *name));
        let mut soonest: Option<Duration> = None;
        for candidate in candidates {
            if self.misnamed.contains(&candidate.name) {
                continue;
            }
            let Some(observation) = self.observations.get_mut(&candidate) else { continue };
            // Until the file changes.
            if observation.notes.is_passed_over {
                continue;
            }
            let look_again = match look_at(observation, folders, &candidate) {
                Settled::Not(left) => left,
                Settled::Reply(file) => return Ok(Look::Event(InboxEvent::Reply(file))),
                Settled::Unusable(why) => {
                    if why == Unusable::Misnamed {
                        self.misnamed.insert(candidate.name.clone());
                    }
                    let set_aside = match why.is_set_aside() {
                        false => None,
                        true => match moving::set_listed_aside(folders, &candidate)? {
                            None => return Ok(Look::Again(OPEN_POLL)),
                            moved => moved,
                        },
                    };
                    return Ok(Look::Event(InboxEvent::Unusable { name: candidate.name, why, set_aside }));
                }
            };
            soonest = Some(soonest.map_or(look_again, |soonest| soonest.min(look_again)));
            // Replies are executed in order: a reply that is still being written delays later ones, except an empty file, which
            // may never be filled.
            if candidate.stamp.size_bytes > 0 && has_name_of_reply(&candidate.name) {
                break;
            }
        }
        Ok(soonest.map_or(Look::Nothing, Look::Again))
    }
}

/// The state of one file.
enum Settled {
    /// It may be incomplete; check again after this time.
    Not(Duration),
    Reply(InboxFile),
    Unusable(Unusable),
}

/// Checks one candidate, and records which report the user receives.
fn look_at(
    observation: &mut Observation<Reported>,
    folders: &StateFolders,
    candidate: &DroppedFile,
) -> Settled {
    if candidate.kind != FileKind::File {
        // One report per version: the file stays there, and every check finds it again.
        observation.notes.is_passed_over = true;
        return Settled::Unusable(Unusable::NotAFile(candidate.kind));
    }
    let left = observation.time_left();
    if !left.is_zero() {
        return Settled::Not(left);
    }
    if !has_name_of_reply(&candidate.name) {
        return Settled::Unusable(Unusable::Misnamed);
    }
    let age = observation.age();
    let name = OsStr::from_bytes(candidate.name.as_bytes());
    // Only for a settled file: this scans the open files of every process.
    if !open_for_writing(&[(name, candidate.stamp)]).is_empty() {
        if age < OPEN_FOR || observation.notes.is_open {
            return Settled::Not(OPEN_POLL);
        }
        observation.notes.is_open = true;
        return Settled::Unusable(Unusable::BeingWritten);
    }
    match read(&folders.inbox, candidate) {
        // It changed while it was read.
        Ok(None) => Settled::Not(OPEN_POLL),
        Ok(Some(file)) if age < UNCLOSED && ends_unclosed(&file.text) => Settled::Not(UNCLOSED - age),
        Ok(Some(file)) => Settled::Reply(file),
        Err(why) => {
            observation.notes.is_passed_over = true;
            Settled::Unusable(why)
        }
    }
}

/// Checks whether a text ends within a block or a tag.
fn ends_unclosed(text: &str) -> bool {
    let reply = tagproto::read_in(text, Strictness::Repair, Dialect::Agentd);
    match reply.items.last() {
        Some(Item::Error(error)) => {
            matches!(error.kind, ParseErrorKind::Unclosed { .. } | ParseErrorKind::CutTag { .. })
        }
        _ => false,
    }
}

enum Look {
    Event(InboxEvent),
    Again(Duration),
    Nothing,
}

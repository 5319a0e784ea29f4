//! Waiting for a reply in the inbox.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rel_path::RelPath;
use sandbox_fs::{FileKind, FileStamp, FsError};
use wap_core::CancelFlag;

use crate::folders::StateFolders;
use crate::inbox_file::{Candidate, InboxFile, Unusable, candidates, read};
use crate::projection::{self, SetAside};
use crate::settling;
use crate::watch::InboxWatcher;

/// How often a file is looked at that a program has still open.
const OPEN_POLL: Duration = Duration::from_millis(250);

/// How long a file may be open without being written to before the user is told.
const OPEN_FOR: Duration = Duration::from_secs(5);

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
    seen: HashMap<RelPath, Seen>,
}

#[derive(Debug)]
struct Seen {
    stamp: FileStamp,
    since: Instant,
    has_changed: bool,
    told: bool,
    told_open: bool,
}

impl Seen {
    fn new(stamp: FileStamp, has_changed: bool) -> Seen {
        Seen { stamp, since: Instant::now(), has_changed, told: false, told_open: false }
    }
}

impl Inbox {
    /// Blocks until there is something to tell or the flag is raised.
    ///
    /// # Errors
    ///
    /// If the inbox cannot be listed, or a file cannot be set aside.
    pub fn wait(&mut self, folders: &StateFolders, cancel: &CancelFlag) -> Result<Waited, FsError> {
        // The watcher starts before the first look, so that nothing can arrive unseen in between.
        let watcher = InboxWatcher::new(&folders.inbox_path(), cancel);
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
        if let Some(seen) = self.seen.get_mut(name) {
            seen.told = true;
        }
    }

    /// Looks once.
    fn look(&mut self, folders: &StateFolders) -> Result<Look, FsError> {
        let candidates = candidates(folders)?;
        self.seen.retain(|name, _| candidates.iter().any(|candidate| candidate.name == *name));
        let mut soonest: Option<Duration> = None;
        for candidate in candidates {
            let seen = self.seen(&candidate);
            // Told already; only a new version of the file changes that.
            if seen.told {
                continue;
            }
            let look_again = match seen.look_at(folders, &candidate) {
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

    /// What is known about a candidate.
    fn seen(&mut self, candidate: &Candidate) -> &mut Seen {
        let seen =
            self.seen.entry(candidate.name.clone()).or_insert_with(|| Seen::new(candidate.stamp, false));
        if seen.stamp != candidate.stamp {
            // Filling an empty file is how many programs begin to write, and no pause in writing.
            *seen = Seen::new(candidate.stamp, seen.stamp.size_bytes > 0);
        }
        seen
    }
}

/// What a look at one file gives.
enum Settled {
    /// It may not be complete; look again after this time.
    Not(Duration),
    Reply(InboxFile),
    Unusable(Unusable),
}

impl Seen {
    fn look_at(&mut self, folders: &StateFolders, candidate: &Candidate) -> Settled {
        if candidate.kind != FileKind::File {
            self.told = true;
            return Settled::Unusable(Unusable::NotAFile(candidate.kind));
        }
        let quiet = self.since.elapsed();
        let needed = settling::settling_time(&candidate.stamp, self.has_changed);
        if quiet < needed {
            return Settled::Not(needed - quiet);
        }
        let path = folders.inbox_path().join(candidate.name.to_string());
        if settling::is_open_for_writing(&path, &candidate.stamp) {
            if quiet < OPEN_FOR || self.told_open {
                return Settled::Not(OPEN_POLL);
            }
            self.told_open = true;
            return Settled::Unusable(Unusable::BeingWritten);
        }
        match read(folders, candidate) {
            Ok(None) => Settled::Not(needed),
            Ok(Some(file)) if quiet < settling::UNCLOSED && settling::ends_unclosed(&file.text) => {
                Settled::Not(settling::UNCLOSED - quiet)
            }
            Ok(Some(file)) => Settled::Reply(file),
            Err(why) => {
                self.told = true;
                Settled::Unusable(why)
            }
        }
    }
}

enum Look {
    Found(Found),
    Again(Duration),
    Nothing,
}

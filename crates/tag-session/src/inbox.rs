//! Waiting for a reply in the inbox.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rel_path::RelPath;
use sandbox_fs::{FileStamp, FsError};
use wap_core::CancelFlag;

use crate::folders::StateFolders;
use crate::inbox_file::{Candidate, InboxFile, Unusable, candidates, read};
use crate::projection::{self, SetAside};
use crate::watch::InboxWatcher;

/// How long size and times must not change before a file is read.
const STABLE_FOR: Duration = Duration::from_millis(150);

/// How long an empty file may still be in the making before the user is told.
const EMPTY_FOR: Duration = Duration::from_secs(2);

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
pub(crate) struct Inbox {
    seen: HashMap<RelPath, Seen>,
}

#[derive(Debug)]
struct Seen {
    stamp: FileStamp,
    since: Instant,
    told: bool,
}

impl Inbox {
    /// Blocks until there is something to tell or the flag is raised.
    pub(crate) fn wait(&mut self, folders: &StateFolders, cancel: &CancelFlag) -> Result<Waited, FsError> {
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

    /// Looks once.
    fn look(&mut self, folders: &StateFolders) -> Result<Look, FsError> {
        let candidates = candidates(folders)?;
        self.seen.retain(|name, _| candidates.iter().any(|candidate| candidate.name == *name));
        let mut soonest = None;
        for candidate in candidates {
            let quiet = match self.quiet_for(&candidate) {
                Some(quiet) => quiet,
                // Told already; only a new version of the file changes that.
                None => continue,
            };
            let needed = if candidate.stamp.size_bytes == 0 { EMPTY_FOR } else { STABLE_FOR };
            if quiet < needed {
                // Replies are taken in order: one that is still being written holds up those behind it, except an
                // empty one, which may never be filled.
                let left = needed - quiet;
                soonest = Some(soonest.map_or(left, |soonest: Duration| soonest.min(left)));
                if candidate.stamp.size_bytes == 0 {
                    continue;
                }
                break;
            }
            match read(folders, &candidate) {
                Ok(file) => return Ok(Look::Found(Found::Reply(file))),
                Err(why) => {
                    if let Some(seen) = self.seen.get_mut(&candidate.name) {
                        seen.told = true;
                    }
                    let set_aside = if why.is_set_aside() {
                        Some(projection::set_aside(folders, &candidate.name)?)
                    } else {
                        None
                    };
                    return Ok(Look::Found(Found::Unusable { name: candidate.name, why, set_aside }));
                }
            }
        }
        Ok(soonest.map_or(Look::Nothing, Look::Again))
    }

    /// How long a candidate has been as it is; `None` if it was told about already.
    fn quiet_for(&mut self, candidate: &Candidate) -> Option<Duration> {
        let now = Instant::now();
        let seen = self.seen.entry(candidate.name.clone()).or_insert(Seen {
            stamp: candidate.stamp,
            since: now,
            told: false,
        });
        if seen.stamp != candidate.stamp {
            *seen = Seen { stamp: candidate.stamp, since: now, told: false };
        }
        if seen.told { None } else { Some(now - seen.since) }
    }
}

enum Look {
    Found(Found),
    Again(Duration),
    Nothing,
}

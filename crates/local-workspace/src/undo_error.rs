//! Why an undo is refused.

use std::fmt::{self, Write as _};

use change_journal::{ChangeNumber, JournalError};
use wap_core::WapError;

/// Why an undo is refused. Nothing was undone then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UndoError {
    /// There is no such change.
    #[error("there is no change {number}")]
    Unknown {
        /// The number that was asked for.
        number: ChangeNumber,
    },
    /// The change was promised and never came about, because somebody else had changed the file.
    #[error("change {number} did not come about: `{path}` was changed by someone else")]
    NeverHappened {
        /// The number that was asked for.
        number: ChangeNumber,
        /// Its path.
        path: String,
    },
    /// The change is undone already.
    #[error("change {number} is undone already, by change {by}")]
    AlreadyUndone {
        /// The number that was asked for.
        number: ChangeNumber,
        /// The change that took it back.
        by: ChangeNumber,
    },
    /// There is nothing to undo: nothing was changed, or all of it is undone already.
    #[error("there is nothing to undo")]
    Nothing,
    /// Some paths stand in the way; no path was touched.
    #[error("{}", obstacle_list(.0))]
    Obstacles(Vec<UndoObstacle>),
    /// The journal failed.
    #[error("the journal failed: {0}")]
    Journal(#[from] JournalError),
    /// The workspace failed, or does not allow it.
    #[error("{0}")]
    Workspace(WapError),
}

/// A path that cannot be brought back to what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UndoObstacle {
    /// The path.
    pub path: String,
    /// What stands in the way.
    pub why: ObstacleKind,
    /// For a file that has changed since, a unified diff from what the change left to what is there now; else empty.
    pub diff: String,
}

/// What keeps a path from being brought back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObstacleKind {
    /// It is not what the change left: somebody else, a command for instance, has changed it since.
    #[error("has changed since")]
    ChangedSince,
    /// A later change of ours touches it and is not to be undone as well.
    #[error("was changed again by change {0}, which has to be undone first or together with it")]
    LaterChange(ChangeNumber),
    /// What it held before is not held any more.
    #[error("cannot be brought back: what it held before is not kept any more")]
    NotKept,
    /// It was a pipe, a socket or a device.
    #[error("cannot be brought back: it was a pipe, a socket or a device")]
    SpecialFile,
    /// It may not be written or removed.
    #[error("cannot be changed: {0}")]
    Closed(WapError),
}

impl fmt::Display for UndoObstacle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` {}", self.path, self.why)
    }
}

/// How many obstacles an error's text names.
const NAMED_OBSTACLES: usize = 3;

fn obstacle_list(obstacles: &[UndoObstacle]) -> String {
    let mut text = String::from("nothing was undone");
    for (index, obstacle) in obstacles.iter().take(NAMED_OBSTACLES).enumerate() {
        let _ = write!(text, "{} {obstacle}", if index == 0 { ":" } else { ";" });
    }
    if obstacles.len() > NAMED_OBSTACLES {
        let _ = write!(text, "; and {} more", obstacles.len() - NAMED_OBSTACLES);
    }
    text
}

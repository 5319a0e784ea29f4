//! The reasons for which an undo is refused.

use std::fmt;

use change_journal::{ChangeNumber, Entry, JournalError};
use wap_core::WapError;

/// The reason for which an undo is refused. Nothing was undone then, except with [`InParts`](Self::InParts).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UndoError {
    /// There is no such change.
    #[error("there is no change {number}")]
    Unknown {
        /// The requested number.
        number: ChangeNumber,
    },
    /// The change was recorded and never published: another program had changed the file, or it could not be written.
    #[error("change {number} of `{path}` did not come about, so there is nothing to undo")]
    NeverHappened {
        /// The requested number.
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
    /// Some paths were restored before an obstacle was met at another one, and reverting them could not be recorded.
    #[error("{}", in_parts(brought_back, obstacles, cause))]
    InParts {
        /// The paths that hold again what they held.
        brought_back: Vec<String>,
        /// The paths that stay as they are.
        obstacles: Vec<UndoObstacle>,
        /// The reason for which the restored paths could not be reverted.
        cause: String,
    },
    /// The journal failed.
    #[error("the journal failed: {0}")]
    Journal(#[from] JournalError),
    /// The workspace failed, or does not allow it.
    #[error("{0}")]
    Workspace(WapError),
}

/// A path that cannot be restored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UndoObstacle {
    /// The path.
    pub path: String,
    /// The obstacle.
    pub why: ObstacleKind,
    /// For a file that has changed since, a unified diff from what the change left to what is there now; else empty.
    pub diff: Box<str>,
    /// The same of what the reader of the request may see of the path and of both texts; `None` if the request names no such reader.
    pub visible_diff: Option<Box<str>>,
    /// The state that the change left, kept until a diff against it is rendered; `None` if there is none to render.
    pub(crate) left: Option<Box<Left>>,
}

/// The state that a change left at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left(pub Option<Entry>);

impl UndoObstacle {
    pub(crate) fn new(path: String, why: ObstacleKind) -> UndoObstacle {
        UndoObstacle { path, why, diff: Box::default(), visible_diff: None, left: None }
    }
}

/// The kind of obstacle that keeps a path from being restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObstacleKind {
    /// It is not what the change left: another program, a command for instance, has changed it since.
    #[error("has changed since")]
    ChangedSince,
    /// A later change of ours touches it and is not to be undone as well.
    #[error("was changed again by change {0}, which has to be undone first or together with it")]
    LaterChange(ChangeNumber),
    /// It is a folder that something else is in.
    #[error("stays, because something else is in it")]
    NotEmpty,
    /// The content before or after the change is not kept: it was too large, or has been removed since.
    #[error("cannot be restored: its content was too large to be kept, or is too old")]
    NotKept,
    /// It was a pipe, a socket or a device.
    #[error("cannot be restored: it was a pipe, a socket or a device")]
    SpecialFile,
    /// It is the reference of a branch that is checked out now, and the index of that working tree is not undone with it.
    #[error("is a branch that is checked out now; check out another one there first")]
    CheckedOut,
    /// It says what is checked out, and would name a branch that another working tree has checked out since.
    #[error(
        "leads to a branch that another working tree has checked out since; check out another one there first"
    )]
    CheckedOutElsewhere,
    /// It says what is checked out, or is the log of that, and another branch than the one that the change left is checked out now.
    #[error("has changed since, because another branch is checked out now; it was `{branch}`")]
    OtherBranch {
        /// The branch, or the commit.
        branch: Box<str>,
        /// The working tree; `.` for that of the workspace.
        tree: Box<str>,
        /// The other working tree that has the branch checked out now.
        taken_by: Option<Box<str>>,
    },
    /// It says what is checked out. The changes have checked out another branch than before, and the repository cannot be restored.
    #[error(
        "leads to another branch or commit than before, where the files of before do not belong{}",
        was(former)
    )]
    OtherCheckout {
        /// The branch, or the commit, of before; `None` if it is not kept.
        former: Option<String>,
        /// The working tree; `.` for that of the workspace.
        tree: Box<str>,
    },
    /// It is a file by which git keeps others from changing a repository.
    #[error("is there, so git is at work; wait for it, or remove the file if no git runs there")]
    Locked,
    /// It may not be written or removed.
    #[error("cannot be changed: {0}")]
    Closed(WapError),
}

fn was(former: &Option<String>) -> String {
    former.as_ref().map_or_else(String::new, |former| format!("; it was `{former}`"))
}

impl fmt::Display for UndoObstacle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` {}", self.path, self.why)
    }
}

/// The number of obstacles that an error's text names.
const NAMED_OBSTACLES: usize = 3;

fn in_parts(brought_back: &[String], obstacles: &[UndoObstacle], cause: &str) -> String {
    let named: Vec<_> = brought_back.iter().take(NAMED_OBSTACLES).map(|path| format!("`{path}`")).collect();
    let more = match brought_back.len().saturating_sub(named.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let list = list("the rest was not", obstacles);
    format!(
        "only a part was undone: {}{more}; {list}; that part could not be put back: {cause}",
        named.join(", ")
    )
}

/// Names the first of some obstacles.
pub(crate) fn obstacles_text(obstacles: &[UndoObstacle]) -> String {
    let named: Vec<_> = obstacles.iter().take(NAMED_OBSTACLES).map(UndoObstacle::to_string).collect();
    match obstacles.len() - named.len() {
        0 => named.join("; "),
        more => format!("{}; and {more} more", named.join("; ")),
    }
}

fn obstacle_list(obstacles: &[UndoObstacle]) -> String {
    list("nothing was undone", obstacles)
}

fn list(what: &str, obstacles: &[UndoObstacle]) -> String {
    if obstacles.is_empty() {
        return what.to_owned();
    }
    format!("{what}: {}", obstacles_text(obstacles))
}

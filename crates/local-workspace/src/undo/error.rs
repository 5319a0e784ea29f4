//! The reasons why an undo is refused.

use std::fmt;

use change_journal::{ChangeNumber, Entry, JournalError};
use rel_path::RelPath;
use wap_core::{Reason, WapError};

use crate::undo::kept_commits::OtherCheckout;

/// The reason why an undo is refused. Nothing was undone, except with [`InParts`](Self::InParts).
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
        /// The requested number.
        number: ChangeNumber,
        /// The change that reverted it.
        by: ChangeNumber,
    },
    /// There is nothing to undo: nothing was changed, or everything is undone already.
    #[error("there is nothing to undo")]
    Nothing,
    /// Some paths are obstacles; no path was touched.
    #[error("{}", obstacle_list(.0))]
    Obstacles(Vec<UndoObstacle>),
    /// Some paths were restored before an obstacle was found at another, and reverting them could not be recorded.
    #[error("{}", in_parts(brought_back, obstacles, cause))]
    InParts {
        /// The restored paths.
        brought_back: Vec<String>,
        /// The paths that stay unchanged.
        obstacles: Vec<UndoObstacle>,
        /// The reason why the restored paths could not be reverted.
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
    /// For a file that has changed since, a unified diff from the state that the change left to the current one;
    /// otherwise empty.
    pub diff: Box<str>,
    /// The same diff, masked for the reader of the request; `None` if the request names no such reader.
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
    /// It differs from what the change left: another program, such as a command, has changed it since.
    #[error("has changed since")]
    ChangedSince,
    /// It is in the state before the change already: another program has restored it, perhaps by a checkout of another
    /// branch or by a stash, which can bring the change back.
    #[error("is already as it was before")]
    AsBefore,
    /// A later change of ours, which is not to be undone, touches it.
    #[error("was changed again by change {0}, which has to be undone first or together with it")]
    LaterChange(ChangeNumber),
    /// It is a folder that contains something else.
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
    /// It is a `HEAD`, and would name a branch that another working tree has checked out since.
    #[error(
        "leads to a branch that another working tree has checked out since; check out another one there first"
    )]
    CheckedOutElsewhere,
    /// It is a `HEAD` or its log, and a branch other than the one that the change left is checked out now.
    #[error("has changed since, because another branch is checked out now; it was `{branch}`")]
    OtherBranch {
        /// The branch, or the commit.
        branch: Box<str>,
        /// The working tree; `.` for that of the workspace.
        tree: Box<str>,
        /// The other working tree that has the branch checked out now.
        taken_by: Option<Box<str>>,
    },
    /// It is a `HEAD`. The changes have checked out a branch other than before, and the repository cannot be restored.
    #[error(
        "leads to another branch or commit than before, where the files of before do not belong{}",
        was(&.0.former)
    )]
    OtherCheckout(Box<OtherCheckout>),
    /// It is a file by which git locks a repository.
    #[error("is there, so git is at work; wait for it, or remove the file if no git runs there")]
    Locked,
    /// It may not be written or removed.
    #[error("cannot be changed: {0}")]
    Closed(WapError),
}

impl ObstacleKind {
    /// The obstacle of a path beneath a folder that was replaced by a symlink.
    pub(crate) fn behind(link: &RelPath) -> ObstacleKind {
        ObstacleKind::Closed(WapError::new(Reason::IsSymlink, format!("`{link}` is a link now")))
    }
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
        "only a part was undone: {}{more}; {list}; that part could not be reverted: {cause}",
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

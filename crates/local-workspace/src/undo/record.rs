//! The recorded outcome of an undo.

use std::collections::BTreeSet;

use rel_path::RelPath;
use serde::{Deserialize, Serialize};
use wap_core::{Reason, WapError};

use crate::step_record::{decode, encode};
use crate::undo::error::{ObstacleKind, UndoError, UndoObstacle};
use crate::undo::{Undo, Undone};

/// The outcome of an undo in the journal. It has the shape of every outcome of file changes, because recovery may
/// replace it by a conflict.
#[derive(Serialize, Deserialize)]
pub(crate) struct UndoRecord {
    pub(crate) outcome: Result<Undone, WapError>,
}

impl UndoRecord {
    /// The outcome if nothing was undone. It is a conflict only if another program obstructed every path.
    pub(crate) fn refused(obstacles: &[UndoObstacle]) -> UndoRecord {
        let closed = obstacles.iter().find_map(|obstacle| match &obstacle.why {
            ObstacleKind::Closed(error) => Some(error.reason()),
            _ => None,
        });
        let text = UndoError::Obstacles(obstacles.to_vec()).to_string();
        UndoRecord { outcome: Err(WapError::new(closed.unwrap_or(Reason::Conflict), text)) }
    }

    /// Returns the recorded outcome of an undo without paths that were not restored after all; `None` if it is the
    /// outcome of another kind of step, or nothing else was undone.
    pub(crate) fn without(recorded: &[u8], stayed: &BTreeSet<&RelPath>) -> Option<Vec<u8>> {
        let mut undone = decode::<UndoRecord>(recorded).ok()?.outcome.ok()?;
        let stayed: BTreeSet<_> = stayed.iter().map(|path| path.to_string()).collect();
        undone.paths.retain(|path| !stayed.contains(&path.path));
        if undone.paths.is_empty() {
            return None;
        }
        undone.changed_since.extend(stayed.iter().cloned());
        undone.not_undoable.extend(stayed);
        Some(encode(&UndoRecord { outcome: Ok(undone) }))
    }
}

/// Describes an undo in one line for the log.
pub(super) fn describe(what: &Undo) -> String {
    match what {
        Undo::Changes(numbers) => match &numbers[..] {
            [number] => format!("undo change {number}"),
            numbers => format!("undo {} changes", numbers.len()),
        },
        Undo::Run(run) => format!("undo run {run}"),
        Undo::Conversation(conversation) => format!("undo session {}", conversation.0),
    }
}

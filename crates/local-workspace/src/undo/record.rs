//! The recorded outcome of an undo.

use std::collections::BTreeSet;

use change_journal::RecordedStep;
use rel_path::RelPath;
use serde::{Deserialize, Serialize};
use wap_core::{Reason, WapError};

use crate::step_record::{decode, encode};
use crate::undo::Undo;
use crate::undo::error::{ObstacleKind, UndoError, UndoObstacle};
use crate::undo::kept_commits::KeptCommits;
use crate::undo::path::UndoPath;

/// The result of an undo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Undone {
    /// The number of the run that did it: [`Undo::Run`] with it reverts the undo.
    pub run: u64,
    /// The paths, in the order in which they were restored.
    pub paths: Vec<UndonePath>,
    /// Folders that were made and stay, because they contain something else.
    pub kept_folders: Vec<String>,
    /// Commands of the same runs whose effects on files are unknown.
    pub commands: Vec<String>,
    /// Paths that stay unchanged: their state before commands of the same runs is not kept, a repository differs from
    /// what the changes left, or another program has changed the file while a crash had interrupted this undo.
    #[serde(default)]
    pub not_undoable: Vec<String>,
    /// The paths among these that another program has changed since.
    #[serde(default)]
    pub changed_since: Vec<String>,
    /// The repositories among these, with the branches that the changes moved.
    #[serde(default)]
    pub kept_commits: Vec<KeptCommits>,
    /// Paths that another program had restored already. Their changes stay in force: another branch may be checked out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub already_as_before: Vec<String>,
    /// True if it was carried out by an earlier request that was interrupted before its answer: this one has undone
    /// nothing more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_interrupted: bool,
}

impl Undone {
    /// Returns the undo that a step of the journal has recorded; `None` if it is another kind of step, or if nothing
    /// was undone.
    #[must_use]
    pub fn recorded(step: &RecordedStep) -> Option<Undone> {
        decode::<UndoRecord>(step.outcome.as_deref()?).ok()?.outcome.ok()
    }
}

/// One path that was restored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UndonePath {
    /// The path.
    pub path: String,
    /// The effect on the path.
    pub effect: UndoEffect,
    /// The numbers of the changes that were reverted, newest first.
    pub undoes: Vec<u64>,
}

/// The effect of an undo on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UndoEffect {
    /// Its old content is restored.
    Restored,
    /// It exists again.
    BroughtBack,
    /// It is removed again.
    Removed,
}

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

pub(super) fn undone_path(path: &UndoPath) -> UndonePath {
    let effect = match (&path.now, &path.wanted) {
        (_, None) => UndoEffect::Removed,
        (None, Some(_)) => UndoEffect::BroughtBack,
        (Some(_), Some(_)) => UndoEffect::Restored,
    };
    let undoes = path.back.iter().filter_map(|step| step.undoes).map(|number| number.0).collect();
    UndonePath { path: path.path.to_string(), effect, undoes }
}

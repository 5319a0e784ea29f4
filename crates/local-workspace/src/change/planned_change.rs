//! Previews of changes.

use std::sync::Arc;

use rel_path::{ProtectedName, RelPath};

use crate::change::plan::PlannedStep;
use crate::change::present::{Present, PresentKind};
use crate::command::effect::{Effect, EffectSide};
use crate::undo::unified_diff::UnifiedDiff;

/// The effect that one change would have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedChange {
    /// The canonical path of the file.
    pub path: String,
    /// A unified diff, empty if nothing would change; a line of explanation for contents that are not text.
    pub diff: String,
    /// Lines that are new or different.
    pub lines_added: usize,
    /// Lines that are gone or different.
    pub lines_removed: usize,
    /// The program that obeys the file, and the way it does, as the reason to review it; `None` if there is no such
    /// program.
    pub obeyed_because: Option<String>,
    /// The step of the run that makes it, 0-based; 0 where it is not the change of one step.
    pub step: u32,
    /// The bytes before and after, `None` inside for a missing file; `None` outside if they are not kept.
    pub contents: Option<Contents>,
    /// True if a file is removed, or replaced by a folder or a symlink. Removed symlinks, pipes, sockets and devices
    /// count, too.
    pub removes_a_file: bool,
}

/// The bytes of a file before and after a change; `None` where there is no file.
pub type Contents = (Option<Arc<[u8]>>, Option<Arc<[u8]>>);

impl PlannedChange {
    pub(crate) fn of(step: &PlannedStep) -> PlannedChange {
        let path = step.path.to_string();
        let [before, after] = [&step.before, &step.after].map(|side| side.as_ref().map(Present::content));
        let UnifiedDiff { text, lines_added, lines_removed } = UnifiedDiff::between(&path, before, after);
        let [before, after] =
            [&step.before, &step.after].map(|side| side.as_ref().map(|present| present.bytes.clone()));
        let removes_a_file = before.is_some() && after.is_none();
        let contents = Some((before, after));
        PlannedChange {
            path,
            diff: text,
            lines_added,
            lines_removed,
            obeyed_because: None,
            step: 0,
            contents,
            removes_a_file,
        }
    }

    /// The same, as the change of one step.
    pub(crate) fn at_step(self, step: u32) -> PlannedChange {
        PlannedChange { step, ..self }
    }

    /// The same, with the reason why the file is obeyed.
    pub(crate) fn obeyed_by(self, name: Option<&ProtectedName>) -> PlannedChange {
        PlannedChange { obeyed_because: name.map(|name| name.reason().to_owned()), ..self }
    }

    /// Describes an effect, with a diff if both sides are files whose contents are kept.
    pub(crate) fn of_effect(effect: &Effect) -> PlannedChange {
        let is_file = |kind: Option<PresentKind>| kind.is_none_or(|kind| kind == PresentKind::File);
        let removes_a_file = removes_a_file(effect.kind_before(), effect.kind_after());
        let sides =
            [(effect.text_before(), effect.kind_before()), (effect.text_after(), effect.kind_after())];
        let are_known = sides.iter().all(|(text, kind)| text.is_some() == kind.is_some());
        if !are_known || !is_file(effect.kind_before()) || !is_file(effect.kind_after()) {
            let what = match (&effect.before, &effect.after) {
                (None, Some(_)) => "made",
                (Some(_), None) => "removed",
                _ => "changed",
            };
            return PlannedChange { removes_a_file, ..PlannedChange::said(&effect.path, what) };
        }
        let path = effect.path.to_string();
        let UnifiedDiff { text, lines_added, lines_removed } =
            UnifiedDiff::between(&path, effect.text_before(), effect.text_after());
        let modes = [&effect.before, &effect.after].map(|side| side.as_ref().and_then(EffectSide::mode));
        match modes {
            [Some(before), Some(after)] if text.is_empty() && before != after => {
                PlannedChange::said(&effect.path, &format!("permissions {before:o} become {after:o}"))
            }
            _ => {
                let bytes = |text: Option<&[u8]>| text.map(Arc::from);
                let contents = Some((bytes(effect.text_before()), bytes(effect.text_after())));
                let obeyed_because = None;
                PlannedChange {
                    path,
                    diff: text,
                    lines_added,
                    lines_removed,
                    obeyed_because,
                    step: 0,
                    contents,
                    removes_a_file,
                }
            }
        }
    }

    /// A change that is described by one line.
    pub(crate) fn said(path: &RelPath, what: &str) -> PlannedChange {
        let path = path.to_string();
        let diff = format!("{path}: {what}\n");
        PlannedChange {
            diff,
            path,
            lines_added: 0,
            lines_removed: 0,
            obeyed_because: None,
            step: 0,
            contents: None,
            removes_a_file: false,
        }
    }
}

/// Checks whether a file is removed from a path.
fn removes_a_file(before: Option<PresentKind>, after: Option<PresentKind>) -> bool {
    match before {
        Some(PresentKind::File) => after != Some(PresentKind::File),
        Some(PresentKind::Other) => matches!(after, None | Some(PresentKind::Folder)),
        Some(PresentKind::Folder) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{PresentKind, removes_a_file};

    #[test]
    fn a_file_is_removed_if_nothing_or_something_else_is_in_its_place() {
        use PresentKind::{File, Folder, Other};
        let gone =
            [(File, None), (File, Some(Other)), (File, Some(Folder)), (Other, None), (Other, Some(Folder))];
        let there = [
            (File, Some(File)),
            (Other, Some(Other)),
            (Other, Some(File)),
            (Folder, None),
            (Folder, Some(File)),
        ];
        for (before, after) in gone {
            assert!(removes_a_file(Some(before), after), "{before:?} {after:?}");
        }
        for (before, after) in there {
            assert!(!removes_a_file(Some(before), after), "{before:?} {after:?}");
        }
        for after in [None, Some(File), Some(Other), Some(Folder)] {
            assert!(!removes_a_file(None, after), "{after:?}");
        }
    }
}

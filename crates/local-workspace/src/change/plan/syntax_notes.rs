//! Notes on changes after which a file no longer parses.

use std::time::{Duration, Instant};

use wap_core::{FileChanged, SyntaxCheck, WapError};

use crate::change::plan::{Plan, PlannedStep};
use crate::change::present::{Present, PresentKind};

/// The time after which no further file of a batch is checked: other changes are waiting.
const BATCH_TIME: Duration = Duration::from_millis(500);

impl Plan<'_> {
    /// Adds a note to the last change of each file that parsed before the batch and does not after it.
    ///
    /// Earlier changes of the file get no note: later ones of the batch may complete them. Once the batch has used up
    /// its time, no further notes are added.
    pub(crate) fn note_syntax(&self, planned: &mut [Result<PlannedStep, WapError>], check: &dyn SyntaxCheck) {
        let begun = Instant::now();
        for (path, file) in &self.files {
            if begun.elapsed() > BATCH_TIME {
                return;
            }
            let (Some(before), Some(after)) = (text(file.before.as_ref()), text(file.after.as_ref())) else {
                continue;
            };
            let last = planned.iter_mut().rev().flatten().find(|step| step.path == *path);
            let changed = match last.map(|step| &mut step.changed) {
                Some(FileChanged::Written(written)) => &mut written.changed,
                Some(FileChanged::Modified(modified)) => &mut modified.changed,
                Some(FileChanged::Deleted(_)) | None => continue,
            };
            let Some(changed) = changed else { continue };
            if let Some(error) = check.first_new_error(&path.to_string(), before, after) {
                changed.notes.push(error.note());
            }
        }
    }
}

/// Returns the text of a file in UTF-8.
fn text(side: Option<&Present>) -> Option<&str> {
    let side = side.filter(|side| side.kind == PresentKind::File)?;
    std::str::from_utf8(&side.bytes).ok()
}

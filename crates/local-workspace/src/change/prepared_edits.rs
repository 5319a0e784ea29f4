//! Edits that are computed before a batch's turn, so that calls do not wait for long ones.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use change_journal::ContentHash;
use text_edit::{EditError, EditLimits, Edited, Numbering, Operation, Source};
use wap_core::{CancelFlag, FileChange, ModifyFile, ModifyOperation};

/// The number of operations by line that still counts as few.
const FEW_OPERATIONS: usize = 16;

/// Results of edits, by their inputs.
#[derive(Debug, Default)]
pub(crate) struct PreparedEdits {
    edits: Mutex<HashMap<ContentHash, Vec<PreparedEdit>>>,
    /// True while the batch has its turn, in which long edits are not computed.
    is_closed: AtomicBool,
    /// True if an edit was missing during the turn.
    has_missed: AtomicBool,
}

#[derive(Debug)]
struct PreparedEdit {
    numbering: Numbering,
    operations: Vec<Operation>,
    outcome: Result<Edited, EditError>,
}

impl PreparedEdits {
    /// Checks whether a batch has edits that may take long.
    pub(crate) fn are_worth_it(changes: &[FileChange]) -> bool {
        changes.iter().any(|change| matches!(change, FileChange::Modify(modify) if may_take_long(modify)))
    }

    /// Computes no further edits until [`PreparedEdits::open`].
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        self.has_missed.store(false, Ordering::Relaxed);
    }

    pub(crate) fn open(&self) {
        self.has_missed.store(false, Ordering::Relaxed);
        self.is_closed.store(false, Ordering::Relaxed);
    }

    /// Checks whether an edit was missing, because its file has changed since it was prepared.
    pub(crate) fn has_missed(&self) -> bool {
        self.has_missed.load(Ordering::Relaxed)
    }

    /// Applies operations, or returns the prepared result.
    pub(crate) fn apply(
        &self,
        text: &Source<'_>,
        hash: ContentHash,
        operations: &[Operation],
        numbering: Numbering,
        cancel: &CancelFlag,
    ) -> Result<Edited, EditError> {
        let mut edits = self.edits.lock().unwrap_or_else(PoisonError::into_inner);
        let prepared = edits.entry(hash).or_default();
        let same = |edit: &&PreparedEdit| edit.numbering == numbering && edit.operations == operations;
        if let Some(edit) = prepared.iter().find(same) {
            return edit.outcome.clone();
        }
        let takes_long = operations.len() > FEW_OPERATIONS || operations.iter().any(is_expression);
        if self.is_closed.load(Ordering::Relaxed) && takes_long {
            self.has_missed.store(true, Ordering::Relaxed);
            return Err(EditError { operation_index: None, kind: text_edit::EditErrorKind::Cancelled });
        }
        let limits = EditLimits::default();
        let outcome =
            text_edit::apply_until(text.bytes(), operations, numbering, &limits, &|| cancel.is_cancelled());
        // Short edits are cheaper to repeat than to keep.
        if takes_long {
            prepared.push(PreparedEdit {
                numbering,
                operations: operations.to_vec(),
                outcome: outcome.clone(),
            });
        }
        outcome
    }
}

fn is_expression(operation: &Operation) -> bool {
    matches!(operation, Operation::ReplaceText { .. } | Operation::RegexReplace { .. })
}

fn may_take_long(modify: &ModifyFile) -> bool {
    let is_search = |operation: &ModifyOperation| {
        matches!(operation, ModifyOperation::ReplaceText { .. } | ModifyOperation::RegexReplace { .. })
    };
    modify.operations.len() > FEW_OPERATIONS || modify.operations.iter().any(is_search)
}

//! The limits of a response.

use std::time::Duration;

use serde::Serialize;

use crate::{Warning, WarningCode};

/// The limits of a response in size and time. Larger results are cut, and needs beyond the limits are answered
/// with `budget_exhausted`; finished results are never discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The approximate size limit of all results in bytes.
    pub response_bytes: usize,
    /// The approximate size limit of one result in bytes.
    pub need_bytes: usize,
    /// The most needs that are answered.
    pub needs: usize,
    /// The time limit of the response.
    pub time: Duration,
    /// The time limit of one need.
    pub need_time: Duration,
}

impl Default for Budget {
    /// Returns 1 MiB in total and 512 KiB for one result, 256 needs, one minute in total and ten seconds for one
    /// need.
    fn default() -> Budget {
        Budget {
            response_bytes: 1 << 20,
            need_bytes: 512 << 10,
            needs: 256,
            time: Duration::from_secs(60),
            need_time: Duration::from_secs(10),
        }
    }
}

/// The remaining bytes of a budget.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ledger {
    left: usize,
    need_bytes: usize,
}

/// The bytes reserved for the fields around a content. An unanswered need repeats its fields only if they fit
/// into them.
pub(super) const FIELDS_BYTES: usize = 256;

/// Warnings may take this fraction of a response, or at least the bytes below.
const WARNINGS_PART: usize = 8;
const WARNINGS_BYTES: usize = 4096;

impl Ledger {
    pub(super) fn new(budget: &Budget) -> Ledger {
        Ledger { left: budget.response_bytes, need_bytes: budget.need_bytes }
    }

    /// Returns the size limit of the next result's content, if the fields of its need take `need_bytes`; `None`
    /// if there is no room.
    pub(super) fn room(&self, field_bytes: usize) -> Option<usize> {
        self.left.min(self.need_bytes).checked_sub(FIELDS_BYTES.max(field_bytes))
    }

    /// Subtracts a result from the budget.
    pub(super) fn book(&mut self, result: &impl Serialize) {
        self.left = self.left.saturating_sub(written_bytes(result));
    }
}

/// Drops the last warnings if all of them would fill most of the response.
pub(super) fn fit_warnings(warnings: &mut Vec<Warning>, budget: &Budget) {
    let mut left = (budget.response_bytes / WARNINGS_PART).max(WARNINGS_BYTES);
    let total = warnings.len();
    let fits = |warning: &Warning| {
        let bytes = warning.to_string().len();
        let is_room = bytes <= left;
        left = left.saturating_sub(bytes);
        is_room
    };
    let kept = warnings.iter().map(fits).take_while(|fits| *fits).count();
    if kept < total {
        warnings.truncate(kept);
        warnings.push(Warning::with(WarningCode::Truncated, format!("warnings {kept}/{total}")));
    }
}

/// Returns the size of a value as JSON in bytes.
pub(super) fn written_bytes(value: &impl Serialize) -> usize {
    let mut counted = CountedBytes(0);
    // Cannot fail: the keys are texts, and the writer only counts.
    let _ = serde_json::to_writer(&mut counted, value);
    counted.0
}

struct CountedBytes(usize);

impl std::io::Write for CountedBytes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

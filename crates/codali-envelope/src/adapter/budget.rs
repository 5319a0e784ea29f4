//! How much a response may cost.

use std::time::Duration;

use serde::Serialize;

use crate::{Warning, WarningCode};

/// How large a response may become and how long it may take. What is over is cut, or answered as `budget_exhausted`;
/// what is finished is never thrown away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// About how many bytes all results may have.
    pub response_bytes: usize,
    /// About how many bytes one result may have.
    pub need_bytes: usize,
    /// How many needs are answered.
    pub needs: usize,
    /// How long all of it may take.
    pub time: Duration,
    /// How long one need may take.
    pub need_time: Duration,
}

impl Default for Budget {
    /// 1 MiB in all and 512 KiB for one, 256 needs, one minute in all and ten seconds for one.
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

/// What of a budget of bytes is left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ledger {
    left: usize,
    need_bytes: usize,
}

/// What the fields around a content take. A need that is not answered is named by its fields if they have no more than that.
pub(super) const FIELDS_BYTES: usize = 256;

/// The part of a response that its warnings may have, and the bytes that they may have in any case.
const WARNINGS_PART: usize = 8;
const WARNINGS_BYTES: usize = 4096;

impl Ledger {
    pub(super) fn new(budget: &Budget) -> Ledger {
        Ledger { left: budget.response_bytes, need_bytes: budget.need_bytes }
    }

    /// Returns how many bytes the content of the next result may have, if the fields by which it was asked for have
    /// `asked_bytes`; `None` if there is room for nothing.
    pub(super) fn room(&self, asked_bytes: usize) -> Option<usize> {
        self.left.min(self.need_bytes).checked_sub(FIELDS_BYTES.max(asked_bytes))
    }

    /// Books a result.
    pub(super) fn book(&mut self, result: &impl Serialize) {
        self.left = self.left.saturating_sub(written_bytes(result));
    }
}

/// Leaves out the last warnings where there are so many that they would be most of the response.
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

/// Returns how many bytes a value has when it is written.
pub(super) fn written_bytes(value: &impl Serialize) -> usize {
    let mut counted = CountedBytes(0);
    // Nothing can fail: the keys are texts, and counting always goes well.
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

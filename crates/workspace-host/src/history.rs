//! The history of a workspace as text: the log, and the outcome of an undo.

mod blame;
mod bookkeeping_paths;
mod log;
mod log_page;
mod model_view;
mod step_failure;
mod touched_paths;
mod undo_text;
mod visible_diff;
pub(crate) mod work_so_far;

use change_journal::JournalError;

use crate::{Exit, Failure};

pub use blame::{Blame, BlamedLine, blame};
pub use bookkeeping_paths::bookkeeping_paths;
pub use log::{LogRange, RunLine, log, log_range, log_text};
pub use log_page::{LogPart, log_page};
pub use model_view::{ListedRun, RunPage, RunViews};
pub use touched_paths::{TouchedBy, TouchedError, touched_paths};
pub use undo_text::{undo_lines, undo_text};

#[expect(clippy::needless_pass_by_value, reason = "it is used with map_err")]
fn unreadable(error: JournalError) -> Failure {
    Failure::new(Exit::Failed, format!("the journal cannot be read: {error}"))
}

//! Lines for the user of the program.

use std::fmt::Debug;
use std::sync::Arc;

/// A receiver of lines for the user of the program, such as a terminal or a log.
pub trait Notices: Debug + Send + Sync {
    /// Reports something that the user has to know.
    fn notice(&self, line: &str);

    /// Reports progress.
    fn progress(&self, line: &str) {
        let _ = line;
    }

    /// Reports a detail for a user who wants to know more.
    fn detail(&self, line: &str) {
        let _ = line;
    }
}

/// Notices that several parts of a program report to.
pub type SharedNotices = Arc<dyn Notices>;

/// A receiver that drops every line.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNotices;

impl Notices for NoNotices {
    fn notice(&self, _: &str) {}
}

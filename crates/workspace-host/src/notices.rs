//! Lines for the person who runs the program.

use std::fmt::Debug;
use std::sync::Arc;

/// A receiver of lines for the person who runs the program, such as a terminal or a log.
pub trait Notices: Debug + Send + Sync {
    /// Reports something that the person has to know.
    fn notice(&self, line: &str);

    /// Reports progress.
    fn progress(&self, line: &str) {
        let _ = line;
    }

    /// Reports a detail for a person who wants to know more.
    fn detail(&self, line: &str) {
        let _ = line;
    }
}

/// Notices that several parts of a program report to.
pub type SharedNotices = Arc<dyn Notices>;

/// Notices that no person reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNotices;

impl Notices for NoNotices {
    fn notice(&self, _: &str) {}
}

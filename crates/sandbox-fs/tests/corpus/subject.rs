//! The code under attack.

use std::fmt::Debug;

use sandbox_fs::{FileKind, FileRoot, OpenFile};

use super::{Case, Sandbox};

/// The text that the operations of the corpus write.
pub(crate) const NEW_TEXT: &str = "new text\n";

/// An implementation of the operations of the corpus on a root.
pub(crate) trait Subject: Sized {
    /// Its error type.
    type Refusal: Debug;

    /// Its name in reports.
    const NAME: &'static str;

    /// True if it reads text; false if it reads bytes, which a limit may cut anywhere.
    const READS_TEXT: bool;

    /// The number of rounds of a raced operation.
    const RACE_ROUNDS: u32;

    /// Returns the reason why a case is about a feature that it lacks, if so.
    fn elsewhere(case: &Case) -> Option<&'static str>;

    fn over(root: FileRoot, sandbox: &Sandbox) -> Self;

    fn perform(&self, case: &Case, sandbox: &Sandbox) -> Result<Reply, Self::Refusal>;

    /// Returns everything in a refusal that a model can read.
    fn text(refusal: &Self::Refusal) -> String;

    /// Returns whether a code of the corpus allows a refusal.
    fn fits(code: &str, refusal: &Self::Refusal) -> bool;

    /// Returns the bytes that another program added to a version that, by this refusal, is kept under another name.
    fn kept(refusal: &Self::Refusal) -> &[u8];
}

/// The reply of an operation.
#[derive(Default)]
pub(crate) struct Reply {
    pub(crate) content: Vec<u8>,
    /// The paths in their rendered form.
    pub(crate) entries: Vec<(String, FileKind)>,
    pub(crate) matches: u64,
    /// True if it reported a folder that it could not read.
    pub(crate) skipped_folder: bool,
    pub(crate) truncated: bool,
    /// True if a change was flagged; `None` if the subject has no flags.
    pub(crate) is_flagged: Option<bool>,
    /// The file that a change replaced, if the subject keeps it open.
    pub(crate) replaced: Option<OpenFile>,
}

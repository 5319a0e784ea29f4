//! What is attacked.

use std::fmt::Debug;

use sandbox_fs::{FileKind, FileRoot, OpenFile};

use super::{Case, Sandbox};

/// What the corpus writes.
pub(crate) const NEW_TEXT: &str = "new text\n";

/// Something that carries out the operations of the corpus on a root.
pub(crate) trait Subject: Sized {
    /// How it refuses.
    type Refusal: Debug;

    /// Its name in reports.
    const NAME: &'static str;

    /// Whether what it reads is text; else it is bytes, which a limit may cut anywhere.
    const READS_TEXT: bool;

    /// How often a raced operation is repeated.
    const RACE_ROUNDS: u32;

    /// Why a case is about what it has not, if it is.
    fn elsewhere(case: &Case) -> Option<&'static str>;

    fn over(root: FileRoot, sandbox: &Sandbox) -> Self;

    fn perform(&self, case: &Case, sandbox: &Sandbox) -> Result<Reply, Self::Refusal>;

    /// Everything in a refusal that a model gets to see.
    fn text(refusal: &Self::Refusal) -> String;

    /// Whether a refusal is one of those that a code of the corpus hints at.
    fn fits(code: &str, refusal: &Self::Refusal) -> bool;

    /// What somebody has added to a version which this refusal says is kept under another name.
    fn kept(refusal: &Self::Refusal) -> &[u8];
}

/// What an operation answered.
#[derive(Default)]
pub(crate) struct Reply {
    pub(crate) content: Vec<u8>,
    /// Paths as they are shown.
    pub(crate) entries: Vec<(String, FileKind)>,
    pub(crate) matches: u64,
    /// Whether it said that it could not look everywhere.
    pub(crate) skipped_folder: bool,
    pub(crate) truncated: bool,
    /// Whether a change was flagged, if the subject flags any.
    pub(crate) is_flagged: Option<bool>,
    /// The file that a change replaced, where the subject holds on to it.
    pub(crate) replaced: Option<OpenFile>,
}

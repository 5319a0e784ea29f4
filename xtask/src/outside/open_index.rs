//! An index of a folder of cases.

use std::path::Path;

use code_index::{FolderSource, IndexLimits, LocalIndex};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use wap_core::{CancelFlag, ConversationId, Origin, Retention, RunKey};

use super::suite_error::SuiteError;
use crate::TaskError;

/// Opens an index of `code` in the folder `store`, and reads everything.
///
/// # Errors
///
/// [`SuiteError::NotRun`] if either folder cannot be read or written.
pub(super) fn open_index(code: &Path, store: &Path) -> Result<LocalIndex, TaskError> {
    let root = FileRoot::open(code, &RootRules::default(), FsPolicy::default()).map_err(not_run)?;
    let opened = LocalIndex::open(store, FolderSource::new(root), IndexLimits::default());
    let (index, _) = opened.map_err(not_run)?;
    index.refresh(&CancelFlag::new(), &mut |_| {}).map_err(not_run)?;
    Ok(index)
}

/// The origin of a suite's questions.
pub(super) fn origin() -> Origin {
    Origin {
        conversation: ConversationId("outside".into()),
        run: RunKey::unnumbered("index"),
        step: 0,
        retention: Retention::Process,
    }
}

pub(super) fn not_run(why: impl std::fmt::Display) -> TaskError {
    SuiteError::NotRun { script: "the code index".to_owned(), why: why.to_string() }.into()
}

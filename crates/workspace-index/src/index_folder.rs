//! The folder in which the index of a workspace is kept.

use std::path::Path;

use code_index::{FolderSource, IndexLimits, LocalIndex, Opening};
use tempfile::TempDir;
use workspace_host::{Exit, Failure, HostOptions, SharedNotices, WorkspacePaths, state};

use crate::hidden_secrets::HiddenSecrets;

/// The name of the index's folder within the state folder.
const INDEX_FOLDER: &str = "index";

/// An open index, and the temporary folder that it may live in.
#[derive(Debug)]
pub struct OpenIndex {
    /// The index, as it was at its last update.
    pub index: LocalIndex,
    pub(crate) folder: Option<TempDir>,
}

impl OpenIndex {
    /// Checks whether the index is kept, rather than in a temporary folder that is removed with this value.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.folder.is_none()
    }

    /// Opens the index in the state folder. Without a state folder, or with one that cannot be written, the index lives in
    /// a temporary folder for as long as it is open.
    ///
    /// # Errors
    /// The workspace cannot be opened, or a temporary folder cannot be made.
    pub fn open(
        options: &HostOptions,
        paths: &WorkspacePaths,
        notices: &SharedNotices,
    ) -> Result<OpenIndex, Failure> {
        if is_real_folder(&paths.base) {
            match open_at(options, paths, notices, &paths.base.join(INDEX_FOLDER)) {
                Ok(index) => return Ok(OpenIndex { index, folder: None }),
                Err(failure) => notices.notice(&format!(
                    "agentd: {}: this time the index is built in a temporary folder",
                    failure.message
                )),
            }
        }
        open_temporary(options, paths, notices)
    }

    /// Opens the index in the state folder if one is kept there, otherwise a new one in a temporary folder for as long
    /// as it is open.
    ///
    /// # Errors
    /// The workspace cannot be opened, or a temporary folder cannot be made.
    pub fn open_for_now(
        options: &HostOptions,
        paths: &WorkspacePaths,
        notices: &SharedNotices,
    ) -> Result<OpenIndex, Failure> {
        if is_kept(paths) {
            OpenIndex::open(options, paths, notices)
        } else {
            open_temporary(options, paths, notices)
        }
    }

    /// Opens the index in the state folder, which is created if necessary.
    ///
    /// # Errors
    /// The state folder cannot be made or written, or the workspace cannot be opened.
    pub fn open_kept(
        options: &HostOptions,
        paths: &WorkspacePaths,
        notices: &SharedNotices,
    ) -> Result<OpenIndex, Failure> {
        state::make_state_folder(paths)?;
        let index = open_at(options, paths, notices, &paths.base.join(INDEX_FOLDER))?;
        Ok(OpenIndex { index, folder: None })
    }
}

fn open_temporary(
    options: &HostOptions,
    paths: &WorkspacePaths,
    notices: &SharedNotices,
) -> Result<OpenIndex, Failure> {
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::new(Exit::Failed, format!("a temporary folder cannot be made: {error}")))?;
    let index = open_at(options, paths, notices, folder.path())?;
    Ok(OpenIndex { index, folder: Some(folder) })
}

fn open_at(
    options: &HostOptions,
    paths: &WorkspacePaths,
    notices: &SharedNotices,
    folder: &Path,
) -> Result<LocalIndex, Failure> {
    let source = FolderSource::new(state::open_root(options, paths)?).hiding(HiddenSecrets::of(paths));
    let source = match paths.state_folder() {
        Some(state_folder) => source.without(state_folder),
        None => source,
    };
    let opened = LocalIndex::open(folder, source, IndexLimits::default());
    let (index, opening) = opened.map_err(|error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        Failure::new(Exit::Failed, format!("{error}{cause}"))
    })?;
    if opening == Opening::Replaced {
        notices.notice("the code index was damaged or of another version: it is built anew");
    }
    Ok(index)
}

/// Returns true if an index is kept in the state folder.
#[must_use]
pub fn is_kept(paths: &WorkspacePaths) -> bool {
    is_real_folder(&paths.base) && paths.base.join(INDEX_FOLDER).join(code_index::STORE_NAME).is_file()
}

/// A state folder that is a symlink came with the folder of code, and may point anywhere.
fn is_real_folder(base: &Path) -> bool {
    std::fs::symlink_metadata(base).is_ok_and(|metadata| metadata.is_dir())
}

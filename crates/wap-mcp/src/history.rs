//! The history of a workspace, for the tools `undo` and `log`.

use wap_core::{Call, WapError};

/// The history of a workspace that records its changes.
pub trait WorkspaceHistory: Send + Sync {
    /// Undoes a change by its number, or the last change for `None`. Returns the outcome as text for a model, at most about
    /// `characters` long; the inner error is the refusal with its reasons.
    ///
    /// # Errors
    ///
    /// [`WapError`] if the history cannot be used.
    fn undo(
        &self,
        call: &Call<'_>,
        change: Option<u64>,
        characters: usize,
    ) -> Result<Result<String, String>, WapError>;

    /// Lists runs with their steps and changes, newest first, as text for a model.
    ///
    /// # Errors
    ///
    /// [`WapError`] if the history cannot be read.
    fn log(&self, page: &LogPage) -> Result<String, WapError>;
}

/// The part of the log that a model asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPage {
    /// The most runs.
    pub limit: u32,
    /// Leaves out this run and later ones.
    pub before: Option<u64>,
    /// The lines of the first run to skip, since they were shown before.
    pub skip: u64,
    /// The most characters of the answer, apart from the note on how to continue.
    pub characters: usize,
}

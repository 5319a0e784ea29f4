//! A workspace whose answers contain no secrets.

mod changing;
mod expression;
mod growth;
mod held_texts;
mod judging;
mod putting_back;
mod reading;
mod running;
mod searching;
mod veil;
mod written_texts;

use std::sync::Arc;

use wap_core::{
    Call, CommandObserver, ConversationId, ExecuteCommand, ExecuteCommandResponse, ExploreFiles,
    ExploreFilesResponse, FileChange, FileChanged, FileStates, Moment, ReadFile, ReadFileResponse, Reason,
    SearchFiles, SearchFilesResponse, StopProcess, StopProcessResponse, WapError, Workspace, WorkspaceInfo,
};

use crate::Secrets;
use crate::exposure::exposed;
use crate::withheld::{Verdict, Withheld, refusal};
use crate::workspace::held_texts::HeldTexts;
use crate::workspace::written_texts::WrittenTexts;

/// A workspace for a model: masks the answers of an inner workspace, restores requests to it, and leaves out files of
/// credentials.
///
/// Versions are those of the real bytes, and line numbers stay the same. Without [`Secrets`], everything passes
/// unchanged.
#[derive(Clone, Debug)]
pub struct PlaceholderWorkspace<W> {
    inner: W,
    secrets: Option<Arc<Secrets>>,
    withheld: Withheld,
    written: Arc<WrittenTexts>,
    held: Arc<HeldTexts>,
}

impl<W> PlaceholderWorkspace<W> {
    /// Returns a workspace over another; `None` shows secrets as they are.
    pub fn new(inner: W, secrets: Option<Arc<Secrets>>, withheld: Withheld) -> PlaceholderWorkspace<W> {
        PlaceholderWorkspace { inner, secrets, withheld, written: Arc::default(), held: Arc::default() }
    }

    /// Returns the inner workspace, which shows secrets, for uses other than a model.
    pub fn inner(&self) -> &W {
        &self.inner
    }

    /// Returns the inner workspace.
    pub fn into_inner(self) -> W {
        self.inner
    }

    /// Returns the secrets; `None` if they are shown.
    pub fn secrets(&self) -> Option<&Arc<Secrets>> {
        self.secrets.as_ref()
    }

    /// Returns the same rules over another workspace.
    pub fn over<V>(&self, inner: V) -> PlaceholderWorkspace<V> {
        PlaceholderWorkspace {
            inner,
            secrets: self.secrets.clone(),
            withheld: self.withheld.clone(),
            written: Arc::clone(&self.written),
            held: Arc::clone(&self.held),
        }
    }
}

impl<W: Workspace> PlaceholderWorkspace<W> {
    /// Reports whether the content of a file is left out.
    fn is_withheld(&self, call: &Call<'_>, secrets: &Secrets, path: &str) -> bool {
        match self.withheld.verdict(path) {
            Verdict::Visible => false,
            Verdict::LeftOut => true,
            Verdict::IfSecret => {
                let request = ReadFile { path: path.to_owned(), ..ReadFile::default() };
                match self.inner.read_file(call, &request) {
                    Ok(read) => read.is_truncated || !secrets.is_clean(&read.content),
                    // A missing file or one that is not text has no secret to withhold.
                    Err(error) => !matches!(error.reason(), Reason::FileNotFound | Reason::NotAFile),
                }
            }
        }
    }

    fn check_visible(&self, call: &Call<'_>, secrets: &Secrets, path: &str) -> Result<(), WapError> {
        // A missing file may be reported as such: the request fails with that.
        if self.is_withheld(call, secrets, path) { Err(refusal(path)) } else { Ok(()) }
    }
}

/// Refuses a text in which a restored value would be visible.
fn check_stays_hidden(secrets: &Secrets, text: &str, field: &str) -> Result<(), WapError> {
    let Some(marker) = exposed(secrets, text) else { return Ok(()) };
    let text = format!(
        "the value of {marker} is hidden only on a line like its own, and would be shown there: leave it on such a line"
    );
    Err(WapError::new(Reason::InvalidField, text).with("field", field))
}

impl<W: Workspace> Workspace for PlaceholderWorkspace<W> {
    fn workspace_info(&self, call: &Call<'_>) -> Result<WorkspaceInfo, WapError> {
        self.inner.workspace_info(call)
    }

    fn explore_files(
        &self,
        call: &Call<'_>,
        request: &ExploreFiles,
    ) -> Result<ExploreFilesResponse, WapError> {
        match &self.secrets {
            Some(secrets) => self.explore_masked(secrets, call, request),
            None => self.inner.explore_files(call, request),
        }
    }

    fn read_file(&self, call: &Call<'_>, request: &ReadFile) -> Result<ReadFileResponse, WapError> {
        match &self.secrets {
            Some(secrets) => self.read_masked(secrets, call, request),
            None => self.inner.read_file(call, request),
        }
    }

    fn search_files(&self, call: &Call<'_>, request: &SearchFiles) -> Result<SearchFilesResponse, WapError> {
        match &self.secrets {
            Some(secrets) => self.search_masked(secrets, call, request),
            // Ignore the request's own value: a model must not choose the files to skip.
            None => self.inner.search_files(call, &SearchFiles { withheld: None, ..request.clone() }),
        }
    }

    fn file_states(
        &self,
        call: &Call<'_>,
        paths: &[String],
        since: Option<&Moment>,
    ) -> Result<FileStates, WapError> {
        match &self.secrets {
            Some(secrets) => self.states_masked(secrets, call, paths, since),
            None => self.inner.file_states(call, paths, since),
        }
    }

    fn change_files(
        &self,
        call: &Call<'_>,
        changes: &[FileChange],
    ) -> Result<Vec<Result<FileChanged, WapError>>, WapError> {
        match &self.secrets {
            Some(secrets) => self.change_masked(secrets, call, changes),
            None => self.inner.change_files(call, changes),
        }
    }

    fn execute_command(
        &self,
        call: &Call<'_>,
        request: &ExecuteCommand,
        observer: &mut dyn CommandObserver,
    ) -> Result<ExecuteCommandResponse, WapError> {
        match &self.secrets {
            Some(secrets) => self.run_masked(secrets, call, request, observer),
            None => {
                let request = ExecuteCommand { recorded_command: None, ..request.clone() };
                self.inner.execute_command(call, &request, observer)
            }
        }
    }

    fn stop_process(&self, call: &Call<'_>, request: &StopProcess) -> Result<StopProcessResponse, WapError> {
        match &self.secrets {
            Some(secrets) => self.stop_masked(secrets, call, request),
            None => self.inner.stop_process(call, request),
        }
    }

    fn end_conversation(&self, conversation: &ConversationId) {
        self.written.forget(conversation);
        self.inner.end_conversation(conversation);
    }
}

//! A workspace that dies when it is listed.

use wap_core::{
    Call, CommandObserver, ExecuteCommand, ExecuteCommandResponse, ExploreFiles, ExploreFilesResponse,
    FileChange, FileChanged, ReadFile, ReadFileResponse, SearchFiles, SearchFilesResponse, WapError,
    Workspace, WorkspaceInfo,
};

/// A workspace in front of another one, which does something before it lists a folder: an outbox lists the workspace,
/// and a reply does not.
pub(super) struct Mortal<W> {
    inner: W,
    before_listing: fn(),
}

impl<W> Mortal<W> {
    pub(super) fn new(inner: W, before_listing: fn()) -> Mortal<W> {
        Mortal { inner, before_listing }
    }
}

impl<W: Workspace> Workspace for Mortal<W> {
    fn workspace_info(&self, call: &Call<'_>) -> Result<WorkspaceInfo, WapError> {
        self.inner.workspace_info(call)
    }

    fn explore_files(
        &self,
        call: &Call<'_>,
        request: &ExploreFiles,
    ) -> Result<ExploreFilesResponse, WapError> {
        (self.before_listing)();
        self.inner.explore_files(call, request)
    }

    fn read_file(&self, call: &Call<'_>, request: &ReadFile) -> Result<ReadFileResponse, WapError> {
        self.inner.read_file(call, request)
    }

    fn search_files(&self, call: &Call<'_>, request: &SearchFiles) -> Result<SearchFilesResponse, WapError> {
        self.inner.search_files(call, request)
    }

    fn change_files(
        &self,
        call: &Call<'_>,
        changes: &[FileChange],
    ) -> Result<Vec<Result<FileChanged, WapError>>, WapError> {
        self.inner.change_files(call, changes)
    }

    fn execute_command(
        &self,
        call: &Call<'_>,
        request: &ExecuteCommand,
        observer: &mut dyn CommandObserver,
    ) -> Result<ExecuteCommandResponse, WapError> {
        self.inner.execute_command(call, request, observer)
    }
}

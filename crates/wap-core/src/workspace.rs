//! The interface between protocol adapters and engines.

use std::sync::Arc;

use crate::{
    Call, CommandObserver, ConversationId, DeleteFile, DeleteFileResponse, ExecuteCommand,
    ExecuteCommandResponse, ExploreFiles, ExploreFilesResponse, FileChange, FileChanged, FileState,
    FileStates, ModifyFile, ModifyFileResponse, Moment, ReadFile, ReadFileResponse, Reason, SearchFiles,
    SearchFilesResponse, StopProcess, StopProcessResponse, WapError, WorkspaceInfo, WriteFile,
    WriteFileResponse,
};

/// A folder of code that a model may read, change and run commands in.
///
/// Every protocol adapter is generic over this trait; engines implement it. Calls block; the caller owns threads.
///
/// # Errors
///
/// Every method fails with a [`WapError`] that a model can act on; the workspace stays usable after any error.
pub trait Workspace: Send + Sync {
    /// Describes the workspace and its limits.
    fn workspace_info(&self, call: &Call<'_>) -> Result<WorkspaceInfo, WapError>;

    /// Lists a folder.
    fn explore_files(
        &self,
        call: &Call<'_>,
        request: &ExploreFiles,
    ) -> Result<ExploreFilesResponse, WapError>;

    /// Reads a file; `metadata.path` of the answer is the canonical relative path.
    fn read_file(&self, call: &Call<'_>, request: &ReadFile) -> Result<ReadFileResponse, WapError>;

    /// Searches files.
    fn search_files(&self, call: &Call<'_>, request: &SearchFiles) -> Result<SearchFilesResponse, WapError>;

    /// Returns the present version of each file, and reports which ones have changed since a moment; `None` for an entry that is
    /// not a readable file. The versions are kept like those of files that were read, so that their line numbers can be mapped
    /// later.
    ///
    /// The cost grows with the number of files and of their changes, not with their sizes.
    ///
    /// The default implementation reads the files, and reports no change.
    fn file_states(
        &self,
        call: &Call<'_>,
        paths: &[String],
        since: Option<&Moment>,
    ) -> Result<FileStates, WapError> {
        let _ = since;
        // An unreadable file has no state; the outer error is for failures of the engine.
        let read = |path: &String| {
            let request =
                ReadFile { path: path.clone(), start_line: None, end_line: None, ..ReadFile::default() };
            let response = self.read_file(call, &request).ok()?;
            Some(FileState { path: response.metadata.path, version: response.version, has_changed: false })
        };
        Ok(FileStates { moment: Moment::default(), files: paths.iter().map(read).collect() })
    }

    /// Changes files as one durable unit with one commit.
    ///
    /// Items succeed or fail one by one, and a later item sees the effect of an earlier one. The outer error is for errors that
    /// stop the batch as a whole before anything was changed. A batch whose steps were already carried out (see
    /// [`Origin`](crate::Origin)) is answered from the record, even if the call is cancelled; a change that a cancelled call has
    /// not started answers [`Reason::Cancelled`](crate::Reason::Cancelled) and leaves its step free.
    fn change_files(
        &self,
        call: &Call<'_>,
        changes: &[FileChange],
    ) -> Result<Vec<Result<FileChanged, WapError>>, WapError>;

    /// Runs a shell command. A step that was already carried out is answered from the record; one that was
    /// interrupted by the end of the engine is never run again and answers
    /// [`Reason::OutcomeUnknown`](crate::Reason::OutcomeUnknown). Both hold for a cancelled call as well.
    ///
    /// A command that did not start because the call was cancelled answers [`Reason::Cancelled`](crate::Reason::Cancelled)
    /// without any detail; the error of a killed command has its output.
    fn execute_command(
        &self,
        call: &Call<'_>,
        request: &ExecuteCommand,
        observer: &mut dyn CommandObserver,
    ) -> Result<ExecuteCommandResponse, WapError>;

    /// Ends a background process of the call's conversation.
    ///
    /// The default implementation is for a workspace without background processes.
    fn stop_process(&self, call: &Call<'_>, request: &StopProcess) -> Result<StopProcessResponse, WapError> {
        let _ = call;
        let text = format!("there is no background process '{}'", request.name);
        Err(WapError::new(Reason::FileNotFound, text).with("field", "name"))
    }

    /// Ends the processes that a conversation left running. The default implementation does nothing.
    fn end_conversation(&self, conversation: &ConversationId) {
        let _ = conversation;
    }
}

/// Implements `Workspace` for a pointer to a workspace.
macro_rules! pass_on {
    ($pointer:ty) => {
        impl<W: Workspace + ?Sized> Workspace for $pointer {
            fn workspace_info(&self, call: &Call<'_>) -> Result<WorkspaceInfo, WapError> {
                (**self).workspace_info(call)
            }

            fn explore_files(
                &self,
                call: &Call<'_>,
                request: &ExploreFiles,
            ) -> Result<ExploreFilesResponse, WapError> {
                (**self).explore_files(call, request)
            }

            fn read_file(&self, call: &Call<'_>, request: &ReadFile) -> Result<ReadFileResponse, WapError> {
                (**self).read_file(call, request)
            }

            fn search_files(
                &self,
                call: &Call<'_>,
                request: &SearchFiles,
            ) -> Result<SearchFilesResponse, WapError> {
                (**self).search_files(call, request)
            }

            fn file_states(
                &self,
                call: &Call<'_>,
                paths: &[String],
                since: Option<&Moment>,
            ) -> Result<FileStates, WapError> {
                (**self).file_states(call, paths, since)
            }

            fn change_files(
                &self,
                call: &Call<'_>,
                changes: &[FileChange],
            ) -> Result<Vec<Result<FileChanged, WapError>>, WapError> {
                (**self).change_files(call, changes)
            }

            fn execute_command(
                &self,
                call: &Call<'_>,
                request: &ExecuteCommand,
                observer: &mut dyn CommandObserver,
            ) -> Result<ExecuteCommandResponse, WapError> {
                (**self).execute_command(call, request, observer)
            }

            fn stop_process(
                &self,
                call: &Call<'_>,
                request: &StopProcess,
            ) -> Result<StopProcessResponse, WapError> {
                (**self).stop_process(call, request)
            }

            fn end_conversation(&self, conversation: &ConversationId) {
                (**self).end_conversation(conversation);
            }
        }
    };
}

pass_on!(Arc<W>);
pass_on!(&W);

/// Single file changes: batches of one over [`Workspace::change_files`].
pub trait WorkspaceExt: Workspace {
    /// Writes a whole file.
    fn write_file(&self, call: &Call<'_>, request: &WriteFile) -> Result<WriteFileResponse, WapError> {
        match change_one(self, call, FileChange::Write(request.clone()))? {
            FileChanged::Written(response) => Ok(response),
            other => unreachable!("a write answers Written, not {other:?}"),
        }
    }

    /// Changes lines of a file.
    fn modify_file(&self, call: &Call<'_>, request: &ModifyFile) -> Result<ModifyFileResponse, WapError> {
        match change_one(self, call, FileChange::Modify(request.clone()))? {
            FileChanged::Modified(response) => Ok(response),
            other => unreachable!("a modification answers Modified, not {other:?}"),
        }
    }

    /// Deletes a file.
    fn delete_file(&self, call: &Call<'_>, request: &DeleteFile) -> Result<DeleteFileResponse, WapError> {
        match change_one(self, call, FileChange::Delete(request.clone()))? {
            FileChanged::Deleted(response) => Ok(response),
            other => unreachable!("a deletion answers Deleted, not {other:?}"),
        }
    }
}

impl<W: Workspace + ?Sized> WorkspaceExt for W {}

fn change_one<W: Workspace + ?Sized>(
    workspace: &W,
    call: &Call<'_>,
    change: FileChange,
) -> Result<FileChanged, WapError> {
    let mut outcomes = workspace.change_files(call, &[change])?;
    outcomes.pop().expect("a batch of one has one outcome")
}

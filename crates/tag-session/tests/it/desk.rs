//! A state folder and a workspace in memory that outlive the sessions on them, for tests of restarts.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use change_journal::{Journal, JournalLimits};
use memory_workspace::MemoryWorkspace;
use tag_session::{
    Applied, ApplyOptions, Executed, InboxFile, Reconciled, SessionError, Sessions, StateFolders,
};
use tagproto::{Dialect, Session, SessionId, UnobservedExecution};
use tempfile::TempDir;
use wap_core::{
    Call, CancelFlag, CommandObserver, ExecuteCommand, ExecuteCommandResponse, ExploreFiles,
    ExploreFilesResponse, FileChange, FileChanged, ReadFile, ReadFileResponse, SearchFiles,
    SearchFilesResponse, WapError, Workspace, WorkspaceInfo,
};

/// A workspace that several sessions use in turn.
#[derive(Clone, Debug)]
pub(crate) struct Shared(pub(crate) Arc<MemoryWorkspace>);

pub(crate) struct Desk {
    folder: TempDir,
    pub(crate) workspace: Shared,
}

pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

impl Desk {
    pub(crate) fn with_files<const N: usize>(files: [(&str, &str); N]) -> Desk {
        let workspace = MemoryWorkspace::with_files(files);
        for command in ["make", "make test"] {
            workspace.on_command(command, Ok(printed(&format!("{command} ran\n"))));
        }
        Desk { folder: tempfile::tempdir().unwrap(), workspace: Shared(Arc::new(workspace)) }
    }

    pub(crate) fn base(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// Opens the sessions like a new process.
    pub(crate) fn open(&self) -> (Sessions<Shared>, Reconciled) {
        let (journal, _) = Journal::open(&self.base().join("journal"), JournalLimits::default()).unwrap();
        let folders = StateFolders::open(&self.base()).unwrap();
        Sessions::open(self.workspace.clone(), journal, folders).unwrap()
    }

    pub(crate) fn outbox_file(&self, session: &Session) -> PathBuf {
        self.base().join("outbox").join(session.outbox_file_name())
    }

    pub(crate) fn session_file(&self, session: &Session) -> PathBuf {
        self.base().join("sessions").join(session.session_file_name())
    }

    /// Moves a reply into the inbox atomically.
    pub(crate) fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        let temporary = self.base().join("temporary");
        fs::write(&temporary, text).unwrap();
        fs::rename(temporary, self.base().join("inbox").join(name)).unwrap();
    }

    /// Returns the names of the files in a folder of the state folder, sorted.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.base().join(folder)).unwrap().map(Result::unwrap);
        let files = entries.filter(|entry| !entry.file_type().unwrap().is_dir());
        let mut names: Vec<_> = files.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub(crate) fn begin(sessions: &Sessions<Shared>) -> Session {
    sessions.create("make it work", Dialect::Agentd, None, &CancelFlag::new()).unwrap()
}

pub(crate) fn apply(sessions: &Sessions<Shared>, id: SessionId, text: &str) -> Result<Applied, SessionError> {
    apply_with(sessions, id, text, ApplyOptions::default())
}

pub(crate) fn apply_with(
    sessions: &Sessions<Shared>,
    id: SessionId,
    text: &str,
    options: ApplyOptions<'_>,
) -> Result<Applied, SessionError> {
    sessions.apply(id, text, TIMEOUT, options, &CancelFlag::new(), &mut UnobservedExecution)
}

#[track_caller]
pub(crate) fn executed(applied: Result<Applied, SessionError>) -> Executed {
    match applied.unwrap() {
        Applied::Executed(executed) => *executed,
        Applied::AlreadyDone { sequence, .. } => panic!("done before, as the answer to {sequence}"),
    }
}

/// Applies a file of the inbox and moves it to `processed/`.
pub(crate) fn apply_file(sessions: &Sessions<Shared>, id: SessionId, file: &InboxFile) -> Executed {
    let options = ApplyOptions { file: Some(file), ..ApplyOptions::default() };
    executed(apply_with(sessions, id, &file.text, options))
}

pub(crate) fn printed(stdout: &str) -> ExecuteCommandResponse {
    ExecuteCommandResponse {
        stdout: stdout.to_owned(),
        stderr: String::new(),
        exit_code: 0,
        is_output_truncated: false,
        duration_ms: 1,
        signal: None,
        background: None,
        whole_output: None,
        sandbox: String::new(),
        warnings: Vec::new(),
        denied: Vec::new(),
    }
}

impl Workspace for Shared {
    fn workspace_info(&self, call: &Call<'_>) -> Result<WorkspaceInfo, WapError> {
        self.0.workspace_info(call)
    }

    fn explore_files(
        &self,
        call: &Call<'_>,
        request: &ExploreFiles,
    ) -> Result<ExploreFilesResponse, WapError> {
        self.0.explore_files(call, request)
    }

    fn read_file(&self, call: &Call<'_>, request: &ReadFile) -> Result<ReadFileResponse, WapError> {
        self.0.read_file(call, request)
    }

    fn search_files(&self, call: &Call<'_>, request: &SearchFiles) -> Result<SearchFilesResponse, WapError> {
        self.0.search_files(call, request)
    }

    fn change_files(
        &self,
        call: &Call<'_>,
        changes: &[FileChange],
    ) -> Result<Vec<Result<FileChanged, WapError>>, WapError> {
        self.0.change_files(call, changes)
    }

    fn execute_command(
        &self,
        call: &Call<'_>,
        request: &ExecuteCommand,
        observer: &mut dyn CommandObserver,
    ) -> Result<ExecuteCommandResponse, WapError> {
        self.0.execute_command(call, request, observer)
    }
}

//! A workspace in memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use wap_core::{
    Call, CommandObserver, DEFAULT_EXCLUSIONS, ExecuteCommand, ExecuteCommandResponse, ExploreFiles,
    ExploreFilesResponse, FileChange, FileChanged, FileStates, JudgedFile, Limits, Moment, OutputStream,
    ReadFile, ReadFileResponse, Reason, SearchFiles, SearchFilesResponse, WapError, Workspace, WorkspaceInfo,
};

use crate::record::{Outcome, Record, other_request, without_version};
use crate::run_changes::RunChanges;
use crate::tree::Tree;
use crate::{changes, listing, reading, search};

/// The absolute path that the workspace claims to have.
pub(crate) const ROOT: &str = "/workspace";
/// The sandbox line for scripted commands.
const SANDBOX: &str = "level=none; commands=scripted";

/// A [`Workspace`] whose files are in memory and whose commands are a script, for tests of adapters and clients.
///
/// It follows the rules of the protocol: canonical paths, protected names, versions, line numbers that mean the file before the
/// call or an older version, the limits, and steps that run once. Line edits go through `text-edit`, as in the engine. It has no
/// symlinks, no permissions and no ignore rules (a listing warns if a `.gitignore` would have applied). Folders stay when their
/// last file is removed. Every file was last modified on 1 January 1970.
///
/// ```
/// use memory_workspace::MemoryWorkspace;
/// use wap_core::{Call, CancelFlag, ConversationId, Origin, ReadFile, Retention, RunKey, Workspace};
///
/// let workspace = MemoryWorkspace::with_files([("a.txt", "one\ntwo\n")]);
/// let origin = Origin {
///     conversation: ConversationId("test".into()),
///     run: RunKey::unnumbered("1"),
///     step: 0,
///     retention: Retention::Process,
/// };
/// let call = Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None };
/// let request = ReadFile { path: "./a.txt".into(), start_line: Some(2), end_line: None, ..ReadFile::default() };
/// assert_eq!(workspace.read_file(&call, &request)?.content, "two\n");
/// # Ok::<(), wap_core::WapError>(())
/// ```
#[derive(Default)]
pub struct MemoryWorkspace {
    limits: Limits,
    state: Mutex<State>,
    before_changes: Mutex<Option<BeforeChanges>>,
}

/// A test's hook before each batch of changes.
type BeforeChanges = Box<dyn FnMut(&MemoryWorkspace, &Call<'_>) + Send>;

#[derive(Default)]
struct State {
    tree: Tree,
    record: Record,
    run_changes: RunChanges,
    script: HashMap<String, Result<ExecuteCommandResponse, WapError>>,
    commands_run: Vec<String>,
}

impl MemoryWorkspace {
    /// Returns an empty workspace.
    #[must_use]
    pub fn new() -> MemoryWorkspace {
        MemoryWorkspace::default()
    }

    /// Returns a workspace that holds some files, by canonical path.
    ///
    /// # Panics
    ///
    /// As [`set_file`](Self::set_file).
    #[must_use]
    pub fn with_files<P, C, I>(files: I) -> MemoryWorkspace
    where
        P: AsRef<str>,
        C: AsRef<[u8]>,
        I: IntoIterator<Item = (P, C)>,
    {
        let workspace = MemoryWorkspace::new();
        for (path, content) in files {
            workspace.set_file(path.as_ref(), content);
        }
        workspace
    }

    /// Returns the workspace with other limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> MemoryWorkspace {
        MemoryWorkspace { limits, ..self }
    }

    /// Returns every file with its content, sorted by path.
    #[must_use]
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        self.lock().tree.files().clone()
    }

    /// Returns the content of a file as text, undecodable bytes as U+FFFD; `None` if there is no such file.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<String> {
        self.lock().tree.files().get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// Stores a file without a call, as the user's editor does; protected names are allowed.
    ///
    /// # Panics
    ///
    /// If the path is not canonical, or a file is where a folder is needed, or the other way round.
    pub fn set_file(&self, path: &str, content: impl AsRef<[u8]>) {
        // A misspelt path should fail here, not later because no call can reach the file.
        let canonical = rel_path::RelPath::parse(path).map(|parsed| parsed.to_string());
        assert_eq!(canonical.as_deref(), Ok(path), "the path is canonical");
        let mut state = self.lock();
        assert!(!state.tree.is_folder(path), "'{path}' is a folder");
        let above = |folder: &str| state.tree.files().contains_key(folder);
        assert!(
            !path.match_indices('/').any(|(end, _)| above(&path[..end])),
            "a parent of '{path}' is a file"
        );
        state.tree.put(path, content.as_ref().to_vec(), None);
    }

    /// Removes a file without a call; returns whether it existed.
    pub fn remove_file(&self, path: &str) -> bool {
        self.lock().tree.remove(path).is_some()
    }

    /// Scripts the outcome of a command, given by its exact text. A command without a script is refused with
    /// [`Reason::SandboxUnavailable`].
    pub fn on_command(&self, command: impl Into<String>, outcome: Result<ExecuteCommandResponse, WapError>) {
        self.lock().script.insert(command.into(), outcome);
    }

    /// Calls `work` before each batch of changes, without any lock held, so that a test can save a file at that moment.
    pub fn before_changes(&self, work: impl FnMut(&MemoryWorkspace, &Call<'_>) + Send + 'static) {
        *self.before_changes.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(work));
    }

    /// Returns the commands that were carried out, in order; those answered from the record are not included.
    #[must_use]
    pub fn commands_run(&self) -> Vec<String> {
        self.lock().commands_run.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for MemoryWorkspace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("MemoryWorkspace").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Workspace for MemoryWorkspace {
    fn workspace_info(&self, call: &Call<'_>) -> Result<WorkspaceInfo, WapError> {
        check_cancelled(call)?;
        Ok(WorkspaceInfo {
            root: ROOT.to_owned(),
            default_exclusions: DEFAULT_EXCLUSIONS.map(str::to_owned).to_vec(),
            limits: self.limits,
            sandbox: SANDBOX.to_owned(),
            warnings: Vec::new(),
        })
    }

    fn explore_files(
        &self,
        call: &Call<'_>,
        request: &ExploreFiles,
    ) -> Result<ExploreFilesResponse, WapError> {
        check_cancelled(call)?;
        listing::explore(&self.lock().tree, &self.limits, request)
    }

    fn read_file(&self, call: &Call<'_>, request: &ReadFile) -> Result<ReadFileResponse, WapError> {
        check_cancelled(call)?;
        reading::read(&self.lock().tree, &self.limits, request)
    }

    fn search_files(&self, call: &Call<'_>, request: &SearchFiles) -> Result<SearchFilesResponse, WapError> {
        check_cancelled(call)?;
        search::search(&self.lock().tree, &self.limits, request)
    }

    fn file_states(
        &self,
        call: &Call<'_>,
        paths: &[String],
        since: Option<&Moment>,
    ) -> Result<FileStates, WapError> {
        check_cancelled(call)?;
        Ok(reading::file_states(&self.lock().tree, paths, since))
    }

    fn change_files(
        &self,
        call: &Call<'_>,
        changes: &[FileChange],
    ) -> Result<Vec<Result<FileChanged, WapError>>, WapError> {
        // Call the hook before locking the state: it stores files, which takes that lock.
        if let Some(work) = &mut *self.before_changes.lock().unwrap_or_else(PoisonError::into_inner) {
            work(self, call);
        }
        let mut state = self.lock();
        let origins = (call.origin.step..).map(|step| call.origin.at_step(step));
        let steps: Vec<_> = origins.zip(changes).collect();
        // Check before anything is changed: a batch with a step of another request is refused as a whole.
        for (origin, change) in &steps {
            match state.record.outcome(origin) {
                Some(Outcome::Change(recorded, _)) if *recorded == without_version(change) => {}
                Some(_) => return Err(other_request(origin)),
                None => {}
            }
        }
        // A batch that was already started is answered from the record, even if the caller cancelled since.
        if !steps.iter().any(|(origin, _)| state.record.outcome(origin).is_some()) {
            check_cancelled(call)?;
        }
        let mut outcomes = Vec::with_capacity(steps.len());
        let State { tree, record, run_changes, .. } = &mut *state;
        run_changes.enter(call.origin);
        for (origin, change) in steps {
            let recorded = match record.outcome(&origin) {
                Some(Outcome::Change(_, outcome)) => Some(outcome),
                _ => check_cancelled(call).err().map(Err),
            };
            let outcome = match recorded {
                Some(outcome) => outcome,
                None => {
                    let outcome = changes::change(tree, change, run_changes);
                    if let Some(error) = outcome.as_ref().err().filter(|error| JudgedFile::has_refused(error))
                    {
                        return Err(error.clone());
                    }
                    let change = Box::new(without_version(change));
                    record.add(&origin, Outcome::Change(change, outcome.clone()));
                    outcome.iter().for_each(|changed| run_changes.record(changed));
                    outcome
                }
            };
            outcomes.push(outcome);
        }
        Ok(outcomes)
    }

    fn execute_command(
        &self,
        call: &Call<'_>,
        request: &ExecuteCommand,
        observer: &mut dyn CommandObserver,
    ) -> Result<ExecuteCommandResponse, WapError> {
        // This block releases the lock: the caller's observer may make further calls.
        let outcome = {
            let mut state = self.lock();
            match state.record.outcome(call.origin) {
                Some(Outcome::Command(outcome)) => return outcome,
                Some(Outcome::Change(..)) => return Err(other_request(call.origin)),
                None => check_cancelled(call)?,
            }
            check_command(&state.tree, request)?;
            let Some(outcome) = state.script.get(&request.command).cloned() else {
                let text = "the workspace in memory has no script for this command";
                return Err(WapError::new(Reason::SandboxUnavailable, text));
            };
            // The command counts as run only from here on: refused ones are not in the list.
            state.commands_run.push(request.command.clone());
            state.record.add(call.origin, Outcome::Command(outcome.clone()));
            outcome
        };
        observer.started(SANDBOX);
        if let Ok(response) = &outcome {
            observer.output(OutputStream::Stdout, response.stdout.as_bytes());
            observer.output(OutputStream::Stderr, response.stderr.as_bytes());
        }
        outcome
    }
}

fn check_cancelled(call: &Call<'_>) -> Result<(), WapError> {
    if call.cancel.is_cancelled() {
        return Err(WapError::new(Reason::Cancelled, "the caller cancelled"));
    }
    Ok(())
}

fn check_command(tree: &Tree, request: &ExecuteCommand) -> Result<(), WapError> {
    if request.command.trim().is_empty() {
        return Err(WapError::new(Reason::EmptyCommand, "the command is empty"));
    }
    if request.command.contains('\0') {
        let error = WapError::new(Reason::InvalidField, "the command contains a NUL character");
        return Err(error.with("field", "command"));
    }
    if request.timeout.is_some_and(|timeout| timeout <= 0) {
        let error = WapError::new(Reason::InvalidField, "the timeout is not positive");
        return Err(error.with("field", "timeout"));
    }
    tree.folder_path(request.working_directory.as_deref().unwrap_or_default()).map(|_| ())
}

//! The engine: everything that the tools share.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use change_journal::{Journal, RunNumber, StepKind};
use egress::Network;
use file_index::FileIndex;
use rel_path::RelPath;
use sandbox_exec::{Launcher, SandboxReport, StartError};
use sandbox_fs::{FileRoot, FsError};
use wap_core::{
    Call, CancelFlag, CommandObserver, ConversationId, ExecuteCommand, ExecuteCommandResponse, ExploreFiles,
    ExploreFilesResponse, FileChange, FileChanged, FileStates, Moment, ReadFile, ReadFileResponse, Reason,
    SearchFiles, SearchFilesResponse, StopProcess, StopProcessResponse, SyntaxCheck, WapError, Workspace,
    WorkspaceInfo,
};

use crate::adopt::build_folder_check::BuildFoldersBefore;
use crate::adopt::build_folder_list::BuildFolderList;
use crate::adopt::layer_shelf::LayerShelf;
use crate::change::checkpoint::Checkpoint;
use crate::change::expected_files::ExpectedFiles;
use crate::change::held_versions::HeldVersions;
use crate::change::late_writes::{LateWrite, LateWrites};
use crate::command::output_store::OutputStore;
use crate::command::tree_snapshot::TreeSnapshot;
use crate::config::EngineConfig;
use crate::errors::{fs_error, path_error};
use crate::hidden::Hidden;
use crate::processes::registry::Processes;
use crate::read::file_states::KnownStamps;
use crate::recover::layer_recovery::{self, AdoptedFromLayers};
use crate::recover::recovery::{self, Recovery};
use crate::runs::{EngineRun, StepState};
use crate::turns::{Turn, Turns};

/// A folder on this machine as a [`Workspace`].
///
/// Can be shared between threads. File changes are made one batch at a time, commands one at a time, and reads
/// concurrently.
#[derive(Debug)]
pub struct LocalWorkspace {
    pub(crate) root: Arc<FileRoot>,
    pub(crate) journal: Journal,
    pub(crate) config: EngineConfig,
    pub(crate) hidden: Hidden,
    pub(crate) held: HeldVersions,
    pub(crate) stamps: KnownStamps,
    pub(crate) outputs: OutputStore,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) late_writes: Arc<LateWrites>,
    /// Before the launcher, so that they end first.
    pub(crate) processes: Processes,
    launcher: OnceLock<Result<Launcher, StartError>>,
    changes: Arc<Turns>,
    commands: Turns,
    /// The store of layers, or the reason for which there is none.
    pub(crate) layers: Result<LayerShelf, String>,
    /// Steps whose command was running on a layer when the last process ended.
    pub(crate) untouched: BTreeSet<(RunNumber, u32)>,
    /// The confinement of commands on this machine, the layer included.
    report: OnceLock<SandboxReport>,
    /// The list of files, once requested.
    pub(crate) index: OnceLock<Arc<FileIndex>>,
    /// The existing build folders, as last found.
    build_folders: Mutex<BuildFolderList>,
    /// The build folders that the running command writes to directly.
    written_through: Mutex<BuildFoldersBefore>,
    /// True if the owner of this engine ends with the reply or the call that it carries out.
    is_short_lived: AtomicBool,
    /// True once the warning about too large build folders was given.
    pub(crate) said_too_large: AtomicBool,
    /// The paths that an answer has named as unprotected, to warn only once.
    pub(crate) named_unprotected: Mutex<BTreeSet<String>>,
    /// The folder after the last command, which saves the next comparison most of its reading.
    last_snapshot: Mutex<Option<TreeSnapshot>>,
    /// The check of changed files, if any.
    pub(crate) syntax: Option<Arc<dyn SyntaxCheck>>,
}

/// Returns the line about the confinement of commands: the report, with the network that the user chose for them.
#[must_use]
pub fn sandbox_line(report: &SandboxReport, network: &Network) -> String {
    let measured = format!("net={}", report.net);
    let network = match network {
        Network::Off => measured.clone(),
        Network::On => "net=on".to_owned(),
        Network::Names(list) => format!("{measured} allow={list}"),
    };
    report.to_string().replacen(&measured, &network, 1)
}

/// The reason why a workspace cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The folder for whole outputs cannot be used.
    #[error("cannot use the folder for whole outputs")]
    Outputs(#[source] std::io::Error),
    /// The recovery after a crash failed.
    #[error("cannot recover: {0}")]
    Recovery(WapError),
    /// The thread for checkpoints cannot be started.
    #[error("cannot start the checkpoint thread")]
    Thread(#[source] std::io::Error),
}

impl LocalWorkspace {
    /// Returns git's ignore rules for this workspace; nothing is read yet.
    #[must_use]
    pub fn git_ignores(&self) -> file_index::GitIgnores<'_> {
        file_index::GitIgnores::new(&self.root)
    }

    /// Records that the owner of this engine ends with the reply or the call that it carries out, and
    /// background processes with it: their start then warns about it.
    pub fn mark_short_lived(&self) {
        self.is_short_lived.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_short_lived(&self) -> bool {
        self.is_short_lived.load(Ordering::Relaxed)
    }

    /// Returns whether a run is being carried out by this engine at the moment.
    #[must_use]
    pub fn carries_out(&self, run: RunNumber) -> bool {
        self.journal.is_open(run)
    }

    /// Opens the engine on a root and a journal, and completes work that a crash has interrupted.
    ///
    /// # Errors
    ///
    /// Each kind of [`OpenError`]; no file was changed, except by recovery.
    pub fn open(
        root: FileRoot,
        journal: Journal,
        config: EngineConfig,
    ) -> Result<(LocalWorkspace, Recovery), OpenError> {
        let config = config.completed_for(&root);
        let root = Arc::new(root);
        let outputs = OutputStore::open(&config.output_folder).map_err(OpenError::Outputs)?;
        let late_writes = Arc::new(LateWrites::new(Arc::clone(&root), journal.clone()));
        let changes = Arc::new(Turns::default());
        let checkpoint = Checkpoint::start(
            Arc::clone(&root),
            journal.clone(),
            Arc::clone(&late_writes),
            Arc::clone(&changes),
        )
        .map_err(OpenError::Thread)?;
        let layers = match &config.layers_folder {
            Some(_) if config.read_only => Err("nothing can be changed".to_owned()),
            Some(folder) => LayerShelf::open(folder, &root),
            None => Err("there is no folder for layers".to_owned()),
        };
        // Resumed first: the recovery of files takes the outcome of adopted changes from it.
        let adopted = match (&layers, &config.layers_folder) {
            (Ok(shelf), _) => layer_recovery::resume(shelf, &journal),
            (Err(why), Some(folder)) if folder.exists() => AdoptedFromLayers::unread(why),
            _ => AdoptedFromLayers::default(),
        };
        let recovery = {
            // Recovery removes temporary files, which may include one that is just being rewritten.
            let _no_change_meanwhile = changes.wait();
            recovery::recover(&root, &journal, &checkpoint, config.read_only, &adopted)
                .map_err(OpenError::Recovery)?
        };
        let workspace = LocalWorkspace {
            root,
            hidden: Hidden::new(config.state_folder.clone()),
            held: HeldVersions::new(journal.clone()),
            stamps: KnownStamps::default(),
            journal,
            config,
            outputs,
            checkpoint,
            late_writes,
            processes: Processes::default(),
            launcher: OnceLock::new(),
            changes,
            commands: Turns::default(),
            layers,
            untouched: adopted.untouched,
            report: OnceLock::new(),
            index: OnceLock::new(),
            build_folders: Mutex::default(),
            written_through: Mutex::default(),
            is_short_lived: AtomicBool::new(false),
            said_too_large: AtomicBool::new(false),
            named_unprotected: Mutex::default(),
            last_snapshot: Mutex::default(),
            syntax: None,
        };
        Ok((workspace, recovery))
    }

    /// Adds a check of changed files: the answer to a change states the location of the first syntax error, if the
    /// file had none before. The change is kept.
    #[must_use]
    pub fn with_syntax_check(self, check: Arc<dyn SyntaxCheck>) -> LocalWorkspace {
        LocalWorkspace { syntax: Some(check), ..self }
    }

    /// Returns the proved confinement of commands; the first call runs the launcher and its self-test.
    ///
    /// # Errors
    ///
    /// [`Reason::SandboxUnavailable`] if not even an unconfined process can be started.
    pub fn sandbox_report(&self) -> Result<&SandboxReport, WapError> {
        let report = self.launcher()?.report();
        Ok(self.report.get_or_init(|| self.with_layer_of_this_folder(report.clone())))
    }

    /// Returns the line about the confinement of commands: the report, with the network that the user chose for them.
    ///
    /// # Errors
    ///
    /// As [`sandbox_report`](Self::sandbox_report).
    pub fn sandbox_line(&self) -> Result<String, WapError> {
        Ok(sandbox_line(self.sandbox_report()?, &self.config.network))
    }

    /// The report of this machine, including layers over this folder.
    fn with_layer_of_this_folder(&self, report: SandboxReport) -> SandboxReport {
        match (self.config.layer.refusal(self.config.read_only), &self.layers) {
            (Some(why), _) => report.without_layer(why),
            (None, Err(why)) => report.without_layer(why),
            (None, Ok(_)) => report,
        }
    }

    /// Waits until everything that was answered is synced to the disk.
    pub fn checkpoint(&self) {
        self.checkpoint.wait();
    }

    /// Returns the paths of changes whose sync to the disk has failed so far. The journal has them, and they are
    /// written again until the sync succeeds, also by the next opening.
    pub fn unsynced(&self) -> Vec<String> {
        self.checkpoint.unsynced()
    }

    /// Returns the writes of other programs to files that had just been replaced or removed, since the last call.
    ///
    /// The last files that lost their names are watched, each until at least the next [`checkpoint`](Self::checkpoint).
    /// The written content is kept next to the file's path. Even later writes are not noticed.
    pub fn late_writes(&self) -> Vec<LateWrite> {
        self.late_writes.take()
    }

    /// Removes the whole outputs of commands whose runs are not needed. Returns their number and bytes.
    pub fn discard_outputs(&self, is_needed: &dyn Fn(RunNumber) -> bool) -> (u64, u64) {
        self.outputs.discard_unneeded(is_needed)
    }

    /// Returns the notices for the caller in addition to its answer: writes to files that its changes have replaced,
    /// and changes whose sync fails. Replies of sessions have a terminal that shows these, and answers from a record
    /// that must stay the same.
    pub(crate) fn news(&self, call: &Call<'_>) -> Vec<String> {
        if call.origin.run.sequence > 0 {
            return Vec::new();
        }
        let late = self.late_writes.take_of(&call.origin.conversation);
        let mut news: Vec<_> = late.iter().map(LateWrite::to_string).collect();
        let unsynced = self.unsynced();
        if let Some(first) = unsynced.first() {
            let more = match unsynced.len() {
                1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            news.push(format!(
                "syncing `{first}`{more} to the disk has failed: the journal has the content, and the sync is retried; check \
                 the disk"
            ));
        }
        news
    }

    pub(crate) fn launcher(&self) -> Result<&Launcher, WapError> {
        let started = self.launcher.get_or_init(|| Launcher::start(self.config.launcher.clone()));
        started.as_ref().map_err(|error| {
            let text = format!("commands cannot be run: {error}; `agentd doctor` says more");
            WapError::new(Reason::SandboxUnavailable, text)
        })
    }

    /// Waits until no other call changes files through this engine.
    ///
    /// The holder of this turn may take other locks and wait for the journal's writer; no holder of a lock waits for
    /// the turn, and only the turn of commands is taken before it. So the order is: command, changes, everything
    /// else.
    pub(crate) fn lock_changes(&self) -> Turn<'_> {
        let turn = self.changes.wait();
        self.root.policy().protected.look_again();
        turn
    }

    /// The same for a call; `None` if the call is cancelled, which then starts nothing.
    pub(crate) fn lock_changes_for(&self, call: &Call<'_>) -> Option<Turn<'_>> {
        let turn = if call.cancel.is_cancelled() { None } else { self.changes.wait_unless(call.cancel) }?;
        self.root.policy().protected.look_again();
        Some(turn)
    }

    pub(crate) fn build_folders(&self) -> MutexGuard<'_, BuildFolderList> {
        self.build_folders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn written_through(&self) -> MutexGuard<'_, BuildFoldersBefore> {
        self.written_through.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn last_snapshot(&self) -> MutexGuard<'_, Option<TreeSnapshot>> {
        self.last_snapshot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no other command runs.
    pub(crate) fn command_turn(&self, call: &Call<'_>) -> Result<Turn<'_>, WapError> {
        self.commands.wait_unless(call.cancel).ok_or_else(not_begun)
    }

    /// Checks whether a command is a step that was started before.
    fn is_on_record(&self, call: &Call<'_>) -> Result<bool, WapError> {
        let run = EngineRun::enter(&self.journal, call.origin)?;
        let state = run.recall(call.origin.step, StepKind::ShellCommand);
        Ok(matches!(state, Ok(StepState::Unknown | StepState::Finished(_))))
    }

    #[expect(clippy::unused_self, reason = "every tool begins with it, like with the other checks")]
    pub(crate) fn check_cancelled(&self, call: &Call<'_>) -> Result<(), WapError> {
        if call.cancel.is_cancelled() {
            return Err(not_begun());
        }
        Ok(())
    }

    /// Parses the path of a file.
    pub(crate) fn file_path(&self, requested: &str) -> Result<RelPath, WapError> {
        self.root.parse_path(requested).map_err(|error| parse_error(&error, requested))
    }

    /// Parses the path of a folder; an empty text is the root.
    pub(crate) fn folder_path(&self, requested: &str) -> Result<RelPath, WapError> {
        self.root.parse_folder_path(requested).map_err(|error| parse_error(&error, requested))
    }
}

fn not_begun() -> WapError {
    WapError::new(Reason::Cancelled, "cancelled before anything was done")
}

fn parse_error(error: &FsError, requested: &str) -> WapError {
    match error {
        FsError::Path(error) => path_error(error, requested),
        other => fs_error(other, requested),
    }
}

impl Workspace for LocalWorkspace {
    fn workspace_info(&self, _: &Call<'_>) -> Result<WorkspaceInfo, WapError> {
        self.info()
    }

    fn explore_files(
        &self,
        call: &Call<'_>,
        request: &ExploreFiles,
    ) -> Result<ExploreFilesResponse, WapError> {
        self.check_cancelled(call)?;
        let mut listed = self.explore(call, request)?;
        listed.warnings.extend(self.news(call));
        Ok(listed)
    }

    fn read_file(&self, call: &Call<'_>, request: &ReadFile) -> Result<ReadFileResponse, WapError> {
        self.check_cancelled(call)?;
        let mut read = self.read(call, request)?;
        read.warnings.extend(self.news(call));
        Ok(read)
    }

    fn search_files(&self, call: &Call<'_>, request: &SearchFiles) -> Result<SearchFilesResponse, WapError> {
        self.check_cancelled(call)?;
        let mut response = self.search(call, request)?;
        response.warnings.extend(self.news(call));
        Ok(response)
    }

    fn file_states(
        &self,
        call: &Call<'_>,
        paths: &[String],
        since: Option<&Moment>,
    ) -> Result<FileStates, WapError> {
        self.check_cancelled(call)?;
        self.states(call, paths, since)
    }

    fn change_files(
        &self,
        call: &Call<'_>,
        changes: &[FileChange],
    ) -> Result<Vec<Result<FileChanged, WapError>>, WapError> {
        self.change_expected(call, changes, &ExpectedFiles::new())
    }

    fn execute_command(
        &self,
        call: &Call<'_>,
        request: &ExecuteCommand,
        observer: &mut dyn CommandObserver,
    ) -> Result<ExecuteCommandResponse, WapError> {
        if call.cancel.is_cancelled() && self.is_on_record(call)? {
            // Nothing is started: the record answers, or the end of the command is unknown.
            let call = Call { cancel: &CancelFlag::new(), ..*call };
            return self.execute(&call, request, observer);
        }
        let mut ran = self.execute(call, request, observer)?;
        ran.warnings.extend(self.news(call));
        Ok(ran)
    }

    fn stop_process(&self, call: &Call<'_>, request: &StopProcess) -> Result<StopProcessResponse, WapError> {
        self.stop(call, request)
    }

    fn end_conversation(&self, conversation: &ConversationId) {
        self.end_processes(conversation);
    }
}

//! Opening a workspace with its state folder.

pub mod birth;
pub mod bookkeeping;
mod failures;
pub mod garbage_keeper;
mod ignore;
pub mod linked_worktree;
mod ownership;
mod recovery_notices;
pub mod socket;
pub mod workspace_search;

use std::fs;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use change_journal::{Journal, JournalLimits, JournalReader, OpenError};
use local_workspace::{EngineConfig, LayerUse, LocalWorkspace};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsPolicy, RootError, RootRules};
use secret_placeholders::PlaceholderWorkspace;
use tag_session::{Sessions, StateFolders, TextFilter};
use tempfile::TempDir;
use wap_core::Limits;

use crate::confinement::{self, Confinement, SandboxChoice};
use crate::failure::{Exit, Failure};
use crate::notices::SharedNotices;
use crate::obeyed_names::{git_names, obeyed_names};
use crate::options::HostOptions;
use crate::owner::protocol::{self, Hello};
use crate::owner::{Door, Host};
use crate::review::{Reviews, overlay_process};
use crate::secret_use::{SecretRules, SecretUse};
use crate::session_failure;
use crate::state::failures::{journal_failure, state_failure};
use crate::state::recovery_notices::recovery_notices;
use crate::tasks::Tasks;

/// The name of the state folder within a workspace.
pub const STATE_FOLDER: &str = ".agentd";

/// The paths of a workspace and its state folder.
#[derive(Clone, Debug)]
pub struct WorkspacePaths {
    /// The folder of code, without symlinks.
    pub workspace: PathBuf,
    /// The state folder.
    pub base: PathBuf,
}

impl WorkspacePaths {
    /// Finds both, without creating anything.
    pub fn find(options: &HostOptions) -> Result<WorkspacePaths, Failure> {
        let given = &options.workspace;
        let workspace = fs::canonicalize(given).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                Failure::new(Exit::Usage, format!("the workspace {} does not exist", given.display()))
                    .advise("name an existing folder with --workspace DIR")
            }
            _ => Failure::new(Exit::Usage, format!("the workspace {}: {error}", given.display())),
        })?;
        let base = match &options.base {
            Some(base) => absolute(base)?,
            None => workspace.join(STATE_FOLDER),
        };
        let paths = WorkspacePaths { workspace, base };
        paths.is_of_this_user()?;
        paths.believe(options.trust_state)?;
        Ok(paths)
    }

    /// Fails if the state folder belongs to another user, or others may write into it.
    fn is_of_this_user(&self) -> Result<(), Failure> {
        ownership::check(&self.base).map_err(|error| {
            let message = format!("the state folder {} is not used: {error}", self.base.display());
            Failure::new(Exit::Refused, message).advise(error.advice())
        })
    }

    /// Fails if the state folder came with the workspace's files. One outside of the workspace was named by the user.
    fn believe(&self, trust: bool) -> Result<(), Failure> {
        if self.state_folder().is_none() {
            return Ok(());
        }
        // It would point to a folder chosen by the author of the files, which could contain a history made elsewhere.
        if fs::symlink_metadata(&self.base).is_ok_and(|metadata| metadata.is_symlink()) {
            return Err(state_failure("it is a symlink", &self.base));
        }
        let failed = |error: io::Error| state_failure(&error.to_string(), &self.base);
        if birth::is_own(&self.base).map_err(failed)? {
            return Ok(());
        }
        if trust {
            return birth::mark(&self.base).map_err(failed);
        }
        let message = format!(
            "the state folder {} was not created here: it may have come with the files",
            self.base.display()
        );
        Err(Failure::new(Exit::Refused, message).advise(
            "if it is yours, copied or restored from a backup, give --trust-state once; else remove it",
        ))
    }

    /// Opens the journal for reading; `None` if there is no state folder yet.
    pub fn journal_reader(&self) -> Result<Option<JournalReader>, Failure> {
        match Journal::open_read_only(&self.base.join("journal")) {
            Ok(reader) => Ok(Some(reader)),
            Err(OpenError::Missing) => Ok(None),
            Err(error) => Err(journal_failure(&error, &self.base)),
        }
    }

    /// Checks whether there may be sessions here.
    pub fn has_sessions(&self) -> bool {
        // The files of sessions outlive a lost journal, from which they are imported again.
        self.base.join("journal").exists() || self.base.join("sessions").exists()
    }

    /// Returns the state folder relative to the workspace; `None` if it is elsewhere.
    pub fn state_folder(&self) -> Option<RelPath> {
        let relative = self.base.strip_prefix(&self.workspace).ok()?;
        RelPath::from_bytes(relative.as_os_str().as_encoded_bytes()).ok()
    }
}

/// Returns a path without symlinks as far as it exists, so that it can be compared with the workspace's.
fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    let failure =
        |error: io::Error| Failure::new(Exit::Usage, format!("the state folder {}: {error}", path.display()));
    let path = std::path::absolute(path).map_err(failure)?;
    if let Ok(canonical) = fs::canonicalize(&path) {
        return Ok(canonical);
    }
    // The folder itself may not exist yet; its parent usually does.
    match (path.parent().map(fs::canonicalize), path.file_name()) {
        (Some(Ok(parent)), Some(name)) => Ok(parent.join(name)),
        _ => Ok(path),
    }
}

/// The sessions of a state folder that this process owns, and the queue of changes that wait for a person.
#[derive(Debug)]
pub struct LocalSessions {
    sessions: Sessions<PlaceholderWorkspace<Arc<LocalWorkspace>>>,
    reviews: Reviews,
    tasks: Arc<Tasks>,
    rules: SecretRules,
}

impl LocalSessions {
    /// Returns the engine, whose answers hold secrets.
    pub(crate) fn engine(&self) -> &Arc<LocalWorkspace> {
        self.sessions.workspace().inner()
    }

    /// Returns the rules about secrets.
    pub fn rules(&self) -> &SecretRules {
        &self.rules
    }

    /// Returns the queue.
    pub(crate) fn reviews(&self) -> &Reviews {
        &self.reviews
    }

    /// Returns the tasks.
    pub(crate) fn tasks(&self) -> &Arc<Tasks> {
        &self.tasks
    }
}

impl Deref for LocalSessions {
    type Target = Sessions<PlaceholderWorkspace<Arc<LocalWorkspace>>>;

    fn deref(&self) -> &Sessions<PlaceholderWorkspace<Arc<LocalWorkspace>>> {
        &self.sessions
    }
}

/// An open state folder with the door through which clients connect.
#[derive(Debug)]
pub struct Opened {
    /// The door. Fields are dropped in order, so clients are gone before the journal closes.
    pub door: Door,
    sessions: Arc<LocalSessions>,
}

impl Deref for Opened {
    type Target = LocalSessions;

    fn deref(&self) -> &LocalSessions {
        &self.sessions
    }
}

impl Opened {
    /// Returns the engine, whose answers hold secrets: for the process that asked to mask them, and for people.
    pub fn engine(&self) -> &Arc<LocalWorkspace> {
        self.sessions.workspace().inner()
    }
}

/// Returns the greeting of a client, which the owner compares with its own.
pub fn hello(options: &HostOptions, paths: &WorkspacePaths) -> Hello {
    Hello {
        version: protocol::VERSION,
        workspace: paths.workspace.to_string_lossy().into_owned(),
        confinement: Confinement::of(options),
    }
}

/// Reports the settings of the configuration file that weaken the confinement of commands, and git settings that name
/// unprotectable paths.
pub fn report_lowered(options: &HostOptions, notices: &SharedNotices) {
    git_names::report(options, notices);
    for lowered in &options.lowered {
        notices.notice(&format!("commands are confined less: {lowered}"));
    }
    if options.secrets == SecretUse::Show {
        notices.notice("models see secrets as they are: --secrets show");
    }
    for name in &options.read_secrets {
        notices.notice(&format!("models may see the file of credentials {name}: --read-secret"));
    }
}

/// Refuses unconfined commands together with a state folder in the workspace: they could change it, so none would run.
pub fn check_unconfined(options: &HostOptions, paths: &WorkspacePaths) -> Result<(), Failure> {
    let is_off = options.sandbox == Some(SandboxChoice::Off) && !options.read_only;
    if !is_off || paths.state_folder().is_none() {
        return Ok(());
    }
    let message = "--sandbox off would run no command: unconfined ones could change agentd's own state, which is in the \
                workspace";
    Err(Failure::new(Exit::Usage, message)
        .advise("add --base DIR with a folder outside of the workspace, or leave out --sandbox off"))
}

/// Opens the engine and its sessions; this process then owns the state folder and answers its clients.
pub fn open(
    options: &HostOptions,
    paths: &WorkspacePaths,
    notices: &SharedNotices,
) -> Result<Opened, Failure> {
    check_unconfined(options, paths)?;
    // The root first: a refused workspace must not get a state folder.
    let root = open_root(options, paths)?;
    make_state_folder(paths)?;
    let (journal, report) = Journal::open(&paths.base.join("journal"), JournalLimits::default())
        .map_err(|error| journal_failure(&error, &paths.base))?;
    // Not before: a process that waits for its predecessor to end tries this many times.
    report_lowered(options, notices);
    for quarantined in &report.set_aside {
        let name = &quarantined.name;
        notices.notice(&if report.created {
            format!(
                "the journal was damaged: it is kept as journal/{name}, and a new one was started. There is no record of earlier runs."
            )
        } else {
            format!("a part of the journal was damaged and is kept as journal/{name}: the latest runs may have no record.")
        });
    }
    if !report.set_aside.is_empty() {
        // One report is enough: imported sessions remember that their history is lost.
        journal.acknowledge_set_aside().map_err(|error| state_failure(&error.to_string(), &paths.base))?;
    }
    let kept = KeptFolders { outputs: paths.base.join("output"), layers: Some(paths.base.join("layers")) };
    let engine = open_engine(options, paths, kept, root, journal.clone(), notices)?;
    let engine = Arc::new(engine);
    let rules = SecretRules::open(options, paths)?;
    let folders =
        StateFolders::open(&paths.base).map_err(|error| state_failure(&error.to_string(), &paths.base))?;
    let (sessions, reconciled) = Sessions::open(rules.over(Arc::clone(&engine)), journal.clone(), folders)
        .map_err(session_failure::explain)?;
    for name in &reconciled.imported {
        notices.notice(&format!("session {name} was imported from its file"));
    }
    for (name, kept) in reconciled.damaged.iter().chain(&reconciled.edited) {
        notices
            .notice(&format!("{name} was modified by another program; the modified copy is kept as {kept}"));
    }
    for name in &reconciled.put_away {
        notices
            .progress(&format!("{name} was executed before the last stop: it was moved to inbox/processed/"));
    }
    for name in &reconciled.rewritten {
        notices.detail(&format!("{name} was written again from the journal"));
    }
    let sessions = sessions.counting_tokens_by(options.count_tokens);
    let of_messages = rules.clone();
    let sessions = sessions.with_filter(TextFilter::new(move |text| of_messages.mask_rest(text)));
    let reviews = Reviews::open(&journal, paths, options.trial_arguments.clone());
    let tasks = Arc::new(Tasks::new(journal.clone()));
    let sessions = LocalSessions { sessions, reviews, tasks, rules };
    // On the overlay of one proposal, other proposals are not carried out.
    if !overlay_process::is_trial()
        && let Err(refusal) = sessions.reviews.recover(&sessions)
    {
        notices.notice(&format!("a proposal that was about to land waits again: {}", refusal.message));
    }
    let sessions = Arc::new(sessions);
    let host = Host::new(engine, journal, Arc::clone(&sessions), hello(options, paths), &options.command);
    let door = Door::open(&paths.base, host);
    Ok(Opened { door, sessions })
}

/// The engine for calls that only read, with the temporary folder that it needs.
pub struct ReadingEngine {
    /// The engine.
    pub engine: LocalWorkspace,
    outputs: ReadingFolder,
}

/// The temporary folders of an engine, which are removed with this value.
pub struct ReadingFolder(#[expect(dead_code, reason = "held until it is dropped")] Vec<TempDir>);

impl ReadingEngine {
    /// Returns the engine, and the folder that has to outlive it.
    pub fn into_parts(self) -> (LocalWorkspace, ReadingFolder) {
        (self.engine, self.outputs)
    }
}

/// Opens the engine for one call that only reads, also while another process owns the state folder. A missing state
/// folder is not created, so that a folder without write permission can be read.
pub fn open_for_reading(
    options: &HostOptions,
    paths: &WorkspacePaths,
    notices: &SharedNotices,
) -> Result<ReadingEngine, Failure> {
    let outputs = paths.base.join("output");
    if !outputs.is_dir() {
        return open_apart(options, paths, notices);
    }
    let root = open_root(options, paths)?;
    let kept = KeptFolders { outputs, layers: None };
    let engine = open_engine(options, paths, kept, root, forgetful_journal(paths)?, notices)?;
    Ok(ReadingEngine { engine, outputs: ReadingFolder(Vec::new()) })
}

/// Opens the engine as [`open_for_reading`] does, for calls that may also run read-only commands. Their outputs go to a
/// separate folder: names in the state folder are assigned by its journal, which this process does not write.
pub fn open_apart(
    options: &HostOptions,
    paths: &WorkspacePaths,
    notices: &SharedNotices,
) -> Result<ReadingEngine, Failure> {
    open_beside(options, paths, false, notices)
}

/// Opens the engine to query its capabilities, as if to run commands: it has a temporary folder for layers. Nothing may
/// be carried out with it.
pub fn open_to_describe(
    options: &HostOptions,
    paths: &WorkspacePaths,
    notices: &SharedNotices,
) -> Result<ReadingEngine, Failure> {
    open_beside(options, paths, true, notices)
}

fn open_beside(
    options: &HostOptions,
    paths: &WorkspacePaths,
    has_layers: bool,
    notices: &SharedNotices,
) -> Result<ReadingEngine, Failure> {
    report_lowered(options, notices);
    let root = open_root(options, paths)?;
    let outputs = tempfile::tempdir().map_err(|error| {
        let folder = std::env::temp_dir();
        Failure::new(
            Exit::Failed,
            format!("cannot create a temporary folder in {}: {error}", folder.display()),
        )
        .advise("name a folder with space in the variable TMPDIR")
    })?;
    // On the file system of the commands' layers, if known.
    let sibling =
        (has_layers && paths.base.exists()).then(|| tempfile::tempdir_in(&paths.base).ok()).flatten();
    // The policy hides the state folder from commands; one that does not exist needs no hiding.
    let elsewhere = WorkspacePaths { base: outputs.path().to_owned(), ..paths.clone() };
    let paths = if paths.base.exists() { paths } else { &elsewhere };
    let layers =
        has_layers.then(|| sibling.as_ref().map_or(outputs.path(), |folder| folder.path()).join("layers"));
    let kept = KeptFolders { outputs: outputs.path().join("output"), layers };
    let engine = open_engine(options, paths, kept, root, forgetful_journal(paths)?, notices)?;
    let folders = [Some(outputs), sibling].into_iter().flatten().collect();
    Ok(ReadingEngine { engine, outputs: ReadingFolder(folders) })
}

fn forgetful_journal(paths: &WorkspacePaths) -> Result<Journal, Failure> {
    Journal::in_memory().map_err(|error| journal_failure(&error, &paths.base))
}

/// The folders that the engine writes to.
struct KeptFolders {
    outputs: PathBuf,
    /// The layers of commands; `None` if no command changes anything.
    layers: Option<PathBuf>,
}

fn open_engine(
    options: &HostOptions,
    paths: &WorkspacePaths,
    kept: KeptFolders,
    root: FileRoot,
    journal: Journal,
    notices: &SharedNotices,
) -> Result<LocalWorkspace, Failure> {
    let milliseconds = u64::try_from(options.command_timeout.as_millis()).unwrap_or(u64::MAX);
    let config = EngineConfig {
        limits: Limits { max_execution_time: milliseconds, ..Limits::default() },
        read_only: options.read_only,
        sandbox: confinement::need(options.sandbox, confinement::is_attended()),
        launcher: confinement::launcher(options.sandbox),
        network: options.network.clone(),
        policy: confinement::policy(options, &paths.workspace, &paths.base),
        state_folder: paths.state_folder(),
        output_folder: kept.outputs,
        layers_folder: kept.layers,
        layer: if options.layer { LayerUse::WherePossible } else { LayerUse::Off },
    };
    let (engine, recovery) = LocalWorkspace::open(root, journal, config)
        .map_err(|error| state_failure(&error.to_string(), &paths.base))?;
    let engine = match &options.syntax {
        Some(check) => engine.with_syntax_check(Arc::clone(check)),
        None => engine,
    };
    for notice in recovery_notices(&recovery) {
        notices.notice(&notice);
    }
    Ok(engine)
}

/// Opens the folder of code with the rules of the options.
///
/// # Errors
///
/// If it cannot be opened, or is a folder that is never a workspace, such as the home folder.
pub fn open_root(options: &HostOptions, paths: &WorkspacePaths) -> Result<FileRoot, Failure> {
    let rules = RootRules { home: confinement::home(), ..RootRules::default() };
    let policy = FsPolicy::default().with_protected(obeyed_names(options)).with_read_only(options.read_only);
    FileRoot::open(&paths.workspace, &rules, policy).map_err(|error| {
        let failure = Failure::new(Exit::Usage, format!("{}: {error}", paths.workspace.display()));
        match error {
            RootError::Io(_) => failure,
            _ => failure.advise("choose a folder of code with --workspace DIR"),
        }
    })
}

/// Creates the state folder, closed to other users, with an ignore rule for git.
pub fn make_state_folder(paths: &WorkspacePaths) -> Result<(), Failure> {
    use std::os::unix::fs::DirBuilderExt;
    let failed = |error: &io::Error| state_failure(&error.to_string(), &paths.base);
    // The mode is set at creation: between mkdir(2) and chmod(2) another user could open it.
    match fs::DirBuilder::new().mode(0o700).create(&paths.base) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed(&error)),
    }
    if fs::symlink_metadata(&paths.base).map_err(|error| failed(&error))?.file_type().is_symlink() {
        return Err(state_failure("it is a symlink", &paths.base));
    }
    // Another user may have created it since the first check.
    paths.is_of_this_user()?;
    // The rule comes first: nothing in this folder may get into a repository, whenever this process is killed.
    ignore::ensure(&paths.base).map_err(|error| failed(&error))?;
    // The folder is empty, or `believe` has checked its mark.
    birth::mark(&paths.base).map_err(|error| failed(&error))
}

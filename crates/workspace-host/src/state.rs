//! Opening a workspace with its state folder.

pub mod birth;
pub mod bookkeeping;
pub mod garbage_keeper;
mod ignore;
pub mod linked_worktree;
mod ownership;
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
use tag_session::{Sessions, StateFolders};
use tempfile::TempDir;
use wap_core::Limits;

use crate::confinement::{self, Confinement, SandboxChoice};
use crate::failure::{Exit, Failure};
use crate::notices::SharedNotices;
use crate::obeyed_names::obeyed_names;
use crate::options::HostOptions;
use crate::owner::protocol::{self, Hello};
use crate::owner::{Door, Host};
use crate::session_failure;

/// The name of the state folder within a workspace.
pub const STATE_FOLDER: &str = ".agentd";

/// Where the workspace and its state folder are.
#[derive(Clone, Debug)]
pub struct Places {
    /// The folder of code, without links.
    pub workspace: PathBuf,
    /// The state folder.
    pub base: PathBuf,
}

impl Places {
    /// Finds both, without making anything.
    pub fn find(options: &HostOptions) -> Result<Places, Failure> {
        let asked = &options.workspace;
        let workspace = fs::canonicalize(asked).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                Failure::new(Exit::Usage, format!("the workspace {} does not exist", asked.display()))
                    .advise("name an existing folder with --workspace DIR")
            }
            _ => Failure::new(Exit::Usage, format!("the workspace {}: {error}", asked.display())),
        })?;
        let base = match &options.base {
            Some(base) => absolute(base)?,
            None => workspace.join(STATE_FOLDER),
        };
        let places = Places { workspace, base };
        places.is_of_this_user()?;
        places.believe(options.trust_state)?;
        Ok(places)
    }

    /// Fails if the state folder belongs to another user, or others may write into it.
    fn is_of_this_user(&self) -> Result<(), Failure> {
        ownership::check(&self.base).map_err(|error| {
            let what = format!("the state folder {} is not used: {error}", self.base.display());
            Failure::new(Exit::Refused, what).advise(error.advice())
        })
    }

    /// Fails if the state folder came with the workspace's files. One outside was named by the user.
    fn believe(&self, trust: bool) -> Result<(), Failure> {
        if self.state_folder().is_none() {
            return Ok(());
        }
        let failed = |error: io::Error| state_failure(&error.to_string(), &self.base);
        if birth::is_own(&self.base).map_err(failed)? {
            return Ok(());
        }
        if trust {
            return birth::mark(&self.base).map_err(failed);
        }
        let what = format!(
            "the state folder {} was not made in this place: it may have come with the files",
            self.base.display()
        );
        Err(Failure::new(Exit::Refused, what).advise(
            "if it is yours, copied or restored from a backup, say --trust-state once; else remove it",
        ))
    }

    /// Opens the journal to read only; `None` if there is no state folder yet.
    pub fn journal_reader(&self) -> Result<Option<JournalReader>, Failure> {
        match Journal::open_read_only(&self.base.join("journal")) {
            Ok(reader) => Ok(Some(reader)),
            Err(OpenError::Missing) => Ok(None),
            Err(error) => Err(journal_failure(&error, &self.base)),
        }
    }

    /// Whether there may be sessions here.
    pub fn has_sessions(&self) -> bool {
        self.base.join("journal").exists() || self.base.join("sessions").exists()
    }

    /// The state folder relative to the workspace, if it lies beneath it.
    pub fn state_folder(&self) -> Option<RelPath> {
        let relative = self.base.strip_prefix(&self.workspace).ok()?;
        RelPath::from_bytes(relative.as_os_str().as_encoded_bytes()).ok()
    }
}

/// A path without links as far as it exists, so that it can be compared with the workspace's.
fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    let failure =
        |error: io::Error| Failure::new(Exit::Usage, format!("the state folder {}: {error}", path.display()));
    let path = std::path::absolute(path).map_err(failure)?;
    if let Ok(canonical) = fs::canonicalize(&path) {
        return Ok(canonical);
    }
    match (path.parent().map(fs::canonicalize), path.file_name()) {
        (Some(Ok(parent)), Some(name)) => Ok(parent.join(name)),
        _ => Ok(path),
    }
}

/// The sessions of a state folder that this process owns.
pub type LocalSessions = Sessions<Arc<LocalWorkspace>>;

/// An open state folder with its door for clients.
#[derive(Debug)]
pub struct Opened {
    /// First, so that clients are gone when the journal closes.
    pub door: Door,
    sessions: Arc<LocalSessions>,
}

impl Deref for Opened {
    type Target = LocalSessions;

    fn deref(&self) -> &LocalSessions {
        &self.sessions
    }
}

/// What a client of a state folder says about itself, and its owner expects.
pub fn hello(options: &HostOptions, places: &Places) -> Hello {
    Hello {
        version: protocol::VERSION,
        workspace: places.workspace.to_string_lossy().into_owned(),
        confinement: Confinement::of(options),
    }
}

/// Says by what the configuration file has commands confined less.
pub fn tell_lowered(options: &HostOptions, notices: &SharedNotices) {
    for lowered in &options.lowered {
        notices.notice(&format!("commands are confined less: {lowered}"));
    }
}

/// Refuses a state folder in the workspace for commands that are not confined: they could change it, so none would run.
pub fn check_unconfined(options: &HostOptions, places: &Places) -> Result<(), Failure> {
    let is_off = options.sandbox == Some(SandboxChoice::Off) && !options.read_only;
    if !is_off || places.state_folder().is_none() {
        return Ok(());
    }
    let what = "--sandbox off would run no command: unconfined ones could change agentd's own state, which lies in the \
                workspace";
    Err(Failure::new(Exit::Usage, what)
        .advise("keep the state elsewhere with --base DIR as well, a folder outside of the workspace; or leave --sandbox off out"))
}

/// Opens the engine and its sessions; this process then owns the state folder and answers its clients.
pub fn open(options: &HostOptions, places: &Places, notices: &SharedNotices) -> Result<Opened, Failure> {
    check_unconfined(options, places)?;
    tell_lowered(options, notices);
    let root = open_root(options, places)?;
    make_state_folder(places)?;
    let (journal, report) = Journal::open(&places.base.join("journal"), JournalLimits::default())
        .map_err(|error| journal_failure(&error, &places.base))?;
    for set_aside in &report.set_aside {
        notices.notice(&format!(
            "the journal was damaged: it is kept as journal/{}, and a new one was begun. What ran before is not known any more.",
            set_aside.name
        ));
    }
    if !report.set_aside.is_empty() {
        // Said once is enough: sessions that are taken over remember that their history is lost.
        journal.acknowledge_set_aside().map_err(|error| state_failure(&error.to_string(), &places.base))?;
    }
    let kept = KeptFolders { outputs: places.base.join("output"), layers: Some(places.base.join("layers")) };
    let engine = open_engine(options, places, kept, root, journal.clone(), notices)?;
    let engine = Arc::new(engine);
    let folders =
        StateFolders::open(&places.base).map_err(|error| state_failure(&error.to_string(), &places.base))?;
    let (sessions, reconciled) =
        Sessions::open(Arc::clone(&engine), journal.clone(), folders).map_err(session_failure::explain)?;
    for name in &reconciled.imported {
        notices.notice(&format!("session {name} was taken over from its file"));
    }
    for (name, kept) in reconciled.damaged.iter().chain(&reconciled.edited) {
        notices
            .notice(&format!("{name} was modified by another program; the modified copy is kept as {kept}"));
    }
    for name in &reconciled.put_away {
        notices.progress(&format!("{name} was executed before the last stop: it is now in inbox/processed/"));
    }
    for name in &reconciled.rewritten {
        notices.detail(&format!("{name} was written again from the journal"));
    }
    let sessions = Arc::new(sessions);
    let host = Host::new(engine, journal, Arc::clone(&sessions), hello(options, places), &options.command);
    let door = Door::open(&places.base, host);
    Ok(Opened { door, sessions })
}

/// The engine for calls that only read, and a folder that is needed as long as it is.
pub struct ReadingEngine {
    /// The engine.
    pub engine: LocalWorkspace,
    _outputs: Option<TempDir>,
}

/// Opens the engine for one call that only reads, also while another process owns the state folder. Without a state
/// folder none is made, so that a folder which nobody may change can be read.
pub fn open_for_reading(
    options: &HostOptions,
    places: &Places,
    notices: &SharedNotices,
) -> Result<ReadingEngine, Failure> {
    let outputs = places.base.join("output");
    if !outputs.is_dir() {
        return open_apart(options, places, notices);
    }
    let root = open_root(options, places)?;
    let kept = KeptFolders { outputs, layers: None };
    let engine = open_engine(options, places, kept, root, forgetful_journal(places)?, notices)?;
    Ok(ReadingEngine { engine, _outputs: None })
}

/// Opens the engine as [`open_for_reading`] does, for calls that may also run commands which only read: their outputs are
/// kept apart from those of the state folder, whose names are the journal's to give.
pub fn open_apart(
    options: &HostOptions,
    places: &Places,
    notices: &SharedNotices,
) -> Result<ReadingEngine, Failure> {
    tell_lowered(options, notices);
    let root = open_root(options, places)?;
    let outputs = tempfile::tempdir().map_err(|error| {
        let place = std::env::temp_dir();
        Failure::new(Exit::Failed, format!("no temporary folder can be made in {}: {error}", place.display()))
            .advise("name a folder with space in the variable TMPDIR")
    })?;
    // Where there is no state folder, none needs to be kept from commands.
    let elsewhere = Places { base: outputs.path().to_owned(), ..places.clone() };
    let places = if places.base.exists() { places } else { &elsewhere };
    let kept = KeptFolders { outputs: outputs.path().join("output"), layers: None };
    let engine = open_engine(options, places, kept, root, forgetful_journal(places)?, notices)?;
    Ok(ReadingEngine { engine, _outputs: Some(outputs) })
}

fn forgetful_journal(places: &Places) -> Result<Journal, Failure> {
    Journal::in_memory().map_err(|error| journal_failure(&error, &places.base))
}

/// The folders that the engine keeps things in.
struct KeptFolders {
    outputs: PathBuf,
    /// Layers of commands; none where no command changes anything.
    layers: Option<PathBuf>,
}

fn open_engine(
    options: &HostOptions,
    places: &Places,
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
        policy: confinement::policy(options, &places.workspace, &places.base),
        state_folder: places.state_folder(),
        output_folder: kept.outputs,
        layers_folder: kept.layers,
        layer: if options.layer { LayerUse::WherePossible } else { LayerUse::Off },
    };
    let (engine, recovery) = LocalWorkspace::open(root, journal, config)
        .map_err(|error| state_failure(&error.to_string(), &places.base))?;
    for path in &recovery.redone {
        notices.notice(&format!("recovered: {path} was written again from the journal"));
    }
    for path in &recovery.conflicts {
        notices.notice(&format!("{path} was changed by someone else before it was synced: theirs stays"));
    }
    for path in &recovery.kept {
        notices.notice(&format!("{path} was saved by someone else during a crash: it is kept, look at it"));
    }
    for (path, why) in &recovery.failed {
        notices.notice(&format!("{path} could not be written again yet: {why}"));
    }
    Ok(engine)
}

/// Opens the folder of code with the rules of the options.
///
/// # Errors
///
/// If it cannot be opened, or is a folder that is never a workspace, such as the home folder.
pub fn open_root(options: &HostOptions, places: &Places) -> Result<FileRoot, Failure> {
    let rules = RootRules { home: confinement::home(), ..RootRules::default() };
    let policy = FsPolicy::default().with_protected(obeyed_names(options)).with_read_only(options.read_only);
    FileRoot::open(&places.workspace, &rules, policy).map_err(|error| {
        let failure = Failure::new(Exit::Usage, format!("{}: {error}", places.workspace.display()));
        match error {
            RootError::Io(_) => failure,
            _ => failure.advise("choose a folder of code with --workspace DIR"),
        }
    })
}

/// Makes the state folder, closed to others, with an ignore rule for git.
pub fn make_state_folder(places: &Places) -> Result<(), Failure> {
    use std::os::unix::fs::DirBuilderExt;
    let failed = |error: &io::Error| state_failure(&error.to_string(), &places.base);
    match fs::DirBuilder::new().mode(0o700).create(&places.base) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed(&error)),
    }
    if fs::symlink_metadata(&places.base).map_err(|error| failed(&error))?.file_type().is_symlink() {
        return Err(state_failure("it is a link", &places.base));
    }
    // It may have been made since it was looked at.
    places.is_of_this_user()?;
    // The rule comes first: what is kept here must not get into a repository, whenever this process is killed.
    ignore::ensure(&places.base).map_err(|error| failed(&error))?;
    // Nothing is in it yet, or it was looked at before.
    birth::mark(&places.base).map_err(|error| failed(&error))
}

fn state_failure(why: &str, base: &Path) -> Failure {
    Failure::new(Exit::Failed, format!("the state folder {} cannot be used: {why}", base.display()))
        .advise("choose another one with --base DIR, for instance outside of a read-only workspace")
}

fn journal_failure(error: &OpenError, base: &Path) -> Failure {
    let place = base.display();
    match error {
        OpenError::Held { process_id } => {
            let holder =
                process_id.map_or_else(|| "another process".to_owned(), |id| format!("process {id}"));
            Failure::new(Exit::Held, format!("{holder} is using the state folder {place}"))
                .advise("stop it first; `agentd sessions`, `show`, `outbox`, `log` and `diff` work meanwhile")
        }
        OpenError::Newer { .. } => Failure::new(Exit::Refused, format!("the state folder {place}: {error}"))
            .advise("update agentd, or choose another state folder with --base DIR"),
        OpenError::NoSpace => Failure::new(Exit::Failed, format!("the state folder {place}: {error}"))
            .advise("free some space and try again: nothing is lost"),
        OpenError::Damaged => Failure::new(Exit::Failed, format!("the state folder {place}: {error}"))
            .advise(
                "`agentd resume` sets the damaged journal aside and takes the sessions over from their files",
            ),
        _ => state_failure(&error.to_string(), base),
    }
}

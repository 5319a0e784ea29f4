//! The runner: one repository, its state folder, its agents.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use change_journal::ContentHash;
use cocode_env::AgentState;
use rel_path::ProtectedNames;
use sandbox_exec::{KeptHomes, Launcher, LauncherConfig, Level, SpawnerProgram, User};

use crate::bundle::empty_folder;
use crate::error::{RunnerError, error_chain};
use crate::plan::body_file;
use crate::plan::host::Host;
use crate::record::AgentRecord;
use crate::record::store::{self, Store};
use crate::repository::git::Git;
use crate::repository::own_git_folder::OwnGitFolder;
use crate::repository::worktree::{Worktree, file_error};
use crate::repository::{Repository, foreign_file, own_index, worktree_links};
use crate::run::launchers::Launchers;
use crate::run::stop::StopFlag;

/// The folder, in the state folder, that replaces every repository's hooks. It is empty.
pub(crate) const NO_HOOKS: &str = "no-hooks";

/// The folder, in the state folder, of the objects that other machines deliver, until they are imported.
pub(crate) const DELIVERED: &str = "delivered";

/// The most bytes of the file by which a worktree names its git folder: a path, and what is around it.
pub(crate) const LINK_BYTES: u64 = 8192;

/// The paths and capabilities of a runner.
#[derive(Clone, Debug)]
pub struct RunnerConfig {
    /// A folder of the user's repository.
    pub repository: PathBuf,
    /// The folder for records and logs. It is made; its parent must exist.
    pub state_folder: PathBuf,
    /// The folder for worktrees, outside of any repository. It is made with its parents. Links on the way are followed once,
    /// when the runner is opened.
    pub worktrees: PathBuf,
    /// The folder of the kept homes of confined agents, one for each worktree; `None` gives each agent a home that is
    /// discarded. It is made with its parents, and hidden from agents.
    pub homes: Option<PathBuf>,
    /// Folders that are hidden from confined agents, such as the state of the program itself. Worktrees in them stay
    /// visible.
    pub private: Vec<PathBuf>,
    /// The names that other programs obey: work that changes a protected name is not picked.
    pub names: ProtectedNames,
    /// The user's environment.
    pub host: Host,
    /// The program that becomes the spawner of processes.
    pub spawner: SpawnerProgram,
    /// An existing folder for small files of the confinement.
    pub scratch: PathBuf,
    /// The least confinement under which confined agents run.
    pub least_level: Level,
    /// The most confinement that is tried for them: [`Level::Full`], except in tests that need less.
    pub highest_level: Level,
}

/// Runs agents of one repository. One process has a state folder open.
#[derive(Debug)]
pub struct Runner {
    pub(crate) config: RunnerConfig,
    pub(crate) repository: Repository,
    pub(crate) store: Store,
    worktrees: PathBuf,
    /// Held while delivered work is imported, one delivery after the other.
    pub(crate) importing: Mutex<()>,
    /// Held while the record of an agent on another machine is read, changed and written: reports of that machine may come
    /// while its delivery is judged.
    pub(crate) updating: Mutex<()>,
    /// `None` starts a launcher for each run.
    launchers: Option<Launchers>,
}

impl Runner {
    /// Opens the state folder, and marks the agents of a process that has died as lost.
    ///
    /// # Errors
    /// [`RunnerError::Repository`], [`RunnerError::Open`] (`Held` while another process runs agents),
    /// [`RunnerError::File`].
    pub fn open(config: RunnerConfig) -> Result<Runner, RunnerError> {
        let runner = Runner::closed(config)?;
        runner.recover(None)?;
        Ok(runner)
    }

    /// Opens the state folder to remove the agent of this [key](AgentRecord::key) by force, without judging its work first: its
    /// worktree may make that slow. If the agent stays, the next runner judges it.
    ///
    /// # Errors
    /// Those of [`Runner::open`].
    pub fn open_to_remove(config: RunnerConfig, key: &str) -> Result<Runner, RunnerError> {
        let runner = Runner::closed(config)?;
        runner.recover(Some(key))?;
        Ok(runner)
    }

    /// Opens the state folder, without changing its records.
    fn closed(mut config: RunnerConfig) -> Result<Runner, RunnerError> {
        // Git names worktrees by their paths without links, and only those exist for a confined agent.
        config.worktrees = without_links(&config.worktrees);
        let hooks = config.state_folder.join(NO_HOOKS);
        let repository = Repository::open(Git::new(&config.host, hooks.clone()), &config.repository)?;
        let folders = ["logs", "cancel", NO_HOOKS].map(|name| config.state_folder.join(name));
        for folder in [&config.state_folder].into_iter().chain(&folders) {
            make_folder(folder)?;
        }
        // A file in it would run as a hook of every repository that the runner uses.
        if fs::read_dir(&hooks).map_err(file_error("read", &hooks))?.next().is_some() {
            let source = std::io::ErrorKind::DirectoryNotEmpty.into();
            return Err(RunnerError::File { what: "use", path: hooks, source });
        }
        let store = Store::open(&config.state_folder.join("records"))?;
        let worktrees = repository_folder(&config.worktrees, &repository);
        // A crash may have left objects. None of them is a part of the repository.
        let delivered = config.state_folder.join(DELIVERED);
        empty_folder::remove(&delivered).map_err(file_error("remove", &delivered))?;
        let (importing, updating) = (Mutex::new(()), Mutex::new(()));
        Ok(Runner { config, repository, store, worktrees, importing, updating, launchers: None })
    }

    /// Returns the records of all agents, those of the newest run first.
    ///
    /// # Errors
    /// [`RunnerError::Journal`], [`RunnerError::Record`].
    pub fn records(&self) -> Result<Vec<AgentRecord>, RunnerError> {
        self.store.records()
    }

    /// Returns the record with a [key](AgentRecord::key); `None` if there is none.
    ///
    /// # Errors
    /// [`RunnerError::Journal`], [`RunnerError::Record`].
    pub fn record(&self, key: &str) -> Result<Option<AgentRecord>, RunnerError> {
        self.store.record(key)
    }

    /// Returns the worktree of an agent, once it was made; `None` if the folders in its record are not those of an agent of this
    /// repository. A state folder can come from another program, and the named folders would be changed.
    pub(crate) fn worktree_of(&self, record: &AgentRecord) -> Option<Worktree> {
        let worktree = record.worktree()?;
        // Also by its path: an agent can damage the file that names it.
        let is_made_for_it = || {
            let name = worktree.git_folder.file_name().unwrap_or_default();
            self.is_at_its_path(record) && name.as_bytes().starts_with(record.key().as_bytes())
        };
        let is_one = worktree.is_in(&self.repository.common_folder)
            && (is_made_for_it() || worktree_links::names_worktree(&worktree));
        is_one.then_some(worktree)
    }

    /// Returns whether a record names a path of its agent: the path that this runner would choose, or that of its worktree.
    pub(crate) fn has_own_path(&self, record: &AgentRecord) -> bool {
        self.is_at_its_path(record) || self.worktree_of(record).is_some()
    }

    /// Returns whether a record names the path that this runner would give its agent.
    fn is_at_its_path(&self, record: &AgentRecord) -> bool {
        // The user may have moved the folder of worktrees and left a link.
        let folder = record.worktree.parent().map(without_links);
        folder.as_ref() == Some(&self.worktrees) && record.worktree.ends_with(record.key())
    }

    /// Returns the folder of the kept home of a worktree's agent.
    pub(crate) fn agent_home(&self, worktree: &Path) -> Option<PathBuf> {
        let hash = ContentHash::of(worktree.as_os_str().as_bytes()).to_string();
        Some(self.config.homes.as_ref()?.join(format!("agent-{}", &hash[..16])))
    }

    pub(crate) fn worktrees_folder(&self) -> &Path {
        &self.worktrees
    }

    /// Returns the folder in which an agent sees only its own worktree: that of all repositories if it holds nothing else, or that
    /// of this one.
    pub(crate) fn folder_of_others(&self) -> &Path {
        let all = self.config.worktrees.as_path();
        let is_private = |folder: &PathBuf| {
            let folder = without_links(folder);
            all != folder && all.starts_with(folder)
        };
        if self.config.private.iter().any(is_private) { all } else { &self.worktrees }
    }

    pub(crate) fn log_path(&self, record: &AgentRecord) -> PathBuf {
        log_path(&self.config.state_folder, record)
    }

    pub(crate) fn cancel_path(&self, record: &AgentRecord) -> PathBuf {
        self.config.state_folder.join("cancel").join(record.key())
    }

    /// Removes the home of an agent that has ended: a link in its worktree could lead to a repository there, and the home is not
    /// used again.
    pub(crate) fn remove_home(&self, worktree: &Path) {
        if let Some(home) = self.agent_home(worktree) {
            // A home that stays is removed with the other homes of lost worktrees.
            let _ = KeptHomes::remove(&home);
        }
    }

    /// Makes all runs and checks of this runner use these launchers, which others may share.
    #[must_use]
    pub fn with_launchers(self, launchers: Launchers) -> Runner {
        Runner { launchers: Some(launchers), ..self }
    }

    /// Returns the launcher of processes: at full confinement, or at none. It is started unless a shared one is already running.
    pub(crate) fn launcher(&self, is_confined: bool) -> Result<Arc<Launcher>, RunnerError> {
        let launcher = match &self.launchers {
            Some(launchers) => launchers.started(is_confined, || self.start_launcher(is_confined))?,
            None => Arc::new(self.start_launcher(is_confined)?),
        };
        let level = launcher.report().level;
        if is_confined && level < self.config.least_level {
            return Err(RunnerError::TooLittleConfinement { level });
        }
        Ok(launcher)
    }

    fn start_launcher(&self, is_confined: bool) -> Result<Launcher, RunnerError> {
        let host = &self.config.host;
        let text = |name: &str| host.variable(name).map(|value| value.to_string_lossy().into_owned());
        let user = User {
            name: text("USER").or_else(|| text("LOGNAME")).unwrap_or_else(|| "user".to_owned()),
            home: host.home.clone(),
            search_path: host.search_path(),
            language: host.variable("LANG").unwrap_or_default().to_owned(),
        };
        let mut config = LauncherConfig::new(self.config.spawner.clone(), user, self.config.scratch.clone());
        config.highest_level = if is_confined { self.config.highest_level } else { Level::None };
        Launcher::start(config).map_err(RunnerError::Launcher)
    }

    /// Judges an agent again whose work this machine failed to import. Its check does not run.
    fn repeat_import(&self, record: &AgentRecord) -> Result<(), RunnerError> {
        let mut record = AgentRecord { import_failed: false, ..record.clone() };
        let body = self.store.body(&record.key())?;
        if let Err(error) = self.judge(&mut record, &body, &StopFlag::new(), || None) {
            record.warnings.push(error_chain(&error));
        }
        retain_unique(&mut record.warnings);
        let is_ready = record.verdict.as_ref().is_some_and(|verdict| verdict.ready);
        if is_ready && record.state == AgentState::Completed {
            record.state = AgentState::Ready;
        }
        self.store.put(&record)
    }

    /// Marks the agents of a dead process. They have died with it, unless another machine runs them. The work of the agent with the
    /// key `unjudged` is not judged.
    fn recover(&self, unjudged: Option<&str>) -> Result<(), RunnerError> {
        let mut records = self.store.records()?;
        let is_judged = |record: &AgentRecord| unjudged != Some(record.key().as_str());
        for record in &mut records {
            let Some(worktree) = self.worktree_of(record) else { continue };
            self.remove_home(&worktree.path);
            // An older version left them open. A folder that cannot be closed does not block the others.
            let _ = worktree.close(&self.repository.common_folder);
            if !is_judged(record) && !record.state.is_final() && record.elsewhere.is_none() {
                // Enough for the worktree to be recognised.
                let common_folder = &self.repository.common_folder;
                record.warnings.extend(worktree.take_back(common_folder).ok().flatten());
                let restored = worktree_links::restore(&worktree, common_folder, !record.own_branches);
                record.warnings.extend(restored);
            }
            // A failure is left to the next runner; the judgement of an agent that is not judged yet reports it.
            let is_left = record.state.is_final()
                && !record.import_failed
                && is_judged(record)
                && OwnGitFolder::of(&worktree).is_left();
            if is_left && let Ok(warning) = worktree.take_back(&self.repository.common_folder) {
                record.warnings.extend(warning);
                self.refuse_traces(record, &worktree);
                own_index::make_again(&self.repository, &worktree);
                self.free_references(record, &worktree);
                retain_unique(&mut record.warnings);
                self.store.put(record)?;
            }
        }
        let is_to_repeat =
            |record: &&AgentRecord| record.state.is_final() && record.import_failed && is_judged(record);
        for record in records.iter().filter(is_to_repeat) {
            self.repeat_import(record)?;
        }
        let unresolved = records.into_iter().filter(|record| !record.state.is_final());
        let (elsewhere, here): (Vec<_>, Vec<_>) = unresolved.partition(|record| record.elsewhere.is_some());
        for mut record in here {
            if record.state == AgentState::Pending {
                record.state = AgentState::Failed;
                record.detail = Some("the run ended before it was started".to_owned());
            } else {
                record.state = AgentState::Lost;
                record.detail = Some("the run ended before it did".to_owned());
                if is_judged(&record) {
                    let body = self.store.body(&record.key())?;
                    // An agent can leave a git folder that git cannot read. That affects only this agent.
                    if let Err(error) = self.judge(&mut record, &body, &StopFlag::new(), || None) {
                        record.warnings.push(error_chain(&error));
                    }
                } else {
                    record.import_failed = true;
                }
            }
            record.ended_at_ms = Some(now_ms());
            if self.has_own_path(&record) {
                let removed = remove_if_there(&body_file(&record.worktree));
                removed.unwrap_or_else(|error| record.warnings.push(error_chain(&error)));
            }
            self.store.put(&record)?;
        }
        // A request to the dead process would cancel the next agent with that key. A request for an agent on another machine
        // stays.
        let kept: Vec<PathBuf> = elsewhere.iter().map(|record| self.cancel_path(record)).collect();
        let cancel = self.config.state_folder.join("cancel");
        for entry in fs::read_dir(&cancel).map_err(file_error("read", &cancel))?.flatten() {
            if !kept.contains(&entry.path()) {
                remove_if_there(&entry.path())?;
            }
        }
        Ok(())
    }
}

/// Reads the records of all agents, also while another process runs them.
///
/// # Errors
/// [`RunnerError::Open`], [`RunnerError::Journal`], [`RunnerError::Record`].
pub fn read_records(state_folder: &Path) -> Result<Vec<AgentRecord>, RunnerError> {
    store::read(&state_folder.join("records"))
}

/// Requests that the process which runs an agent cancels it.
///
/// # Errors
/// [`RunnerError::File`].
pub fn request_cancel(state_folder: &Path, record: &AgentRecord) -> Result<(), RunnerError> {
    let path = state_folder.join("cancel").join(record.key());
    fs::write(&path, b"").map_err(file_error("write", &path))
}

/// Returns the files of an agent's log that exist, oldest first. The last one grows.
pub fn log_files(state_folder: &Path, record: &AgentRecord) -> Vec<PathBuf> {
    crate::run::log_file::files(&log_path(state_folder, record))
}

fn log_path(state_folder: &Path, record: &AgentRecord) -> PathBuf {
    state_folder.join("logs").join(format!("{}.log", record.key()))
}

impl AgentRecord {
    /// Returns the worktree that the record names, once it was made. If the process died before it recorded the git folder, the
    /// worktree itself names it: the path was free when the record was made.
    pub(crate) fn worktree(&self) -> Option<Worktree> {
        let git_folder = self.git_folder.clone().or_else(|| linked_git_folder(&self.worktree))?;
        Some(Worktree { path: self.worktree.clone(), git_folder })
    }
}

fn retain_unique(warnings: &mut Vec<String>) {
    let mut unique = BTreeSet::new();
    warnings.retain(|warning| unique.insert(warning.clone()));
}

/// Returns the folder for the worktrees of one repository: its name, and a hash that distinguishes it from namesakes.
fn repository_folder(worktrees: &Path, repository: &Repository) -> PathBuf {
    let hash = ContentHash::of(repository.common_folder.as_os_str().as_encoded_bytes());
    let digits: String = hash.as_bytes()[..6].iter().map(|byte| format!("{byte:02x}")).collect();
    let name = repository.root.file_name().unwrap_or_default().to_string_lossy();
    worktrees.join(format!("{name}-{digits}"))
}

/// Returns a path without symlinks, as far as it exists.
fn without_links(path: &Path) -> PathBuf {
    let resolved = path.ancestors().find_map(|existing| {
        let rest = path.strip_prefix(existing).ok()?;
        let real = fs::canonicalize(existing).ok()?;
        // Joining nothing would add a slash at the end.
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    });
    resolved.unwrap_or_else(|| path.to_owned())
}

/// Returns the git folder that the `.git` file of a worktree names.
fn linked_git_folder(worktree: &Path) -> Option<PathBuf> {
    let text = foreign_file::read_short(&worktree.join(".git"), LINK_BYTES).ok()?;
    Some(PathBuf::from(text.trim_end().strip_prefix("gitdir: ")?)).filter(|folder| folder.is_dir())
}

fn make_folder(folder: &Path) -> Result<(), RunnerError> {
    // Without parents: a missing parent is more likely a typo than intended.
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        other => other.map_err(file_error("make", folder)),
    }
}

/// Removes a file of the runner, if it exists.
pub(crate) fn remove_if_there(path: &Path) -> Result<(), RunnerError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(file_error("remove", path)),
    }
}

/// Returns the time in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

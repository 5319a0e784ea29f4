//! The runner: one repository, its state folder, its agents.

use std::fs::{self, DirBuilder};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use change_journal::ContentHash;
use cocode_env::{AgentState, CheckResult, Evidence, Verdict};
use rel_path::ProtectedNames;
use sandbox_exec::{Launcher, LauncherConfig, Level, SpawnerProgram, User};

use crate::error::{RunnerError, error_chain};
use crate::objects::object_check::{self, submodules};
use crate::plan::body_file;
use crate::plan::host::Host;
use crate::record::AgentRecord;
use crate::record::store::{self, Store};
use crate::repository::git::Git;
use crate::repository::own_repository::{self, import_check_objects, import_work};
use crate::repository::worktree::{Worktree, file_error};
use crate::repository::{Repository, left_file, own_index};
use crate::verdict::evidence::Work;

/// The folder, in the state folder, that replaces every repository's hooks. It is empty.
pub(crate) const NO_HOOKS: &str = "no-hooks";

/// The paths and capabilities of a runner.
#[derive(Clone, Debug)]
pub struct RunnerConfig {
    /// A folder of the user's repository.
    pub repository: PathBuf,
    /// The folder for records and logs. It is made; its parent must exist.
    pub state_folder: PathBuf,
    /// The folder for worktrees, outside of any repository. It is made with its parents.
    pub worktrees: PathBuf,
    /// The folder of the homes that confined agents keep, one for each worktree; `None` gives each agent a home that is
    /// discarded. It is made with its parents, and hidden from agents.
    pub homes: Option<PathBuf>,
    /// Folders that are hidden from confined agents, such as the state of the program itself. Worktrees in them stay
    /// visible.
    pub private: Vec<PathBuf>,
    /// The names that other programs obey: work that changes a protected one is not picked.
    pub names: ProtectedNames,
    /// The user's environment.
    pub host: Host,
    /// The program that becomes the spawner of processes.
    pub spawner: SpawnerProgram,
    /// An existing folder for small files of the confinement.
    pub scratch: PathBuf,
    /// The least confinement under which confined agents run.
    pub least_level: Level,
    /// The most confinement that is tried for them: [`Level::Full`], except where a test needs less.
    pub highest_level: Level,
}

/// Runs agents of one repository. One process has a state folder open.
#[derive(Debug)]
pub struct Runner {
    pub(crate) config: RunnerConfig,
    pub(crate) repository: Repository,
    pub(crate) store: Store,
    worktrees: PathBuf,
}

impl Runner {
    /// Opens the state folder, and marks the agents of a process that has died as lost.
    ///
    /// # Errors
    /// [`RunnerError::Repository`], [`RunnerError::Open`] (`Held` while another process runs agents),
    /// [`RunnerError::File`].
    pub fn open(config: RunnerConfig) -> Result<Runner, RunnerError> {
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
        let runner = Runner { config, repository, store, worktrees };
        runner.recover()?;
        Ok(runner)
    }

    /// Returns the records of all agents, those of the newest run first.
    ///
    /// # Errors
    /// [`RunnerError::Journal`], [`RunnerError::Record`].
    pub fn records(&self) -> Result<Vec<AgentRecord>, RunnerError> {
        self.store.records()
    }

    /// Returns the folder of the home that the agent of a worktree keeps.
    pub(crate) fn agent_home(&self, worktree: &Path) -> Option<PathBuf> {
        let hash = ContentHash::of(worktree.as_os_str().as_bytes()).to_string();
        Some(self.config.homes.as_ref()?.join(format!("agent-{}", &hash[..16])))
    }

    pub(crate) fn worktrees_folder(&self) -> &Path {
        &self.worktrees
    }

    pub(crate) fn log_path(&self, record: &AgentRecord) -> PathBuf {
        log_path(&self.config.state_folder, record)
    }

    pub(crate) fn cancel_path(&self, record: &AgentRecord) -> PathBuf {
        self.config.state_folder.join("cancel").join(record.key())
    }

    /// Starts the launcher of processes: at full confinement, or at none.
    pub(crate) fn launcher(&self, is_confined: bool) -> Result<Launcher, RunnerError> {
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
        let launcher = Launcher::start(config).map_err(RunnerError::Launcher)?;
        let level = launcher.report().level;
        if is_confined && level < self.config.least_level {
            return Err(RunnerError::TooLittleConfinement { level });
        }
        Ok(launcher)
    }

    /// Judges the work of an agent that has ended. `check` runs the check command, if the rest holds.
    pub(crate) fn judge(
        &self,
        record: &mut AgentRecord,
        body: &str,
        check: impl FnOnce() -> Option<CheckResult>,
    ) -> Result<(), RunnerError> {
        let worktree = record.worktree();
        let mut work = Work::default();
        if let Some(worktree) = &worktree {
            worktree.close(&self.repository.common_folder)?;
            // Before git reads the worktree: a crafted index leads git outside of it.
            record.warnings.extend(own_index::quarantine_crafted(worktree, &record.start_commit));
            import_work(&self.repository, worktree, record)?;
            own_index::make_again(&self.repository, worktree);
            work = Work::find(&self.repository, worktree, &record.branch, &record.start_commit)?;
        }
        let mut is_whole = true;
        if let Some(head) = &work.head {
            is_whole = own_repository::is_whole(&self.repository, record, &head.commit)?;
        }
        if !is_whole {
            record.warnings.push("the commit at its HEAD is damaged".to_owned());
            work = Work::default();
        }
        if let Some(head) = work.head.as_mut().filter(|head| head.commit != record.start_commit) {
            head.unsound = self.unsound(record, &head.commit)?;
            if head.unsound.is_none() {
                let warning = submodules(&self.repository, &record.start_commit, &head.commit);
                record.warnings.extend(warning.unwrap_or_else(|error| Some(error_chain(&error))));
            }
        }
        let is_clean = match &worktree {
            Some(worktree) if record.clean_tree && worktree.path.is_dir() => {
                Some(worktree.is_clean(&self.repository)?)
            }
            // A missing worktree cannot be shown to be clean.
            _ => record.clean_tree.then_some(false),
        };
        record.commits = work.commits;
        record.head = work.head.as_ref().map(|head| head.commit.clone());
        if work.head.is_some() && !work.is_on_branch {
            record.warnings.push("HEAD is not on the agent's branch".to_owned());
        }
        if is_whole && work.head.is_none() && record.git_folder.is_some() {
            record.warnings.push("its worktree is gone or at no commit".to_owned());
        }
        let mut evidence = Evidence {
            exit_code: record.exit_code,
            start_commit: &record.start_commit,
            // Without a launch, no commit counts as newer than it.
            launched_at: i64::try_from(record.launched_at_ms.unwrap_or(u64::MAX) / 1000).unwrap_or(i64::MAX),
            marker: &record.marker,
            issue_body: body,
            head: work.head,
            is_clean,
            check: None,
        };
        let (mut was_checked, mut left) = (false, Vec::new());
        if record.check.is_some() {
            let not_run = || CheckResult { passed: false, detail: "it was not run".to_owned() };
            let result = match &worktree {
                Some(worktree) if Verdict::of(&evidence).ready => {
                    let before = left_file::find(&self.repository, worktree);
                    let result = check();
                    let after = left_file::find(&self.repository, worktree);
                    // Without both lists no file is attributed to the check, and every file keeps the worktree.
                    if let (Ok(before), Ok(after)) = (before, after) {
                        left = left_file::new_since(&before, after);
                    }
                    result
                }
                _ => None,
            };
            was_checked = result.is_some();
            evidence.check = result.or_else(|| Some(not_run()));
        }
        record.verdict = Some(Verdict::of(&evidence));
        record.left_by_check = left;
        match &worktree {
            Some(worktree) if was_checked => {
                // The check ran code of the agent's, so its traces are no more trusted than the agent's own.
                record.warnings.extend(own_index::quarantine_crafted(worktree, &record.start_commit));
                import_check_objects(&self.repository, worktree, record)?;
                own_index::make_again(&self.repository, worktree);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Returns git's reason to refuse an agent's commits; `None` if it accepts them.
    pub(crate) fn unsound(&self, record: &AgentRecord, commit: &str) -> Result<Option<String>, RunnerError> {
        let folder = self.config.state_folder.join("checked").join(record.key());
        object_check::unsound(&self.repository, &folder, &record.start_commit, commit)
    }

    /// Marks the agents that a dead process left behind. They have died with it.
    fn recover(&self) -> Result<(), RunnerError> {
        let records = self.store.records()?;
        for worktree in records.iter().filter_map(AgentRecord::worktree) {
            // An older version left them open. One that cannot be closed does not block the others.
            let _ = worktree.close(&self.repository.common_folder);
        }
        for mut record in records.into_iter().filter(|record| !record.state.is_final()) {
            if record.state == AgentState::Pending {
                record.state = AgentState::Failed;
                record.detail = Some("the run ended before it was started".to_owned());
            } else {
                record.state = AgentState::Lost;
                record.detail = Some("the run ended before it did".to_owned());
                let body = self.store.body(&record.key())?;
                // An agent can leave a git folder that git cannot read. That concerns this agent alone.
                if let Err(error) = self.judge(&mut record, &body, || None) {
                    record.warnings.push(error_chain(&error));
                }
            }
            record.ended_at_ms = Some(now_ms());
            if let Err(error) = remove_if_there(&body_file(&record.worktree)) {
                record.warnings.push(error_chain(&error));
            }
            self.store.put(&record)?;
        }
        // A request to the dead process would cancel the next agent with that key.
        let cancel = self.config.state_folder.join("cancel");
        for entry in fs::read_dir(&cancel).map_err(file_error("read", &cancel))?.flatten() {
            remove_if_there(&entry.path())?;
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
    /// Returns the worktree, once it was made. If the process died before it recorded the git folder, the worktree itself
    /// names it: the path was free when the record was made.
    pub(crate) fn worktree(&self) -> Option<Worktree> {
        let git_folder = self.git_folder.clone().or_else(|| linked_git_folder(&self.worktree))?;
        Some(Worktree { path: self.worktree.clone(), git_folder })
    }
}

/// Returns the folder for the worktrees of one repository: its name, and a hash that distinguishes it from namesakes.
fn repository_folder(worktrees: &Path, repository: &Repository) -> PathBuf {
    let hash = ContentHash::of(repository.common_folder.as_os_str().as_encoded_bytes());
    let digits: String = hash.as_bytes()[..6].iter().map(|byte| format!("{byte:02x}")).collect();
    let name = repository.root.file_name().unwrap_or_default().to_string_lossy();
    worktrees.join(format!("{name}-{digits}"))
}

/// Returns the git folder that the `.git` file of a worktree names.
fn linked_git_folder(worktree: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(worktree.join(".git")).ok()?;
    Some(PathBuf::from(text.trim_end().strip_prefix("gitdir: ")?)).filter(|folder| folder.is_dir())
}

fn make_folder(folder: &Path) -> Result<(), RunnerError> {
    // Without parents: a missing parent is more likely a mistyped path than a wish.
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

//! Running a shell command in a folder of its own, plainly or by a workspace, with the same environment.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use change_journal::{Journal, JournalLimits};
use local_workspace::{EngineConfig, LayerUse, LocalWorkspace, SandboxNeed};
use rustix::process::{Pid, Signal, kill_process_group};
use sandbox_exec::{LauncherConfig, Level, Policy, SpawnerProgram, User};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use tempfile::TempDir;
use wap_core::{
    Call, CancelFlag, ConversationId, ExecuteCommand, Limits, Origin, Retention, RunKey, Unobserved,
    WapError, Workspace,
};

use super::super::way::Way;
use crate::conformance::Problem;

/// The most output of a script that is read, in bytes.
const OUTPUT_LIMIT_BYTES: u64 = 64 << 20;

/// The programs that scripts find by name.
const SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The end of a command.
#[derive(Clone, Debug)]
pub(super) struct CommandEnd {
    /// Its standard output.
    pub(super) output: String,
    /// Its error, its warnings and receipts of what it was refused.
    pub(super) remarks: Vec<String>,
    /// The time that it took.
    pub(super) duration: Duration,
}

/// A folder in which commands are run in one way.
pub(super) struct CommandFolder {
    folder: TempDir,
    way: Way,
    engine: Option<LocalWorkspace>,
    run_count: u32,
}

impl CommandFolder {
    /// Makes an empty folder. Confined commands may read `readable`, too.
    ///
    /// # Errors
    ///
    /// A problem if the folder or its workspace cannot be made.
    pub(super) fn new(way: Way, readable: &Path) -> Result<CommandFolder, Problem> {
        let folder = tempfile::Builder::new().prefix("outside-").tempdir()?;
        for name in ["work", "state", "home", "scratch"] {
            fs::create_dir(folder.path().join(name))?;
        }
        let engine = match way {
            Way::Plain => None,
            Way::Confined(level) => Some(engine(folder.path(), level, readable)?),
        };
        Ok(CommandFolder { folder, way, engine, run_count: 0 })
    }

    /// Returns the folder that is the command's working directory.
    pub(super) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Runs a command to its end, and empties the folder.
    ///
    /// # Errors
    ///
    /// A problem if it cannot be started. One that is killed at the timeout has an end like any other.
    pub(super) fn run(&mut self, command: &str, timeout: Duration) -> Result<CommandEnd, Problem> {
        self.run_count += 1;
        let start = Instant::now();
        let (output, remarks) = match &self.engine {
            Some(engine) => self.confined(engine, command, timeout)?,
            None => self.plain(command, timeout)?,
        };
        let duration = start.elapsed();
        for entry in fs::read_dir(self.work())? {
            let path = entry?.path();
            if path.symlink_metadata()?.is_dir() { remove_folder(&path)? } else { fs::remove_file(&path)? }
        }
        Ok(CommandEnd { output, remarks, duration })
    }

    fn plain(&self, command: &str, timeout: Duration) -> Result<(String, Vec<String>), Problem> {
        // A file: a process that a command leaves behind would keep a pipe open.
        let output = self.folder.path().join("output");
        let file = File::create(&output)?;
        let home = self.folder.path().join("home");
        let seconds = timeout.as_secs().to_string();
        let mut program = Command::new("setsid");
        program.args(["--wait", "timeout", "--kill-after=5", &seconds, "/bin/sh", "-c", command]);
        program
            .env_clear()
            .envs(environment())
            .env("HOME", &home)
            .env("TMPDIR", self.folder.path().join("scratch"));
        program.current_dir(self.work()).stdin(Stdio::null()).stdout(file).stderr(Stdio::null());
        let mut child = program.spawn()?;
        let status = child.wait()?;
        // What it has left behind in its group ends with it.
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        let remarks = match status.code() {
            Some(124 | 137) => vec![format!("killed after {seconds} s")],
            _ => Vec::new(),
        };
        empty(&self.folder.path().join("scratch"))?;
        Ok((String::from_utf8_lossy(&fs::read(&output)?).into_owned(), remarks))
    }

    fn confined(
        &self,
        engine: &LocalWorkspace,
        command: &str,
        timeout: Duration,
    ) -> Result<(String, Vec<String>), Problem> {
        let origin = Origin {
            conversation: ConversationId("outside".to_owned()),
            run: RunKey::unnumbered(format!("{}-{}", self.way, self.run_count)),
            step: 0,
            retention: Retention::Process,
        };
        let call = Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None };
        let request = ExecuteCommand {
            command: command.to_owned(),
            working_directory: None,
            timeout: i64::try_from(timeout.as_millis()).ok(),
            environment: None,
            background: None,
            recorded_command: None,
            ready: None,
        };
        match engine.execute_command(&call, &request, &mut Unobserved) {
            Ok(response) => {
                let denied =
                    response.denied.iter().map(|entry| format!("refused: {} · {}", entry.what, entry.why));
                Ok((response.stdout, response.warnings.iter().cloned().chain(denied).collect()))
            }
            Err(error) => ended_by_error(&error),
        }
    }
}

/// Reads what a command has printed that was killed; any other error is a problem.
fn ended_by_error(error: &WapError) -> Result<(String, Vec<String>), Problem> {
    match error.detail("stdout").and_then(|output| output.as_str()) {
        Some(output) => Ok((output.to_owned(), vec![error.message().to_owned()])),
        None => Err(Problem::new(error.message().to_owned())),
    }
}

/// Returns the variables that plain commands get, in the values of confined ones.
fn environment() -> [(&'static str, &'static str); 8] {
    [
        ("PATH", SEARCH_PATH),
        ("LANG", "C.UTF-8"),
        ("TERM", "dumb"),
        ("USER", "tester"),
        ("CI", "true"),
        ("NO_COLOR", "1"),
        ("PAGER", "cat"),
        ("GIT_PAGER", "cat"),
    ]
}

/// Opens the folder's workspace, with limits that no script of a suite comes to.
fn engine(folder: &Path, level: Level, readable: &Path) -> Result<LocalWorkspace, Problem> {
    let (work, state, home) = (folder.join("work"), folder.join("state"), folder.join("home"));
    let rules = RootRules { home: Some(home.clone()), ..RootRules::default() };
    let root = FileRoot::open(&work, &rules, FsPolicy::default())?;
    let (journal, _) = Journal::open(&state.join("journal"), JournalLimits::default())?;
    let user =
        User { name: "tester".to_owned(), home, search_path: SEARCH_PATH.into(), language: "C.UTF-8".into() };
    let mut launcher = LauncherConfig::new(SpawnerProgram::this_program(), user, folder.join("scratch"));
    launcher.highest_level = level;
    let mut policy = Policy::for_workspace(&work);
    policy.readable.push(readable.to_owned());
    policy.limits.memory_bytes = 16 << 30;
    policy.limits.processes = 4096;
    policy.limits.file_size_bytes = 16 << 30;
    policy.limits.temporary_bytes = 8 << 30;
    let config = EngineConfig {
        limits: Limits { max_output_size: OUTPUT_LIMIT_BYTES, ..Limits::default() },
        read_only: false,
        sandbox: SandboxNeed::AtLeast(level),
        launcher,
        network: egress::Network::Off,
        policy,
        state_folder: None,
        output_folder: state.join("output"),
        layers_folder: Some(state.join("layers")),
        layer: LayerUse::default(),
    };
    let (engine, _) = LocalWorkspace::open(root, journal, config)?;
    Ok(engine)
}

/// Removes a folder, also where a script has left folders without rights in it.
fn remove_folder(folder: &Path) -> io::Result<()> {
    if fs::remove_dir_all(folder).is_ok() {
        return Ok(());
    }
    // No path of the folder is given: what `chmod` refuses, the second attempt reports.
    let _ = Command::new("chmod").args(["-R", "u+rwx", "--"]).arg(folder).stderr(Stdio::null()).status()?;
    fs::remove_dir_all(folder)
}

fn empty(folder: &Path) -> io::Result<()> {
    remove_folder(folder)?;
    fs::create_dir(folder)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{CommandFolder, Way};

    const TIMEOUT: Duration = Duration::from_secs(60);

    #[test]
    fn a_plain_command_has_the_folder_and_leaves_nothing() {
        let readable = tempfile::tempdir().unwrap();
        let mut folder = CommandFolder::new(Way::Plain, readable.path()).unwrap();
        let end =
            folder.run("mkdir -p a/b && chmod 0 a/b && pwd && echo $PATH >&2; exit 3", TIMEOUT).unwrap();
        assert_eq!(end.output.trim_end(), folder.work().to_str().unwrap());
        assert_eq!(end.remarks, [""; 0]);
        assert_eq!(std::fs::read_dir(folder.work()).unwrap().count(), 0);
    }

    #[test]
    fn a_plain_command_that_takes_too_long_says_so() {
        let readable = tempfile::tempdir().unwrap();
        let mut folder = CommandFolder::new(Way::Plain, readable.path()).unwrap();
        let end = folder.run("echo begun; exec sleep 600", Duration::from_secs(1)).unwrap();
        assert_eq!(end.output, "begun\n");
        assert_eq!(end.remarks, ["killed after 1 s"]);
    }
}

//! A workspace, a secret next to it, a made-up home, and a launcher.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use sandbox_exec::{
    Launcher, LauncherConfig, Level, Outcome, Policy, ShellCommand, SpawnerProgram, Timeout, User,
};
use tempfile::TempDir;
use test_support::write_program;

/// The contents of hidden files, which must never appear in any output.
pub(crate) const CANARY: &str = "CANARY-7f3a";

/// A folder with `workspace`, `outside` and `home`, removed when dropped.
pub(crate) struct Fixture {
    folder: TempDir,
    pub(crate) launcher: Launcher,
    pub(crate) policy: Policy,
}

impl Fixture {
    /// Uses all the confinement that the machine has.
    pub(crate) fn new() -> Fixture {
        Fixture::at_level(Level::Full)
    }

    /// Uses all the confinement that the machine has; fails if that does not include a root of the command's own.
    pub(crate) fn contained() -> Fixture {
        let fixture = Fixture::new();
        let report = fixture.launcher.report();
        assert!(report.level >= Level::Namespaces, "not run: this machine gives only {report}");
        fixture
    }

    pub(crate) fn at_level(highest: Level) -> Fixture {
        Fixture::with_spawner(spawner(), highest)
    }

    pub(crate) fn with_spawner(spawner: SpawnerProgram, highest: Level) -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for name in ["workspace", "outside", "home/.ssh", "home/.aws", "scratch"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        for name in ["outside/secret.txt", "home/.ssh/id_rsa", "home/.aws/credentials", "home/.netrc"] {
            fs::write(root.join(name), CANARY).unwrap();
        }
        let mut config = LauncherConfig::new(spawner, user(&root.join("home")), root.join("scratch"));
        config.highest_level = highest;
        let launcher = Launcher::start(config).unwrap();
        let policy = Policy::for_workspace(&root.join("workspace"));
        Fixture { folder, launcher, policy }
    }

    pub(crate) fn root(&self) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.root().join("workspace")
    }

    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.root().join("outside").join(name)
    }

    pub(crate) fn run(&self, text: &str) -> Outcome {
        self.run_within(text, Duration::from_secs(60))
    }

    /// Runs an endless command until its time is up, and again with more time as long as the machine was too busy for
    /// `is_enough`. Returns the limit and the last outcome.
    pub(crate) fn run_until_stopped(
        &self,
        text: &str,
        is_enough: impl Fn(&Outcome) -> bool,
    ) -> (Duration, Outcome) {
        let mut limit = Duration::from_millis(300);
        loop {
            let outcome = self.run_within(text, limit);
            if is_enough(&outcome) || limit > Duration::from_secs(60) {
                return (limit, outcome);
            }
            limit *= 6;
        }
    }

    pub(crate) fn run_within(&self, text: &str, timeout: Duration) -> Outcome {
        let command = ShellCommand::new(text).unwrap().with_timeout(Timeout::new(timeout).unwrap());
        self.launcher.spawn(&self.policy, &command).unwrap().wait().unwrap()
    }
}

/// Longer than any immediate command takes on a busy machine, and far shorter than the sleeps of commands here.
pub(crate) const HANG: Duration = Duration::from_secs(60);

/// Names the spawner's program where the usual one cannot be reached by its path.
pub(crate) const SPAWNER_VARIABLE: &str = "SANDBOX_EXEC_TEST_SPAWNER";

pub(crate) fn spawner_path() -> PathBuf {
    let usual = || env!("CARGO_BIN_EXE_sandbox-exec-spawner").into();
    std::env::var_os(SPAWNER_VARIABLE).map_or_else(usual, PathBuf::from)
}

pub(crate) fn spawner() -> SpawnerProgram {
    SpawnerProgram::at(spawner_path())
}

/// Returns a spawner that writes its process number into a file first.
pub(crate) fn traced_spawner(folder: &Path) -> SpawnerProgram {
    let script = folder.join("spawner");
    let text = format!(
        "#!/bin/sh\necho $$ > '{0}/spawner.pid'\nexec '{1}'\n",
        folder.display(),
        spawner_path().display()
    );
    write_program(&script, &text);
    SpawnerProgram::at(script)
}

pub(crate) fn user(home: &Path) -> User {
    User {
        name: "tester".into(),
        home: home.to_owned(),
        search_path: std::env::var_os("PATH").unwrap_or_default(),
        language: OsString::from("C.UTF-8"),
    }
}

pub(crate) fn stdout(outcome: &Outcome) -> String {
    outcome.stdout.text(|omitted| format!("<{omitted} bytes>"))
}

pub(crate) fn stderr(outcome: &Outcome) -> String {
    outcome.stderr.text(|omitted| format!("<{omitted} bytes>"))
}

/// A text that no other process has in its arguments, to find survivors by.
pub(crate) fn marker() -> String {
    static SEED: OnceLock<u64> = OnceLock::new();
    static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let seed = SEED.get_or_init(|| {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64
    });
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("marker{seed}x{number}x{}", std::process::id())
}

/// Returns the processes, zombies apart, that have the marker in their arguments.
pub(crate) fn survivors(marker: &str) -> Vec<String> {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .map(|arguments| String::from_utf8_lossy(&arguments).replace('\0', " "))
        .filter(|arguments| arguments.contains(marker))
        .collect()
}

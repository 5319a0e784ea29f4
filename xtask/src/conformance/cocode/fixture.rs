//! A repository, a home folder and programs for one case of cocode.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cocode_env::ReadyMarker;
use cocode_runner::{AgentCommand, AgentDefinition, Host, RunLimits, RunRequest, Runner, RunnerConfig};
use sandbox_exec::{Level, SpawnerProgram};
use tempfile::TempDir;

use crate::conformance::problem::{Problem, ensure};

/// Folders `repository` (with one commit on `main`), `home` and `bin`, removed when it is dropped.
pub(crate) struct CocodeFixture {
    _folder: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) host: Host,
}

impl CocodeFixture {
    pub(crate) fn new() -> Result<CocodeFixture, Problem> {
        let folder = tempfile::Builder::new().prefix("conformance-").tempdir()?;
        let root = fs::canonicalize(folder.path())?;
        for name in ["repository", "home", "bin"] {
            fs::create_dir(root.join(name))?;
        }
        fs::write(root.join("home/.gitconfig"), "[user]\n\tname = A\n\temail = a@localhost\n")?;
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", root.join("bin").display());
        let variables = BTreeMap::from([
            ("PATH".into(), path.clone().into()),
            ("HOME".into(), root.join("home").into()),
            ("LANG".into(), "C.UTF-8".into()),
        ]);
        let host = Host { variables, home: root.join("home"), own_path: path.into() };
        let fixture = CocodeFixture { _folder: folder, root, host };
        fixture.make_repository(&fixture.repository())?;
        Ok(fixture)
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.root.join("repository")
    }

    pub(crate) fn make_repository(&self, folder: &Path) -> Result<(), Problem> {
        fs::create_dir_all(folder)?;
        self.git(folder, &["init", "-q", "-b", "main"])?;
        fs::write(folder.join("f"), "one\n")?;
        self.git(folder, &["add", "f"])?;
        self.git(folder, &["commit", "-q", "-m", "start"])?;
        Ok(())
    }

    pub(crate) fn git(&self, folder: &Path, arguments: &[&str]) -> Result<String, Problem> {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(folder).env_clear().envs(&self.host.variables);
        let output = command.output()?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure(output.status.success(), || format!("git {arguments:?}: {errors}"))?;
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
    }

    /// Puts a program of this name on the search path.
    pub(crate) fn stub(&self, name: &str, text: &str) -> Result<(), Problem> {
        let path = self.root.join("bin").join(name);
        fs::write(&path, text)?;
        Ok(fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?)
    }

    pub(crate) fn runner(&self, repository: &Path) -> Result<Runner, Problem> {
        Ok(Runner::open(RunnerConfig {
            names: rel_path::ProtectedNames::default(),
            repository: repository.to_owned(),
            state_folder: self
                .root
                .join(format!("state-{}", repository.file_name().unwrap_or_default().to_string_lossy())),
            homes: None,
            worktrees: self.root.join("worktrees"),
            private: Vec::new(),
            host: self.host.clone(),
            spawner: SpawnerProgram::this_program(),
            scratch: self.root.clone(),
            least_level: Level::Namespaces,
            highest_level: Level::Full,
        })?)
    }

    /// A request for one agent that is a script for bash.
    pub(crate) fn request(&self, agent: AgentDefinition, issue: u64) -> Result<RunRequest, Problem> {
        Ok(RunRequest {
            issue: issue.try_into()?,
            issue_url: None,
            body: "Fix it.\n".to_owned(),
            agents: vec![agent],
            base: None,
            continues: None,
            marker: ReadyMarker::default(),
            limits: RunLimits { timeout: Duration::from_secs(60), ..RunLimits::default() },
        })
    }
}

/// The agent `a`, a script for bash.
pub(crate) fn script(text: &str) -> Result<AgentDefinition, Problem> {
    let arguments = vec!["-c".to_owned(), text.to_owned()];
    let command = AgentCommand::Program { program: "bash".to_owned(), arguments };
    Ok(AgentDefinition { command, ..AgentDefinition::new("a".parse()?) })
}

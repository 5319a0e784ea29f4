//! The folders of a run: the repository, home folders, certificate, logs.

use std::fs;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::cast;
use crate::network::{Namespace, RELAY, SERVER};

pub(crate) struct Site {
    folder: Option<TempDir>,
    lease_seconds: u32,
    pub(crate) root: PathBuf,
}

impl Site {
    pub(crate) fn make(lease_seconds: u32) -> Site {
        let prefix = format!("fleet-soak-{}-", std::process::id());
        let folder = tempfile::Builder::new().prefix(&prefix).tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let site = Site { folder: Some(folder), lease_seconds, root };
        for name in ["code", "logs", "users", "hosts"] {
            fs::create_dir(site.root.join(name)).unwrap();
        }
        fs::write(site.definitions(), cast::definitions()).unwrap();
        for number in 0..100 {
            let text = format!("line of file {number}\n").repeat(50);
            fs::write(site.code().join(format!("file-{number}")), text).unwrap();
        }
        fs::write(site.code().join(".gitignore"), ".agentd\n").unwrap();
        site.user("home");
        for arguments in ["init -q -b main", "add .", "commit -q -m start"] {
            site.git(&site.code(), &arguments.split(' ').collect::<Vec<_>>());
        }
        site.git(&site.root, &["clone", "-q", "code", "alone"]);
        site.make_certificate();
        site
    }

    /// Leaves the folder there, so that the cause of a failure can be read there.
    pub(crate) fn keep(&mut self) {
        if let Some(folder) = self.folder.take() {
            let _ = folder.keep();
        }
    }

    pub(crate) fn code(&self) -> PathBuf {
        self.root.join("code")
    }

    pub(crate) fn definitions(&self) -> PathBuf {
        self.root.join("agents.toml")
    }

    /// Returns the folder where the server stores everything.
    pub(crate) fn store(&self) -> PathBuf {
        self.root.join("server/store")
    }

    /// Returns the folder with a copy of it, as of the last sync.
    pub(crate) fn synced(&self) -> PathBuf {
        self.root.join("synced")
    }

    pub(crate) fn certificate(&self) -> PathBuf {
        self.root.join("certificate.pem")
    }

    pub(crate) fn certificate_key(&self) -> PathBuf {
        self.root.join("certificate.key")
    }

    pub(crate) fn key(&self, user: &str) -> PathBuf {
        self.root.join("server/keys").join(format!("{user}.seed"))
    }

    pub(crate) fn url() -> String {
        format!("tls://{SERVER}:4222")
    }

    /// Opens the log of a process for more.
    pub(crate) fn log(&self, name: &str) -> File {
        let path = self.root.join("logs").join(name);
        File::options().create(true).append(true).open(path).unwrap()
    }

    /// Returns a command of `agentd` in a namespace, for one of the users; what it says goes to the log of that user.
    pub(crate) fn agentd(&self, namespace: Option<&Namespace>, user: &str) -> Command {
        let program = env!("CARGO_BIN_EXE_agentd");
        let mut command = namespace.map_or_else(|| Command::new(program), |space| space.command(program));
        let home = self.user(user);
        command.current_dir(self.code()).env("HOME", &home).env("TMPDIR", home.join("tmp"));
        for name in ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(self.log(user));
        command
    }

    /// Adds the options that lead to the fleet.
    pub(crate) fn reach(&self, command: &mut Command, user: &str) {
        command.arg("--key-file").arg(self.key(user)).arg("--authority").arg(self.certificate());
        self.lease(command);
    }

    pub(crate) fn lease(&self, command: &mut Command) {
        command.arg("--lease").arg(self.lease_seconds.to_string());
    }

    pub(crate) fn git(&self, folder: &Path, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(folder).env("HOME", self.user("home"));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {said}");
        format!("{}{said}", String::from_utf8_lossy(&output.stdout))
    }

    /// Returns the records of all agents of a repository.
    pub(crate) fn records(&self, repository: &Path) -> Vec<Value> {
        let mut command = self.agentd(None, "home");
        let command = command.args(["cocode", "status", "--json"]).current_dir(repository);
        let output = command.stdout(Stdio::piped()).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["agents"].as_array().unwrap().clone()
    }

    fn user(&self, name: &str) -> PathBuf {
        let home = self.root.join("users").join(name);
        if !home.exists() {
            fs::create_dir_all(home.join("tmp")).unwrap();
            fs::write(home.join(".gitconfig"), "[user]\n\tname = A\n\temail = a@localhost\n").unwrap();
        }
        home
    }

    fn make_certificate(&self) {
        let mut command = Command::new("openssl");
        command.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
        command.args(["-days", "2", "-subj", "/CN=fleet", "-addext", "basicConstraints=critical,CA:FALSE"]);
        command.arg("-addext").arg(format!("subjectAltName=IP:{SERVER},IP:{RELAY}"));
        command.arg("-keyout").arg(self.certificate_key()).arg("-out").arg(self.certificate());
        let output = command.output().expect("openssl is there");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

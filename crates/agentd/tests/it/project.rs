//! A folder of code in a temporary place, and `agentd` run on it.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder of code with its state folder inside, gone when it is dropped.
pub(crate) struct Project {
    folder: TempDir,
    base: Option<PathBuf>,
    /// Run as this user, because the tests are run by root.
    user: Option<u32>,
}

/// An ordinary user; no account of this number needs to exist.
const ORDINARY_USER: u32 = 1_000;

/// How a run of `agentd` ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Project {
    pub(crate) fn new() -> Project {
        let folder = tempfile::Builder::new().prefix("agentd-test-").tempdir().unwrap();
        for name in ["code", "tmp"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Project { folder, base: None, user: None }
    }

    /// A project with its state folder outside of the folder of code.
    pub(crate) fn with_base_outside() -> Project {
        let mut project = Project::new();
        project.base = Some(project.folder.path().join("state"));
        project
    }

    /// A project whose state folder is somewhere else altogether.
    pub(crate) fn with_base(base: &Path) -> Project {
        let mut project = Project::new();
        project.base = Some(base.to_owned());
        project
    }

    /// The same project, used by somebody whom permissions stop. Whoever runs the tests is that already, unless it is
    /// root: then the program is copied to where such a user can start it.
    pub(crate) fn of_an_ordinary_user(mut self) -> Project {
        if is_root() {
            self.user = Some(ORDINARY_USER);
            // Not by this process: whatever another test starts in that moment would have the copy open for writing, and
            // nobody could run it.
            let copied =
                Command::new("cp").arg(program()).arg(self.folder().join("agentd")).status().unwrap();
            assert!(copied.success());
            for path in [self.folder().to_owned(), self.workspace(), self.folder().join("tmp")] {
                self.give_to_its_user(&path);
            }
        }
        self
    }

    /// Gives a file or folder to the user of this project.
    pub(crate) fn give_to_its_user(&self, path: &Path) {
        if let Some(user) = self.user {
            std::os::unix::fs::chown(path, Some(user), Some(user)).unwrap();
        }
    }

    /// A copy of a project in which nothing runs: its files and its state folder, which is believed as the first one is.
    pub(crate) fn copy(&self) -> Project {
        let copy = Project::new();
        copy_folder(&self.workspace(), &copy.workspace());
        if self.base.is_none() && self.base().is_dir() {
            let made = fs::metadata(copy.base()).unwrap().created().unwrap();
            let made = made.duration_since(std::time::UNIX_EPOCH).unwrap();
            let held = format!("{}.{:09}\n", made.as_secs(), made.subsec_nanos());
            fs::write(copy.base().join("birth"), held).unwrap();
        }
        let base = self.base.as_ref().map(|base| {
            let to = copy.folder.path().join("state");
            copy_folder(base, &to);
            to
        });
        Project { base, ..copy }
    }

    /// The folder around everything of this project.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("code")
    }

    pub(crate) fn base(&self) -> PathBuf {
        self.base.clone().unwrap_or_else(|| self.workspace().join(".agentd"))
    }

    pub(crate) fn inbox(&self) -> PathBuf {
        self.base().join("inbox")
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> &Project {
        let path = self.workspace().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn read(&self, path: &str) -> String {
        let file = self.workspace().join(path);
        fs::read_to_string(file).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.workspace().join(path).exists()
    }

    /// What is in a file of the workspace as a running command sees it: what it wrote itself is in a layer until it ends.
    pub(crate) fn written(&self, path: &str) -> Option<String> {
        let layers = fs::read_dir(self.base().join("layers")).into_iter().flatten().flatten();
        let in_layers = layers.map(|layer| layer.path().join("upper").join(path));
        in_layers.chain([self.workspace().join(path)]).find_map(|file| fs::read_to_string(file).ok())
    }

    /// `agentd` on this project, ready to be run.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = match self.user {
            None => agentd(),
            Some(user) => {
                let mut command = quiet(Command::new("setpriv"));
                command.args([
                    format!("--reuid={user}"),
                    format!("--regid={user}"),
                    "--clear-groups".to_owned(),
                ]);
                command.arg(self.folder().join("agentd")).env("HOME", self.folder().join("home"));
                command
            }
        };
        // What a killed process leaves in its temporary folder goes with the project.
        command.args(arguments).current_dir(self.workspace()).env("TMPDIR", self.folder().join("tmp"));
        if let Some(base) = &self.base {
            command.arg("--base").arg(base);
        }
        command
    }

    /// Runs `agentd` to its end.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// Runs `agentd` to its end with a text as its standard input.
    pub(crate) fn run_with_input<S: AsRef<OsStr>>(&self, arguments: &[S], input: &str) -> Ran {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        // A program that refuses its arguments does not read its input.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        Ran::of(child.wait_with_output().unwrap())
    }

    /// Starts a session without waiting and returns its id.
    pub(crate) fn begin(&self, task: &str) -> String {
        self.begin_with(&["new", "--no-wait", "--json", task])
    }

    /// Starts a session by these arguments, which ask for JSON, and returns its id.
    pub(crate) fn begin_with(&self, arguments: &[&str]) -> String {
        let started = self.run(arguments).ok().json();
        started["session"].as_str().unwrap().to_owned()
    }

    /// Puts a file of the inbox in place as a whole.
    pub(crate) fn put_reply(&self, name: &str, text: impl AsRef<[u8]>) {
        let beside = self.inbox().join(format!("{name}.part"));
        fs::write(&beside, text).unwrap();
        fs::rename(beside, self.inbox().join(name)).unwrap();
    }

    /// Writes a reply beside the folder of code and returns where.
    pub(crate) fn reply_file(&self, text: impl AsRef<[u8]>) -> PathBuf {
        let file = self.folder.path().join("reply.txt");
        fs::write(&file, text).unwrap();
        file
    }

    /// Applies a text as a reply, to its end.
    pub(crate) fn apply(&self, text: &str, more: &[&str]) -> Ran {
        let file = self.reply_file(text);
        let mut arguments = vec!["apply".as_ref(), file.as_os_str()];
        arguments.extend(more.iter().map(OsStr::new));
        self.run(&arguments)
    }

    /// The file of a session.
    pub(crate) fn session_file(&self, id: &str) -> Value {
        let file = self.base().join("sessions").join(format!("{id}.json"));
        serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
    }

    /// The path of an outbox.
    pub(crate) fn outbox_file(&self, id: &str, sequence: u32) -> PathBuf {
        self.base().join("outbox").join(format!("{id}_seq{sequence:04}.txt"))
    }

    /// The text of an outbox.
    pub(crate) fn outbox(&self, id: &str, sequence: u32) -> String {
        let file = self.outbox_file(id, sequence);
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    }

    /// The names in a folder of the state folder, sorted; folders left out.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.base().join(folder)).unwrap().map(Result::unwrap);
        let files = entries.filter(|entry| !entry.file_type().unwrap().is_dir());
        let mut names: Vec<_> = files.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// All files of the workspace but the state folder, with their contents, sorted.
    pub(crate) fn tree(&self) -> Vec<(String, String)> {
        let mut files = Vec::new();
        collect(&self.workspace(), "", &mut files);
        files.retain(|(path, _)| !path.starts_with(".agentd/"));
        files.sort();
        files
    }
}

impl Ran {
    pub(crate) fn of(output: Output) -> Ran {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        // A process that a signal ended has no code.
        let code = output.status.code().unwrap_or(-1);
        Ran { code, stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "{self}");
        self
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Ran {
        self.exits(0)
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Ran {
        assert!(self.stderr.contains(text), "'{text}' is not said:\n{self}");
        self
    }

    #[track_caller]
    pub(crate) fn prints(self, text: &str) -> Ran {
        assert!(self.stdout.contains(text), "'{text}' is not printed:\n{self}");
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("no JSON: {error}\n{self}"))
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Ran { code, stdout, stderr } = self;
        write!(formatter, "exit {code}\n-- stdout\n{stdout}\n-- stderr\n{stderr}")
    }
}

/// The built program, with an environment that does not depend on who runs the tests.
pub(crate) fn agentd() -> Command {
    quiet(Command::new(program()))
}

/// The built program.
pub(crate) fn program() -> &'static Path {
    Path::new(assert_cmd::cargo::cargo_bin!("agentd"))
}

fn quiet(mut command: Command) -> Command {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env_remove("NO_COLOR").env("LC_ALL", "C.UTF-8");
    // Nor on what they have configured.
    command.env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

/// Whether permissions stop nothing that the tests do.
pub(crate) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &format!("{path}/"), files);
        } else {
            let text = String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned();
            files.push((path, text));
        }
    }
}

/// Copies a folder with all that is in it; links are not expected.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    if !to.exists() {
        fs::create_dir(to).unwrap();
        fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    }
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Makes a file that can be run. Another process writes it: whatever a test starts beside this one in that moment would have
/// it open for writing, and nobody could run it.
pub(crate) fn write_program(path: &Path, text: &str) {
    let script = "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\"";
    let written = std::process::Command::new("/bin/sh").args(["-c", script, "sh", text]).arg(path).status();
    assert!(written.unwrap().success(), "{}", path.display());
}

//! Runs a tool of the user to query its settings.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The most bytes of each output that are read.
const MOST_OUTPUT_BYTES: u64 = 1024 * 1024;

/// The most quoted characters of a tool's error.
const MOST_QUOTED_CHARACTERS: usize = 200;

/// The interval of polling a tool that has closed its output.
const PAUSE: Duration = Duration::from_millis(5);

/// The user's tools: their search path and environment.
///
/// Programs, folders of `PATH` and variables that lead into a folder that a model may write are left out: files there must not
/// decide what a model may reach.
#[derive(Clone, Debug)]
pub struct Tools {
    /// The user's environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Folders that a model may write: the workspace, the state folder, shared caches.
    pub writable: Vec<PathBuf>,
    /// The folder in which an empty working folder is made. It must not be inside a folder that others may write, because some
    /// tools look for settings in every parent folder.
    pub empty_folder_in: PathBuf,
    /// The longest run time of one tool.
    pub timeout: Duration,
}

/// The reason that a tool did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// No folder of `PATH` has it, or only one that a model may write.
    #[error("it is not installed in a folder of PATH outside the workspace")]
    Missing,
    /// It cannot be started, or the empty folder cannot be made.
    #[error("it cannot be started: {0}")]
    Start(std::io::ErrorKind),
    /// It did not end in time, and was killed.
    #[error("it does not answer within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// It wrote more than is read.
    #[error("it writes more than {} KiB", MOST_OUTPUT_BYTES / 1024)]
    TooMuch,
    /// It failed, with its own error text; empty if it wrote nothing.
    #[error("it fails{}", quoted(.0))]
    Failed(String),
    /// It answers, and names no address that it fetches from.
    #[error("it does not say where it fetches from")]
    SaysNothing,
    /// It names an address that is not a name on the network.
    #[error("it fetches from {0}, which a command cannot reach by that name")]
    NotAName(String),
}

/// The output of a tool.
pub(crate) struct Output {
    pub(crate) stdout: String,
    /// Standard output and standard error.
    pub(crate) both: String,
    pub(crate) is_success: bool,
}

impl Output {
    /// Returns the error of a tool whose answer cannot be read.
    pub(crate) fn unreadable(&self) -> ToolError {
        if self.is_success { ToolError::SaysNothing } else { self.failure() }
    }

    /// Returns the failure with the tool's own error text.
    pub(crate) fn failure(&self) -> ToolError {
        ToolError::Failed(first_error(&self.both))
    }
}

/// Returns the first line of an output that mentions an error, else the first non-empty line; shortened, and without
/// terminal control sequences.
fn first_error(output: &str) -> String {
    let lines: Vec<String> = output.lines().map(plain_text).filter(|line| !line.is_empty()).collect();
    let is_error = |line: &&String| line.to_ascii_lowercase().contains("error");
    let line = lines.iter().find(is_error).or(lines.first()).map_or("", String::as_str);
    match line.char_indices().nth(MOST_QUOTED_CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Returns a line without escape sequences, control characters and characters that change the order of others.
fn plain_text(line: &str) -> String {
    const ESCAPE: char = '\u{1b}';
    let mut plain = String::new();
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match char {
            // `ESC [ … letter` sets a colour.
            ESCAPE if chars.as_str().starts_with('[') => {
                chars.by_ref().skip(1).find(|char| ('@'..='~').contains(char));
            }
            '\t' => plain.push(' '),
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            char if char.is_control() => {}
            char => plain.push(char),
        }
    }
    plain.trim().to_owned()
}

fn quoted(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(", and says: {words}") }
}

impl Tools {
    /// The tools of this process's environment.
    #[must_use]
    pub fn of_this_process(writable: Vec<PathBuf>, empty_folder_in: PathBuf) -> Tools {
        const TIMEOUT: Duration = Duration::from_secs(30);
        Tools { environment: std::env::vars_os().collect(), writable, empty_folder_in, timeout: TIMEOUT }
    }

    /// Returns a variable of the user, unless it leads into a writable folder.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsString> {
        let (_, value) = self.environment.iter().find(|(own, _)| own == name)?;
        (!value.is_empty() && !self.leads_into_writable(value.as_bytes())).then_some(value)
    }

    /// Runs a tool in an empty folder that has only these files, and returns what it writes.
    pub(crate) fn run(
        &self,
        program: &str,
        arguments: &[&str],
        variables: &[(&str, &str)],
        files: &[(&str, &str)],
    ) -> Result<Output, ToolError> {
        let start = |error: std::io::Error| ToolError::Start(error.kind());
        let path = self.search_path();
        let program = find(program, &path, |path| self.is_writable(path)).ok_or(ToolError::Missing)?;
        let folder = tempfile::Builder::new().prefix(".agentd-ask-").tempdir_in(&self.empty_folder_in);
        let folder = folder.map_err(start)?;
        for (name, text) in files {
            fs::write(folder.path().join(name), text).map_err(start)?;
        }
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder.path()).env_clear();
        let passed = |(_, value): &&(OsString, OsString)| !self.leads_into_writable(value.as_bytes());
        command.envs(self.environment.iter().filter(passed).map(|(name, value)| (name, value)));
        command.env("PATH", std::env::join_paths(&path).unwrap_or_default()).env("PWD", folder.path());
        command.envs(variables.iter().copied());
        self.run_command(command)
    }

    fn run_command(&self, mut command: Command) -> Result<Output, ToolError> {
        let deadline = Instant::now() + self.timeout;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let no_pipe = || ToolError::Start(std::io::ErrorKind::BrokenPipe);
        let mut child = Group(command.spawn().map_err(|error| ToolError::Start(error.kind()))?);
        let stdout = child.0.stdout.take().map(read_bounded).ok_or_else(no_pipe)?;
        let stderr = child.0.stderr.take().map(read_bounded).ok_or_else(no_pipe)?;
        let received = |output: &mpsc::Receiver<Vec<u8>>| {
            let left = deadline.saturating_duration_since(Instant::now());
            let bytes = output.recv_timeout(left).map_err(|_| ToolError::TimedOut(self.timeout))?;
            let is_whole = (bytes.len() as u64) < MOST_OUTPUT_BYTES;
            is_whole.then(|| String::from_utf8_lossy(&bytes).into_owned()).ok_or(ToolError::TooMuch)
        };
        let stdout = received(&stdout)?;
        let stderr = received(&stderr)?;
        loop {
            match child.0.try_wait().map_err(|error| ToolError::Start(error.kind()))? {
                Some(status) => {
                    let both = format!("{stdout}\n{stderr}");
                    return Ok(Output { stdout, both, is_success: status.success() });
                }
                None if Instant::now() >= deadline => return Err(ToolError::TimedOut(self.timeout)),
                None => thread::sleep(PAUSE),
            }
        }
    }

    /// Returns the absolute folders of `PATH` that a model cannot write.
    fn search_path(&self) -> Vec<PathBuf> {
        let path = self.environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value);
        let folders = path.iter().flat_map(std::env::split_paths);
        folders.filter(|folder| folder.is_absolute() && !self.is_writable(folder)).collect()
    }

    /// Checks whether a path, or its target, is in a writable folder.
    pub(crate) fn is_writable(&self, path: &Path) -> bool {
        let real = fs::canonicalize(path);
        self.writable.iter().any(|folder| {
            let real_folder = fs::canonicalize(folder);
            let real_folder = real_folder.as_ref().unwrap_or(folder);
            path.starts_with(folder) || real.as_ref().is_ok_and(|real| real.starts_with(real_folder))
        })
    }

    /// Checks whether a variable's value contains a path in a writable folder, or one that leads there.
    fn leads_into_writable(&self, value: &[u8]) -> bool {
        let contains = |folder: &PathBuf| {
            let folder = folder.as_os_str().as_bytes();
            !folder.is_empty() && value.windows(folder.len()).any(|window| window == folder)
        };
        // Values are paths, lists of paths, and options that contain paths.
        let parts = value.split(|byte| b":;,= \t\n\"'".contains(byte));
        let paths = parts.chain([value]).map(|part| Path::new(std::ffi::OsStr::from_bytes(part)));
        self.writable.iter().any(contains)
            || paths.filter(|path| path.is_absolute()).any(|path| self.is_writable(path))
    }
}

/// Finds a program in folders; a program that leads into a writable folder does not count.
fn find(program: &str, folders: &[PathBuf], is_writable: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    const EXECUTABLE: u32 = 0o111;
    folders.iter().map(|folder| folder.join(program)).find(|path| {
        let is_program = |file: fs::Metadata| file.is_file() && file.permissions().mode() & EXECUTABLE != 0;
        fs::metadata(path).is_ok_and(is_program) && !is_writable(path)
    })
}

fn read_bounded(source: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    // Not joined: a child of the tool may keep the pipe open after the tool has ended.
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // An output that cannot be read to its end is judged by the part that was read.
        let _ = source.take(MOST_OUTPUT_BYTES).read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

/// A child with its process group, which is killed when this is dropped.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        let group = i32::try_from(self.0.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            // Children of the tool end with it.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

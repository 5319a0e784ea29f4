//! One program that a task runs.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::TaskError;

/// The time between two looks whether a program has ended.
const LOOK: Duration = Duration::from_millis(50);

/// A program with its arguments, run in the foreground with its time taken.
#[derive(Clone, Debug)]
pub struct Step {
    name: String,
    program: String,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    folder: Option<PathBuf>,
}

impl Step {
    /// Returns a step that runs a program; `name` is what the person sees.
    pub fn new<A: AsRef<str>>(name: &str, program: &str, arguments: &[A]) -> Step {
        Step {
            name: name.to_owned(),
            program: program.to_owned(),
            arguments: arguments.iter().map(|argument| argument.as_ref().to_owned()).collect(),
            variables: Vec::new(),
            folder: None,
        }
    }

    /// Returns a step that runs cargo, the one that runs this task.
    pub fn cargo<A: AsRef<str>>(name: &str, arguments: &[A]) -> Step {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        Step::new(name, &cargo, arguments)
    }

    /// Sets a variable for the program.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Step {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the folder in which the program runs.
    #[must_use]
    pub fn folder(mut self, folder: &Path) -> Step {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Returns the arguments of the program.
    #[must_use]
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// Returns what the person sees.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs the program to its end and returns the time that it took.
    ///
    /// # Errors
    ///
    /// [`TaskError::NotStarted`], or [`TaskError::StepFailed`] if it did not exit with 0.
    pub fn run(&self) -> Result<Duration, TaskError> {
        self.timed(|mut command| command.status())
    }

    /// Runs the program to its end, shows its standard output and gives every line of it to `see`, without its end.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_seen(&self, mut see: impl FnMut(&str)) -> Result<Duration, TaskError> {
        self.timed(|mut command| {
            let mut child = command.stdout(Stdio::piped()).spawn()?;
            for line in child.stdout.take().into_iter().flat_map(|output| BufReader::new(output).split(b'\n'))
            {
                let line = String::from_utf8_lossy(&line?).into_owned();
                println!("{line}");
                see(&line);
            }
            child.wait()
        })
    }

    fn timed(&self, run: impl FnOnce(Command) -> io::Result<ExitStatus>) -> Result<Duration, TaskError> {
        println!("== {}: {}", self.name, self.line());
        let start = Instant::now();
        let status = run(self.command()).map_err(|source| self.not_started(source))?;
        let taken = start.elapsed();
        println!(
            "== {}: {} in {:.1} s",
            self.name,
            if status.success() { "ok" } else { "FAILED" },
            taken.as_secs_f64()
        );
        if status.success() { Ok(taken) } else { Err(TaskError::StepFailed { step: self.name.clone() }) }
    }

    /// Runs the program to its end and returns its exit code. After `limit` it is asked to end; `None` if that
    /// or another signal has ended it.
    ///
    /// # Errors
    ///
    /// [`TaskError::NotStarted`].
    pub fn exit_code(&self, limit: Option<Duration>) -> Result<Option<i32>, TaskError> {
        println!("== {}: {}", self.name, self.line());
        let start = Instant::now();
        let not_started = |source| self.not_started(source);
        let mut child = self.command().spawn().map_err(not_started)?;
        let end = limit.map(|limit| start + limit);
        let mut is_interrupted = false;
        let status = loop {
            match end {
                None => break child.wait().map_err(not_started)?,
                Some(end) if !is_interrupted && Instant::now() >= end => {
                    interrupt(&child);
                    is_interrupted = true;
                }
                Some(_) => {}
            }
            if let Some(status) = child.try_wait().map_err(not_started)? {
                break status;
            }
            std::thread::sleep(LOOK);
        };
        println!("== {}: {status} in {:.1} s", self.name, start.elapsed().as_secs_f64());
        Ok(if is_interrupted { None } else { status.code() })
    }

    /// Runs the program quietly and returns its standard output.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn output(&self) -> Result<Vec<u8>, TaskError> {
        let output = self.command().output().map_err(|source| self.not_started(source))?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            // Why it failed would be lost otherwise.
            print!("{}", String::from_utf8_lossy(&output.stderr));
            Err(TaskError::StepFailed { step: self.name.clone() })
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        std::env::vars_os()
            .filter(|(name, _)| is_about_this_package(name))
            .for_each(|(name, _)| _ = command.env_remove(name));
        command.args(&self.arguments).envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
    }

    /// The command as a person would type it.
    fn line(&self) -> String {
        let program = Path::new(&self.program).file_name().and_then(OsStr::to_str).unwrap_or(&self.program);
        let variables = self.variables.iter().map(|(name, value)| format!("{name}={value:?} "));
        format!("{}{program} {}", variables.collect::<String>(), self.arguments.join(" "))
    }

    fn not_started(&self, source: std::io::Error) -> TaskError {
        TaskError::NotStarted { program: self.program.clone(), source }
    }
}

/// Checks whether cargo has set a variable to tell the program that it runs, this one, about its package.
///
/// Build scripts of libraries ask to be run anew when such a variable changes. Passed on to another cargo, they would have it
/// build those libraries, and all that stand on them, once more after each run without a task.
fn is_about_this_package(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let of_one = [
        "CARGO_BIN_NAME",
        "CARGO_CRATE_NAME",
        "CARGO_MANIFEST_DIR",
        "CARGO_MANIFEST_LINKS",
        "CARGO_MANIFEST_PATH",
        "CARGO_PRIMARY_PACKAGE",
        "CARGO_TARGET_TMPDIR",
    ];
    of_one.contains(&&*name) || ["CARGO_BIN_EXE_", "CARGO_PKG_"].iter().any(|prefix| name.starts_with(prefix))
}

/// Asks a program to end, which removes what it has made. Not by the signal of Ctrl-C: jobs in the background ignore that one.
fn interrupt(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process};

    if let Some(process) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended meanwhile; its number is its own until it is waited for.
        let _ = kill_process(process, Signal::TERM);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_cargo_learns_nothing_of_this_package() {
        assert!(std::env::var_os("CARGO_PKG_NAME").is_some(), "cargo runs the tests");
        let output =
            Step::new("env", "env", &[""; 0]).variable("CARGO_PKG_AUTHORS", "given").output().unwrap();
        let output = String::from_utf8(output).unwrap();
        let names = output.lines().filter_map(|line| line.split_once('='));
        let kept: Vec<_> =
            names.filter(|(name, _)| is_about_this_package(OsStr::new(name))).map(|(name, _)| name).collect();
        assert_eq!(kept, ["CARGO_PKG_AUTHORS"]);
        assert!(!is_about_this_package(OsStr::new("CARGO_HOME")));
        assert!(!is_about_this_package(OsStr::new("CARGO_PROFILE_DEV_DEBUG")));
    }
}

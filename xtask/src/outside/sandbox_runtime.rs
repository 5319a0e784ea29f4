//! The tests of sandbox-runtime, whose commands are run by the program of this repository.

mod report;
mod section;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use report::Outcome;

use super::checkout::{git, version};
use super::reply_reasons::ReplyReasons;
use super::suite_error::SuiteError;
use crate::setup::client_packages::SandboxTestRunner;
use crate::{Step, TaskError};

/// A run of the tests.
#[derive(Clone, Debug)]
pub struct SandboxTests {
    /// A checkout of sandbox-runtime, or its repository.
    pub from: PathBuf,
    /// Prints the section alone, and writes no page.
    pub print: bool,
}

const ADVICE: &str = "give a checkout of sandbox-runtime, or its repository";

/// The reasons of known differences, relative to the repository.
const REASONS: &str = "fixtures/outside/sandbox-runtime.toml";

/// The files with tests that run commands.
const FILES: [&str; 2] = ["integration", "mandatory-deny-paths"];

/// The parts of the suite that are replaced, by name.
const REPLACED: [(&str, &str); 2] = [
    ("src/sandbox/sandbox-manager.ts", include_str!("sandbox_runtime/sandbox-manager.ts")),
    ("src/sandbox/linux-sandbox-utils.ts", include_str!("sandbox_runtime/linux-sandbox-utils.ts")),
];

const RUNNER: &str = include_str!("sandbox_runtime/runner.ts");

/// Runs the tests; prints the section, and writes it into the page.
///
/// # Errors
///
/// [`SuiteError::NoSuite`] if the folder is not that of sandbox-runtime, [`SuiteError::NoProgram`] without the runner of its
/// tests, [`SuiteError::Unexplained`] if there is a difference without a reason, and those of running and writing.
pub fn sandbox_tests(root: &Path, run: &SandboxTests) -> Result<(), TaskError> {
    let advice = "run `cargo xtask setup outside`";
    let runner = SandboxTestRunner::installed().ok_or(SuiteError::NoProgram { program: "bun", advice })?;
    Step::cargo("build", &["build", "--release", "--package", "agentd-workspace"]).folder(root).run()?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let scratch =
        tempfile::tempdir().map_err(|source| TaskError::Unwritable { path: "scratch".into(), source })?;
    let program = target.join("release/agentd");
    let suite = Suite::new(&run.from, scratch.path(), &runner, &program)?;
    let mut files = Vec::new();
    for file in FILES {
        files.push((file, suite.outcomes(file)?));
    }
    let reasons = ReplyReasons::read(root, REASONS)?;
    let (section, unexplained) = section::section(&version(&run.from), &files, &reasons);
    println!("{section}");
    if !run.print {
        super::write_page(root, "sandbox-runtime's tests of its sandbox", &section)?;
    }
    super::all_explained(unexplained)
}

/// A copy of the suite whose commands the program runs.
struct Suite<'a> {
    scratch: &'a Path,
    runner: &'a SandboxTestRunner,
    program: &'a Path,
}

impl<'a> Suite<'a> {
    fn new(
        from: &Path,
        scratch: &'a Path,
        runner: &'a SandboxTestRunner,
        program: &'a Path,
    ) -> Result<Suite<'a>, TaskError> {
        let no_suite = || SuiteError::NoSuite { folder: from.to_owned(), advice: ADVICE };
        let list = git(
            from,
            &["ls-tree", "-r", "--name-only", "HEAD", "--", "src", "test", "vendor", "package.json"],
        );
        let list = list.filter(|list| !list.is_empty()).ok_or_else(no_suite)?;
        let copy = scratch.join("suite");
        for name in String::from_utf8_lossy(&list).lines() {
            let content = git(from, &["show", &format!("HEAD:{name}")]).ok_or_else(no_suite)?;
            write(&copy.join(name), &content)?;
        }
        for (name, content) in REPLACED {
            write(&copy.join(name), content.as_bytes())?;
        }
        write(&scratch.join("runner.ts"), RUNNER.as_bytes())?;
        // A test reads this file of the home.
        write(&scratch.join("home/.bashrc"), b"# Nothing.\n")?;
        for folder in ["states", "temporary"] {
            let folder = scratch.join(folder);
            fs::create_dir(&folder).map_err(|source| TaskError::Unwritable { path: folder, source })?;
        }
        std::os::unix::fs::symlink(&runner.packages, scratch.join("node_modules"))
            .map_err(|source| TaskError::Unwritable { path: scratch.to_owned(), source })?;
        Ok(Suite { scratch, runner, program })
    }

    /// Runs the tests of a file.
    fn outcomes(&self, file: &str) -> Result<Vec<Outcome>, TaskError> {
        println!("== sandbox-runtime: {file}");
        let not_started = |source| TaskError::NotStarted { program: "bun".to_owned(), source };
        let output = Command::new(&self.runner.program)
            .arg("test")
            .arg(format!("test/sandbox/{file}.test.ts"))
            .current_dir(self.scratch.join("suite"))
            .env("AGENTD_PROGRAM", self.program)
            .env("AGENTD_RUNNER", self.scratch.join("runner.ts"))
            .env("AGENTD_STATES", self.scratch.join("states"))
            .env("HOME", self.scratch.join("home"))
            .env("TMPDIR", self.scratch.join("temporary"))
            .stdin(Stdio::null())
            .output()
            .map_err(not_started)?;
        let report = String::from_utf8_lossy(&output.stderr);
        let outcomes = report::outcomes(&report);
        if outcomes.is_empty() {
            return Err(SuiteError::NotRun { script: file.to_owned(), why: report.into_owned() }.into());
        }
        Ok(outcomes)
    }
}

fn write(path: &Path, content: &[u8]) -> Result<(), TaskError> {
    let folder = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, content));
    written.map_err(|source| TaskError::Unwritable { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_the_suite_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let runner = SandboxTestRunner { program: PathBuf::new(), packages: PathBuf::new() };
        let suite = Suite::new(folder.path(), scratch.path(), &runner, Path::new("agentd"));
        assert!(matches!(suite.err(), Some(TaskError::Suite(SuiteError::NoSuite { .. }))));
    }
}

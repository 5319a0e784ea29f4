//! All suites whose checkouts one folder has.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sandbox_exec::Level;

use super::checkout::git;
use super::script_suite::names_in;
use super::suite_error::SuiteError;
use super::{
    AiderTests, CodexScenarios, Replay, Repository, SandboxTests, ScriptRun, SearchQuality, StackGraphs, Way,
    aider_tests, codex_scenarios, git_tests, posix_tests, replay, sandbox_tests, search_quality,
    stack_graphs,
};
use crate::TaskError;

/// A run of every suite that is there.
#[derive(Clone, Debug)]
pub struct AllSuites {
    /// A folder with a checkout for each suite, by the names that the table of the run has.
    pub from: PathBuf,
    /// The number of scripts that run at once.
    pub jobs: usize,
    /// Prints the sections alone, and writes no page.
    pub print: bool,
}

/// The replies of a whole run of edit replay.
const REPLIES: usize = 1_000;

struct Suite {
    /// The name of its folder.
    name: &'static str,
    /// The contents that the folder should have.
    advice: &'static str,
    run: fn(&Path, PathBuf, &AllSuites) -> Result<(), TaskError>,
}

/// The suites, those first that take the least time.
const SUITES: [Suite; 8] = [
    Suite {
        name: "codex",
        advice: "a checkout of openai/codex",
        run: |root, from, all| {
            codex_scenarios(root, &CodexScenarios { from, provenance: None, print: all.print })
        },
    },
    Suite {
        name: "stack-graphs",
        advice: "a checkout of github/stack-graphs",
        run: |root, from, all| stack_graphs(root, &StackGraphs { from, print: all.print }),
    },
    Suite {
        name: "coclr",
        advice: "a checkout of Jun-jie-Huang/CoCLR",
        run: |root, from, all| search_quality(root, &SearchQuality { from, print: all.print }),
    },
    Suite {
        name: "aider",
        advice: "a checkout of Aider-AI/aider",
        run: |root, from, all| aider_tests(root, &AiderTests { from, print: all.print, details: None }),
    },
    Suite {
        name: "sandbox-runtime",
        advice: "a checkout of anthropic-experimental/sandbox-runtime",
        run: |root, from, all| sandbox_tests(root, &SandboxTests { from, print: all.print }),
    },
    Suite {
        name: "replay",
        advice: "a folder of checkouts, whose commits are turned into replies",
        run: |root, from, all| {
            let repositories = repositories(&from);
            let page = (!all.print).then(|| PathBuf::from("docs/outside.md"));
            replay(root, &Replay { repositories, replies: REPLIES, seed: 1, page, details: None })
        },
    },
    Suite {
        name: "pjdfstest",
        advice: "a checkout of pjd/pjdfstest, built",
        run: |root, from, all| run_scripts(root, from, all, "pjdfstest", posix_tests),
    },
    Suite {
        name: "git",
        advice: "git's source package, built",
        run: |root, from, all| run_scripts(root, from, all, "git", git_tests),
    },
];

/// Runs every suite whose checkout is there, one after the other, and prints a table that names those that are not. A failure
/// does not end the others.
///
/// # Errors
///
/// [`SuiteError::NoSuite`] if no checkout is there, [`TaskError::SuitesFailed`] with the suites that failed.
pub fn all_suites(root: &Path, run: &AllSuites) -> Result<(), TaskError> {
    let outcomes: Vec<Outcome> = SUITES.iter().map(|suite| suite.outcome(root, run)).collect();
    print!("{}", table(&outcomes));
    if outcomes.iter().all(|outcome| matches!(outcome.result, SuiteResult::Missing)) {
        let advice = "make a folder with a checkout for each suite of the table above";
        return Err(SuiteError::NoSuite { folder: run.from.clone(), advice }.into());
    }
    let is_failed = |outcome: &&Outcome| matches!(outcome.result, SuiteResult::Failed(_));
    let failed: Vec<&str> = outcomes.iter().filter(is_failed).map(|outcome| outcome.suite.name).collect();
    if failed.is_empty() { Ok(()) } else { Err(TaskError::SuitesFailed { suites: failed.join(", ") }) }
}

/// A suite after its run.
struct Outcome<'a> {
    suite: &'a Suite,
    took: Duration,
    result: SuiteResult,
}

enum SuiteResult {
    Passed,
    /// With the reason.
    Failed(String),
    /// There is no folder of its name.
    Missing,
}

impl Suite {
    fn outcome(&self, root: &Path, all: &AllSuites) -> Outcome<'_> {
        let from = all.from.join(self.name);
        let began = Instant::now();
        let result = if from.is_dir() {
            println!("== {}", self.name);
            match (self.run)(root, from, all) {
                Ok(()) => SuiteResult::Passed,
                Err(error) => SuiteResult::Failed(error.to_string()),
            }
        } else {
            SuiteResult::Missing
        };
        Outcome { suite: self, took: began.elapsed(), result }
    }
}

/// Runs a suite of scripts. Its outcomes are kept until all scripts have run, so that the next run resumes one that was ended.
fn run_scripts(
    root: &Path,
    from: PathBuf,
    all: &AllSuites,
    name: &str,
    run: fn(&Path, &ScriptRun) -> Result<(), TaskError>,
) -> Result<(), TaskError> {
    let folder = root.join("target/outside");
    std::fs::create_dir_all(&folder)
        .map_err(|source| TaskError::Unwritable { path: folder.clone(), source })?;
    let records = folder.join(format!("{name}.jsonl"));
    let ways = vec![Way::Confined(Level::Full), Way::Confined(Level::Landlock)];
    let scripts = Vec::new();
    let kept = Some(records.clone());
    let (jobs, print) = (all.jobs, all.print);
    let result =
        run(root, &ScriptRun { from, scripts, ways, records: kept, jobs, print, record_only: false });
    if matches!(result, Ok(()) | Err(TaskError::Suite(SuiteError::Unexplained { .. }))) {
        std::fs::remove_file(&records).map_err(|source| TaskError::Unwritable { path: records, source })?;
    }
    result
}

/// Returns the repositories in a folder, by the names of their folders.
fn repositories(from: &Path) -> Vec<Repository> {
    let all = names_in(from).into_iter().map(|name| Repository { folder: from.join(&name), name });
    all.filter(|repository| git(&repository.folder, &["rev-parse", "--git-dir"]).is_some()).collect()
}

fn table(outcomes: &[Outcome<'_>]) -> String {
    let mut text = String::from("| suite | time | result |\n| --- | ---: | --- |\n");
    for Outcome { suite: Suite { name, advice, .. }, took, result } in outcomes {
        let seconds = took.as_secs();
        // Writing into a string cannot fail.
        let _ = match result {
            SuiteResult::Passed => writeln!(text, "| {name} | {seconds} s | passed |"),
            SuiteResult::Failed(why) => writeln!(text, "| {name} | {seconds} s | **failed**: {why} |"),
            SuiteResult::Missing => writeln!(text, "| {name} | | not there: `{name}` is {advice} |"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_in(from: &Path) -> Result<(), TaskError> {
        all_suites(from, &AllSuites { from: from.to_owned(), jobs: 1, print: true })
    }

    #[test]
    fn a_folder_without_any_suite_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let refused = run_in(folder.path());
        assert!(matches!(refused, Err(TaskError::Suite(SuiteError::NoSuite { .. }))), "{refused:?}");
    }

    #[test]
    fn a_suite_that_fails_does_not_end_the_others() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["codex", "git"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let Err(TaskError::SuitesFailed { suites }) = run_in(folder.path()) else { panic!("both are empty") };
        assert_eq!(suites, "codex, git");
    }

    #[test]
    fn a_missing_suite_is_named_with_its_contents() {
        let outcome = SUITES[7].outcome(
            Path::new("/"),
            &AllSuites { from: PathBuf::from("/nonexistent"), jobs: 1, print: true },
        );
        let text = table(&[outcome]);
        assert_eq!(text.lines().last(), Some("| git | | not there: `git` is git's source package, built |"));
    }

    #[test]
    fn repositories_are_the_folders_that_git_reads() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["one", "two"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let folder_text = folder.path().join("two").to_string_lossy().into_owned();
        crate::Step::new("init", "git", &["init", "--quiet", &folder_text]).run().unwrap();
        let names: Vec<String> = repositories(folder.path()).into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["two"]);
    }
}

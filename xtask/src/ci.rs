//! Every check that a change must pass.

pub(crate) mod snapshot_references;
pub(crate) mod test_failures;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use self::snapshot_references::{VARIABLE, unreferenced_snapshots};
use self::test_failures::TestFailures;
use crate::clients;
use crate::dependencies::check_dependencies;
use crate::release::book::book;
use crate::setup::{is_installed, require_packages};
use crate::{Fuzz, Step, TaskError, Tree, fuzz, tidy};

/// Runs every check in turn, the quick ones first, and stops at the first that fails. Tests go on after a failure, and
/// why they failed is said once more at the end.
///
/// # Errors
///
/// That of the check that failed.
pub fn ci(root: &Path) -> Result<(), TaskError> {
    let mut times = Vec::new();
    let mut failures = TestFailures::default();
    let outcome = checks(root, &mut times, &mut failures);
    if !failures.text().is_empty() {
        println!("\n== failed tests\n{}", failures.text());
    }
    println!("\n== times");
    for (name, taken) in &times {
        println!("{:>8.1} s  {name}", taken.as_secs_f64());
    }
    let total: Duration = times.iter().map(|(_, taken)| *taken).sum();
    println!("{:>8.1} s  in all", total.as_secs_f64());
    outcome
}

fn checks(
    root: &Path,
    times: &mut Vec<(String, Duration)>,
    failures: &mut TestFailures,
) -> Result<(), TaskError> {
    require_packages()?;
    run(Step::cargo("fmt", &["fmt", "--all", "--check"]), root, times)?;
    timed("tidy", times, || tidy(root))?;
    timed("dependencies", times, || check_dependencies(root))?;
    if is_installed("cargo-deny") {
        let deny = ["deny", "--offline", "check", "--hide-inclusion-graph", "licenses", "bans", "sources"];
        run(Step::cargo("deny", &deny), root, times)?;
    }
    if is_installed("cargo-machete") {
        // It takes the word `machete` for a path where it sees, by this variable, that a task of cargo runs it.
        let machete = Step::new("machete", "cargo-machete", &["--skip-target-dir"]);
        run(machete.variable("CARGO_PKG_NAME", "xtask"), root, times)?;
    }
    // Other workspaces, those of the tests of this task, have no book.
    if is_installed("mdbook") && root.join("book.toml").is_file() {
        timed("book", times, || book(root))?;
    }

    let clippy = ["clippy", "--workspace", "--all-targets", "--all-features", "--", "--deny", "warnings"];
    run(Step::cargo("clippy", &clippy), root, times)?;
    run(Step::cargo("examples", &["build", "--workspace", "--examples"]), root, times)?;
    test(root, times, failures)?;
    run(Step::cargo("clients", &clients::RUN), root, times)?;

    // Other workspaces, those of the tests of this task, have no targets.
    if root.join("fuzz").is_dir() {
        let quick = Fuzz { seconds: 10, targets: Vec::new(), at_once: 2, is_quick: true, writes_page: false };
        timed("fuzz", times, || fuzz(root, &quick))?;
    }

    let doc = ["doc", "--workspace", "--no-deps", "--all-features"];
    run(Step::cargo("doc", &doc).variable("RUSTDOCFLAGS", "--deny warnings"), root, times)?;
    Ok(())
}

/// Runs the command of the README: unit tests, integration tests and the examples in the documentation. Afterwards
/// every snapshot must have been asked for.
fn test(
    root: &Path,
    times: &mut Vec<(String, Duration)>,
    failures: &mut TestFailures,
) -> Result<(), TaskError> {
    let references = std::env::temp_dir().join(format!("snapshot-references-{}", std::process::id()));
    let step = Step::cargo("test", &["test", "--workspace", "--no-fail-fast"])
        .variable("INSTA_UPDATE", "no")
        .variable(VARIABLE, &references.to_string_lossy());
    let name = step.name().to_owned();
    let tested = step.folder(root).run_seen(|line| failures.see(line));
    let used = fs::read_to_string(&references).unwrap_or_default();
    // Whether the list can be removed changes nothing about the tests.
    let _ = fs::remove_file(&references);
    times.push((name, tested?));
    let files = unreferenced_snapshots(&Tree::read(root)?, root, &used);
    if files.is_empty() { Ok(()) } else { Err(TaskError::OrphanSnapshots { files }) }
}

fn timed(
    name: &str,
    times: &mut Vec<(String, Duration)>,
    check: impl FnOnce() -> Result<(), TaskError>,
) -> Result<(), TaskError> {
    let start = Instant::now();
    check()?;
    times.push((name.to_owned(), start.elapsed()));
    Ok(())
}

fn run(step: Step, root: &Path, times: &mut Vec<(String, Duration)>) -> Result<(), TaskError> {
    let name = step.name().to_owned();
    times.push((name, step.folder(root).run()?));
    Ok(())
}

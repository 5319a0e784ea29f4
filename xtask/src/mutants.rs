//! Mutants: small changes of the sources, each of which some test of its crate has to notice.

mod outcomes;
mod page;
mod subject;
mod survivors;
mod trial;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use self::outcomes::Outcomes;
use self::subject::{Pass, SUBJECTS, Subject};
use self::survivors::Survivors;
use self::trial::Trial;
use crate::{Step, TaskError};

/// The least time in seconds after which the tests of a mutant count as hanging. It is five times that of the tests without a mutant,
/// if that is longer.
const LEAST_TEST_SECONDS: &str = "20";

/// A run over the mutants of some crates.
#[derive(Clone, Debug)]
pub struct Mutants {
    /// The crates; all those that are meant for it if there are none.
    pub crates: Vec<String>,
    /// The time for all crates together, after which the run ends; the next one continues.
    pub limit: Option<Duration>,
    /// Tries all mutants again, also those that earlier runs have tried.
    pub is_anew: bool,
}

/// Tries the mutants of each crate with the tests of that crate, and writes its section of `docs/mutants.md`.
///
/// The sources are copied for it, and every outcome is kept in `target/mutants` with the sources that it is of and its date, so that a
/// run that was interrupted continues with the mutants that no test has caught yet; outcomes of other sources do not count. Survivors that are meant to be there stand in `fixtures/mutants.toml`, each with its reason.
///
/// # Errors
///
/// [`TaskError::NoSubject`] for a crate that is not meant for it, [`TaskError::StepFailed`] if the tests fail without a mutant, the
/// repository is not one of git or `cargo mutants` is missing, which `setup` installs, and [`TaskError::MutantsSurvive`] if a mutant without a reason was not caught.
pub fn mutants(root: &Path, run: &Mutants) -> Result<(), TaskError> {
    let subjects = chosen(&run.crates)?;
    let expected = Survivors::read(&root.join("fixtures/mutants.toml"))?;
    let end = run.limit.map(|limit| Instant::now() + limit);
    let mut unexplained = Vec::new();
    for subject in subjects {
        let folder = root.join("target/mutants").join(subject.package);
        if run.is_anew && folder.exists() {
            fs::remove_dir_all(&folder)
                .map_err(|source| TaskError::Unwritable { path: folder.clone(), source })?;
        }
        let mut outcomes = Outcomes::begin(&folder, &Trial::of_now(root, subject)?)?;
        for pass in subject.passes() {
            if end.is_some_and(|end| Instant::now() >= end) {
                break;
            }
            try_all(root, &folder, subject, &pass, end)?;
            outcomes.take_in(&folder)?;
        }
        let listed = listed(root, subject)?;
        outcomes.retain(&listed);
        let report = expected.judge(subject.package, &outcomes, listed.len());
        println!("{report}");
        page::write(root, subject, &outcomes, listed.len(), &expected)?;
        unexplained.extend(report.faults);
    }
    if unexplained.is_empty() { Ok(()) } else { Err(TaskError::MutantsSurvive { faults: unexplained.len() }) }
}

fn chosen(names: &[String]) -> Result<Vec<&'static Subject>, TaskError> {
    let of_name = |name: &String| {
        SUBJECTS.iter().find(|subject| subject.package == name).ok_or_else(|| TaskError::NoSubject {
            name: name.clone(),
            crates: SUBJECTS.iter().map(|subject| subject.package).collect::<Vec<_>>().join(", "),
        })
    };
    if names.is_empty() { Ok(SUBJECTS.iter().collect()) } else { names.iter().map(of_name).collect() }
}

/// Tries the mutants that were not caught yet, with the tests of one pass.
fn try_all(
    root: &Path,
    folder: &Path,
    subject: &Subject,
    pass: &Pass,
    end: Option<Instant>,
) -> Result<(), TaskError> {
    fs::create_dir_all(folder).map_err(|source| TaskError::Unwritable { path: folder.to_owned(), source })?;
    let output = folder.to_string_lossy();
    let own = ["mutants", "--package", subject.package, "--jobs", "1", "--iterate", "--no-shuffle"];
    // Code that is not compiled would count as a survivor.
    let limits = ["--all-features", "--output", &output, "--minimum-test-timeout", LEAST_TEST_SECONDS];
    // Without the examples in the documentation: each is a program of its own, and the tests do not rely on them.
    let mut arguments = [&own[..], &limits, &["--colors", "never", "--", "--tests", "--"]].concat();
    for test in pass.skipped {
        arguments.extend(["--skip", test]);
    }
    let built: PathBuf = root.join("target/mutants/build");
    let mut step = Step::cargo(&format!("mutants of {}", subject.package), &arguments)
        .variable("CARGO_TARGET_DIR", &built.to_string_lossy())
        // One crate is built again and again.
        .variable("CARGO_INCREMENTAL", "1")
        .variable("CARGO_PROFILE_DEV_DEBUG", "0")
        // A case that caught one mutant would be kept and catch the next one, which the tests as they are would not.
        .variable("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true")
        .variable("PROPTEST_MAX_SHRINK_ITERS", "0")
        .variable("INSTA_UPDATE", "no")
        .folder(root);
    if let Some(cases) = pass.cases {
        step = step.variable("PROPTEST_CASES", &cases.to_string());
    }
    let limit = end.map(|end| end.saturating_duration_since(Instant::now()));
    match step.exit_code(limit)? {
        // All caught; some missed; some tests hung; interrupted.
        Some(0 | 2 | 3) | None => Ok(()),
        Some(_) => Err(TaskError::StepFailed { step: step.name().to_owned() }),
    }
}

/// Returns the names of all mutants of a crate as its sources are now.
fn listed(root: &Path, subject: &Subject) -> Result<Vec<String>, TaskError> {
    let arguments = ["mutants", "--list", "--package", subject.package, "--colors", "never"];
    let output = Step::cargo("list the mutants", &arguments).folder(root).output()?;
    Ok(String::from_utf8_lossy(&output).lines().map(str::to_owned).collect())
}

//! The long runs of the property, crash and race tests.

use std::path::Path;

use crate::{Step, TaskError};

/// How many cases a property has unless told otherwise; properties multiply what the environment says instead of it.
const USUAL_CASES: u64 = 256;

/// Runs the tests with many more cases, those that an ordinary run ignores because they take long included.
///
/// Properties follow `PROPTEST_CASES`, as long as they state their number of cases as a multiple of the default one.
/// `SOAK_FACTOR` is for tests with loops of their own: they multiply their rounds by it.
///
/// # Errors
///
/// Those of the test run.
pub fn soak(root: &Path, factor: u32, package: Option<&str>) -> Result<(), TaskError> {
    let scope = match package {
        Some(package) => vec!["--package", package],
        None => vec!["--workspace"],
    };
    let arguments = [&["test", "--tests"], scope.as_slice(), &["--", "--include-ignored"]].concat();
    let cases = u64::from(factor).saturating_mul(USUAL_CASES).to_string();
    Step::cargo("soak", &arguments)
        .variable("PROPTEST_CASES", &cases)
        .variable("SOAK_FACTOR", &factor.to_string())
        .folder(root)
        .run()
        .map(|_| ())
}

/// Runs the race tests of `sandbox-fs` with many operations of each kind, and shows their figures.
///
/// `RACE_OPERATIONS` tells the tests how many operations of each kind there are to be: reads, writes, deletions and
/// listings, each with both ways of resolving, while neighbours rename folders and swap links in.
///
/// # Errors
///
/// Those of the test run; a single escape fails it.
pub fn soak_files(root: &Path, operations: u64) -> Result<(), TaskError> {
    // One race at a time: each has two neighbours of its own.
    let arguments = ["test", "--package", "sandbox-fs", "--test", "it", "--"];
    let arguments = [&arguments[..], &["race::", "--nocapture", "--test-threads", "1"]].concat();
    Step::cargo("soak files", &arguments)
        .variable("RACE_OPERATIONS", &operations.to_string())
        .folder(root)
        .run()
        .map(|_| ())
}

//! All tests with many more cases.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{Step, TaskError};

/// The default number of cases of a property; properties multiply the number in the environment instead of it.
const USUAL_CASES: u64 = 256;

/// Runs the tests with many more cases, those that an ordinary run ignores because they take long included.
///
/// Properties follow `PROPTEST_CASES`, as long as they state their number of cases as a multiple of the default one.
/// `SOAK_FACTOR` is for tests with loops of their own: they multiply their rounds by it. Cases are drawn from
/// `seed`, or anew each time from one that is printed.
///
/// # Errors
///
/// Those of the test run.
pub fn soak(root: &Path, factor: u32, package: Option<&str>, seed: Option<u64>) -> Result<(), TaskError> {
    let scope = match package {
        Some(package) => vec!["--package", package],
        None => vec!["--workspace"],
    };
    let arguments = [&["test", "--tests"], scope.as_slice(), &["--", "--include-ignored"]].concat();
    let cases = u64::from(factor).saturating_mul(USUAL_CASES).to_string();
    let seed = seed.unwrap_or_else(seed_of_now);
    println!("== soak: seed {seed}");
    Step::cargo("soak", &arguments)
        .variable("PROPTEST_CASES", &cases)
        // The configuration of cargo names the one of the checks.
        .variable("PROPTEST_RNG_SEED", &seed.to_string())
        .variable("SOAK_FACTOR", &factor.to_string())
        .folder(root)
        .run()
        .map(|_| ())
}

/// Returns a seed from the time.
pub(super) fn seed_of_now() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    u64::try_from(time).unwrap_or_default()
}

//! Skipping tests that this machine cannot run.

/// Reports by name that a test is skipped and why. Fails it instead where `CI` is set, because every test runs there.
#[track_caller]
#[expect(clippy::print_stderr, reason = "the person who runs the tests has to see what was left out")]
pub fn skip(test: &str, why: &str) {
    assert!(std::env::var_os("CI").is_none_or(|ci| ci.is_empty()), "{test}: {why}");
    eprintln!("SKIPPED {test}: {why}");
}

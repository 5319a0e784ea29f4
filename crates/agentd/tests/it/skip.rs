//! Tests that this machine cannot run.

/// Says by name that a test was skipped and why; where everything has to run, it fails instead.
#[track_caller]
#[expect(clippy::print_stderr, reason = "whoever runs the tests has to see what was left out")]
pub(crate) fn skip(test: &str, why: &str) {
    assert!(std::env::var_os("CI").is_none_or(|ci| ci.is_empty()), "{test}: {why}");
    eprintln!("SKIPPED {test}: {why}");
}

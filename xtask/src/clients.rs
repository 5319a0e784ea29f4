//! Tests with the clients that people use.

use std::path::Path;

use crate::setup::client_packages::install_clients;
use crate::{Step, TaskError};

/// Runs the tests that use them. The test suite leaves them out: they take as long as all others of their package.
pub(crate) const RUN: [&str; 6] = ["test", "--workspace", "--tests", "--", "--ignored", "real_clients::"];

/// Installs the clients that are missing, and runs the tests that use them with what they print.
///
/// They are one of the checks too; here none of them is skipped.
///
/// # Errors
///
/// Those of the test run; a client that cannot be had fails it.
pub fn clients(root: &Path) -> Result<(), TaskError> {
    install_clients();
    let arguments = [&RUN[..], &["--nocapture", "--test-threads", "1"]].concat();
    Step::cargo("clients", &arguments).variable("CI", "true").folder(root).run().map(drop)
}

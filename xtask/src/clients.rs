//! The clients that people have.

use std::path::Path;

use crate::client_packages::install_clients;
use crate::{Step, TaskError};

/// Installs the clients that are missing, and runs the tests that use them with what they print.
///
/// The same tests are part of the test suite; here none of them is skipped.
///
/// # Errors
///
/// Those of the test run; a client that cannot be had fails it.
pub fn clients(root: &Path) -> Result<(), TaskError> {
    install_clients();
    let arguments = ["test", "--package", "agentd", "--test", "it", "--"];
    let arguments = [&arguments[..], &["real_clients::", "--nocapture", "--test-threads", "1"]].concat();
    Step::cargo("clients", &arguments)
        .variable("CI", "true")
        .variable("CLIENTS_REQUIRED", "true")
        .folder(root)
        .run()
        .map(drop)
}

//! The failures of suites that others wrote.

use std::path::PathBuf;

/// A failure of a suite.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// The folder does not hold the suite.
    #[error("there is nothing to run in {}: {advice}", folder.display())]
    NoSuite {
        /// The folder.
        folder: PathBuf,
        /// The contents that the folder should have.
        advice: &'static str,
    },
    /// A script that could not be started at all.
    #[error("cannot run {script}: {why}")]
    NotRun {
        /// The name of the script.
        script: String,
        /// The cause.
        why: String,
    },
    /// A program of the user that a suite needs.
    #[error("{program} is missing: {advice}")]
    NoProgram {
        /// The program.
        program: &'static str,
        /// The way to get it.
        advice: &'static str,
    },
    /// Outcomes differ for which no reason is known.
    #[error("{count} differences without a reason")]
    Unexplained {
        /// The number of them.
        count: usize,
    },
}

//! Why a task did not succeed.

use std::io;
use std::path::PathBuf;

/// Why a task did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// A program ended with a failure.
    #[error("{step} failed")]
    StepFailed {
        /// What the program was for.
        step: String,
    },
    /// A program could not be started.
    #[error("cannot start {program}")]
    NotStarted {
        /// The program.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// A file or folder could not be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A text that should be JSON is not.
    #[error("cannot read {what} as JSON")]
    NotJson {
        /// The file, or what gave the text.
        what: String,
        /// Why.
        source: serde_json::Error,
    },
    /// A text that should be TOML of a certain form is not.
    #[error("cannot read {file}: {why}")]
    NotToml {
        /// The file.
        file: String,
        /// Why, in the words of the reader.
        why: String,
    },
    /// Dependencies break rules of `deny.toml`.
    #[error("{findings} dependencies break the rules of deny.toml")]
    DependenciesRefused {
        /// How many findings there are.
        findings: usize,
    },
    /// A vector file has no list of cases.
    #[error("{file} has no list of cases")]
    NoCases {
        /// The file.
        file: String,
    },
    /// There is no vector file in the folder.
    #[error("there is no vector file in {}", folder.display())]
    NoVectors {
        /// The folder.
        folder: PathBuf,
    },
    /// Some conformance cases failed.
    #[error("{failed} conformance cases failed")]
    CasesFailed {
        /// How many.
        failed: usize,
    },
    /// A process that a conformance case kills was not killed.
    #[error("the process that was to be killed ended by itself: {why}")]
    NotKilled {
        /// How it ended.
        why: String,
    },
    /// Some rules of the repository are broken.
    #[error("{findings} rules are broken")]
    Untidy {
        /// How many findings there are.
        findings: usize,
    },
    /// Some snapshots belong to no test.
    #[error("no test uses {}", files.join(", "))]
    OrphanSnapshots {
        /// The snapshots, relative to the root.
        files: Vec<String>,
    },
    /// Programs that the test suite uses are missing and cannot be installed.
    #[error("missing: {}; run `cargo xtask setup`, which installs them", programs.join(", "))]
    ProgramsMissing {
        /// The programs.
        programs: Vec<String>,
    },
}

//! The errors of tasks.

use std::io;
use std::path::PathBuf;

/// The failure of a task.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// A program ended with a failure.
    #[error("{step} failed")]
    StepFailed {
        /// The purpose of the program.
        step: String,
    },
    /// A program could not be started.
    #[error("cannot start {program}")]
    NotStarted {
        /// The program.
        program: String,
        /// The cause.
        source: io::Error,
    },
    /// A file or folder could not be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file or folder could not be written.
    #[error("cannot write {}", path.display())]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Edit replay could not run, or its goal was not met.
    #[error(transparent)]
    Replay(#[from] crate::ReplayError),
    /// A suite that others wrote could not run, or shows something without a known reason.
    #[error(transparent)]
    Suite(#[from] crate::SuiteError),
    /// A text that should be JSON is not.
    #[error("cannot read {what} as JSON")]
    NotJson {
        /// The file, or the source of the text.
        what: String,
        /// The cause.
        source: serde_json::Error,
    },
    /// A text that should be TOML of a certain form is not.
    #[error("cannot read {file}: {why}")]
    NotToml {
        /// The file.
        file: String,
        /// The cause, in the words of the parser.
        why: String,
    },
    /// Packages of crates lack something, or have too much.
    #[error("{findings} faults in the packages")]
    BadPackages {
        /// The number of them.
        findings: usize,
    },
    /// Links of the book lead nowhere.
    #[error("{links} links of the book lead nowhere")]
    BrokenLinks {
        /// The number of them.
        links: usize,
    },
    /// Dependencies break rules of `deny.toml`.
    #[error("{findings} dependencies break the rules of deny.toml")]
    DependenciesRefused {
        /// The number of findings.
        findings: usize,
    },
    /// An option that the chosen benchmarks would ignore.
    #[error("--{option} cannot be obeyed here: {why}")]
    OptionRefused {
        /// Its long name.
        option: &'static str,
        /// The cause.
        why: &'static str,
    },
    /// There is no benchmark to run.
    #[error("no benchmark is run by `cargo xtask bench {words}`")]
    NothingMeasured {
        /// The words that chose the benchmarks.
        words: String,
    },
    /// Fuzz targets found inputs that break a promise.
    #[error("these fuzz targets found something: {targets}")]
    FuzzFound {
        /// Their names.
        targets: String,
    },
    /// There is no fuzz target of this name.
    #[error("there is no fuzz target '{name}', but these: {targets}")]
    NoTarget {
        /// The name.
        name: String,
        /// The names that there are.
        targets: String,
    },
    /// A vector file has no list of cases.
    #[error("{file} has no list of cases")]
    NoCases {
        /// The file.
        file: String,
    },
    /// The folder has no vector file.
    #[error("there is no vector file in {}", folder.display())]
    NoVectors {
        /// The folder.
        folder: PathBuf,
    },
    /// Some conformance cases failed.
    #[error("{failed} conformance cases failed")]
    CasesFailed {
        /// The number of them.
        failed: usize,
    },
    /// A process that a conformance case kills was not killed.
    #[error("the process that was to be killed ended by itself: {why}")]
    NotKilled {
        /// Its exit status.
        why: String,
    },
    /// A program that answers requests gave no answer.
    #[error("no answer from {program}: {why}")]
    NoAnswer {
        /// The program.
        program: String,
        /// The cause.
        why: String,
    },
    /// Everyday workflows do not run confined as their data says, or not at all where all have to.
    #[error("{red} workflows failed, {not_run} could not run here")]
    WorkflowsFailed {
        /// The number of workflows with another result than expected.
        red: usize,
        /// The number of workflows whose programs are missing.
        not_run: usize,
    },
    /// No group of workflows has the name.
    #[error("no group of workflows is named {name}: there are {}", names.join(", "))]
    NoWorkflowGroup {
        /// The name.
        name: String,
        /// The names of all groups.
        names: Vec<String>,
    },
    /// The mutants of this crate are not tried.
    #[error("the mutants of '{name}' are not tried, but those of {crates}")]
    NoSubject {
        /// The name.
        name: String,
        /// The crates whose mutants are tried.
        crates: String,
    },
    /// Mutants survive without a reason, or a reason has no survivor.
    #[error("{faults} mutants are not as fixtures/mutants.toml says")]
    MutantsSurvive {
        /// The number of them.
        faults: usize,
    },
    /// The tools that read coverage are missing, or do not fit the compiler.
    #[error("no llvm-profdata and llvm-cov of version {version}; run `cargo xtask setup coverage`")]
    NoCoverageTools {
        /// The version of LLVM that the compiler has.
        version: String,
    },
    /// Some of several soaks failed.
    #[error("these soaks failed: {soaks}")]
    SoaksFailed {
        /// Their names.
        soaks: String,
    },
    /// Some of several suites failed.
    #[error("these suites failed: {suites}")]
    SuitesFailed {
        /// Their names.
        suites: String,
    },
    /// A soak whose tests were not found.
    #[error("{soak} has run no test: the name of its test has changed")]
    NothingTested {
        /// Its name.
        soak: String,
    },
    /// Some rules of the repository are broken.
    #[error("{findings} rules are broken")]
    Untidy {
        /// The number of findings.
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

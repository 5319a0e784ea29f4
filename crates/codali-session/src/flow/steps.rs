//! The steps of a flow on disk: each answer is a file that is synced before it takes effect.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use rel_path::RelPath;
use sandbox_fs::{Expected, FileKind, FileMode, FileRoot, FsError, FsPolicy, NewNames, RootError, RootRules};

use super::FlowSettings;

/// The largest step that is read. A reply is bounded by its agent, a response by its budget.
const LIMIT_BYTES: u64 = 64 << 20;

/// The kind of the last step of a flow that passed.
pub(super) const DONE: &str = "done";

/// The name of the settings.
const SETTINGS: &str = "settings.json";

/// The steps of one flow, in order. `0003-architect.txt` is the third.
#[derive(Debug)]
pub struct StepFolder {
    root: FileRoot,
    /// The names of the present steps, by number.
    names: BTreeMap<u32, String>,
    next: u32,
}

/// Steps that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// The folder cannot be opened.
    #[error("the folder of the flow cannot be used: {0}")]
    Folder(#[source] RootError),
    /// A file cannot be read or written.
    #[error("the steps of the flow cannot be kept: {0}")]
    File(#[source] FsError),
    /// The files belong to another flow, or to one with other settings.
    #[error("step {number} of the flow is {present}, and {expected} is expected")]
    Other {
        /// The number of the step.
        number: u32,
        /// The present kind.
        present: String,
        /// The expected kind.
        expected: String,
    },
    /// The file with the settings of the flow cannot be read.
    #[error("the settings of the flow are damaged")]
    DamagedSettings,
    /// The content of a step does not match its kind.
    #[error("step {number} of the flow is damaged")]
    Damaged {
        /// The number of the step.
        number: u32,
    },
}

impl StepFolder {
    /// Opens the steps of a flow in a folder, which is created if it is missing. Its parent must exist.
    ///
    /// # Errors
    ///
    /// [`StepError::Folder`], also if the folder is a symbolic link, and [`StepError::File`].
    pub fn open(path: &Path) -> Result<StepFolder, StepError> {
        let failed = |error: io::Error| StepError::Folder(RootError::Io(error));
        match std::fs::create_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
            _ => {}
        }
        // Through a link, replies would be read from a folder that its author chose.
        if std::fs::symlink_metadata(path).map_err(failed)?.file_type().is_symlink() {
            return Err(StepError::Folder(RootError::NotAFolder));
        }
        let policy = FsPolicy::private().with_new_names(NewNames::Any);
        let root = FileRoot::open(path, &RootRules::none(), policy).map_err(StepError::Folder)?;
        let mut names = BTreeMap::new();
        for entry in root.list(&RelPath::root()).map_err(StepError::File)? {
            let name = entry.path.to_string();
            if entry.kind == FileKind::File
                && let Some(number) = name.split('-').next().and_then(|number| number.parse().ok())
            {
                names.insert(number, name);
            }
        }
        Ok(StepFolder { root, names, next: 1 })
    }

    /// Returns the number of present steps.
    #[must_use]
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Returns true if the last step is the end of a flow that passed.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.names.iter().next_back().is_some_and(|(number, name)| *name == file_name(*number, DONE))
    }

    /// Removes the staged files of a killed process. Only the process that runs the flow may call it.
    pub(super) fn sweep(&self) {
        // The next start tries again to remove the rest.
        let _ = self.root.sweep_leftovers(&RelPath::root(), |_| true);
    }

    /// Writes the settings of a flow next to its steps.
    pub(super) fn write_settings(&self, settings: &FlowSettings) -> Result<(), StepError> {
        let text = serde_json::to_vec_pretty(settings).expect("settings have string keys");
        self.write(SETTINGS, &text)
    }

    /// Reads the settings of a flow; `None` if it has none, because it was killed before its first step.
    pub(super) fn read_settings(&self) -> Result<Option<FlowSettings>, StepError> {
        match self.read(SETTINGS) {
            Ok(bytes) => match serde_json::from_slice(&bytes) {
                Ok(settings) => Ok(Some(settings)),
                Err(_) => Err(StepError::DamagedSettings),
            },
            Err(StepError::File(FsError::NotFound { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, StepError> {
        let path = RelPath::parse(name).map_err(|error| StepError::File(error.into()))?;
        self.root.open_file(&path).and_then(|file| file.read_to_end(LIMIT_BYTES)).map_err(StepError::File)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), StepError> {
        let path = RelPath::parse(name).map_err(|error| StepError::File(error.into()))?;
        // Replies and responses quote source code: only the user may read them.
        let staged = self.root.stage(&path, bytes, FileMode::Exact(0o600)).map_err(StepError::File)?;
        staged.publish_synced(Expected::Absent).map(drop).map_err(StepError::File)
    }

    /// Returns the next step if it is recorded, and advances past it.
    ///
    /// # Errors
    ///
    /// [`StepError::Other`] if it is of another kind, [`StepError::Damaged`] if it is not text, [`StepError::File`].
    pub(super) fn recorded(&mut self, kind: &str) -> Result<Option<String>, StepError> {
        let Some(present) = self.names.get(&self.next) else { return Ok(None) };
        let number = self.next;
        if *present != file_name(number, kind) {
            let (present, expected) = (present.clone(), file_name(number, kind));
            return Err(StepError::Other { number, present, expected });
        }
        let text = String::from_utf8(self.read(present)?);
        self.next += 1;
        text.map(Some).map_err(|_| StepError::Damaged { number })
    }

    /// Records the answer of the next step. When this returns, it is on disk.
    ///
    /// # Errors
    ///
    /// [`StepError::File`].
    pub(super) fn record(&mut self, kind: &str, text: &str) -> Result<(), StepError> {
        let name = file_name(self.next, kind);
        self.write(&name, text.as_bytes())?;
        self.names.insert(self.next, name);
        self.next += 1;
        Ok(())
    }

    /// Returns the number of the step that was last read or recorded.
    pub(super) fn last(&self) -> u32 {
        self.next - 1
    }
}

fn file_name(number: u32, kind: &str) -> String {
    format!("{number:04}-{kind}.txt")
}

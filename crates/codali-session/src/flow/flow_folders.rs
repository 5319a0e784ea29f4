//! The flows of a state folder: `codali/ID/` holds the settings and steps of one flow.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use sandbox_fs::RootError;

use super::{FlowSettings, StepError, StepFolder};

/// The folder within the state folder.
const FOLDER: &str = "codali";

/// The flows of a state folder.
#[derive(Debug)]
pub struct FlowFolders {
    folder: PathBuf,
}

impl FlowFolders {
    /// Returns the folder with the flows of a state folder.
    #[must_use]
    pub fn path(base: &Path) -> PathBuf {
        base.join(FOLDER)
    }

    /// Opens the flows of a state folder, which must exist.
    ///
    /// # Errors
    ///
    /// [`StepError::Folder`], also if the folder of flows is a symbolic link.
    pub fn open(base: &Path) -> Result<FlowFolders, StepError> {
        let folder = FlowFolders::path(base);
        let failed = |error: io::Error| StepError::Folder(RootError::Io(error));
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
            _ => {}
        }
        if fs::symlink_metadata(&folder).map_err(failed)?.file_type().is_symlink() {
            return Err(StepError::Folder(RootError::NotAFolder));
        }
        Ok(FlowFolders { folder })
    }

    /// Begins a flow under the id of its session.
    ///
    /// # Errors
    ///
    /// Those of [`StepFolder::open`], and [`StepError::File`].
    pub fn begin(&self, id: &str, settings: &FlowSettings) -> Result<StepFolder, StepError> {
        let steps = StepFolder::open(&self.folder.join(id))?;
        steps.write_settings(settings)?;
        Ok(steps)
    }

    /// Opens a flow with its settings; `None` if there is none with this id.
    ///
    /// # Errors
    ///
    /// Those of [`StepFolder::open`], [`StepError::File`], and [`StepError::DamagedSettings`].
    pub fn resume(&self, id: &str) -> Result<Option<(FlowSettings, StepFolder)>, StepError> {
        if !self.folder.join(id).is_dir() {
            return Ok(None);
        }
        let steps = StepFolder::open(&self.folder.join(id))?;
        Ok(steps.read_settings()?.map(|settings| (settings, steps)))
    }

    /// Returns the id of the incomplete flow that changed last; `None` if there is none. A folder without settings belongs to a
    /// flow whose process was killed before the flow began, and does not count.
    #[must_use]
    pub fn newest_unfinished(&self) -> Option<String> {
        let entries = fs::read_dir(&self.folder).ok()?.flatten();
        let flows = entries.filter_map(|entry| {
            let changed = entry.metadata().ok().filter(fs::Metadata::is_dir)?.modified().ok()?;
            let id = entry.file_name().into_string().ok()?;
            let steps = StepFolder::open(&entry.path()).ok()?;
            // Damaged settings belong to a flow that had begun: resuming it reports them.
            let has_begun = !matches!(steps.read_settings(), Ok(None));
            (has_begun && !steps.is_complete()).then_some((changed, id))
        });
        flows.max_by_key(|(changed, _): &(SystemTime, String)| *changed).map(|(_, id)| id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> FlowSettings {
        FlowSettings {
            task: "a task".to_owned(),
            context_tokens: 100_000,
            allowed: Vec::new(),
            read_only: Vec::new(),
            test: None,
            has_librarian: false,
            has_critic: false,
        }
    }

    #[test]
    fn a_flow_that_was_killed_before_it_began_is_not_resumed() {
        let base = tempfile::tempdir().unwrap();
        let flows = FlowFolders::open(base.path()).unwrap();
        assert_eq!(flows.newest_unfinished(), None);
        flows.begin("first", &settings()).unwrap();
        fs::create_dir(FlowFolders::path(base.path()).join("killed")).unwrap();
        assert_eq!(flows.newest_unfinished().as_deref(), Some("first"));
        assert!(flows.resume("killed").unwrap().is_none());
    }
}

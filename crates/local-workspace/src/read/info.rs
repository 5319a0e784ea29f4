//! `getWorkspaceInfo`.

use wap_core::{DEFAULT_EXCLUSIONS, WapError, WorkspaceInfo};

use crate::engine::LocalWorkspace;

impl LocalWorkspace {
    pub(crate) fn info(&self) -> Result<WorkspaceInfo, WapError> {
        self.root.check_alive().map_err(|error| crate::errors::fs_error(&error, ""))?;
        let root = self.root.path().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(WorkspaceInfo {
            root,
            default_exclusions: DEFAULT_EXCLUSIONS.map(str::to_owned).to_vec(),
            limits: self.config.limits,
            sandbox: self.sandbox_line().unwrap_or_else(|error| error.to_string()),
            warnings: Vec::new(),
        })
    }
}

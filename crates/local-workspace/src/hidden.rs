//! The state folder, which no tool reads, writes or lists.

use rel_path::{ProtectedNames, RelPath};
use wap_core::{Reason, WapError};

use crate::name_probe::surely_lacks;

/// Which paths do not exist for any tool.
#[derive(Debug)]
pub(crate) struct Hidden {
    names: ProtectedNames,
    state_folder: Option<RelPath>,
}

impl Hidden {
    /// Hides everything called `.agentd`, and the state folder if it lies beneath the root under another name.
    pub(crate) fn new(state_folder: Option<RelPath>) -> Hidden {
        Hidden { names: ProtectedNames::new([".agentd"]), state_folder }
    }

    /// Tells whether a canonical path is hidden.
    pub(crate) fn hides(&self, path: &RelPath) -> bool {
        let beneath = |folder: &RelPath| {
            path.as_bytes()
                .strip_prefix(folder.as_bytes())
                .is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
        };
        let is_named = || !surely_lacks(path.as_bytes(), b"agentd") && self.names.protects(path);
        is_named() || self.state_folder.as_ref().is_some_and(beneath)
    }

    /// Refuses a hidden path.
    pub(crate) fn check(&self, path: &RelPath) -> Result<(), WapError> {
        if self.hides(path) {
            let text = format!("'{path}' belongs to agentd itself and is closed to all tools");
            return Err(WapError::new(Reason::Protected, text));
        }
        Ok(())
    }
}

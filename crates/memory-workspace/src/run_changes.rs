//! The files that the newest run changed.

use std::collections::HashMap;

use wap_core::{ConversationId, FileChanged, FileVersion, Origin, RunKey};

/// The changes of the newest run, by which its later edits recognise lines that the run itself added.
#[derive(Debug, Default)]
pub(crate) struct RunChanges {
    run: Option<(ConversationId, RunKey)>,
    /// By path, the versions before the first and after the last of the run's uninterrupted changes.
    versions: HashMap<String, (FileVersion, FileVersion)>,
}

impl RunChanges {
    /// Begins a call and forgets the changes of another run.
    pub(crate) fn enter(&mut self, origin: &Origin) {
        let is_same = |(conversation, run): &(ConversationId, RunKey)| {
            (conversation, run) == (&origin.conversation, &origin.run)
        };
        if !self.run.as_ref().is_some_and(is_same) {
            *self = RunChanges {
                run: Some((origin.conversation.clone(), origin.run.clone())),
                versions: HashMap::new(),
            };
        }
    }

    /// Returns the version of a file before the run, if the run's changes alone led from it to the present one.
    pub(crate) fn version_before(&self, path: &str, present: &FileVersion) -> Option<FileVersion> {
        self.versions.get(path).filter(|(_, after)| after == present).map(|(before, _)| before.clone())
    }

    /// Records a change of the run.
    pub(crate) fn record(&mut self, changed: &FileChanged) {
        let FileChanged::Modified(modified) = changed else { return };
        let (Some(previous), Some(version)) = (&modified.previous_version, &modified.version) else { return };
        let before = self.version_before(&modified.path, previous).unwrap_or_else(|| previous.clone());
        self.versions.insert(modified.path.clone(), (before, version.clone()));
    }
}

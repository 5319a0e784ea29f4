//! The history of a server's workspace, for tools that undo and list changes.

use std::sync::Arc;

use wap_core::{Call, Reason, WapError};
use wap_mcp::{LogPage, WorkspaceHistory};
use workspace_host::{
    LogPart, SecretRules, SharedWorkspace, UndoRequest, WorkspacePaths, log_page, undo_text,
};

/// The journal of the workspace that a server serves.
pub struct ServedHistory {
    workspace: Arc<SharedWorkspace>,
    paths: WorkspacePaths,
    may_undo: bool,
    rules: SecretRules,
}

impl ServedHistory {
    /// Serves the journal of a workspace, without the secrets that `rules` recognise.
    ///
    /// `may_undo` is false if every change waits for a review, which an undo would circumvent.
    #[must_use]
    pub fn new(
        workspace: Arc<SharedWorkspace>,
        paths: WorkspacePaths,
        rules: SecretRules,
        may_undo: bool,
    ) -> ServedHistory {
        ServedHistory { workspace, paths, may_undo, rules }
    }
}

impl WorkspaceHistory for ServedHistory {
    fn undo(
        &self,
        call: &Call<'_>,
        change: Option<u64>,
        characters: usize,
    ) -> Result<Result<String, String>, WapError> {
        if !self.may_undo {
            let text = "every change of this workspace waits for the user's review: ask the user to undo";
            return Err(WapError::new(Reason::ReadOnly, text));
        }
        let request = UndoRequest { change, ..UndoRequest::default() };
        let mut answer = self.workspace.undo_for_client(&request, call)?;
        if let Err(refusal) = &mut answer {
            for obstacle in &mut refusal.obstacles {
                // The user's own later work on such a file would be quoted.
                if self.rules.leaves_out(&obstacle.path) {
                    let text = "its content is left out, since it usually holds credentials\n";
                    obstacle.diff = text.to_owned();
                    obstacle.visible_diff = Some(text.to_owned());
                }
            }
        }
        Ok(undo_text(answer, characters, &self.rules))
    }

    fn log(&self, page: &LogPage) -> Result<String, WapError> {
        let LogPage { limit, before, skip, characters } = *page;
        let part = LogPart { limit, before, skip, characters };
        log_page(&self.paths, &part, &self.rules).map_err(|failure| self.workspace.unavailable(&failure))
    }
}

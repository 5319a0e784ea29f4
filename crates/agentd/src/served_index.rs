//! The code index of a server: opened by the first call that uses it, and kept up to date from then on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use file_index::ChangeFeed;
use wap_core::{CodeIndex, Reason, WapError};
use wap_mcp::{CodeIndexSource, ExtraTool};

use crate::cli::Common;
use crate::code_index_access::{self, AskedIndex};
use crate::views::console::Console;
use workspace_host::SharedWorkspace;
use workspace_host::WorkspacePaths;

/// The code index of the workspace that a server serves.
pub(crate) struct ServedIndex {
    common: Common,
    places: WorkspacePaths,
    console: Console,
    workspace: Arc<SharedWorkspace>,
    /// True if clients have tools that use the index.
    is_offered: bool,
    opened: Mutex<Option<Arc<AskedIndex>>>,
}

impl ServedIndex {
    pub(crate) fn new(
        common: &Common,
        places: &WorkspacePaths,
        console: Console,
        workspace: &Arc<SharedWorkspace>,
        tools: &[ExtraTool],
    ) -> ServedIndex {
        ServedIndex {
            common: common.clone(),
            places: places.clone(),
            console,
            workspace: Arc::clone(workspace),
            is_offered: tools.iter().any(|tool| tool.asks_the_code_index()),
            opened: Mutex::new(None),
        }
    }

    /// Opens the index now if clients can use it, or if the workspace has one: an index that was built is meant to be
    /// current.
    pub(crate) fn begin(&self) {
        if (self.is_offered || code_index_access::is_kept(&self.places)) && self.opened().is_err() {
            self.console.detail("the code index is not kept up to date");
        }
    }

    /// Closes the index. The workspace, whose feed of changes it follows, is closed after it.
    pub(crate) fn end(&self) {
        drop(self.lock().take());
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<AskedIndex>>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn opened(&self) -> Result<Arc<AskedIndex>, WapError> {
        let mut opened = self.lock();
        if let Some(index) = &*opened {
            return Ok(Arc::clone(index));
        }
        let open = code_index_access::open(&self.common, &self.places, self.console).map_err(|failure| {
            self.console.notice(&format!("agentd: {}", failure.message));
            WapError::new(Reason::ReadError, "the code index cannot be opened")
        })?;
        let feed = Arc::clone(&self.workspace) as Arc<dyn ChangeFeed>;
        let index = Arc::new(AskedIndex::kept_up(open, Some(feed)));
        *opened = Some(Arc::clone(&index));
        Ok(index)
    }
}

impl CodeIndexSource for ServedIndex {
    fn index(&self) -> Result<Arc<dyn CodeIndex>, WapError> {
        Ok(self.opened()?)
    }
}

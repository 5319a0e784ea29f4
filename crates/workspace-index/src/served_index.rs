//! The code index of a server: opened by the first call that uses it, and kept up to date from then on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use file_index::ChangeFeed;
use secret_placeholders::PlaceholderIndex;
use wap_core::{CodeIndex, Reason, WapError};
use wap_mcp::CodeIndexSource;
use workspace_host::{HostOptions, SecretRules, SharedNotices, SharedWorkspace, WorkspacePaths};

use crate::{CurrentIndex, OpenIndex, is_kept};

/// The code index of the workspace that a server serves.
#[derive(Debug)]
pub struct ServedIndex {
    options: HostOptions,
    paths: WorkspacePaths,
    notices: SharedNotices,
    workspace: Arc<SharedWorkspace>,
    /// True if clients have tools that use the index.
    is_offered: bool,
    opened: Mutex<Option<Arc<CurrentIndex>>>,
    rules: Mutex<Option<SecretRules>>,
}

impl ServedIndex {
    /// Returns the index of `workspace`, which is not opened yet. `is_offered` is true if clients have tools that use it.
    #[must_use]
    pub fn new(
        options: &HostOptions,
        paths: &WorkspacePaths,
        notices: &SharedNotices,
        workspace: &Arc<SharedWorkspace>,
        is_offered: bool,
    ) -> ServedIndex {
        ServedIndex {
            options: options.clone(),
            paths: paths.clone(),
            notices: Arc::clone(notices),
            workspace: Arc::clone(workspace),
            is_offered,
            opened: Mutex::new(None),
            rules: Mutex::new(None),
        }
    }

    /// Opens the index now if clients can use it, or if the workspace has one: an existing index should be kept
    /// current.
    pub fn begin(&self) {
        if (self.is_offered || is_kept(&self.paths)) && self.opened().is_err() {
            self.notices.detail("the code index is not kept up to date");
        }
    }

    /// Closes the index. The workspace, whose feed of changes it follows, is closed after it.
    pub fn end(&self) {
        drop(self.lock().take());
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<CurrentIndex>>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn opened(&self) -> Result<Arc<CurrentIndex>, WapError> {
        let mut opened = self.lock();
        if let Some(index) = &*opened {
            return Ok(Arc::clone(index));
        }
        let open = OpenIndex::open(&self.options, &self.paths, &self.notices).map_err(|failure| {
            self.notices.notice(&format!("agentd: {}", failure.message));
            WapError::new(Reason::ReadError, "the code index cannot be opened")
        })?;
        let feed = Arc::clone(&self.workspace) as Arc<dyn ChangeFeed>;
        let index = Arc::new(CurrentIndex::kept_up(open, Some(feed)));
        *opened = Some(Arc::clone(&index));
        Ok(index)
    }
}

impl CodeIndexSource for ServedIndex {
    fn index(&self) -> Result<Arc<dyn CodeIndex>, WapError> {
        let index = self.opened()?;
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let rules = match &*rules {
            Some(rules) => rules.clone(),
            None => {
                let opened = SecretRules::open(&self.options, &self.paths).map_err(|failure| {
                    self.notices.notice(&format!("agentd: {}", failure.message));
                    WapError::new(Reason::ReadError, "the code index cannot be opened")
                })?;
                rules.insert(opened).clone()
            }
        };
        Ok(Arc::new(PlaceholderIndex::new(index, rules.secrets, rules.withheld)))
    }
}

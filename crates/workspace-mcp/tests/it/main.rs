//! Tests of `workspace-mcp` through its public API, over a workspace of this process.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod history;
mod questions;
mod resources;

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use test_support::Caller;
use wap_core::{Call, FileChange, Reason, Workspace, WriteFile};
use workspace_host::{
    HostOptions, NoNotices, ReviewPolicy, ReviewedWorkspace, SecretRules, SharedNotices, SharedWorkspace,
    WorkspacePaths,
};

/// A value that is recognised as a secret everywhere.
const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// A workspace in a temporary folder, open in this process.
struct Site {
    folder: TempDir,
    paths: WorkspacePaths,
    rules: SecretRules,
    workspace: Arc<SharedWorkspace>,
}

impl Site {
    fn new() -> Site {
        let folder = tempfile::tempdir().unwrap();
        let options = HostOptions::new(folder.path());
        let paths = WorkspacePaths::find(&options).unwrap();
        let rules = SecretRules::open(&options, &paths).unwrap();
        let notices: SharedNotices = Arc::new(NoNotices);
        let workspace = Arc::new(SharedWorkspace::staying(&options, &paths, &notices));
        workspace.open().unwrap();
        Site { folder, paths, rules, workspace }
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.folder.path().join(name)).ok()
    }

    /// Writes a file as a client does.
    fn write(&self, path: &str, content: &str) {
        let caller = Caller::once();
        self.workspace.change_files(&caller.call(), &[write(path, content)]).unwrap().remove(0).unwrap();
    }

    /// Proposes changes, which wait for a review of everything.
    fn propose(&self, caller: &Caller, changes: &[FileChange]) {
        let reviewed = ReviewedWorkspace::new(Arc::clone(&self.workspace), ReviewPolicy::All, "test");
        let call = Call { time_left: Some(Duration::ZERO), ..caller.call() };
        let error = reviewed.change_files(&call, changes).unwrap_err();
        assert_eq!(error.reason(), Reason::PendingReview, "{error}");
    }

    /// Checks that a text does not name the folder.
    fn is_not_named_in(&self, text: &str) {
        assert!(!text.contains(self.folder.path().to_str().unwrap()), "{text}");
    }
}

fn write(path: &str, content: &str) -> FileChange {
    FileChange::Write(WriteFile { path: path.into(), content: content.into(), ..WriteFile::default() })
}

//! What happens between reading and writing.

use adapter_search_replace::{Refusal, apply};
use wap_core::*;

use crate::cases::with_call;

/// A workspace in which the user saves a file just before the first change.
struct Saving {
    inner: MemoryWorkspace,
    text: &'static str,
}

impl Workspace for Saving {
    fn workspace_info(&self, call: &Call<'_>) -> Result<WorkspaceInfo, WapError> {
        self.inner.workspace_info(call)
    }

    fn explore_files(
        &self,
        call: &Call<'_>,
        request: &ExploreFiles,
    ) -> Result<ExploreFilesResponse, WapError> {
        self.inner.explore_files(call, request)
    }

    fn read_file(&self, call: &Call<'_>, request: &ReadFile) -> Result<ReadFileResponse, WapError> {
        self.inner.read_file(call, request)
    }

    fn search_files(&self, call: &Call<'_>, request: &SearchFiles) -> Result<SearchFilesResponse, WapError> {
        self.inner.search_files(call, request)
    }

    fn change_files(
        &self,
        call: &Call<'_>,
        changes: &[FileChange],
    ) -> Result<Vec<Result<FileChanged, WapError>>, WapError> {
        if call.origin.step == 0 {
            self.inner.set_file("b", self.text);
        }
        self.inner.change_files(call, changes)
    }

    fn execute_command(
        &self,
        call: &Call<'_>,
        request: &ExecuteCommand,
        observer: &mut dyn CommandObserver,
    ) -> Result<ExecuteCommandResponse, WapError> {
        self.inner.execute_command(call, request, observer)
    }
}

const REPLY: &str = "a\n<<<<<<< SEARCH\n1\n=======\nI\nI\n>>>>>>> REPLACE\n<<<<<<< SEARCH\n3\n=======\n>>>>>>> REPLACE\n\
                     b\n<<<<<<< SEARCH\n1\n=======\nI\n>>>>>>> REPLACE\n";

#[test]
fn lines_that_somebody_saves_meanwhile_are_not_overwritten_and_the_other_file_is_put_back() {
    let files = [("a", "1\n2\n3\n"), ("b", "1\n")];
    let workspace = Saving { inner: MemoryWorkspace::with_files(files), text: "the user's\n" };
    let refused = with_call(|call| apply(&workspace, call, REPLY)).unwrap_err();
    let Refusal::NotTogether(refused) = refused else { panic!("{refused}") };
    assert_eq!((refused.path.as_str(), refused.left.len()), ("b", 0));
    assert_eq!(workspace.inner.text("a").unwrap(), "1\n2\n3\n");
    assert_eq!(workspace.inner.text("b").unwrap(), "the user's\n");
}

#[test]
fn other_lines_that_somebody_saves_meanwhile_are_kept() {
    let files = [("a", "1\n2\n3\n"), ("b", "1\n")];
    let workspace = Saving { inner: MemoryWorkspace::with_files(files), text: "0\n1\n" };
    with_call(|call| apply(&workspace, call, REPLY)).unwrap();
    assert_eq!(workspace.inner.text("a").unwrap(), "I\nI\n2\n");
    assert_eq!(workspace.inner.text("b").unwrap(), "0\nI\n");
}

#[test]
fn a_reply_that_comes_twice_is_refused_the_second_time() {
    let workspace = MemoryWorkspace::with_files([("a", "1\n")]);
    let reply = "a\n<<<<<<< SEARCH\n1\n=======\n1\n1\n>>>>>>> REPLACE\n";
    with_call(|call| apply(&workspace, call, reply)).unwrap();
    let again = with_call(|call| apply(&workspace, call, reply)).unwrap_err();
    assert!(again.to_string().contains("more than once"), "{again}");
    assert_eq!(workspace.text("a").unwrap(), "1\n1\n");
}

//! Changes by another program between reading and writing.

use adapter_apply_patch::{Refusal, apply};
use memory_workspace::MemoryWorkspace;

use crate::cases::with_call;

/// Returns a workspace in which the user saves `b` just before the first change.
fn saving<const N: usize>(files: [(&str, &str); N], text: &'static str) -> MemoryWorkspace {
    let workspace = MemoryWorkspace::with_files(files);
    workspace.before_changes(move |workspace, call| {
        if call.origin.step == 0 {
            workspace.set_file("b", text);
        }
    });
    workspace
}

const PATCH: &str = "*** Begin Patch\n*** Update File: a\n@@\n-1\n+I\n+I\n 2\n-3\n*** Update File: b\n@@\n-1\n+I\n\
                     *** Add File: new\n+n\n*** Delete File: c\n*** End Patch\n";

#[test]
fn lines_that_the_user_saves_meanwhile_are_not_overwritten_and_the_other_files_are_put_back() {
    let files = [("a", "1\n2\n3\n"), ("b", "1\n"), ("c", "c\n")];
    let workspace = saving(files, "the user's\n");
    let refused = with_call(|call| apply(&workspace, call, PATCH)).unwrap_err();
    let Refusal::NotTogether(refused) = refused else { panic!("{refused}") };
    assert_eq!((refused.path.as_str(), refused.left.len()), ("b", 0));
    assert_eq!(workspace.text("a").unwrap(), "1\n2\n3\n");
    assert_eq!(workspace.text("b").unwrap(), "the user's\n");
    assert_eq!(workspace.text("c").unwrap(), "c\n");
    assert_eq!(workspace.text("new"), None);
}

#[test]
fn other_lines_that_the_user_saves_meanwhile_are_kept() {
    let files = [("a", "1\n2\n3\n"), ("b", "1\n"), ("c", "c\n")];
    let workspace = saving(files, "0\n1\n");
    with_call(|call| apply(&workspace, call, PATCH)).unwrap();
    assert_eq!(workspace.text("a").unwrap(), "I\nI\n2\n");
    assert_eq!(workspace.text("b").unwrap(), "0\nI\n");
}

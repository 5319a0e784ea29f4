//! Changes by another program between reading and writing.

use adapter_search_replace::{Refusal, apply};
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

const REPLY: &str = "a\n<<<<<<< SEARCH\n1\n=======\nI\nI\n>>>>>>> REPLACE\n<<<<<<< SEARCH\n3\n=======\n>>>>>>> REPLACE\n\
                     b\n<<<<<<< SEARCH\n1\n=======\nI\n>>>>>>> REPLACE\n";

#[test]
fn lines_that_the_user_saves_meanwhile_are_not_overwritten_and_the_other_file_is_put_back() {
    let files = [("a", "1\n2\n3\n"), ("b", "1\n")];
    let workspace = saving(files, "the user's\n");
    let refused = with_call(|call| apply(&workspace, call, REPLY)).unwrap_err();
    let Refusal::NotTogether(refused) = refused else { panic!("{refused}") };
    assert_eq!((refused.path.as_str(), refused.left.len()), ("b", 0));
    assert_eq!(workspace.text("a").unwrap(), "1\n2\n3\n");
    assert_eq!(workspace.text("b").unwrap(), "the user's\n");
}

#[test]
fn other_lines_that_the_user_saves_meanwhile_are_kept() {
    let files = [("a", "1\n2\n3\n"), ("b", "1\n")];
    let workspace = saving(files, "0\n1\n");
    with_call(|call| apply(&workspace, call, REPLY)).unwrap();
    assert_eq!(workspace.text("a").unwrap(), "I\nI\n2\n");
    assert_eq!(workspace.text("b").unwrap(), "0\nI\n");
}

#[test]
fn a_reply_that_comes_twice_is_refused_the_second_time() {
    let workspace = MemoryWorkspace::with_files([("a", "1\n")]);
    let reply = "a\n<<<<<<< SEARCH\n1\n=======\n1\n1\n>>>>>>> REPLACE\n";
    with_call(|call| apply(&workspace, call, reply)).unwrap();
    let again = with_call(|call| apply(&workspace, call, reply)).unwrap_err();
    assert!(again.to_string().contains("occurs twice"), "{again}");
    assert_eq!(workspace.text("a").unwrap(), "1\n1\n");
}

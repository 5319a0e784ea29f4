//! Nothing of an unfinished session goes, and of finished ones the oldest first.

use crate::project::Project;

fn edit(project: &Project, text: &str) {
    project.apply(&format!("[CREATE_FILE path=\"a\"]\n{text}\n[/CREATE_FILE]\n"), &[]).ok();
}

#[test]
fn what_unfinished_sessions_need_stays_and_the_rest_goes_beyond_the_budget() {
    let project = Project::new();
    project.run(&["gc"]).ok().says("nothing is kept here");
    assert!(!project.base().exists());
    project.write("a", "one\n");
    project.begin("first");
    edit(&project, "two");
    project.apply("[RUN_COMMAND]\nyes long | head -n 20000\n[/RUN_COMMAND]\n", &[]).ok();
    let kept = project.run(&["gc", "--limit", "0", "--json"]).ok().json();
    assert_eq!((&kept["changesNotUndoable"], &kept["outputsRemoved"]), (&0.into(), &0.into()), "{kept}");
    assert_eq!(project.names("output").len(), 1);
    project.apply("[DONE]\nall\n[/DONE]\n", &[]).ok();
    // As long as there is room, everything stays undoable.
    let kept = project.run(&["gc", "--json"]).ok().json();
    assert_eq!((&kept["changesNotUndoable"], &kept["outputsRemoved"]), (&0.into(), &1.into()), "{kept}");
    assert_eq!(project.names("output").len(), 0);
    let gone = project.run(&["gc", "--limit", "0"]).ok().prints("1 changes can no longer be undone");
    gone.prints("0 bytes of contents are kept");
    assert_eq!(project.read("a"), "two\n");
    project.run(&["undo"]).exits(1).says("what it held before is not kept any more");
    project.run(&["diff"]).ok().prints("is not kept any more");
    assert_eq!(project.read("a"), "two\n");
}

#[test]
fn session_goes_on_with_the_line_numbers_that_it_was_shown_after_gc() {
    let project = Project::new();
    project.write("a", "1\n2\n3\n");
    project.begin("a task");
    project.apply("[READ_FILE path=\"a\"]\n", &[]).ok();
    project.write("a", "0\n1\n2\n3\n");
    project.run(&["gc", "--limit", "0"]).ok();
    project.apply("[EDIT_FILE path=\"a\" start_line=\"2\" end_line=\"2\"]\ntwo\n[/EDIT_FILE]\n", &[]).ok();
    assert_eq!(project.read("a"), "0\n1\ntwo\n3\n");
}

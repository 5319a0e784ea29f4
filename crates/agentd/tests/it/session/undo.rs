//! Taking back what a reply has done, and looking at it.

use std::fs;

use serde_json::Value;

use crate::fixture::project::{Project, Ran};

const EDITS: &str = "[CREATE_FILE path=\"new/deep/file\"]\nx\n[/CREATE_FILE]\n\
    [EDIT_FILE path=\"a\" start_line=\"2\" end_line=\"2\"]\ntwo\n[/EDIT_FILE]\n\
    [DELETE_FILE path=\"gone\"]\n";

/// A project in which one reply has created, edited and deleted a file.
pub(crate) fn edited() -> (Project, String) {
    let project = Project::new();
    project.write("a", "1\n2\n3\n").write("gone", "g\n");
    let id = project.begin("a task");
    project.apply(EDITS, &[]).ok();
    assert_eq!(project.read("a"), "1\ntwo\n3\n");
    assert!(project.has("new/deep/file") && !project.has("gone"));
    (project, id)
}

pub(crate) fn changes(project: &Project) -> Vec<Value> {
    let runs = project.run(&["log", "--json"]).ok().json();
    let steps =
        runs.as_array().unwrap().iter().rev().flat_map(|run| run["steps"].as_array().unwrap().clone());
    steps.flat_map(|step| step["changes"].as_array().unwrap().clone()).collect()
}

#[test]
fn reply_is_undone_and_the_undo_too() {
    let (project, _) = edited();
    let before = vec![("a".to_owned(), "1\n2\n3\n".to_owned()), ("gone".to_owned(), "g\n".to_owned())];
    let after = project.tree();
    let undone = project.run(&["undo", "--reply", "--json"]).ok().json();
    assert_eq!(project.tree(), before);
    assert!(!project.has("new"), "the folders go with the file");
    let number = undone["takenBackBy"].as_u64().unwrap().to_string();
    project.run(&["undo", "--reply"]).exits(1).says("nothing to undo");
    project.run(&["undo", &number]).ok().prints("recreated     new/deep/file");
    assert_eq!(project.tree(), after);
    project.run(&["undo", &number]).exits(1).says("undone already");
}

#[test]
fn undo_goes_back_change_by_change() {
    let (project, _) = edited();
    // The folders of a new file go with it.
    for number in ["5", "4", "3"] {
        project.run(&["undo", number]).ok();
    }
    project.run(&["undo"]).exits(1).says("there is nothing to undo");
    assert_eq!(project.read("a"), "1\n2\n3\n");
    assert!(!project.has("new"));
}

#[test]
fn session_is_undone_over_all_its_replies() {
    let (project, id) = edited();
    project.apply("[EDIT_FILE path=\"a\" start_line=\"1\" end_line=\"1\"]\none\n[/EDIT_FILE]\n", &[]).ok();
    let other = project.begin("another task");
    project.apply("[CREATE_FILE path=\"others\"]\no\n[/CREATE_FILE]\n", &["--session", &other]).ok();
    project.run(&["undo", "--session", &id]).ok();
    assert_eq!(project.read("a"), "1\n2\n3\n");
    assert!(project.has("gone") && project.has("others"));
    project.run(&["undo", "--session", "00000000"]).exits(2).says("there is no session");
    project.run(&["undo", "--session", &id, "--reply"]).exits(2);
}

#[test]
fn file_that_was_saved_since_is_shown_with_its_difference_and_nothing_is_undone() {
    let (project, _) = edited();
    project.write("a", "1\ntwo\n3\nmine\n");
    let tree = project.tree();
    let refused = project.run(&["undo", "--reply"]).exits(1);
    let refused = refused.says("nothing was undone: `a` has changed since").prints("+mine");
    assert!(!refused.stderr.contains(project.folder().to_str().unwrap()), "{refused}");
    let refused = project.run(&["undo", "--reply", "--json"]).exits(1).json();
    assert_eq!(refused["obstacles"][0]["path"], "a");
    assert!(refused["obstacles"][0]["diff"].as_str().unwrap().contains("+mine"));
    let unknown = project.run(&["undo", "77", "--json"]).exits(2).json();
    assert!(unknown["error"].as_str().is_some_and(|error| !error.is_empty()), "{unknown}");
    assert_eq!(unknown["obstacles"], serde_json::json!([]));
    assert_eq!(project.tree(), tree);
}

#[test]
fn a_program_reads_json_also_where_nothing_was_ever_done() {
    let refused = Project::new().run(&["undo", "--json"]).exits(1).json();
    assert_eq!(refused, serde_json::json!({ "error": "there is nothing to undo", "obstacles": [] }));
}

#[test]
fn log_says_what_was_undone_by_what() {
    let (project, _) = edited();
    project.run(&["undo"]).ok();
    let changes = changes(&project);
    let gone: Vec<_> = changes.iter().filter(|change| change["path"] == "gone").collect();
    let [deleted, back] = &gone[..] else { panic!("{changes:?}") };
    assert_eq!((&deleted["what"], &back["what"]), (&"deleted".into(), &"created".into()));
    assert_eq!((&deleted["undoneBy"], &deleted["undoes"]), (&back["change"], &Value::Null));
    assert_eq!((&back["undoes"], &back["undoneBy"]), (&deleted["change"], &Value::Null));
    project.run(&["log"]).ok().prints(&format!("undone by {}", back["change"]));
}

#[test]
fn what_commands_did_is_listed_shown_and_undone() {
    for layer in ["on", "off"] {
        let project = Project::new();
        project.write("edited", "1\n").write("gone", "1\n");
        project.begin("a task");
        let reply = "[CREATE_FILE path=\"a\"]\nx\n[/CREATE_FILE]\n[RUN_COMMAND]\necho 2 >> edited; rm gone; mkdir d; \
                     echo > d/by-command; head -c 20000000 /dev/zero > big\n[/RUN_COMMAND]\n";
        let applied = project.apply(reply, &["--layer", layer]).ok();
        drop(applied);
        let log = project.run(&["log"]).ok();
        let log = log.prints("created  d/by-command").prints("changed  edited").prints("deleted  gone");
        log.prints("created  a");
        let diff = project.run(&["diff"]).ok();
        diff.prints("+2\n")
            .prints("--- a/gone\n+++ /dev/null\n")
            .prints("what big held was too large to be kept");
        // What the blocks of the last reply did, commands and edits, is one thing.
        let undone = project.run(&["undo"]).ok().prints("removed       a");
        let undone =
            undone.prints("restored      edited").prints("recreated     gone").prints("removed       d\n");
        undone.prints("not undone    big  (it was too large to be recorded");
        assert!(!project.has("a") && project.has("big") && !project.has("d"), "{layer}");
        assert_eq!((project.read("edited"), project.read("gone")), ("1\n".into(), "1\n".into()));
    }
}

#[test]
fn diff_shows_a_range_of_changes_from_the_journal() {
    let (project, _) = edited();
    let everything = project.run(&["diff"]).ok();
    let everything = everything.prints("-2\n+two\n").prints("--- /dev/null\n+++ b/new/deep/file\n");
    everything.prints("--- a/gone\n+++ /dev/null\n");
    let number = changes(&project).iter().find(|change| change["path"] == "a").unwrap()["change"].to_string();
    let one = project.run(&["diff", &number, "--json"]).ok().json();
    assert_eq!(one.as_array().unwrap().len(), 1);
    assert_eq!((&one[0]["path"], &one[0]["linesAdded"]), (&"a".into(), &1.into()));
    // An undone change leaves no difference.
    project.run(&["undo", "--reply"]).ok();
    project.run(&["diff"]).ok().says("no file has changed");
    let still = project.run(&["diff", &format!("{number}..{number}")]).ok();
    still.prints("+two");
    project.run(&["diff", "7..3"]).exits(2);
    project.run(&["diff", "x"]).exits(2);
}

#[test]
fn session_goes_on_after_an_undo() {
    let (project, id) = edited();
    project.run(&["undo", "--reply"]).ok();
    // The model was never shown the file, and it has changed since the last message: the line says which one is meant.
    let next = project
        .apply(
            "[EDIT_FILE path=\"a\" start_line=\"3\" end_line=\"3\" was=\"3\"]\nthree\n[/EDIT_FILE]\n",
            &["--session", &id],
        )
        .ok();
    assert_eq!(project.read("a"), "1\n2\nthree\n", "{next}");
}

#[test]
fn undo_makes_no_state_folder_and_works_beside_a_session_that_waits() {
    let project = Project::new();
    project.run(&["undo"]).exits(1).says("there is nothing to undo");
    assert!(!project.base().exists());
    project.run(&["diff"]).ok();
    assert!(!project.base().exists());
    let (project, _) = edited();
    let mut waiting = crate::fixture::daemon::Daemon::start(project.command(&["resume"]));
    waiting.wait_until_it_waits();
    project.run(&["diff"]).ok().prints("+two");
    project.run(&["undo"]).ok().prints("recreated");
    waiting.interrupt().exits(130);
    fs::remove_dir_all(project.base()).unwrap();
}

#[test]
fn demo_undoes_the_last_reply_and_the_undo() {
    let project = Project::new();
    let ran = project.run(&["demo"]).ok().prints("agentd undo --reply").prints("removed       CHANGES.md");
    let ran = ran.prints("recreated     CHANGES.md").prints("The task is done and the tests pass");
    // Before, after the second reply, and after the undo.
    assert!(ran.stdout.matches("(exit code 1)").count() >= 3, "{ran}");
    assert_eq!(project.tree(), []);
}

/// The notes of a session's pending message.
fn notes(project: &Project) -> Vec<String> {
    let outbox = project.run(&["outbox"]).ok().stdout;
    let notes = outbox.lines().filter_map(|line| line.strip_prefix("[NOTE] "));
    notes.map(str::to_owned).collect()
}

#[test]
fn the_message_after_an_undo_tells_the_model_of_it_once() {
    const ASK: &str = "[READ_FILE path=\"a\"]\n";
    let (project, id) = edited();
    let pending = project.run(&["outbox"]).ok().stdout;
    project.run(&["undo", "--reply"]).ok();
    assert_eq!(project.run(&["outbox"]).ok().stdout, pending, "it may be in a chat already");
    project.apply(ASK, &[]).ok();
    let undone = "the user has undone changes that you had made to 'a', 'gone', 'new/deep/file'; READ_FILE shows the current content";
    assert_eq!(notes(&project), [undone]);
    project.apply(&format!("{ASK}[READ_FILE path=\"gone\"]\n"), &[]).ok();
    assert!(notes(&project).is_empty());
    // A change that is undone and redone between two messages is as it was; a redo alone is reported.
    let number = changes(&project).iter().filter_map(|change| change["change"].as_u64()).max().unwrap();
    let again =
        project.run(&["undo", &number.to_string(), "--json"]).ok().json()["takenBackBy"].as_u64().unwrap();
    project.run(&["undo", &again.to_string()]).ok();
    project.apply(&format!("{ASK}[READ_FILE path=\"b\"]\n"), &[]).ok();
    assert!(notes(&project).is_empty());
    let number = changes(&project).iter().filter_map(|change| change["change"].as_u64()).max().unwrap();
    project.run(&["undo", &number.to_string()]).ok();
    // Another session gets no note: the changes were not its own.
    let other = project.begin("another task");
    project.apply("[READ_FILE path=\"c\"]\n", &["--session", &other]).ok();
    assert!(notes(&project).is_empty());
    project.apply("[READ_FILE path=\"d\"]\n", &["--session", &id]).ok();
    let back = "the user has restored changes of yours, which had been undone, to 'a', 'gone', 'new/deep/file'; READ_FILE shows the current content";
    assert_eq!(notes(&project), [back]);
}

#[test]
fn each_line_says_who_made_it() {
    let project = Project::new();
    project.write("a.txt", "one\ntwo\nthree\n");
    let id = project.begin("number them");
    project.apply("[READ_FILE path=\"a.txt\"]\n[EDIT_FILE path=\"a.txt\" start_line=\"2\" end_line=\"2\"]\n2\n[/EDIT_FILE]\n", &[]).ok();
    project.write("a.txt", &format!("{}\u{1b}[31mmine\n", project.read("a.txt")));
    let blame = project.run(&["blame", "a.txt"]).ok().stdout;
    let lines: Vec<&str> = blame.lines().collect();
    assert!(lines[0].contains("there before") && lines[0].ends_with(" 1 one"), "{blame}");
    assert!(lines[1].contains(&format!("{id} message 1")) && lines[1].ends_with(" 2 2"), "{blame}");
    assert!(lines[3].contains("another program") && !lines[3].contains('\u{1b}'), "{blame}");
    let two = project.run(&["blame", "a.txt", "--lines", "2-3", "--json"]).ok();
    let two: serde_json::Value = serde_json::from_str(&two.stdout).unwrap();
    assert_eq!((&two["total"], two["lines"].as_array().unwrap().len()), (&4.into(), 2), "{two}");
    assert_eq!(
        (&two["lines"][0]["conversation"], &two["lines"][0]["text"]),
        (&id.into(), &"2".into()),
        "{two}"
    );
    project.run(&["blame", "missing.txt"]).exits(2).says("agentd: `missing.txt` does not exist");
    // A name is looked up from the current folder, and then from the workspace.
    project.write("inner/b.txt", "b\n");
    let from_inner = |file: &str| {
        let mut command = project.command(&["blame", file]);
        Ran::of(command.current_dir(project.workspace().join("inner")).output().unwrap()).ok().stdout
    };
    assert!(from_inner("b.txt").ends_with(" 1 b\n"));
    assert_eq!((from_inner("../a.txt"), from_inner("a.txt")), (blame.clone(), blame));
    project.run(&["blame", "../a.txt"]).exits(2);
    project.run(&["blame", "a.txt", "--lines", "3-2"]).exits(2).says("the range is empty");
}

#[test]
fn a_difference_of_changes_that_are_not_there_is_refused() {
    let (project, _) = edited();
    for (range, message) in
        [("77", "no change 77"), ("77..99", "no change from 77 to 99"), ("77..", "no change from 77 on")]
    {
        project.run(&["diff", range]).exits(2).says(message);
        project.run(&["diff", range, "--json"]).exits(2).says(message);
    }
    project.run(&["diff", "1..99"]).ok().prints("+");
    Project::new().run(&["diff"]).ok();
    // A new folder is a change without a difference.
    project.apply("[RUN_COMMAND]\nmkdir fresh\n[/RUN_COMMAND]\n", &[]).ok();
    assert!(project.workspace().join("fresh").is_dir());
    let made =
        changes(&project).iter().filter_map(|change| change["change"].as_u64()).max().unwrap().to_string();
    project.run(&["diff", &made]).ok().says("no file has changed");
}

#[test]
fn the_changes_of_a_client_are_undone_by_its_name() {
    let (project, id) = edited();
    for path in ["one", "two"] {
        let arguments = format!("{{\"path\":\"{path}\",\"content\":\"x\\n\"}}");
        project.run(&["call", "writeFile", &arguments]).ok();
    }
    project.run(&["log"]).ok().prints("call");
    project.run(&["undo", "--session", "mcp-none"]).exits(2).says("no client of this name");
    project.run(&["undo", "--session", "call"]).ok();
    assert!(!project.has("one") && !project.has("two"));
    assert_eq!(project.read("a"), "1\ntwo\n3\n", "the session {id} keeps its changes");
}

#[test]
fn nothing_older_is_undone_in_place_of_a_command_of_which_nothing_is_recorded() {
    let project = Project::new();
    project.write("a", "1\n");
    let write = |content: &str| {
        let arguments = serde_json::json!({ "path": "a", "content": content });
        project.run(&["call", "writeFile", &arguments.to_string()]).ok();
    };
    let execute = |command: &str| {
        let arguments = serde_json::json!({ "command": command });
        project.run(&["call", "executeCommand", &arguments.to_string()]).ok();
    };
    write("2\n");
    execute("head -c 20000000 /dev/zero > big");
    let refused = project.run(&["undo"]).exits(1).says("the newest change is number 2, of `big`");
    refused.says("`agentd undo 1 --whole` undoes what was done before");
    assert_eq!(project.read("a"), "2\n", "the older change stays");
    project.run(&["undo", "1", "--whole"]).ok().prints("restored      a");
    assert_eq!(project.read("a"), "1\n");
    project.run(&["undo", "1", "--whole"]).exits(1).says("undone already");
    project.run(&["undo", "--whole"]).exits(2);
    // What can be undone in part is, and the rest is named once and not in the way of older changes after that.
    write("3\n");
    execute("head -c 20000000 /dev/zero > bigger; echo x > small");
    project.run(&["undo"]).ok().prints("removed       small").prints("not undone    bigger");
    project.run(&["undo"]).ok().prints("restored      a");
    // A command that has only made folders is undone like any other.
    execute("mkdir -p only/folders");
    project.run(&["undo"]).ok().prints("removed       only");
    assert!(!project.has("only") && project.has("big"));
    execute("mkdir only");
    project.write("only/mine", "x");
    project.run(&["undo"]).exits(1).says("because something else is in it").says("empty those folders first");
}

#[test]
fn all_of_an_older_reply_is_undone_by_one_of_its_changes() {
    let (project, _) = edited();
    project.apply("[CREATE_FILE path=\"later\"]\nx\n[/CREATE_FILE]\n", &[]).ok();
    let number = changes(&project).iter().find(|change| change["path"] == "a").unwrap()["change"].to_string();
    project.run(&["undo", &number, "--whole"]).ok().prints("restored      a").prints("recreated     gone");
    assert!(!project.has("new") && project.has("later"));
}

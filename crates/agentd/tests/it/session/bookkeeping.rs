//! Changes of commands to files that git ignores, or that git keeps for itself.

use std::process::Command;

use crate::fixture::project::Project;

/// A project in which a reply edits a file and runs what leaves a cache.
fn edited_and_tested() -> (Project, String) {
    let project = Project::new();
    project.write("a", "1\n").write(".gitignore", "*.log\n");
    let id = project.begin("a task");
    project.apply(
        "[EDIT_FILE path=\"a\" start_line=\"1\" end_line=\"1\"]\none\n[/EDIT_FILE]\n\
         [RUN_COMMAND]\nmkdir .cache && echo '*' > .cache/.gitignore && echo x > .cache/x && echo y > run.log && echo b > b\n[/RUN_COMMAND]\n",
        &[],
    ).ok();
    assert!(project.has(".cache/x") && project.has("run.log") && project.has("b"));
    (project, id)
}

const FOLDED: &str = "and 3 files that git ignores or that git keeps for itself";

#[test]
fn views_fold_it_into_one_line_and_all_shows_it() {
    let (project, _) = edited_and_tested();
    let log = project.run(&["log"]).ok().prints(FOLDED);
    assert!(!log.stdout.contains("created  run.log") && !log.stdout.contains("created  .cache"), "{log}");
    assert!(log.stdout.contains("changed  a ") && log.stdout.contains("created  b "), "{log}");
    let all = project.run(&["log", "--all"]).ok().prints(".cache/x").prints("run.log");
    assert!(!all.stdout.contains("that git ignores"), "{all}");
    let diff = project.run(&["diff"]).ok().prints("+one").prints("+b").says(FOLDED);
    assert!(!diff.stdout.contains("run.log") && !diff.stdout.contains(".cache"), "{diff}");
    project.run(&["diff", "--all"]).ok().prints("run.log").prints(".cache/x");
    let json = project.run(&["diff", "--json"]).ok().json();
    assert_eq!(json.as_array().unwrap().len(), 5);
}

#[test]
fn it_rides_with_the_undo_of_its_reply() {
    let (project, _) = edited_and_tested();
    let undone =
        project.run(&["undo"]).ok().prints("restored      a").prints("removed       b").prints(FOLDED);
    assert!(!undone.stdout.contains("run.log"), "{undone}");
    assert!(!project.has(".cache") && !project.has("run.log") && !project.has("b"));
    assert_eq!(project.read("a"), "1\n");
    // The rule that ignores the cache is gone with it; the record knows it all the same.
    let log = project.run(&["log"]).ok();
    assert!(!log.stdout.contains("created  .cache") && !log.stdout.contains("deleted  .cache"), "{log}");
    let (project, _) = edited_and_tested();
    project.run(&["undo", "--all"]).ok().prints("removed       run.log");
}

#[test]
fn an_undo_is_never_about_bookkeeping_alone() {
    let (project, _) = edited_and_tested();
    project.apply("[RUN_COMMAND]\necho more >> run.log\n[/RUN_COMMAND]\n", &[]).ok();
    // The later reply has only written what is ignored, and to a file of the earlier one.
    project.run(&["undo"]).ok().prints("restored      a");
    assert_eq!(project.read("a"), "1\n");
    assert!(!project.has("run.log"), "it went with the reply that had made it");
    project.run(&["undo"]).exits(1).says("there is nothing to undo");
}

#[test]
fn a_block_that_changes_an_ignored_file_is_meant() {
    let project = Project::new();
    project.write(".gitignore", "*.log\n");
    project.begin("a task");
    project.apply("[CREATE_FILE path=\"own.log\"]\nx\n[/CREATE_FILE]\n", &[]).ok();
    project.run(&["log"]).ok().prints("own.log");
    project.run(&["diff"]).ok().prints("own.log");
    project.run(&["undo"]).ok().prints("removed       own.log");
}

#[test]
fn files_of_git_itself_are_bookkeeping() {
    let project = Project::new();
    let git = |arguments: &[&str]| {
        let done = Command::new("git").args(arguments).current_dir(project.workspace()).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    project.write("a", "1\n");
    project.begin("a task");
    let ran = project.apply("[RUN_COMMAND]\necho 2 > a && git add a\n[/RUN_COMMAND]\n", &[]).ok();
    let all = project.run(&["log", "--all"]).ok();
    let log = project.run(&["log"]).ok().prints("changed  a ");
    if all.stdout.contains(".git/") {
        assert!(
            !log.stdout.contains(".git/") && log.stdout.contains("that git keeps for itself"),
            "{log}\n{ran}"
        );
    }
    project.run(&["undo"]).ok().prints("restored      a");
    assert_eq!(project.read("a"), "1\n");
}

#[test]
fn it_rides_with_the_undo_of_a_call() {
    let project = Project::new();
    project.write("a", "1\n").write(".gitignore", "*.log\n");
    let execute = |command: &str| {
        let arguments = serde_json::json!({ "command": command });
        project.run(&["call", "executeCommand", &arguments.to_string()]).ok();
    };
    let write = |path: &str, content: &str| {
        let arguments = serde_json::json!({ "path": path, "content": content });
        project.run(&["call", "writeFile", &arguments.to_string()]).ok();
    };
    execute("echo 2 > a; echo first > t.log");
    execute("echo second > t.log");
    project.run(&["undo"]).ok().prints("restored      a");
    assert!(project.read("a") == "1\n" && !project.has("t.log"));
    // What a tool has written is meant, and a command has changed it since.
    write("own.log", "x\n");
    execute("echo second >> own.log");
    project.run(&["undo"]).ok().prints("removed       own.log");
    // One that was not recorded stays, and the rest is undone all the same.
    execute("echo 3 > a; echo first > t.log");
    execute("head -c 20000000 /dev/zero > t.log");
    project.run(&["undo"]).ok().prints("restored      a").prints("not undone    t.log  (it was too large");
    assert!(project.read("a") == "1\n" && project.has("t.log"));
}

#[test]
fn a_later_change_in_the_way_is_named_with_its_undo() {
    let project = Project::new();
    let write = |content: &str| {
        let arguments = serde_json::json!({ "path": "a", "content": content });
        project.run(&["call", "writeFile", &arguments.to_string()]).ok();
    };
    write("1\n");
    write("2\n");
    let refused = project.run(&["undo", "1"]).exits(1).says("`a` was changed again by change 2");
    refused.says("undo the later changes first: `agentd undo 2`; then undo again");
    project.run(&["undo", "2"]).ok();
    project.run(&["undo", "1"]).ok().prints("removed       a");
    write("1\n");
    project.write("a", "mine\n");
    project.run(&["undo"]).exits(1).says("restore those files to how the change left them, and undo again");
}

#[test]
fn a_repository_that_stays_is_named_with_what_became_of_a_commit() {
    let project = Project::new();
    let git = |arguments: &[&str]| {
        let done = Command::new("git").args(arguments).current_dir(project.workspace()).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    git(&["init", "-q"]);
    let commit = |command: &str| {
        let arguments = serde_json::json!({ "command": command });
        project.run(&["call", "executeCommand", &arguments.to_string()]).ok();
    };
    commit("echo 1 > a && git add a && git commit -q -m one");
    commit("echo 2 > a && git add a && git commit -q -m two");
    project.write("mine", "x");
    git(&["add", "mine"]);
    let undone = project
        .run(&["undo"])
        .ok()
        .prints("restored      a")
        .prints("not undone    .git  (it has changed since");
    let before = git(&["rev-parse", "HEAD~1"]);
    undone.prints(&format!("`git reset {}` takes it back", &before[..12]));
    assert!(git(&["log", "--oneline"]).contains("two"), "the commit stays");
    git(&["reset", "-q", &before[..12]]);
    assert!(!git(&["log", "--oneline"]).contains("two"));
    assert_eq!(git(&["status", "--short", "a"]), "", "and the files are those of the commit before");
}

#[test]
fn an_undo_that_another_branch_is_in_the_way_of_names_the_branch_and_older_work() {
    let project = Project::new();
    let git = |arguments: &[&str]| {
        let done = Command::new("git").args(arguments).current_dir(project.workspace()).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    let call = |tool: &str, arguments: serde_json::Value| {
        project.run(&["call", tool, &arguments.to_string()]).ok();
    };
    let execute = |command: &str| call("executeCommand", serde_json::json!({ "command": command }));
    project.write("a", "1\n");
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "a"]);
    git(&["commit", "-q", "-m", "one"]);
    call("writeFile", serde_json::json!({ "path": "old", "content": "older\n" }));
    execute("git checkout -q -b dev && echo 1 > c && git add c && git commit -q -m two");
    // The branch is the one that a command has checked out, and the one on which another has committed.
    for step in ["", "echo 2 > c && git commit -q -a -m three"] {
        if !step.is_empty() {
            execute(step);
        }
        git(&["checkout", "-q", "main"]);
        let refused =
            project.run(&["undo"]).exits(1).prints("another branch is checked out now; it was `dev`");
        let refused =
            refused.says("check out what was checked out then: `git checkout dev`; then undo again");
        refused.says("or leave that, and `agentd undo 1 --whole` undoes older work, of `old`");
        git(&["checkout", "-q", "dev"]);
    }
    project.run(&["undo"]).ok().prints("restored      c");
    assert_eq!(project.read("c"), "1\n");
    git(&["checkout", "-q", "-f", "main"]);
    project.run(&["undo", "1", "--whole"]).ok().prints("removed       old");
    // The control: a file that another program has changed comes back with no branch, and then nothing older is there.
    call("writeFile", serde_json::json!({ "path": "new", "content": "x\n" }));
    project.write("new", "mine\n");
    let refused = project.run(&["undo"]).exits(1).says("restore those files to how the change left them");
    assert!(!refused.stderr.contains("git checkout"), "{refused}");
}

//! Workspaces and state folders that cannot be used.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fixture::project::{Project, Ran, agentd};
use test_support::copy_folder;

fn run_in(workspace: &str, home: &str) -> Ran {
    let mut command = agentd();
    command.args(["new", "--no-wait", "do something", "--workspace", workspace]).env("HOME", home);
    Ran::of(command.output().unwrap())
}

#[test]
fn a_workspace_that_does_not_exist_is_named() {
    let ran = run_in("/nonexistent/project", "/nonexistent").exits(2);
    ran.says("the workspace /nonexistent/project does not exist").says("--workspace DIR");
}

#[test]
fn a_file_is_no_workspace() {
    let project = Project::new();
    project.write("file", "");
    let ran = run_in(project.workspace().join("file").to_str().unwrap(), "/nonexistent").exits(2);
    ran.says("not a folder").says("choose a folder of code with --workspace DIR");
}

#[test]
fn root_home_and_what_holds_home_are_no_workspaces() {
    let project = Project::new();
    let (folder, code) = (project.folder().to_str().unwrap(), project.workspace());
    let code = code.to_str().unwrap();
    let advice = "choose a folder of code with --workspace DIR";
    run_in("/", code).exits(2).says("the root of the file system cannot be a workspace").says(advice);
    run_in(code, code).exits(2).says("the home folder cannot be a workspace").says(advice);
    run_in(folder, code)
        .exits(2)
        .says("a folder that contains the home folder cannot be a workspace")
        .says(advice);
    assert!(!project.base().exists(), "a state folder was made");
}

#[test]
fn a_state_folder_is_no_workspace() {
    let project = Project::new();
    project.begin("make a state folder");
    run_in(project.base().to_str().unwrap(), "/nonexistent")
        .exits(2)
        .says("state folder cannot be a workspace");
}

#[test]
fn a_state_folder_that_is_a_file_or_a_link_is_refused() {
    let project = Project::new();
    project.write(".agentd", "a file");
    let ran = project.run(&["new", "--no-wait", "do it"]).exits(1);
    ran.says("cannot be used").says("choose another one with --base DIR");
    assert_eq!(project.read(".agentd"), "a file");

    let project = Project::new();
    let elsewhere = project.folder().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, project.base()).unwrap();
    project.run(&["new", "--no-wait", "do it"]).exits(1).says("it is a symlink");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

/// A project whose journal holds a change that a command made, and a copy of it as a clone of a repository would be.
fn copied_with_its_state() -> (Project, Project) {
    let (project, copied) = (Project::new(), Project::new());
    project.write("file.txt", "as it was\n");
    project.begin("make a state folder");
    project.apply("[CREATE_FILE path=\"planted.txt\"]\nplanted\n[/CREATE_FILE]\n", &[]).ok();
    copy_folder(&project.workspace(), &copied.workspace());
    fs::remove_file(copied.workspace().join("planted.txt")).unwrap();
    (project, copied)
}

#[test]
fn a_state_folder_that_came_with_the_files_is_not_believed() {
    let (project, copied) = copied_with_its_state();
    let before = fs::read(copied.base().join("journal/journal.db")).unwrap();
    for arguments in [
        &["new", "--no-wait", "do it"][..],
        &["sessions"],
        &["log"],
        &["undo"],
        &["apply", "-"],
        &["index", "status"],
        &["cocode", "status"],
        &["resume"],
    ] {
        let ran = copied.run_with_input(arguments, "a reply").exits(4);
        ran.says("was not created here").says("--trust-state");
    }
    // What `call` cannot do is always a matter of its usage.
    copied.run(&["call", "getWorkspaceInfo", "{}"]).exits(2).says("was not created here");
    assert!(!copied.has("planted.txt"), "its journal was carried out");
    assert_eq!(fs::read(copied.base().join("journal/journal.db")).unwrap(), before);
    project.run(&["sessions"]).ok().prints("make a state folder");
}

#[test]
fn a_state_folder_is_believed_where_it_was_moved_and_where_the_user_says_so() {
    let (project, copied) = copied_with_its_state();
    copied.run(&["sessions", "--trust-state"]).ok().prints("make a state folder");
    copied.run(&["sessions"]).ok().prints("make a state folder");

    let moved = Project::new();
    fs::remove_dir(moved.workspace()).unwrap();
    fs::rename(project.workspace(), moved.workspace()).unwrap();
    moved.run(&["sessions"]).ok().prints("make a state folder");
}

#[test]
fn a_mark_that_was_copied_or_guessed_is_no_mark() {
    let (_, copied) = copied_with_its_state();
    let inode = std::os::unix::fs::MetadataExt::ino(&fs::metadata(copied.base()).unwrap());
    for mark in [String::new(), "0.000000000\n".to_owned(), format!("inode {inode}\n")] {
        fs::write(copied.base().join("birth"), mark).unwrap();
        copied.run(&["sessions"]).exits(4);
    }
}

#[test]
fn a_mark_that_is_no_small_file_is_not_read() {
    let (project, copied) = copied_with_its_state();
    let mark = copied.base().join("birth");
    let pipe = |mark: &Path| assert!(Command::new("mkfifo").arg(mark).status().unwrap().success());
    let huge = |mark: &Path| fs::File::create(mark).unwrap().set_len(1 << 40).unwrap();
    // The content would do, if it were not reached by a link.
    let real = copied.workspace().join("real");
    let time = fs::metadata(copied.base()).unwrap().created().unwrap();
    let time = time.duration_since(std::time::UNIX_EPOCH).unwrap();
    fs::write(&real, format!("{}.{:09}\n", time.as_secs(), time.subsec_nanos())).unwrap();
    let link = |to: PathBuf| move |mark: &Path| std::os::unix::fs::symlink(&to, mark).unwrap();
    let plants: [&dyn Fn(&Path); 5] =
        [&pipe, &huge, &link("/dev/zero".into()), &link(real.clone()), &|mark| fs::create_dir(mark).unwrap()];
    for plant in plants {
        let _ = fs::remove_file(&mark);
        plant(&mark);
        copied.run(&["sessions"]).exits(4).says("was not created here");
    }
    fs::remove_dir(&mark).unwrap();
    fs::rename(real, &mark).unwrap();
    copied.run(&["sessions"]).ok().prints("make a state folder");
    project.run(&["sessions"]).ok();
}

const CHANGES: &str = "[CREATE_FILE path=\"new.txt\"]\nnew\n[/CREATE_FILE]\n\
     [EDIT_FILE path=\"file.txt\" start_line=\"1\" end_line=\"1\"]\nedited\n[/EDIT_FILE]\n\
     [DELETE_FILE path=\"file.txt\"]\n[READ_FILE path=\"file.txt\"]\n\
     [RUN_COMMAND]\necho ran > ran.log\n[/RUN_COMMAND]\n";

fn summaries(ran: &Ran) -> Vec<(bool, String)> {
    let results = ran.json()["results"].clone();
    let results = results.as_array().unwrap().iter();
    results
        .map(|result| (result["success"] == true, result["summary"].as_str().unwrap().to_owned()))
        .collect()
}

#[test]
fn read_only_refuses_every_change_and_command_and_shows_files() {
    let project = Project::new();
    project.write("file.txt", "as it was\n");
    let id = project.begin("look only");
    let ran = project.apply(CHANGES, &["--read-only", "--json"]).ok();
    let summaries = summaries(&ran);
    let successes: Vec<_> = summaries.iter().map(|(success, _)| *success).collect();
    assert_eq!(successes, [false, false, false, true, false], "{ran}");
    for index in [0, 1, 2, 4] {
        assert!(summaries[index].1.contains("read-only"), "{ran}");
    }
    assert_eq!(project.tree(), [("file.txt".to_owned(), "as it was\n".to_owned())]);
    assert!(project.outbox(&id, 2).contains("--- file.txt ---\n1|as it was\n"));
}

#[test]
fn a_folder_without_write_permission_needs_its_state_folder_elsewhere() {
    let project = Project::new().of_an_ordinary_user();
    project.write("file.txt", "as it was\n");
    project.give_to_its_user(&project.workspace().join("file.txt"));
    fs::set_permissions(project.workspace(), fs::Permissions::from_mode(0o555)).unwrap();
    let ran = project.run(&["new", "--no-wait", "try"]).exits(1);
    ran.says("cannot be used: ")
        .says("choose another one with --base DIR, for instance outside of a read-only workspace");

    let base = project.folder().join("state");
    let base = base.to_str().unwrap();
    let started = project.run(&["new", "--no-wait", "--json", "--base", base, "try"]).ok();
    assert_eq!(started.json()["sequence"], 1);
    let ran = project.apply(CHANGES, &["--json", "--base", base]).ok();
    let summaries = summaries(&ran);
    assert!(!summaries[0].0 && summaries[0].1.contains("denies access"), "{ran}");
    let successes: Vec<_> = summaries.iter().map(|(success, _)| *success).collect();
    assert_eq!(successes, [false, false, false, true, false], "{ran}");
    let ran = project.apply("[READ_FILE path=\"file.txt\"]\n", &["--json", "--base", base]).ok();
    assert!(!ran.stderr.contains("recovered") && !ran.stderr.contains("another program"), "{ran}");
    fs::set_permissions(project.workspace(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(project.tree(), [("file.txt".to_owned(), "as it was\n".to_owned())]);
}

#[test]
fn a_session_that_does_not_exist_is_reported() {
    let project = Project::new();
    let advice = "`agentd sessions` lists the sessions";
    project.begin("be the only one");
    for arguments in [
        &["resume", "0123abcd"][..],
        &["show", "0123abcd"],
        &["outbox", "--session", "0123abcd"],
        &["apply", "-", "--session", "0123abcd"],
    ] {
        let ran = project.run_with_input(arguments, "[READ_FILE path=\"a\"]\n").exits(2);
        ran.says("there is no session 0123abcd").says(advice);
    }
    project.run(&["show", "not an id"]).exits(2).says("'not an id'").says(advice);
}

#[test]
fn without_a_session_the_command_for_one_is_named_and_no_state_folder_is_made() {
    let project = Project::new();
    for arguments in
        [&[][..], &["resume"], &["--resume"], &["outbox"], &["apply", "-"], &["show", "0123abcd"]]
    {
        let ran = project.run_with_input(arguments, "[READ_FILE path=\"a\"]\n").exits(2);
        ran.says("there is no unfinished session here").says("agentd new TASK");
    }
    project.run(&["sessions"]).ok().says("`agentd new TASK` starts one");
    project.run(&["log"]).ok().says("nothing was done here yet");
    assert!(!project.base().exists());
}

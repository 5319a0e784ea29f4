//! Messages and replies by the clipboard of a desktop.

use std::fs;
use std::path::Path;

use crate::fixture::daemon::Daemon;
use crate::fixture::display::Display;
use crate::fixture::project::{Project, Ran};
use crate::fixture::tmux::Tmux;
use crate::session::choices::on_a_terminal;

use test_support::{skip, write_program};

const EDIT: &str = "[CREATE_FILE path=\"a.txt\"]\none\n[/CREATE_FILE]\n";
const DIFF: &str = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n";

fn display(test: &str) -> Option<Display> {
    let display = Display::start();
    if display.is_none() {
        skip(test, "there is no program `Xvfb` or `xclip`");
    }
    display
}

/// Returns the files of the state folder that hold a text.
fn files_with(project: &Project, text: &str) -> Vec<String> {
    let mut folders = vec![project.base()];
    let mut matches = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() => {
                    let bytes = fs::read(entry.path()).unwrap_or_default();
                    if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
                        matches.push(entry.path().display().to_string());
                    }
                }
                _ => {}
            }
        }
    }
    matches
}

#[test]
fn a_session_comes_to_its_end_by_the_clipboard_alone() {
    let Some(display) = display("a_session_comes_to_its_end_by_the_clipboard_alone") else { return };
    let project = Project::new();
    let mut command = project.command(&["new", "--clipboard", "write a file"]);
    command.env("DISPLAY", &display.name).env_remove("WAYLAND_DISPLAY");
    let mut daemon = Daemon::start(command);
    daemon.wait_for("message 1 is on the clipboard");
    let id = project.names("sessions").first().unwrap().split(['.', '_']).next().unwrap().to_owned();
    assert_eq!(display.text(), project.outbox(&id, 1));
    // What else the user copies meanwhile is not a reply, and is not kept: the control is the reply below.
    display.put_until_read("hunter2 is a password");
    display.put_until_read(&format!("Reply-To: {id}-7\n{EDIT}hunter2"));
    display.put_until_read(&format!("a diff of another program, hunter2\n{DIFF}"));
    display.put(EDIT);
    daemon.wait_for("message 2 is on the clipboard");
    assert_eq!(project.read("a.txt"), "one\n");
    assert_eq!(files_with(&project, "hunter2"), Vec::<String>::new());
    assert!(!files_with(&project, "CREATE_FILE path=\"a.txt\"").is_empty(), "the reply is kept");
    assert_eq!(display.text(), project.outbox(&id, 2));
    // With the token of its message, a diff is a reply.
    display.put(&format!("Reply-To: {id}-2\n{DIFF}"));
    daemon.wait_for("message 3 is on the clipboard");
    assert_eq!(project.read("a.txt"), "two\n");
    display.put("[DONE]\nall is well\n[/DONE]\n");
    let ran = daemon.wait().ok().says("all is well");
    assert!(!ran.stderr.contains("hunter2"), "{}", ran.stderr);
}

#[test]
fn after_a_reply_that_was_declined_another_one_is_taken() {
    let test = "after_a_reply_that_was_declined_another_one_is_taken";
    let Some(display) = display(test) else { return };
    let project = Project::new();
    let mut command = project.command(&["new", "--clipboard", "--review", "write a file"]);
    command.env("DISPLAY", &display.name).env_remove("WAYLAND_DISPLAY");
    let Some(tmux) = Tmux::start(&command, &project.folder().join("tmp"), (110, 36)) else {
        return skip(test, "there is no program `tmux`; `cargo xtask setup` installs it");
    };
    tmux.wait_for("message 1 is on the clipboard");
    display.put("[CREATE_FILE path=\"wrong.txt\"]\none\n[/CREATE_FILE]\n");
    tmux.wait_for("execute this reply?");
    tmux.types("n").press("Enter");
    tmux.wait_for("the reply was not accepted");
    display.put(EDIT);
    tmux.wait_until("a second question", |screen| screen.matches("execute this reply?").count() == 2);
    tmux.types("y").press("Enter");
    tmux.wait_for("message 2 is on the clipboard");
    assert_eq!(project.read("a.txt"), "one\n");
    assert!(!project.workspace().join("wrong.txt").exists());
}

#[test]
fn copy_and_paste_take_one_message_out_and_one_reply_in() {
    let test = "copy_and_paste_take_one_message_out_and_one_reply_in";
    let Some(display) = display(test) else { return };
    let project = Project::new();
    let id = project.begin("write a file");
    let on_display = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        command.env("DISPLAY", &display.name).env_remove("WAYLAND_DISPLAY");
        command
    };
    Ran::of(on_display(&["copy"]).output().unwrap()).ok().says("message 1 of session").says("(xclip)");
    assert_eq!(display.text(), project.outbox(&id, 1));
    // The message itself is not a reply to it.
    let Some(screen) = on_a_terminal(&on_display(&["paste"]), true) else {
        skip(test, "there is no program `script`");
        return;
    };
    assert!(screen.contains("is not a reply to message 1"), "{screen}");
    display.put(EDIT);
    on_a_terminal(&on_display(&["paste"]), true).unwrap();
    assert_eq!(project.read("a.txt"), "one\n");
    // Standard input that is not a terminal has the reply.
    display.put("[DELETE_FILE path=\"a.txt\"]\n");
    let ran = project.run_with_input(&["paste"], "[CREATE_FILE path=\"b.txt\"]\ntwo\n[/CREATE_FILE]\n").ok();
    ran.prints("next message");
    assert_eq!([project.read("a.txt"), project.read("b.txt")], ["one\n", "two\n"]);
    project.run_with_input(&["paste"], " \n").exits(2);
    // A message that is too long for one paste goes in parts.
    let id = project.begin_with(&["new", "--no-wait", "--json", "--paste", "2500", "read"]);
    let copy = |part: &[&str]| {
        let arguments = [&["copy", "--session", &id][..], part].concat();
        Ran::of(on_display(&arguments).output().unwrap())
    };
    copy(&[]).ok().says("`agentd copy --part 1` to");
    copy(&["--part", "2"]).ok().says("part 2 of message 1 of session");
    let second = project.run(&["outbox", "--session", &id, "--part", "2"]).ok().stdout;
    assert_eq!(display.text().trim_end(), second.trim_end());
    copy(&["--part", "99"]).exits(2).says("no part 99");
}

#[test]
fn without_a_desktop_the_clipboard_is_refused_with_other_ways() {
    let project = Project::new();
    let bare = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env("PATH", "/nonexistent");
        Ran::of(command.output().unwrap())
    };
    bare(&["new", "--clipboard", "a task"]).exits(3).says("cannot be reached").says("inbox");
    assert!(!project.base().join("sessions").exists() || project.names("sessions").is_empty());
    project.begin("a task");
    bare(&["copy"]).exits(3).says("`agentd outbox` prints the message");
    // Both put the message there, and parts are not taken whole.
    for also in [&["--copy"][..], &["--paste", "2500"], &["--no-wait"], &["--model", "true"]] {
        bare(&[&["new", "--clipboard", "a task"], also].concat()).exits(2);
    }
}

#[test]
fn no_program_that_a_model_could_write_is_started() {
    let project = Project::new();
    project.begin("a task");
    let outside = tempfile::tempdir().unwrap();
    let inside = project.folder().join("code/.venv/bin");
    let run_with = |folder: &Path, arguments: &[&str]| {
        for name in ["xclip", "wl-copy", "git", "nats-server"] {
            let program = folder.join(name);
            fs::create_dir_all(program.parent().unwrap()).unwrap();
            let note = project.folder().join("ran");
            write_program(
                &program,
                &format!("#!/bin/sh\necho {name} >> {}\n/bin/cat > /dev/null\n", note.display()),
            );
        }
        let mut command = project.command(arguments);
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env("PATH", folder);
        Ran::of(command.output().unwrap());
        let ran = fs::read_to_string(project.folder().join("ran")).unwrap_or_default();
        let mut names: Vec<&str> = ran.lines().collect();
        names.dedup();
        names.join(" ")
    };
    let fleet_folder = project.folder().join("fleet").display().to_string();
    let fleet = ["fleet", "up", "--write-only", "--folder", &fleet_folder];
    // As where a virtual environment of Python is in force.
    assert_eq!(run_with(&inside, &["copy"]), "");
    assert_eq!(run_with(&inside, &["doctor"]), "");
    assert_eq!(run_with(&inside, &["cocode", "doctor"]), "");
    let mut at_desk = project.command(&fleet);
    at_desk.current_dir(project.folder().join("code")).env("PATH", &inside);
    assert!(at_desk.output().unwrap().status.success());
    assert!(!project.folder().join("ran").exists(), "within the workspace");
    // The controls.
    assert_eq!(run_with(outside.path(), &["copy"]), "wl-copy");
    assert_eq!(run_with(outside.path(), &["doctor"]), "wl-copy git");
    assert_eq!(run_with(outside.path(), &fleet), "wl-copy git nats-server");
    assert_eq!(run_with(outside.path(), &["cocode", "doctor"]), "wl-copy git nats-server git");
}

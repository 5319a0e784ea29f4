//! The starting points of `agentd` and its report of them: the workspace, `--sandbox off`, `doctor`, and the state folder
//! as commands see it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::fixture::daemon::Daemon;
use crate::fixture::project::{Project, Ran, is_root};

const LOG: &str = "[RUN_COMMAND]\necho ran >> ran.log\n[/RUN_COMMAND]\n";

fn run_in(project: &Project, folder: &str, arguments: &[&str]) -> Ran {
    let mut command = project.command(arguments);
    Ran::of(command.current_dir(project.workspace().join(folder)).output().unwrap())
}

/// A project with a folder `sub/deep`.
fn with_folders() -> Project {
    let project = Project::new();
    project.write("sub/deep/file.txt", "text\n");
    project
}

#[test]
fn a_folder_within_a_repository_is_worked_on_from_its_root() {
    let project = with_folders();
    fs::create_dir(project.workspace().join(".git")).unwrap();
    let root = project.workspace().canonicalize().unwrap();
    let started = run_in(&project, "sub/deep", &["new", "--no-wait", "--json", "a task"]).ok();
    started.json()["outbox"].as_str().unwrap().strip_prefix(root.to_str().unwrap()).unwrap();
    assert_eq!(started.json()["workspace"], json!(root));
    let line = format!("workspace: {} (it is the root of the repository", root.display());
    assert!(started.stderr.contains(&line), "{started}");
    assert!(project.base().is_dir() && !project.has("sub/deep/.agentd"));
    // Now there is a state folder, and a repository further down changes nothing.
    fs::create_dir(project.workspace().join("sub/.git")).unwrap();
    let sessions = run_in(&project, "sub/deep", &["sessions"]).ok().prints("a task");
    assert!(sessions.stderr.contains("it has a state folder"), "{sessions}");
    // Paths on the command line are from the current folder, those of a model from the workspace.
    project.write("sub/deep/reply.txt", LOG);
    run_in(&project, "sub/deep", &["apply", "reply.txt"]).ok();
    assert_eq!(project.read("ran.log"), "ran\n");
    let read = run_in(&project, "sub", &["call", "readFile", r#"{"path":"sub/deep/file.txt"}"#]).ok();
    assert_eq!(read.json()["content"], "text\n");
    // The root itself needs no word, and quiet is quiet.
    let at_root = run_in(&project, "", &["sessions"]).ok();
    assert!(!at_root.stderr.contains("workspace:"), "{at_root}");
    assert_eq!(run_in(&project, "sub", &["sessions", "--quiet"]).ok().stderr, "");
}

#[test]
fn a_workspace_that_is_named_is_taken_as_it_is() {
    let project = with_folders();
    fs::create_dir(project.workspace().join(".git")).unwrap();
    let started = run_in(&project, "sub", &["new", "--no-wait", "--json", "x", "--workspace", "."]).ok();
    assert!(project.has("sub/.agentd") && !project.base().exists());
    assert_eq!(started.json()["workspace"], Value::Null);
    // A state folder that is named is from the current folder, too.
    run_in(&project, "sub/deep", &["new", "--no-wait", "x", "--base", "state", "--workspace", ".."]).ok();
    assert!(project.has("sub/deep/state/journal"));
}

#[test]
fn a_folder_without_repository_or_state_above_it_is_its_own_workspace() {
    let project = with_folders();
    run_in(&project, "sub", &["new", "--no-wait", "x"]).ok();
    assert!(project.has("sub/.agentd") && !project.base().exists());
}

#[test]
fn a_folder_of_another_user_is_not_taken() {
    if !is_root() {
        // Only root can give a folder to another user; run as root, this test does it.
        eprintln!("skipped: needs root to be two users");
        return;
    }
    let project = with_folders();
    fs::create_dir(project.workspace().join(".git")).unwrap();
    std::os::unix::fs::chown(project.workspace(), Some(1_000), Some(1_000)).unwrap();
    run_in(&project, "sub", &["new", "--no-wait", "x"]).ok();
    assert!(project.has("sub/.agentd") && !project.base().exists());
}

#[test]
fn a_sandbox_that_is_off_is_refused_at_once_where_no_command_would_run() {
    let project = Project::new();
    let cases: [&[&str]; 6] =
        [&["new", "--no-wait", "x"], &["resume"], &["wap"], &["mcp"], &["serve"], &["setup", "claude-code"]];
    for arguments in cases {
        if arguments[0] == "resume" {
            project.begin("to be resumed");
        }
        let ran = project.run(&[arguments, &["--sandbox", "off"]].concat()).exits(2);
        assert!(ran.stderr.contains("--sandbox off would run no command"), "{ran}");
        assert!(ran.stderr.contains("--base DIR"), "{ran}");
    }
    // The way out that it names.
    let state = project.folder().join("state");
    let base = ["--sandbox", "off", "--base", state.to_str().unwrap()];
    project.run(&[&["new", "--no-wait", "x"][..], &base].concat()).ok();
    let reply = project.reply_file(LOG);
    project.run(&[&["apply", reply.to_str().unwrap()][..], &base].concat()).ok();
    assert_eq!(project.read("ran.log"), "ran\n");
}

fn finding(ran: &Ran, what: &str) -> (String, String) {
    let findings = ran.json();
    let entry = findings.as_array().unwrap().iter().find(|finding| finding["what"] == what);
    let entry = entry.unwrap_or_else(|| panic!("no {what}: {findings}"));
    let text = |key: &str| entry[key].as_str().unwrap().to_owned();
    (text("state"), text("detail"))
}

#[test]
fn doctor_says_which_process_owns_the_folder_and_whether_commands_can_write() {
    let project = Project::new();
    let doctor = |options: &[&str]| project.run(&[&["doctor", "--json"], options].concat());
    assert_eq!(finding(&doctor(&[]).ok(), "owner").0, "good");
    let mut daemon = Daemon::start(project.command(&["new", "wait"]));
    daemon.wait_until_it_waits();
    let (_, owner) = finding(&doctor(&[]).ok(), "owner");
    assert!(owner.contains(&format!("process {} (agentd new), since 20", daemon.process_id())), "{owner}");
    assert_eq!(finding(&doctor(&[]), "writing").0, "good");
    let off = finding(&doctor(&["--sandbox", "off"]), "writing");
    assert!(off.0 == "limited" && off.1.contains("--base DIR"), "{off:?}");
    assert_eq!(finding(&doctor(&["--read-only"]), "writing").0, "limited");
    daemon.signal("STOP");
    let (state, silent) = finding(&doctor(&[]).ok(), "owner");
    assert!(state == "limited" && silent.contains("does not answer"), "{silent}");
    daemon.kill();
    assert!(finding(&doctor(&[]).ok(), "owner").1.contains("no process"));
    let ordinary = Project::new().of_an_ordinary_user();
    fs::set_permissions(ordinary.workspace(), fs::Permissions::from_mode(0o555)).unwrap();
    let (state, why) = finding(&ordinary.run(&["doctor", "--json"]), "writing");
    assert!(state == "limited" && why.contains("permissions"), "{why}");
    fs::set_permissions(ordinary.workspace(), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn doctor_reports_what_other_commands_refuse() {
    let project = Project::new();
    let broken = project.folder().join("broken.toml");
    fs::write(&broken, "network = maybe\nnonsense").unwrap();
    for file in [broken.to_str().unwrap(), "/nonexistent/agentd.toml"] {
        let (state, why) =
            finding(&project.run(&["doctor", "--json", "--config", file]).ok(), "configuration");
        assert!(state == "limited" && why.contains("not used"), "{why}");
        // The control: what is not about finding out is refused.
        project.run(&["sessions", "--config", file]).exits(2);
    }
    // A state folder that came with the files.
    fs::create_dir_all(project.base().join("journal")).unwrap();
    let ran = project.run(&["doctor", "--json"]).ok();
    assert!(finding(&ran, "state folder").1.contains("was not created here"));
    assert_eq!(finding(&ran, "owner").0, "limited");
    project.run(&["new", "--no-wait", "x"]).exits(4);
}

#[test]
fn a_configuration_that_this_user_cannot_reach_is_not_there_unless_it_is_named() {
    let project = Project::new().of_an_ordinary_user();
    let closed = project.folder().join("closed");
    fs::create_dir_all(closed.join("agentd")).unwrap();
    fs::write(closed.join("agentd/config.toml"), "read-only = true\n").unwrap();
    project.give_to_its_user(&closed.join("agentd/config.toml"));
    project.give_to_its_user(&closed.join("agentd"));
    project.give_to_its_user(&closed);
    let run = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        Ran::of(command.env("XDG_CONFIG_HOME", &closed).output().unwrap())
    };
    let write = r#"{"path":"a","content":""}"#;
    run(&["call", "writeFile", write]).exits(1);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    run(&["call", "writeFile", write]).ok();
    let (state, why) = finding(&run(&["doctor", "--json"]).ok(), "configuration");
    assert!(state == "limited" && why.contains("may not be entered"), "{why}");
    let named = closed.join("agentd/config.toml");
    run(&["sessions", "--config", named.to_str().unwrap()]).exits(2).says("may not be entered");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    // Nor is there one without a home.
    let mut command = project.command(&["sessions"]);
    Ran::of(command.env_remove("HOME").env_remove("XDG_CONFIG_HOME").output().unwrap()).ok();
}

fn ordinary_work_ends_well(project: &Project, layer: &str) {
    project.write("words.txt", "some words\n");
    project.give_to_its_user(&project.workspace().join("words.txt"));
    let outside = project.folder().join("secret.txt");
    fs::write(outside, "").unwrap();
    let id = project.begin("a task with CANARY-4711 in it");
    let outbox = project.outbox_file(&id, 1);
    assert!(fs::read_to_string(&outbox).unwrap().contains("CANARY-4711"), "the control: it is there");
    let run = |text: &str| {
        let arguments = json!({ "command": text }).to_string();
        project.run(&["call", "executeCommand", &arguments, "--layer", layer]).ok().json()
    };
    for text in ["grep -r words .", "find .", "tar cf - . > /tmp/all.tar", "cp -r . /tmp/x", "git status"] {
        let text = if text == "git status" { "git init -q /tmp/r && cd /tmp/r && git status" } else { text };
        let ran = run(text);
        assert_eq!((&ran["exitCode"], &ran["stderr"]), (&json!(0), &json!("")), "{layer} {text}: {ran}");
    }
    let listed = run("grep -ra CANARY-4711 . ; ls -A .agentd; cat .agentd/outbox/*; find .agentd");
    assert_eq!(listed["stdout"], ".gitignore\n.agentd\n.agentd/.gitignore\n", "{layer}: {listed}");
    for change in ["touch .agentd/x", "rmdir .agentd", "mv .agentd other", "echo x > .agentd/outbox/x"] {
        assert_ne!(run(change)["exitCode"], 0, "{layer} {change}");
    }
    assert!(Path::new(&outbox).exists() && !project.has(".agentd/x"));
}

#[test]
fn ordinary_commands_end_well_beside_the_state_folder_and_see_nothing_of_it() {
    for layer in ["on", "off"] {
        ordinary_work_ends_well(&Project::new(), layer);
        ordinary_work_ends_well(&Project::new().of_an_ordinary_user(), layer);
    }
}

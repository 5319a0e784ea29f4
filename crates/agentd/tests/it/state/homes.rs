//! The home of commands: kept between them, never changed by a trial, and collected.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::fixture::project::{Project, Ran};

/// Runs a shell command with these options, in a user's home of the project's own; returns its output.
fn shell(project: &Project, options: &[&str], text: &str) -> String {
    let request = json!({ "command": text }).to_string();
    let arguments = [options, &["call", "executeCommand", &request]].concat();
    let ran = Ran::of(with_home(project, &arguments).output().unwrap()).ok();
    let answer = ran.json();
    assert_eq!(answer["exitCode"], 0, "{answer}");
    assert_eq!(answer["warnings"].as_array().map_or(0, Vec::len), 0, "{answer}");
    answer["stdout"].as_str().unwrap().to_owned()
}

fn with_home(project: &Project, arguments: &[&str]) -> std::process::Command {
    let home = project.folder().join("home");
    fs::create_dir_all(home.join(".npm/_cacache")).unwrap();
    fs::write(home.join(".npm/_cacache/a"), "package a\n").unwrap();
    project.give_to_its_user(&home);
    let mut command = project.command(arguments);
    command.env("HOME", home);
    command
}

fn homes(project: &Project) -> Vec<PathBuf> {
    let folder = project.folder().join("user-state/agentd/homes");
    fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

fn files_in(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            files.extend(files_in(&entry.path()));
        } else {
            files.push((entry.path(), fs::read(entry.path()).unwrap_or_default()));
        }
    }
    files.sort();
    files
}

fn keeps_its_home(project: &Project) {
    assert_eq!(
        shell(project, &[], "echo kept > ~/a; echo b > ~/.npm/_cacache/b; ls ~/.npm/_cacache"),
        "a\nb\n"
    );
    assert_eq!(shell(project, &[], "cat ~/a ~/.npm/_cacache/*"), "kept\npackage a\nb\n");
    assert_eq!(shell(project, &["--home", "fresh"], "ls ~; echo mine > ~/a; ls -d ~/.npm || true"), "");
    assert_eq!(shell(project, &["--layer", "off"], "cat ~/a"), "kept\n");
    let homes = homes(project);
    assert!(
        homes.len() == 1 && homes[0].file_name().unwrap().to_str().unwrap().starts_with("code-"),
        "{homes:?}"
    );
    assert_eq!(fs::read_dir(project.folder().join("home/.npm/_cacache")).unwrap().count(), 1);
}

#[test]
fn home_is_kept_between_commands_unless_each_is_to_have_a_fresh_one() {
    keeps_its_home(&Project::new());
}

#[test]
fn home_of_an_ordinary_user_is_kept_too() {
    keeps_its_home(&Project::new().of_an_ordinary_user());
}

#[test]
fn trial_sees_the_home_and_leaves_it_as_it_is() {
    for project in [Project::new(), Project::new().of_an_ordinary_user()] {
        project.begin("try something out");
        shell(&project, &[], "echo kept > ~/a; echo b > ~/.npm/_cacache/b");
        let before = files_in(&homes(&project)[0].join("home"));
        let reply = "[RUN_COMMAND]\ncat ~/a ~/.npm/_cacache/a ~/.npm/_cacache/b && echo trial | tee ~/a ~/.npm/_cacache/b && \
                     mkdir ~/closed && chmod 0 ~/closed && echo made > new.txt\n[/RUN_COMMAND]\n\
                     [RUN_COMMAND]\ncat ~/a ~/.npm/_cacache/b\n[/RUN_COMMAND]\n";
        let file = project.folder().join("reply.txt");
        fs::write(&file, reply).unwrap();
        let file = file.to_str().unwrap();
        let tried =
            Ran::of(with_home(&project, &["apply", file, "--try", "--keep", "--json"]).output().unwrap())
                .ok()
                .json();
        let output = |index: usize| tried["results"][index]["output"].as_str().unwrap().to_owned();
        assert!(output(0).contains("kept\npackage a\nb\ntrial"), "{tried}");
        assert!(output(1).contains("trial\ntrial"), "{tried}");
        assert!(!tried.to_string().contains("fresh home"), "{tried}");
        // The reply was kept, and what it did to the home was not.
        assert!(project.has("new.txt"));
        assert_eq!(files_in(&homes(&project)[0].join("home")), before);
        assert_eq!(shell(&project, &[], "cat ~/a ~/.npm/_cacache/b"), "kept\nb\n");
        let names = project.names(".");
        assert!(!names.iter().any(|name| name.starts_with("trial")), "{names:?}");
    }
}

#[test]
fn gc_removes_homes_of_lost_workspaces_and_parts_beyond_the_limit() {
    let project = Project::new();
    shell(&project, &[], "head -c 300000 /dev/zero > ~/a");
    let lost = project.folder().join("lost");
    fs::create_dir(&lost).unwrap();
    shell(&project, &["--workspace", lost.to_str().unwrap()], "head -c 300000 /dev/zero > ~/a");
    assert_eq!(homes(&project).len(), 2);
    fs::remove_dir_all(&lost).unwrap();
    let collected = project.run(&["gc", "--json"]).ok().json();
    assert_eq!(
        (&collected["homes"]["kept"], &collected["homes"]["removed"]),
        (&json!(1), &json!(1)),
        "{collected}"
    );
    assert_eq!(shell(&project, &[], "wc -c < ~/a"), "300000\n");
    project.run(&["gc", "--home-limit", "100000"]).ok().prints("homes of commands: 0 removed");
    assert_eq!(shell(&project, &[], "ls ~"), "");
}

#[test]
fn doctor_says_whether_the_home_is_kept() {
    let project = Project::new();
    let doctor = |options: &[&str]| {
        let arguments = [options, &["doctor"]].concat();
        Ran::of(with_home(&project, &arguments).output().unwrap()).stdout
    };
    assert!(doctor(&[]).contains("kept between commands, from the first one on"));
    assert!(homes(&project).is_empty());
    shell(&project, &[], "true");
    assert!(doctor(&[]).contains("kept between commands, in "));
    assert!(doctor(&["--sandbox", "allow=none"]).contains("kept between commands"));
    assert!(
        doctor(&["--sandbox", "off"]).contains("each command has a fresh home, and caches are read-only")
    );
}

#[test]
fn home_that_cannot_be_kept_is_reported_with_the_result() {
    let project = Project::new();
    fs::write(project.folder().join("user-state"), "").unwrap();
    let request = json!({ "command": "echo 1 > ~/a && cat ~/a" }).to_string();
    let answer =
        Ran::of(with_home(&project, &["call", "executeCommand", &request]).output().unwrap()).ok().json();
    assert_eq!(answer["stdout"], "1\n");
    let warning = answer["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("the command had a fresh home, and nothing in it is kept: "), "{answer}");
    assert!(!answer.to_string().contains(project.folder().to_str().unwrap()), "{answer}");
}

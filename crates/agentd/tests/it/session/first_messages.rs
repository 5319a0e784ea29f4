//! The first message of a session shows what a person would look at first.

mod read_files;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use codali_envelope::history::{O200k, TokenCounter};
use serde_json::Value;
use tagproto::{OutboxParts, USUAL_BUDGET, read_outbox};

use crate::fixture::project::Project;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// This repository without the table of tasks, which holds their words.
fn this_repository() -> Project {
    let project = Project::new();
    let listed = Command::new("git")
        .args(["-c", "safe.directory=*", "ls-files", "-z"])
        .current_dir(repository())
        .output()
        .unwrap();
    assert!(listed.status.success(), "the files of this repository cannot be listed");
    let listed = String::from_utf8(listed.stdout).unwrap();
    for path in listed.split_terminator('\0').filter(|path| !path.starts_with("fixtures/first-message/")) {
        // A file may be deleted and not committed yet.
        if let Ok(text) = fs::read(repository().join(path)) {
            let copy = project.workspace().join(path);
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::write(copy, text).unwrap();
        }
    }
    project
}

fn first_message(project: &Project, arguments: &[&str]) -> (String, OutboxParts) {
    let id = project.begin_with(&[&["new", "--no-wait", "--json"], arguments].concat());
    let text = project.outbox(&id, 1);
    let parts = read_outbox(&text).unwrap();
    (text, parts)
}

#[test]
fn eight_of_ten_files_that_a_person_would_open_first_are_in_the_first_message() {
    let truth = fs::read(repository().join("fixtures/first-message/this-repository.json")).unwrap();
    let truth: Value = serde_json::from_slice(&truth).unwrap();
    let project = this_repository();
    // On a busy machine this folder is not read within the time that a first message takes.
    project.run(&["index", "build"]).ok();
    let (mut matches, mut all, mut lines) = (0, 0, Vec::new());
    for task in truth["tasks"].as_array().unwrap() {
        let (text, parts) = first_message(&project, &[task["task"].as_str().unwrap()]);
        let tokens = O200k.count(&text);
        assert!(tokens <= u64::from(USUAL_BUDGET), "{tokens} tokens");
        lines.push(format!("{tokens} tokens, {} files: {}", parts.suggested.len(), task["task"]));
        for path in task["files"].as_array().unwrap() {
            assert!(project.has(path.as_str().unwrap()), "the table names {path}, which is gone");
            let is_shown = parts.suggested.iter().any(|file| file.path == *path);
            all += 1;
            matches += usize::from(is_shown);
            lines.extend((!is_shown).then(|| format!("  not shown: {path}")));
        }
    }
    println!("{matches} of {all}\n{}", lines.join("\n"));
    assert!(matches * 10 >= all * 8, "{matches} of {all}\n{}", lines.join("\n"));
}

#[test]
fn the_first_message_shows_the_file_of_the_task_and_takes_edits_of_its_lines() {
    let project = Project::new();
    project.write("README.md", "# Greetings\n").write("src/greet.py", "def greet(name):\n    return name\n");
    project.write("src/other.py", "def other():\n    return 1\n");
    let (text, parts) = first_message(&project, &["Let greet say hello"]);
    let paths: Vec<&str> = parts.suggested.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths[..2], ["README.md", "src/greet.py"], "{text}");
    // The user changes the file: the numbers of the reply are those of the message.
    project.write("src/greet.py", "import sys\n\n\ndef greet(name):\n    return name\n");
    let reply = "[EDIT_FILE path=\"src/greet.py\" start_line=\"2\" end_line=\"2\"]\n    return f\"Hello, {name}\"\n[/EDIT_FILE]\n";
    project.apply(reply, &[]).ok();
    assert_eq!(
        project.read("src/greet.py"),
        "import sys\n\n\ndef greet(name):\n    return f\"Hello, {name}\"\n"
    );
}

#[test]
fn the_dialect_of_the_original_has_no_such_files_and_no_budget() {
    let project = Project::new();
    project.write("README.md", "# Greetings\n").write("src/greet.py", "def greet(name):\n    return name\n");
    let (text, parts) = first_message(&project, &["Let greet say hello", "--dialect", "codingagent"]);
    assert_eq!(parts.suggested, []);
    assert!(!text.contains("return name"), "{text}");
}

#[test]
fn a_budget_has_a_number_or_the_name_of_a_chat() {
    let project = Project::new();
    let long: String =
        (0..200).map(|number| format!("def greet_{number}(name):\n    return name\n\n\n")).collect();
    for number in 0..20 {
        project.write(&format!("src/greet_{number}.py"), &long);
    }
    let (small, _) = first_message(&project, &["Let greet say hello", "--budget", "local"]);
    let (large, _) = first_message(&project, &["Let greet say hello", "--budget", "claude"]);
    assert!(O200k.count(&small) <= 6_000, "{}", O200k.count(&small));
    assert!(large.len() > 2 * small.len(), "{} {}", large.len(), small.len());
    project.run(&["new", "--no-wait", "task", "--budget", "chat"]).exits(2).says("chatgpt");
}

#[test]
fn a_session_of_a_large_folder_is_exported_and_replayed() {
    let project = Project::new();
    for number in 0..400 {
        project.write(&format!("data/part/{number:04}.txt"), &format!("{number}\n"));
    }
    project.write("greet.py", "def greet(name):\n    return name\n");
    let id = project.begin("Let greet say hello");
    assert!(project.outbox(&id, 1).contains("  data/part/ (400 files, *.txt)"), "{}", project.outbox(&id, 1));
    let reply = "[RUN_COMMAND]\ncat data/part/0003.txt\n[/RUN_COMMAND]\n";
    project.apply(reply, &[]).ok();
    let file = project.folder().join("transcript.json");
    project.run(&["show", &id, "--export", file.to_str().unwrap()]).ok();
    let transcript: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert!(!transcript["taskFiles"].as_array().unwrap().is_empty());
    project.run(&["replay", file.to_str().unwrap()]).ok();
}

#[test]
fn the_rules_say_what_surrounds_commands() {
    let project = Project::new();
    project.write("Cargo.toml", "[package]\n").write(".gitignore", ".venv/\n");
    project.write("package.json", "{\"scripts\": {\"test\": \"rm -rf /\", \"evil\": \"evil\"}}\n");
    project.write("pyproject.toml", "[tool.pytest]\n").write(".venv/pyvenv.cfg", "home = /usr/bin\n");
    let (text, parts) = first_message(&project, &["task", "--timeout", "90"]);
    let expected = [
        "Commands have no network: nothing can be downloaded or installed, so use what is there.",
        "A command is ended after 90 seconds; the user can raise that with --timeout.",
        "Files that git ignores are not listed; READ_FILE and commands see them.",
        "Recognised build and test commands: cargo build; cargo test; npm run test; .venv/bin/python -m pytest.",
        "There is a Python virtual environment: use .venv/bin/python.",
    ];
    assert_eq!(parts.surroundings, expected, "{text}");
    // What READ_FILE and commands see was not made up.
    let reply =
        "[READ_FILE path=\".venv/pyvenv.cfg\"]\n[RUN_COMMAND]\ncat .venv/pyvenv.cfg\n[/RUN_COMMAND]\n";
    project.apply(reply, &[]).ok();
    let id = project.names("sessions")[0].trim_end_matches(".json").to_owned();
    let second = project.outbox(&id, 2);
    assert_eq!(second.matches("home = /usr/bin").count(), 2, "{second}");
    assert_eq!(read_outbox(&second).unwrap().surroundings, Vec::<String>::new());
    assert!(
        project.run(&["outbox", "--full"]).ok().stdout.contains("\nSURROUNDINGS\n- Commands have no network")
    );
    let arguments = ["task", "--network", "allow=crates.io,static.crates.io:443"];
    let (_, parts) = first_message(&project, &arguments);
    let names = "these names on the network and no others: crates.io, static.crates.io";
    assert!(parts.surroundings[0].contains(names), "{:?}", parts.surroundings);
    let (_, parts) = first_message(&project, &["task", "--dialect", "codingagent"]);
    assert_eq!(parts.surroundings, Vec::<String>::new());
}

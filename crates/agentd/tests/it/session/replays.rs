//! A session leaves as a transcript and goes again from it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::fixture::project::Project;

const FIRST: &str =
    "[READ_FILE path=\"a\"]\n[RUN_COMMAND]\n./tool.sh; wc -c < data; readlink link\n[/RUN_COMMAND]\n";
const SECOND: &str = "[EDIT_FILE path=\"a\" start_line=\"2\" end_line=\"2\"]\ntwo\n[/EDIT_FILE]\n\
    [CREATE_FILE path=\"new/file\"]\nx\n[/CREATE_FILE]\n[DELETE_FILE path=\"gone\"]\n\
    [EDIT_FILE path=\"a\" start_line=\"9\" end_line=\"9\"]\nnine\n[/EDIT_FILE]\n";
const THIRD: &str = "[RUN_COMMAND]\ncat a new/file; yes long | head -n 20000\n[/RUN_COMMAND]\n";
const LAST: &str = "[DONE]\nall of it\n[/DONE]\n";

fn prepared() -> Project {
    let project = Project::new();
    project.write("a", "1\n2\n3\n").write("gone", "g\n").write("tool.sh", "#!/bin/sh\necho tool\n");
    fs::set_permissions(project.workspace().join("tool.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(project.workspace().join("data"), b"\0\xff\xfe").unwrap();
    std::os::unix::fs::symlink("a", project.workspace().join("link")).unwrap();
    project
}

fn transcript(project: &Project, id: &str) -> PathBuf {
    let file = project.folder().join("transcript.json");
    let _ = fs::remove_file(&file);
    project.run(&["show", id, "--export", file.to_str().unwrap()]).ok();
    file
}

fn change(file: &PathBuf, change: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    change(&mut value);
    fs::write(file, value.to_string()).unwrap();
}

#[test]
fn session_goes_again_from_its_transcript_and_gives_the_same() {
    let project = prepared();
    let id = project.begin("a task");
    for reply in [FIRST, SECOND, THIRD, THIRD] {
        project.apply(reply, &["--again"]).ok();
    }
    let tree = project.tree();
    let file = transcript(&project, &id);
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains(project.folder().to_str().unwrap()), "it names no folder of this machine");
    let replayed = Project::new();
    let ran = replayed.run(&["replay", file.to_str().unwrap()]).ok();
    ran.prints("4 rounds, all as in the transcript");
    assert!(!replayed.base().exists(), "it leaves nothing behind");
    assert_eq!(project.tree(), tree);
    // And a complete one.
    project.apply(LAST, &[]).ok();
    let file = transcript(&project, &id);
    let ran = replayed.run(&["replay", file.to_str().unwrap(), "--json"]).ok().json();
    assert_eq!((&ran["same"], &ran["rounds"]), (&true.into(), &5.into()));
}

#[test]
fn what_comes_out_otherwise_is_shown_and_fails() {
    let project = prepared();
    let id = project.begin("a task");
    project.apply(FIRST, &[]).ok();
    project.apply(SECOND, &[]).ok();
    let file = transcript(&project, &id);
    change(&file, |transcript| {
        let files = transcript["files"].as_array_mut().unwrap();
        let tool = files.iter_mut().find(|file| file["path"] == "tool.sh").unwrap();
        tool["text"] = "#!/bin/sh\necho lool\n".into();
    });
    let ran = project.run(&["replay", file.to_str().unwrap()]).exits(1);
    let ran = ran.prints("message 1, result 2 came out otherwise").prints("-tool").prints("+lool");
    ran.prints("1 difference");
}

#[test]
fn files_that_are_not_known_any_more_are_named() {
    let project = prepared();
    // The first message shows every file of a smaller folder.
    project.write("gone", &"long\n".repeat(4_000));
    let id = project.begin("a task");
    project.apply("[READ_FILE path=\"a\"]\n", &[]).ok();
    project.write("a", "rewritten by the user\n").write("gone", "longer than it was\n");
    let file = project.folder().join("transcript.json");
    let ran = project.run(&["show", &id, "--export", file.to_str().unwrap(), "--json"]).ok();
    let left_out = ran.json()["leftOut"].clone();
    assert_eq!(left_out.as_array().unwrap().len(), 1, "{left_out}");
    assert_eq!(left_out[0]["what"], "gone");
    // What a message has shown is known from there.
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(r#""text": "1\n2\n3\n""#), "{text}");
    // Nothing is overwritten.
    project.run(&["show", &id, "--export", file.to_str().unwrap()]).exits(1).says("nothing is overwritten");
    project.run(&["replay", file.to_str().unwrap()]).ok().says("not in the transcript: gone");
}

#[test]
fn transcript_writes_nothing_outside_of_its_copy() {
    let project = prepared();
    let id = project.begin("a task");
    project.apply("[READ_FILE path=\"a\"]\n", &[]).ok();
    for path in ["../escaped", "/tmp/agentd-escaped", ".git/config", "link-to-outside/escaped"] {
        let file = transcript(&project, &id);
        change(&file, |transcript| {
            let files = transcript["files"].as_array_mut().unwrap();
            files.insert(0, serde_json::json!({ "path": "link-to-outside", "link": ".." }));
            files.push(serde_json::json!({ "path": path, "text": "escaped\n" }));
        });
        project.run(&["replay", file.to_str().unwrap()]).exits(2);
    }
    assert!(!std::path::Path::new("/tmp/agentd-escaped").exists());
    project.run(&["replay", "nowhere.json"]).exits(2).says("cannot read nowhere.json");
    let none = project.folder().join("none.json");
    fs::write(&none, "{}").unwrap();
    project.run(&["replay", none.to_str().unwrap()]).exits(2).says("this is not a transcript");
}

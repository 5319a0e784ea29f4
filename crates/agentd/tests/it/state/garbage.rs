//! Nothing of an unfinished session goes, and of finished ones the oldest first.

use serde_json::json;

use crate::fixture::daemon::eventually;
use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;

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
    let gone = project.run(&["gc", "--limit", "0"]).ok().prints("1 change can no longer be undone");
    gone.prints("0 bytes of contents are kept");
    assert_eq!(project.read("a"), "two\n");
    project.run(&["undo"]).exits(1).says("its content was too large to be kept, or is too old");
    project.run(&["diff"]).ok().prints("too large to be kept, or is too old");
    assert_eq!(project.read("a"), "two\n");
}

#[test]
fn files_that_are_kept_for_a_quarantined_database_are_counted() {
    let project = Project::new();
    let large = "a line of a large file\n".repeat(60_000);
    project.write("a", &large);
    project.begin("first");
    edit(&project, "two");
    let journal = project.base().join("journal");
    for name in ["journal.db", "journal.db-wal"] {
        std::fs::write(journal.join(name), vec![b'x'; 8192]).unwrap();
    }
    let kept = project.run(&["gc", "--json"]).ok().json();
    let bytes = large.len();
    assert_eq!((&kept["strayFilesKept"], &kept["strayFilesKeptBytes"]), (&1.into(), &bytes.into()), "{kept}");
    let kept =
        project.run(&["gc"]).ok().prints(&format!("1 file ({bytes} bytes) kept for a quarantined database"));
    kept.prints("journal.db.damaged-*");
    for entry in std::fs::read_dir(&journal).unwrap().map(Result::unwrap) {
        if entry.file_name().to_str().unwrap().contains(".damaged-") {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
    project.run(&["gc"]).ok().prints(&format!("stray files of the journal: 1 removed ({bytes} bytes)"));
    let kept = project.run(&["gc", "--json"]).ok().json();
    assert_eq!(kept["strayFilesKept"], 0, "{kept}");
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

/// The bytes of contents that a journal holds.
fn held_bytes(project: &Project) -> u64 {
    change_journal::JournalReader::open(&project.base().join("journal")).unwrap().held_bytes().unwrap()
}

/// Writes this many files of 10,000 bytes each through a client.
fn write(client: &mut LineClient, name: &str, count: u32) {
    for number in 0..count {
        let content = format!("{name} {number} ").repeat(2_000)[..10_000].to_owned();
        client.does("writeFile", json!({ "path": format!("{name}-{number}"), "content": content }));
    }
}

#[test]
fn an_owner_keeps_what_is_held_below_its_limit_while_it_serves() {
    for (options, is_limited) in [(&["--history-limit", "100000"][..], true), (&[], false)] {
        let project = Project::new();
        project.write("a", "one\n");
        // An unfinished session, and its changes.
        project.begin("go on");
        edit(&project, "two");
        let mut arguments = vec!["wap"];
        arguments.extend(options);
        let mut client = LineClient::start(project.command(&arguments));
        write(&mut client, "old", 30);
        write(&mut client, "new", 5);
        if is_limited {
            eventually("the oldest is removed", || {
                client.does("readFile", json!({ "path": "new-4" }));
                held_bytes(&project) <= 100_000
            });
        }
        let ended = client.end().ok();
        if !is_limited {
            // The control: without the limit everything is kept.
            assert!(held_bytes(&project) > 350_000, "{}", held_bytes(&project));
            continue;
        }
        assert!(ended.stderr.contains("can no longer be undone"), "{ended}");
        // The newest can be taken back, and so can what the session did.
        project.run(&["undo"]).ok().prints("new-4");
        let log = project.run(&["log", "--json", "-n", "100"]).ok().json();
        let runs = log.as_array().unwrap().iter();
        let changes = runs
            .flat_map(|run| run["steps"].as_array().unwrap())
            .flat_map(|step| step["changes"].as_array().unwrap());
        let mut of_session =
            changes.filter(|change| change["path"] == "a").map(|change| change["change"].to_string());
        let number = of_session.next_back().unwrap();
        project.run(&["undo", &number]).ok().prints("restored");
        assert_eq!(project.read("a"), "one\n");
    }
}

#[test]
fn an_owner_that_is_killed_while_it_collects_loses_nothing_that_is_needed() {
    for wait in [0, 3, 10, 30] {
        let project = Project::new();
        project.begin("go on");
        edit(&project, "two");
        let mut client = LineClient::start(project.command(&["wap"]));
        write(&mut client, "old", 40);
        client.end().ok();
        let held = held_bytes(&project);
        let mut collecting = LineClient::start(project.command(&["wap", "--history-limit", "1"]));
        collecting.does("getWorkspaceInfo", json!({}));
        std::thread::sleep(std::time::Duration::from_millis(wait));
        collecting.kill();
        assert!(held_bytes(&project) <= held);
        // The remaining contents are whole, and the next one completes the rest.
        let mut again = LineClient::start(project.command(&["wap", "--history-limit", "1"]));
        eventually("only what is needed is held", || held_bytes(&project) < 10_000);
        again.does("readFile", json!({ "path": "old-1" }));
        again.end().ok();
        let done = project.run(&["gc", "--limit", "0", "--json"]).ok().json();
        assert_eq!(done["changesNotUndoable"], 0, "{done}");
        project.run(&["undo", "1"]).ok();
        assert!(!project.has("a"));
    }
}

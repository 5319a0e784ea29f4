//! A reply that is stopped, and another one to the same message, on the real engine.

use tagproto::read_outbox;

use crate::fixture::daemon::{Daemon, eventually};
use crate::fixture::project::Project;

const FIRST: &str = "[EDIT_FILE path=\"f1\" start_line=\"1\" end_line=\"1\"]\nnew one\n[/EDIT_FILE]\n\
    [EDIT_FILE path=\"f2\" start_line=\"9\" end_line=\"9\"]\nno such line\n[/EDIT_FILE]\n\
    [RUN_COMMAND]\necho first; exit 3\n[/RUN_COMMAND]\n\
    [RUN_COMMAND]\necho begun; echo ran >> ran; sleep 50\n[/RUN_COMMAND]\n\
    [CREATE_FILE path=\"later\"]\n[/CREATE_FILE]\n";

#[test]
fn edits_commands_and_failures_of_a_stopped_reply_are_reported() {
    let project = Project::new();
    project.write("f1", "one\ntwo\nthree\n").write("f2", "one\n");
    let id = project.begin("be stopped");
    let file = project.reply_file(FIRST);
    let daemon = Daemon::start(project.command(&["apply".as_ref(), file.as_os_str()]));
    eventually("the command runs", || project.written("ran").is_some_and(|text| !text.is_empty()));
    daemon.signal("TERM");
    daemon.wait().exits(130).says("apply the same reply again for the rest");

    // The stopped reply has changed the file, which was never shown: its line says which one is meant.
    let other =
        "[EDIT_FILE path=\"f1\" start_line=\"3\" end_line=\"3\" was=\"three\"]\nnew three\n[/EDIT_FILE]\n";
    project.apply(other, &[]).ok();
    let parts = read_outbox(&project.outbox(&id, 2)).unwrap();
    let results: Vec<_> = parts.results.iter().map(|result| (result.success, &*result.summary)).collect();
    assert_eq!(results.len(), 5, "{results:?}");
    assert_eq!(results[0], (true, "Edited 'f1' lines 1-1"));
    assert!(results[1].1.starts_with("Invalid line range 9-9 for file with 1 lines"), "{results:?}");
    assert_eq!(results[2], (false, "Ran 'echo first; exit 3' (exit code 3)"));
    assert_eq!(parts.results[2].output, "first");
    assert!(
        !results[3].0 && results[3].1.starts_with("Command cancelled by the user: echo begun"),
        "{results:?}"
    );
    assert_eq!(parts.results[3].output, "begun");
    assert_eq!(results[4], (true, "Edited 'f1' lines 3-3"));
    let note = "an earlier reply to the same message was stopped before this one: the first 4 results are of what it \
                had done; 1 block of it was not carried out";
    assert_eq!(parts.notes, [note]);
    assert_eq!(project.read("f1"), "new one\ntwo\nnew three\n");
    assert_eq!((project.read("ran"), project.has("later")), ("ran\n".to_owned(), false));
    // Its run is over: no unfinished reply remains, and the transcript has the reply that was gone on with.
    let report = project.run(&["show", &id]).ok();
    assert!(!report.stdout.contains("not finished"), "{report}");
    let transcript = project.folder().join("transcript.json");
    project.run(&["show".as_ref(), id.as_ref(), "--export".as_ref(), transcript.as_os_str()]).ok();
    let transcript: serde_json::Value = serde_json::from_slice(&std::fs::read(transcript).unwrap()).unwrap();
    assert_eq!(transcript["rounds"][0]["reply"], other);
    assert_eq!(transcript["rounds"][0]["results"].as_array().unwrap().len(), 1);
}

#[test]
fn a_reply_after_a_killed_process_tells_what_was_done_by_then() {
    let project = Project::new();
    project.write("a", "1\n");
    project.begin("be killed");
    let file = project.reply_file(
        "[EDIT_FILE path=\"a\" start_line=\"1\" end_line=\"1\"]\none\n[/EDIT_FILE]\n\
         [RUN_COMMAND]\necho ran >> ran; sleep 50\n[/RUN_COMMAND]\n",
    );
    let mut command = project.command(&["apply".as_ref(), file.as_os_str()]);
    let mut child =
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    eventually("the command runs", || project.written("ran").is_some_and(|text| !text.is_empty()));
    assert!(project.run(&["outbox"]).ok().stderr.contains("another agentd is carrying it out"));
    child.kill().unwrap();
    child.wait().unwrap();
    let unfinished = "a reply to message 1 was begun and has not ended";
    project.run(&["outbox"]).ok().says(unfinished).says("`agentd apply` with the same reply does the rest");
    let mut daemon = Daemon::start(project.command(&["resume"]));
    daemon.wait_until_it_waits();
    daemon.wait_for(unfinished);
    daemon.interrupt().exits(130);
    let applied = project.apply("[MESSAGE]\nm\n[/MESSAGE]\n", &[]).ok();
    applied
        .says("another reply to the same message was stopped earlier")
        .says("[OK] EDIT_FILE: Edited 'a' lines 1-1");
    let next = project.run(&["outbox"]).ok();
    assert!(!next.stderr.contains("has not ended"), "{next}");
    let outbox = next.stdout;
    assert!(outbox.contains("[NOTE] an earlier reply to the same message was stopped"), "{outbox}");
    assert!(
        outbox.contains("[FAILED] RUN_COMMAND: UNKNOWN: the daemon stopped while this command ran"),
        "{outbox}"
    );
    assert_eq!(project.written("ran"), None, "it was run again, or adopted");
}

#[test]
fn a_message_that_cannot_be_written_is_said_to_be_kept() {
    let project = Project::new();
    let id = project.begin("a task");
    let next = project.outbox_file(&id, 2);
    std::fs::create_dir(&next).unwrap();
    let said = project.apply("[CREATE_FILE path=\"made\"]\n[/CREATE_FILE]\n", &[]).exits(1);
    said.says("the reply was executed, but the next message could not be written")
        .says("`agentd outbox` prints it");
    assert!(project.has("made"));
    std::fs::remove_dir(&next).unwrap();
    let outbox = project.run(&["outbox"]).ok().stdout;
    assert!(outbox.contains("Created 'made'"), "{outbox}");
}

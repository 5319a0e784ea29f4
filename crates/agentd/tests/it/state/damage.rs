//! Files of the state folder that were damaged, edited or deleted.

use std::fs;

use crate::fixture::project::Project;

const ONE: &str = "[RUN_COMMAND]\necho one >> ran.log\n[/RUN_COMMAND]\n[READ_FILE path=\"file.txt\"]\n";
const TWO: &str = "[EDIT_FILE path=\"file.txt\" start_line=\"2\" end_line=\"2\"]\nnew two\n[/EDIT_FILE]\n";

/// A session whose second message is pending.
fn begun() -> (Project, String) {
    let project = Project::new();
    project.write("file.txt", "one\ntwo\nthree\n");
    let id = project.begin("survive");
    project.apply(ONE, &[]).ok();
    (project, id)
}

#[test]
fn a_damaged_session_file_is_kept_aside_and_written_again_from_the_journal() {
    for damage in ["{\"sessionId\": \"", "null\n", "not JSON"] {
        let (project, id) = begun();
        let file = project.base().join("sessions").join(format!("{id}.json"));
        let good = fs::read(&file).unwrap();
        fs::write(&file, damage).unwrap();
        let kept = format!("{id}.json.damaged-1");
        let ran = project.apply(TWO, &[]).ok();
        ran.says(&format!(
            "sessions/{id}.json was modified by another program; the modified copy is kept as sessions/{kept}"
        ));
        assert_eq!(fs::read_to_string(file.with_file_name(&kept)).unwrap(), damage);
        assert_eq!(project.session_file(&id)["sequenceNumber"], 3);
        assert_eq!(project.read("file.txt"), "one\nnew two\nthree\n");
        assert!(String::from_utf8(good).unwrap().contains("\"sequenceNumber\": 2"));
    }
}

#[test]
fn a_session_file_that_was_never_written_is_written_again_from_the_journal() {
    // What a loss of power leaves of a file that was not synced yet; there is nothing in it to keep.
    for unwritten in ["", "\0\0\0\0\0\0\0\0"] {
        let (project, id) = begun();
        let file = project.base().join("sessions").join(format!("{id}.json"));
        fs::write(&file, unwritten).unwrap();
        project.apply(TWO, &[]).ok();
        assert_eq!(project.session_file(&id)["sequenceNumber"], 3);
        assert_eq!(project.read("file.txt"), "one\nnew two\nthree\n");
    }
}

#[test]
fn an_edited_session_file_is_kept_aside_and_the_journal_is_in_force() {
    let (project, id) = begun();
    let file = project.base().join("sessions").join(format!("{id}.json"));
    let good = fs::read_to_string(&file).unwrap();
    fs::write(&file, good.replace("\"sequenceNumber\": 2", "\"sequenceNumber\": 9")).unwrap();
    project.apply(TWO, &[]).ok().says(&format!("the modified copy is kept as sessions/{id}.json.edited-1"));
    assert_eq!(project.session_file(&id)["sequenceNumber"], 3);
}

#[test]
fn deleted_session_and_outbox_files_are_written_again() {
    let (project, id) = begun();
    let outbox = project.outbox(&id, 2);
    let session = project.session_file(&id);
    fs::remove_dir_all(project.base().join("sessions")).unwrap();
    fs::remove_dir_all(project.base().join("outbox")).unwrap();
    fs::remove_dir_all(project.base().join("inbox")).unwrap();
    // Anything that opens the state folder does it.
    project.run(&["call", "executeCommand", r#"{"command":"true"}"#]).ok();
    assert_eq!(project.outbox(&id, 2), outbox);
    assert_eq!(project.session_file(&id), session);
    assert!(project.inbox().is_dir());
}

#[test]
fn a_link_instead_of_a_session_file_is_reported_and_never_followed() {
    let (project, id) = begun();
    let file = project.base().join("sessions").join(format!("{id}.json"));
    fs::remove_file(&file).unwrap();
    let elsewhere = project.folder().join("elsewhere");
    fs::write(&elsewhere, "not ours").unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    fs::create_dir(file.with_file_name("0123abcd.json")).unwrap();
    fs::write(file.with_file_name("notes.json"), "mine").unwrap();
    let ran = project.apply(TWO, &[]).exits(1).says(&format!("`{id}.json` is or goes through a link"));
    ran.says("remove it from the state folder and try again");
    assert_eq!(project.read("file.txt"), "one\ntwo\nthree\n");
    fs::remove_file(&file).unwrap();
    project.apply(TWO, &[]).ok();
    assert_eq!(project.session_file(&id)["sequenceNumber"], 3);
    assert_eq!(fs::read_to_string(elsewhere).unwrap(), "not ours");
    assert_eq!(fs::read_to_string(file.with_file_name("notes.json")).unwrap(), "mine");
}

#[test]
fn with_the_journal_gone_sessions_are_taken_over_from_their_files() {
    let (project, id) = begun();
    fs::remove_dir_all(project.base().join("journal")).unwrap();
    let broken = project.base().join("sessions/0123abcd.json");
    fs::write(&broken, "{").unwrap();
    let ran = project.apply(TWO, &[]).ok();
    let ran = ran.says(&format!("session {id} was imported from its file"));
    ran.says("sessions/0123abcd.json was modified by another program; the modified copy is kept as sessions/0123abcd.json.damaged-1");
    assert!(!broken.exists());
    assert_eq!(project.read("file.txt"), "one\nnew two\nthree\n");
    assert_eq!(project.session_file(&id)["sequenceNumber"], 3);
}

#[test]
fn a_damaged_journal_is_kept_and_its_sessions_are_taken_over() {
    let (project, id) = begun();
    let outbox = project.outbox(&id, 2);
    for entry in fs::read_dir(project.base().join("journal")).unwrap().map(Result::unwrap) {
        if entry.file_name().to_str().unwrap().contains("sqlite")
            || entry.file_name().to_str().unwrap().contains("db")
        {
            fs::write(entry.path(), vec![b'x'; 8192]).unwrap();
        }
    }
    let ran = project.apply("[READ_FILE path=\"file.txt\"]\n", &[]).ok();
    let ran = ran.says("the journal was damaged: it is kept as journal/");
    ran.says(&format!("session {id} was imported from its file"));
    assert_eq!(project.session_file(&id)["sequenceNumber"], 3);
    assert_eq!(project.outbox(&id, 2), outbox);
    // What the model was shown before is still known: the line numbers are from the second message.
    project.apply(TWO, &[]).ok();
    assert_eq!(project.read("file.txt"), "one\nnew two\nthree\n");
}

#[test]
fn after_the_journal_was_lost_commands_wait_for_the_user() {
    let (project, id) = begun();
    let commands = format!("Reply-To: {id}-2\n[RUN_COMMAND]\necho two >> ran.log\n[/RUN_COMMAND]\n");
    fs::remove_dir_all(project.base().join("journal")).unwrap();
    let ran = project.apply(&commands, &[]).exits(4);
    let ran = ran.says("it is not known whether these commands have already run");
    ran.says("look at the workspace first; then `agentd apply FILE --again` executes the reply");
    assert_eq!(project.read("ran.log"), "one\n");
    project.apply(&commands, &["--again"]).ok();
    assert_eq!(project.read("ran.log"), "one\ntwo\n");
    // From here on the journal knows.
    project.apply("[RUN_COMMAND]\necho three >> ran.log\n[/RUN_COMMAND]\n", &[]).ok();
    assert_eq!(project.read("ran.log"), "one\ntwo\nthree\n");
}

#[test]
fn a_journal_of_a_newer_version_is_refused_and_left_alone() {
    let (project, id) = begun();
    let database = project.base().join("journal/journal.db");
    let mut bytes = fs::read(&database).unwrap();
    // Where an SQLite database holds the version of its schema.
    bytes[60..64].copy_from_slice(&9_999_u32.to_be_bytes());
    fs::write(&database, &bytes).unwrap();
    let session = project.session_file(&id);
    for arguments in [&["resume"][..], &["undo"], &["log"], &["diff"], &["gc"], &["show", &id]] {
        project.run(arguments).exits(4).says("schema 9999").says("update agentd");
    }
    assert_eq!(fs::read(&database).unwrap(), bytes);
    assert_eq!(project.session_file(&id), session);
}

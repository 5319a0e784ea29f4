//! Files that a user may put into the inbox by mistake, and replies that are written slowly.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use crate::fixture::daemon::{Daemon, eventually};
use crate::fixture::project::Project;

/// A reply whose execution shows in `ran.log`.
fn logging(word: &str) -> String {
    format!("[RUN_COMMAND]\necho {word} >> ran.log\n[/RUN_COMMAND]\n")
}

/// A session that waits for its first reply.
fn waiting(project: &Project) -> (Daemon, String) {
    let id = project.begin("try things");
    let mut daemon = Daemon::start(project.command(&["resume"]));
    daemon.wait_until_it_waits();
    (daemon, id)
}

/// Sends a good reply and looks that it was executed: whatever came before has broken nothing.
#[track_caller]
fn goes_on(project: &Project, mut daemon: Daemon, id: &str) -> String {
    project.put_reply("zz good.txt", logging("good"));
    daemon.wait_for("message 2 to copy");
    assert_eq!(project.read("ran.log"), "good\n");
    assert_eq!(project.session_file(id)["sequenceNumber"], 2);
    assert!(project.names("inbox/processed").contains(&"zz good.txt".to_owned()));
    daemon.interrupt().exits(130).stderr
}

#[test]
fn an_empty_file_stays_is_reported_once_and_works_when_it_is_filled() {
    let project = Project::new();
    let (mut daemon, _) = waiting(&project);
    fs::write(project.inbox().join("reply.txt"), "").unwrap();
    daemon.wait_for("inbox/reply.txt is empty: paste the reply into it and save it again");
    // Longer than the inbox is left alone without an event.
    sleep(Duration::from_millis(2_000));
    assert_eq!(project.names("inbox"), ["reply.txt"]);
    fs::write(project.inbox().join("reply.txt"), logging("filled")).unwrap();
    daemon.wait_for("message 2 to copy");
    assert_eq!(project.read("ran.log"), "filled\n");
    assert_eq!(project.names("inbox/processed"), ["reply.txt"]);
    let ran = daemon.interrupt().exits(130);
    assert_eq!(ran.stderr.matches("is empty").count(), 1, "{ran}");
}

#[test]
fn a_file_of_blanks_is_empty_too() {
    let project = Project::new();
    let (mut daemon, id) = waiting(&project);
    project.put_reply("reply.txt", " \r\n\t\n");
    daemon.wait_for("inbox/reply.txt is empty");
    goes_on(&project, daemon, &id);
    assert_eq!(project.names("inbox"), ["reply.txt"]);
}

#[test]
fn fifty_megabytes_are_set_aside() {
    let project = Project::new();
    let (mut daemon, id) = waiting(&project);
    let bytes = 50 << 20;
    project.put_reply("large.txt", vec![b'a'; bytes]);
    daemon
        .wait_for("inbox/large.txt has 52428800 bytes, and a reply has at most 16777216: it was quarantined");
    daemon.wait_for("it is now inbox/set-aside/large.txt");
    assert_eq!(fs::metadata(project.inbox().join("set-aside/large.txt")).unwrap().len(), bytes as u64);
    goes_on(&project, daemon, &id);
}

#[test]
fn bytes_that_are_no_text_are_set_aside() {
    let project = Project::new();
    let (mut daemon, id) = waiting(&project);
    project.put_reply("picture.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    daemon.wait_for("inbox/picture.txt cannot be a reply: the file is not text: byte 0");
    daemon.wait_for("it is now inbox/set-aside/picture.txt");
    goes_on(&project, daemon, &id);
    assert_eq!(project.names("inbox/set-aside"), ["picture.txt"]);
}

#[test]
fn text_with_a_byte_order_mark_is_read() {
    for (name, mark) in [("UTF-16 little endian", [0xff, 0xfe]), ("UTF-16 big endian", [0xfe, 0xff])] {
        let project = Project::new();
        let id = project.begin("try things");
        let units: Vec<u16> = logging("wide").encode_utf16().collect();
        let bytes = units
            .iter()
            .flat_map(|unit| if mark[0] == 0xff { unit.to_le_bytes() } else { unit.to_be_bytes() });
        let file = project.reply_file(mark.into_iter().chain(bytes).collect::<Vec<u8>>());
        project.run(&["apply".as_ref(), file.as_os_str()]).ok();
        assert_eq!(project.read("ran.log"), "wide\n", "{name}");
        assert_eq!(project.session_file(&id)["sequenceNumber"], 2);
    }
}

#[test]
fn links_pipes_and_folders_are_reported_and_never_waited_for() {
    let project = Project::new();
    let (mut daemon, id) = waiting(&project);
    let inbox = project.inbox();
    fs::write(project.folder().join("elsewhere"), logging("elsewhere")).unwrap();
    symlink(project.folder().join("elsewhere"), inbox.join("link.txt")).unwrap();
    daemon.wait_for(
        "inbox/link.txt is a link, which is not read: remove it and save the reply as an ordinary file",
    );
    assert!(Command::new("mkfifo").arg(inbox.join("pipe.txt")).status().unwrap().success());
    daemon.wait_for("inbox/pipe.txt is a fifo, which is not read");
    fs::create_dir(inbox.join("folder.txt")).unwrap();
    daemon.wait_for("inbox/folder.txt is a folder, which is not read");
    let said = goes_on(&project, daemon, &id);
    assert_eq!(said.matches("which is not read").count(), 3, "{said}");
    assert_eq!(project.names("inbox"), ["link.txt", "pipe.txt"]);
}

#[test]
fn only_names_that_end_in_txt_are_replies_and_others_are_named_once() {
    let project = Project::new();
    let (mut daemon, id) = waiting(&project);
    for name in [".reply.txt.swp", "#reply.txt#", "reply.txt~", "reply.txt.part", "reply.md"] {
        project.put_reply(name, logging("wrong"));
    }
    let why = "is not read, because its name does not end in .txt, in lower case: rename it if it is a reply";
    daemon.wait_for(&format!("inbox/reply.md {why}"));
    // Another version of it is the same file to the user.
    project.put_reply("reply.md", logging("wrong again"));
    project.put_reply("txt", logging("wrong"));
    daemon.wait_for(&format!("inbox/txt {why}"));
    project.put_reply("UP.TXT", logging("wrong"));
    daemon.wait_for(&format!("inbox/UP.TXT {why}"));
    let said = goes_on(&project, daemon, &id);
    assert!(!said.contains("received reply"), "{said}");
    assert_eq!(said.matches(why).count(), 3, "{said}");
    assert_eq!(project.names("inbox").len(), 7);
}

#[test]
fn an_unreadable_file_is_reported_and_read_once_it_may_be() {
    let project = Project::new().of_an_ordinary_user();
    let (mut daemon, _) = waiting(&project);
    let file = project.inbox().join("reply.txt");
    let staged = project.folder().join("staged");
    fs::write(&staged, logging("read")).unwrap();
    fs::set_permissions(&staged, fs::Permissions::from_mode(0o000)).unwrap();
    project.give_to_its_user(&staged);
    fs::rename(staged, &file).unwrap();
    daemon.wait_for("inbox/reply.txt cannot be read: allow it, for instance with chmod u+r");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    daemon.wait_for("message 2 to copy");
    assert_eq!(project.read("ran.log"), "read\n");
}

#[test]
fn a_write_protected_file_is_not_executed_before_it_can_be_put_away() {
    let project = Project::new();
    let (mut daemon, _) = waiting(&project);
    let file = project.inbox().join("reply.txt");
    let staged = project.folder().join("staged");
    fs::write(&staged, logging("once")).unwrap();
    fs::set_permissions(&staged, fs::Permissions::from_mode(0o444)).unwrap();
    fs::rename(staged, &file).unwrap();
    daemon.wait_for("inbox/reply.txt is write-protected and could not be moved to inbox/processed/");
    assert!(!project.has("ran.log"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    daemon.wait_for("message 2 to copy");
    assert_eq!(project.read("ran.log"), "once\n");
    assert_eq!(project.names("inbox/processed"), ["reply.txt"]);
}

#[test]
fn a_file_that_is_being_written_is_executed_once_and_as_a_whole() {
    let project = Project::new();
    let (mut daemon, id) = waiting(&project);
    let path = project.inbox().join("slow.txt");
    let mut file = fs::File::create(&path).unwrap();
    for word in ["one", "two", "three"] {
        sleep(Duration::from_millis(700));
        file.write_all(logging(word).as_bytes()).unwrap();
        file.sync_all().unwrap();
    }
    // Complete by its content, and still open.
    sleep(Duration::from_millis(1_500));
    assert!(!project.has("ran.log"));
    file.write_all(logging("four").as_bytes()).unwrap();
    drop(file);
    daemon.wait_for("message 2 to copy");
    assert_eq!(project.read("ran.log"), "one\ntwo\nthree\nfour\n");
    assert_eq!(project.session_file(&id)["lastResults"].as_array().unwrap().len(), 4);
    let ran = daemon.interrupt();
    assert_eq!(ran.stderr.matches("received slow.txt").count(), 1, "{ran}");
}

#[test]
fn a_file_that_is_written_by_appending_now_and_then_is_executed_once() {
    let project = Project::new();
    let (mut daemon, _) = waiting(&project);
    let path = project.inbox().join("slow.txt");
    let text = format!("{}{}", logging("one"), logging("two"));
    // Cut within a block each time, as a download in pieces is; closed in between.
    for piece in [&text[..20], &text[20..50], &text[50..]] {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&path).unwrap();
        file.write_all(piece.as_bytes()).unwrap();
        drop(file);
        sleep(Duration::from_millis(600));
    }
    daemon.wait_for("message 2 to copy");
    assert_eq!(project.read("ran.log"), "one\ntwo\n");
    let ran = daemon.interrupt();
    assert_eq!(ran.stderr.matches("received slow.txt").count(), 1, "{ran}");
}

#[test]
fn two_replies_at_once_are_taken_one_after_the_other_oldest_first() {
    let project = Project::new();
    let id = project.begin("try things");
    project.put_reply("b.txt", logging("older"));
    sleep(Duration::from_millis(30));
    project.put_reply("a.txt", logging("newer"));
    let mut daemon = Daemon::start(project.command(&["resume"]));
    daemon.wait_for("received b.txt");
    daemon.wait_for("received a.txt");
    daemon.wait_for("message 3 to copy");
    assert_eq!(project.read("ran.log"), "older\nnewer\n");
    assert_eq!(project.session_file(&id)["sequenceNumber"], 3);
    eventually("both are in processed", || project.names("inbox/processed") == ["a.txt", "b.txt"]);
}

#[test]
fn a_processed_file_never_replaces_another_of_its_name() {
    let project = Project::new();
    let (mut daemon, _) = waiting(&project);
    for (number, word) in ["one", "two", "three"].into_iter().enumerate() {
        project.put_reply("reply.txt", logging(word));
        daemon.wait_for(&format!("message {} to copy", number + 2));
    }
    let processed = project.inbox().join("processed");
    assert_eq!(project.names("inbox/processed"), ["reply-2.txt", "reply-3.txt", "reply.txt"]);
    assert_eq!(fs::read_to_string(processed.join("reply.txt")).unwrap(), logging("one"));
    assert_eq!(fs::read_to_string(processed.join("reply-3.txt")).unwrap(), logging("three"));
}

#[test]
fn a_reply_to_another_session_or_an_older_message_is_set_aside() {
    let project = Project::new();
    let (mut daemon, id) = waiting(&project);
    project.put_reply("stranger.txt", format!("Reply-To: 0123abcd-1\n{}", logging("stranger")));
    daemon
        .wait_for("not executed: the reply answers session 0123abcd, and this workspace has no such session");
    daemon.wait_for("inbox/set-aside/stranger.txt");
    project.put_reply("first.txt", format!("Reply-To: {id}-1\n{}", logging("first")));
    daemon.wait_for("message 2 to copy");
    project.put_reply("late.txt", format!("Reply-To: {id}-1\n{}", logging("late")));
    daemon.wait_for("not executed: the reply answers message 1 of the session, and message 2 is waiting");
    daemon.wait_for("inbox/set-aside/late.txt");
    assert_eq!(project.read("ran.log"), "first\n");
    assert_eq!(project.names("inbox/set-aside"), ["late.txt", "stranger.txt"]);
    assert!(daemon.is_running());
}

#[test]
fn the_same_text_twice_is_executed_once_unless_its_token_says_otherwise() {
    let project = Project::new();
    let (mut daemon, id) = waiting(&project);
    project.put_reply("first.txt", logging("same"));
    daemon.wait_for("message 2 to copy");
    project.put_reply("second.txt", logging("same"));
    daemon.wait_for("not executed: the same text was already executed as the answer to message 1");
    daemon.wait_for("agentd apply FILE --again");
    assert_eq!(project.names("inbox/set-aside"), ["second.txt"]);
    assert_eq!(project.read("ran.log"), "same\n");
    project.put_reply("third.txt", format!("Reply-To: {id}-2\n{}", logging("same")));
    daemon.wait_for("message 3 to copy");
    assert_eq!(project.read("ran.log"), "same\nsame\n");
}

#[test]
fn a_paste_that_is_damaged_as_a_whole_is_set_aside_and_nothing_of_it_runs() {
    let project = Project::new();
    let (mut daemon, id) = waiting(&project);
    // The whole message pasted back, with the reply below it.
    project.put_reply("both.txt", format!("{}\n{}", project.outbox(&id, 1), logging("damaged")));
    daemon.wait_for("not executed: the reply cannot be used (line");
    daemon.wait_for("inbox/set-aside/both.txt");
    goes_on(&project, daemon, &id);
}

#[test]
fn prose_without_blocks_does_nothing_and_asks_the_model_to_go_on() {
    let project = Project::new();
    let (mut daemon, id) = waiting(&project);
    project.put_reply("prose.txt", "Certainly! Which file do you mean?\n");
    daemon.wait_for("no block was found in this reply");
    daemon.wait_for("message 2 to copy");
    assert_eq!(project.session_file(&id)["lastResults"].as_array().unwrap().len(), 0);
    let outbox = project.outbox(&id, 2);
    assert!(outbox.contains("=== PROMPT ===\nContinue"), "{outbox}");
    assert!(outbox.contains("\n[NOTE] nothing in your last reply was recognised as a block"), "{outbox}");
    drop(daemon);
    // A reply that is applied says so, too.
    project.apply("Which one?\n", &[]).ok().says("no block was found in this reply");
}

#[test]
fn misspelt_tags_fail_with_the_right_form() {
    let project = Project::new();
    let id = project.begin("try things");
    let reply = "[EDITFILE path=\"a\"]\nx\n[/EDITFILE]\n<read_file path=\"a\"/>\n";
    let report = project.apply(reply, &[]).ok();
    let report = report.prints("[FAILED] PARSE_ERROR: EDIT_FILE is not recognised");
    report.prints("[FAILED] PARSE_ERROR: READ_FILE is not recognised");
    let outbox = project.outbox(&id, 2);
    assert!(outbox.contains("write [READ_FILE path=\"relative/path\"], alone on its line"), "{outbox}");
    let file = project.reply_file(reply);
    let parsed = project.run(&["parse", "tag", "--dialect", "agentd", file.to_str().unwrap()]).ok().json();
    assert_eq!(parsed["commands"].as_array().unwrap().len(), 2);
}

#[test]
fn done_beside_a_failed_block_keeps_the_session_going_and_says_so() {
    let project = Project::new();
    let (mut daemon, id) = waiting(&project);
    let early = "[READ_FILE path=\"missing\"]\n[DONE]\nall is well\n[/DONE]\n";
    project.put_reply("early.txt", early);
    daemon.wait_for("the model said DONE, but 1 block of the reply failed: the session continues");
    daemon.wait_for("message 2 to copy");
    let outbox = project.outbox(&id, 2);
    assert!(outbox.contains("\n[NOTE] your [DONE] did not end the session, because 1 block"), "{outbox}");
    assert!(outbox.contains("[FAILED] READ_FILE: File 'missing' not found"), "{outbox}");
    project.put_reply("done.txt", "[DONE]\nall is well now\n[/DONE]\n");
    let ran = daemon.wait().ok().says("done: all is well now");
    let report = project.run(&["show", &id]).ok().prints("[FAILED] READ_FILE: File 'missing' not found");
    report.prints("done: all is well now");
    assert_eq!(ran.stdout, "");
}

#[test]
fn in_the_dialect_of_the_original_done_beside_a_failed_block_ends_the_session() {
    let project = Project::new();
    let id = project.begin_with(&["new", "--no-wait", "--json", "--dialect", "codingagent", "T"]);
    let early = "[READ_FILE path=\"missing\"]\n[DONE]\nall is well\n[/DONE]\n";
    let mut daemon = Daemon::start(project.command(&["resume", &id]));
    daemon.wait_until_it_waits();
    project.put_reply("early.txt", early);
    daemon.wait().ok().says("done: all is well").says("1 block of the last reply failed");
}

#[test]
fn a_complete_session_is_reopened_by_its_id() {
    let project = Project::new();
    let id = project.begin("T");
    project.apply("[DONE]\nall is well\n[/DONE]\n", &[]).ok();
    project.run(&["resume", &id]).exits(4).says("is complete").says("agentd resume --reopen");
    project.run(&["resume", "--reopen"]).exits(2);
    let mut daemon = Daemon::start(project.command(&["resume", "--reopen", &id]));
    daemon.wait_for("message 2 to copy");
    daemon.wait_until_it_waits();
    let outbox = project.outbox(&id, 2);
    assert!(outbox.contains("\n[NOTE] the user has reopened the session after your [DONE]"), "{outbox}");
    project.put_reply("reply.txt", "[CREATE_FILE path=\"more.txt\"]\nmore\n[/CREATE_FILE]\n");
    daemon.wait_for("message 3 to copy");
    project.put_reply("done.txt", "[DONE]\nnow it is\n[/DONE]\n");
    daemon.wait().ok().says("done: now it is");
    assert_eq!(project.read("more.txt"), "more\n");
}

//! Files are projections of the journal: missing, old or damaged files are rewritten, and nothing is lost.

use std::fs;

use change_journal::{DocumentWrite, Journal, JournalLimits};
use tag_session::{InboxEvent, InboxFile, NewSession, SessionError, Sessions, Waited, session_summaries};
use tagproto::Dialect;
use wap_core::CancelFlag;

use crate::desk::{Desk, Shared, apply, apply_file, begin, executed};

const MAKE: &str = "[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n";

/// Takes the next reply out of the inbox.
fn receive(sessions: &Sessions<Shared>) -> InboxFile {
    match sessions.wait(&CancelFlag::new()).unwrap() {
        Waited::Event(InboxEvent::Reply(file)) => file,
        other => panic!("no reply: {other:?}"),
    }
}

#[test]
fn missing_or_different_files_are_rewritten() {
    let desk = Desk::with_files([("a.txt", "one\n")]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let pending = executed(apply(&sessions, id, MAKE)).session;
    drop(sessions);
    let (outbox, session) = (desk.outbox_file(&pending), desk.session_file(&pending));
    let good = (fs::read(&outbox).unwrap(), fs::read(&session).unwrap());
    let names = [
        format!("sessions/{}", pending.session_file_name()),
        format!("outbox/{}", pending.outbox_file_name()),
    ];

    fs::remove_file(&outbox).unwrap();
    fs::remove_file(&session).unwrap();
    let (sessions, reconciled) = desk.open();
    assert_eq!(reconciled.rewritten, names);
    assert_eq!((fs::read(&outbox).unwrap(), fs::read(&session).unwrap()), good);
    drop(sessions);

    fs::write(&outbox, &good.0[..good.0.len() / 2]).unwrap();
    let (sessions, reconciled) = desk.open();
    assert_eq!(reconciled.rewritten, names[1..]);
    assert_eq!(fs::read(&outbox).unwrap(), good.0);
    drop(sessions);

    let (_, reconciled) = desk.open();
    assert_eq!(reconciled, tag_session::Reconciled::default());
}

#[test]
fn parts_of_a_long_message_are_files_that_are_rewritten() {
    let desk = Desk::with_files([("a.txt", "one\n")]);
    let (sessions, _) = desk.open();
    let new = NewSession {
        id: "a1b2c3d4".parse().unwrap(),
        task: "make it work",
        dialect: Dialect::Agentd,
        token_budget: None,
        paste_characters: Some(2_000),
        task_files: &[],
        read_files: &[],
        surroundings: &[],
        handover: None,
    };
    let session = sessions.create_once(&new, &CancelFlag::new()).unwrap();
    let text = fs::read_to_string(desk.outbox_file(&session)).unwrap();
    let parts = session.outbox_parts(&text);
    assert!(parts.len() > 1, "{text}");
    let mut expected = vec![session.outbox_file_name()];
    expected.extend(parts.iter().map(|(name, _)| name.clone()));
    expected.sort();
    assert_eq!(desk.names("outbox"), expected);
    let file = |name: &str| desk.base().join("outbox").join(name);
    for (name, part) in &parts {
        assert_eq!(fs::read_to_string(file(name)).unwrap(), *part);
    }
    drop(sessions);

    fs::remove_file(file(&parts[0].0)).unwrap();
    fs::write(file(&parts[1].0), "half").unwrap();
    let (sessions, reconciled) = desk.open();
    assert_eq!(reconciled.rewritten, [&parts[0], &parts[1]].map(|(name, _)| format!("outbox/{name}")));
    for (name, part) in &parts {
        assert_eq!(fs::read_to_string(file(name)).unwrap(), *part);
    }
    // A short message has no parts, and the parts of the first message stay.
    let next = executed(apply(&sessions, session.session_id, MAKE)).session;
    expected.push(next.outbox_file_name());
    expected.sort();
    assert_eq!(desk.names("outbox"), expected);
    // The control: without the limit there are no parts.
    let plain = begin(&sessions);
    let of_plain = |name: &String| name.starts_with(&plain.session_id.to_string());
    assert_eq!(desk.names("outbox").iter().filter(|name| of_plain(name)).count(), 1);
}

#[test]
fn a_crash_between_commit_and_files_is_repaired() {
    let desk = Desk::with_files([("a.txt", "one\n")]);
    let (sessions, _) = desk.open();
    let first = begin(&sessions);
    let before = fs::read(desk.session_file(&first)).unwrap();
    desk.put("reply.txt", MAKE);
    let file = receive(&sessions);
    let pending = apply_file(&sessions, first.session_id, &file).session;
    drop(sessions);
    let good =
        (fs::read(desk.outbox_file(&pending)).unwrap(), fs::read(desk.session_file(&pending)).unwrap());
    // Everything but the journal is in the state before the commit; the reply was not moved to processed/ either.
    fs::remove_file(desk.outbox_file(&pending)).unwrap();
    fs::write(desk.session_file(&pending), before).unwrap();
    assert_eq!(desk.names("inbox"), ["reply.txt"]);

    let (sessions, reconciled) = desk.open();
    assert_eq!(reconciled.put_away, ["inbox/reply.txt"]);
    assert_eq!(reconciled.rewritten.len(), 2);
    assert!(reconciled.edited.is_empty() && reconciled.damaged.is_empty(), "{reconciled:?}");
    assert_eq!(
        (fs::read(desk.outbox_file(&pending)).unwrap(), fs::read(desk.session_file(&pending)).unwrap()),
        good
    );
    assert!(desk.names("inbox").is_empty());
    assert_eq!(desk.names("inbox/processed"), ["reply.txt"]);
    assert_eq!(sessions.newest_unfinished().unwrap(), Some(pending));
    assert_eq!(desk.workspace.0.commands_run(), ["make"]);
}

#[test]
fn a_new_file_with_the_name_of_an_executed_one_is_not_moved() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    desk.put("reply.txt", MAKE);
    let file = receive(&sessions);
    apply_file(&sessions, id, &file);
    sessions.move_to_processed(&file).unwrap();
    drop(sessions);
    desk.put("reply.txt", "[RUN_COMMAND]\nmake test\n[/RUN_COMMAND]\n");
    let (sessions, reconciled) = desk.open();
    assert!(reconciled.put_away.is_empty(), "{reconciled:?}");
    let file = receive(&sessions);
    apply_file(&sessions, id, &file);
    sessions.move_to_processed(&file).unwrap();
    assert_eq!(desk.names("inbox/processed"), ["reply-2.txt", "reply.txt"]);
}

#[test]
fn damaged_and_edited_session_files_are_kept_and_the_journal_applies() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let session = begin(&sessions);
    drop(sessions);
    let file = desk.session_file(&session);
    let good = fs::read_to_string(&file).unwrap();
    let name = session.session_file_name();
    let path = format!("sessions/{name}");

    for number in 1..=2 {
        fs::write(&file, "{\"sessionId\":").unwrap();
        let (_, reconciled) = desk.open();
        assert_eq!(reconciled.damaged, [(path.clone(), format!("sessions/{name}.damaged-{number}"))]);
        assert_eq!(fs::read_to_string(&file).unwrap(), good);
    }
    let edited = good.replace("make it work", "something else");
    fs::write(&file, &edited).unwrap();
    let (sessions, reconciled) = desk.open();
    assert_eq!(reconciled.edited, [(path, format!("sessions/{name}.edited-1"))]);
    assert_eq!(fs::read_to_string(desk.base().join(format!("sessions/{name}.edited-1"))).unwrap(), edited);
    assert_eq!(sessions.session(session.session_id).unwrap().task, "make it work");
}

#[test]
fn a_folder_with_the_name_of_an_outbox_is_reported() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let session = begin(&sessions);
    drop(sessions);
    let file = desk.outbox_file(&session);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let (journal, _) =
        change_journal::Journal::open(&desk.base().join("journal"), Default::default()).unwrap();
    let folders = tag_session::StateFolders::open(&desk.base()).unwrap();
    let error = tag_session::Sessions::open(desk.workspace.clone(), journal, folders).unwrap_err();
    let SessionError::Files(sandbox_fs::FsError::NotAFile { path, .. }) = &error else { panic!("{error:?}") };
    assert_eq!(path.to_string(), session.outbox_file_name());
}

#[test]
fn without_the_journal_sessions_are_imported_and_commands_need_confirmation() {
    let desk = Desk::with_files([("a.txt", "one\ntwo\n")]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let pending = executed(apply(&sessions, id, "[READ_FILE path=\"a.txt\"]\n")).session;
    drop(sessions);
    let outbox = fs::read(desk.outbox_file(&pending)).unwrap();
    fs::remove_dir_all(desk.base().join("journal")).unwrap();
    let broken = desk.base().join("sessions/0123abcd.json");
    fs::write(&broken, "not a session").unwrap();

    let (sessions, reconciled) = desk.open();
    assert_eq!(reconciled.imported, [id.to_string()]);
    assert_eq!(reconciled.damaged[0].1, "sessions/0123abcd.json.damaged-1");
    assert_eq!(sessions.session(id).unwrap(), pending);
    assert_eq!(sessions.outbox(&pending).unwrap().unwrap().into_bytes(), outbox);
    let refused = apply(&sessions, id, MAKE);
    assert!(matches!(refused, Err(SessionError::HistoryLost)), "{refused:?}");
    assert!(desk.workspace.0.commands_run().is_empty());
    // Files are safe: line numbers refer to the shown version, even if another program changed the file since.
    let edit = "[EDIT_FILE path=\"a.txt\" start_line=\"2\" end_line=\"2\"]\nnew two\n[/EDIT_FILE]\n";
    executed(apply(&sessions, id, edit));
    assert_eq!(desk.workspace.0.text("a.txt").unwrap(), "one\nnew two\n");
    executed(apply(&sessions, id, MAKE));
    assert_eq!(desk.workspace.0.commands_run(), ["make"]);
}

#[test]
fn clock_that_jumps_back_does_not_make_an_older_session_the_newest() {
    let desk = Desk::with_files([("a.txt", "one\n")]);
    let (sessions, _) = desk.open();
    let older = begin(&sessions);
    drop(sessions);
    let journal = Journal::open(&desk.base().join("journal"), JournalLimits::default()).unwrap().0;
    let name = format!("session/{}", older.session_id);
    let text = String::from_utf8(journal.reader().document(&name).unwrap().unwrap().bytes).unwrap();
    let text = text.replace(&older.updated_at, "2999-01-01T00:00:00Z");
    journal.write_documents(&[DocumentWrite::Put { name: &name, bytes: text.as_bytes() }]).unwrap();
    drop(journal);

    let (sessions, _) = desk.open();
    let newer = begin(&sessions);
    assert_eq!(sessions.newest_unfinished().unwrap().unwrap().session_id, newer.session_id);
    let listed = session_summaries(sessions.journal_reader()).unwrap();
    assert_eq!(listed[0].session, newer.session_id.to_string());
    executed(apply(&sessions, older.session_id, "[READ_FILE path=\"a.txt\"]\n"));
    assert_eq!(sessions.newest_unfinished().unwrap().unwrap().session_id, older.session_id);
    // Without a journal only the times are left; afterwards the journal has the order again.
    drop(sessions);
    fs::remove_dir_all(desk.base().join("journal")).unwrap();
    let (sessions, reconciled) = desk.open();
    assert_eq!(reconciled.imported.len(), 2);
    executed(apply(&sessions, newer.session_id, "[READ_FILE path=\"a.txt\"]\n"));
    assert_eq!(sessions.newest_unfinished().unwrap().unwrap().session_id, newer.session_id);
}

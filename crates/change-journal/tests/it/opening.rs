//! Whatever is in the folder, opening reports it and loses nothing silently.

use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use change_journal::{
    DocumentWrite, Journal, JournalError, JournalLimits, JournalReader, OpenError, OpenReport,
    RecordedAttributes, RunState,
};
use rusqlite::Connection;

use crate::support::{Folder, begin_new, file_step, key};

/// A closed journal with one finished run and enough contents to have many pages.
fn filled() -> Folder {
    let folder = Folder::new();
    let journal = folder.journal();
    let run = begin_new(&journal, &key(1, "a"));
    for index in 0..20 {
        let bytes = vec![index as u8; 10_000];
        journal.record_steps(run.number(), index, &[file_step("x", &bytes, "ok")]).unwrap();
    }
    journal.finish_run(run.number(), b"done", &[]).unwrap();
    drop(journal);
    folder
}

fn overwrite(path: &Path, at: u64, bytes: &[u8]) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(bytes).unwrap();
}

/// The texts of an error and all its causes.
fn whole_text(error: &dyn std::error::Error) -> String {
    let cause = error.source().map(whole_text).unwrap_or_default();
    format!("{error}\n{cause}")
}

#[test]
fn first_opening_creates_and_later_ones_do_not() {
    let folder = Folder::new();
    let (journal, report) = folder.open();
    let expected = (true, false, false, 0, 0);
    let facts = |report: &OpenReport| {
        let OpenReport { created, after_crash, after_restart, unfinished_runs, unsettled_changes, .. } =
            *report;
        (created, after_crash, after_restart, unfinished_runs, unsettled_changes)
    };
    assert_eq!(facts(&report), expected);
    let run = begin_new(&journal, &key(1, "a"));
    journal.record_steps(run.number(), 0, &[file_step("x", b"1", "ok")]).unwrap();
    drop(journal);
    let (_, report) = folder.open();
    assert_eq!(facts(&report), (false, false, false, 1, 1));
}

#[test]
fn changes_of_an_earlier_boot_are_marked() {
    let folder = Folder::new();
    {
        let journal = folder.journal();
        let run = begin_new(&journal, &key(1, "a"));
        journal.record_steps(run.number(), 0, &[file_step("x", b"1", "ok")]).unwrap();
    }
    let earlier = "UPDATE opening SET boot_id = 'earlier', closed_at_ms = NULL";
    Connection::open(folder.database()).unwrap().execute(earlier, []).unwrap();
    let (journal, report) = folder.open();
    assert!(report.after_restart && report.after_crash);
    assert!(!journal.reader().unsettled_changes().unwrap()[0].this_boot);
    drop(journal);
    assert!(!folder.open().1.after_restart);
}

#[test]
fn no_file_of_the_journal_is_readable_by_others() {
    let folder = Folder::new();
    fs::create_dir(folder.path()).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let limits = JournalLimits { inline_content_bytes: 10, ..JournalLimits::default() };
    let (journal, _) = Journal::open(&folder.path(), limits).unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    journal.record_steps(run.number(), 0, &[file_step("x", &[1; 100], "ok")]).unwrap();
    let mut names = Vec::new();
    for entry in fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{:?} has mode {mode:o}", entry.file_name());
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort_unstable();
    assert_eq!(names, ["blobs", "journal.db", "journal.db-shm", "journal.db-wal", "lock"]);
}

#[test]
fn closed_journal_leaves_no_log() {
    let folder = filled();
    assert!(!folder.path().join("journal.db-wal").exists());
    assert!(!folder.path().join("journal.db.new").exists());
}

#[test]
fn database_is_in_write_ahead_mode() {
    let folder = filled();
    let connection = Connection::open(folder.database()).unwrap();
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

#[test]
fn second_opening_reports_the_holder_of_the_journal() {
    let folder = Folder::new();
    let journal = folder.journal();
    let refused = Journal::open(&folder.path(), JournalLimits::default()).unwrap_err();
    assert!(matches!(refused, OpenError::Held { process_id: Some(id) } if id == std::process::id()));
    let clone = journal.clone();
    drop(journal);
    assert!(matches!(Journal::open(&folder.path(), JournalLimits::default()), Err(OpenError::Held { .. })));
    drop(clone);
    folder.journal();
}

#[test]
fn only_one_of_many_openings_at_once_gets_the_journal() {
    let folder = Folder::new();
    let openings: Vec<_> = std::thread::scope(|scope| {
        let open = || Journal::open(&folder.path(), JournalLimits::default());
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(open)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(openings.iter().filter(|opening| opening.is_ok()).count(), 1);
    assert_eq!(openings.iter().filter(|opening| matches!(opening, Err(OpenError::Held { .. }))).count(), 5);
}

#[test]
fn journal_of_the_first_schema_is_read_as_it_is_and_brought_up_to_date_by_a_writer() {
    let folder = filled();
    let connection = Connection::open(folder.database()).unwrap();
    connection
        .execute_batch(
            "DROP INDEX change_by_before_attributes; DROP INDEX change_by_after_attributes;
             ALTER TABLE change DROP COLUMN before_attributes; ALTER TABLE change DROP COLUMN after_attributes;
             PRAGMA user_version = 1",
        )
        .unwrap();
    drop(connection);
    let attributes = |reader: &JournalReader| {
        let changes = reader.changes_of_path(b"x", 100).unwrap();
        assert_eq!(changes.len(), 20);
        changes[0].after.unwrap().attributes
    };
    let reader = Journal::open_read_only(&folder.path()).unwrap();
    assert_eq!(attributes(&reader), RecordedAttributes::Unknown);
    let version = |expected: u32| {
        let connection = Connection::open(folder.database()).unwrap();
        let version: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(version, expected);
    };
    version(1);
    let journal = folder.journal();
    assert_eq!(attributes(journal.reader()), RecordedAttributes::Unknown);
    assert_eq!(attributes(&reader), RecordedAttributes::Unknown);
    drop(journal);
    version(2);
}

#[test]
fn newer_schema_is_refused_and_left_alone() {
    let folder = filled();
    Connection::open(folder.database()).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(folder.database()).unwrap();
    for _ in 0..2 {
        let refused = Journal::open(&folder.path(), JournalLimits::default()).unwrap_err();
        assert!(matches!(refused, OpenError::Newer { found: 99, supported: 2 }), "{refused:?}");
        let refused = Journal::open_read_only(&folder.path()).unwrap_err();
        assert!(matches!(refused, OpenError::Newer { found: 99, supported: 2 }), "{refused:?}");
    }
    assert!(fs::read(folder.database()).unwrap() == before);
}

type Damage = fn(&Folder);

/// Each way of damage, by name.
const DAMAGES: &[(&str, Damage)] = &[
    ("garbage in the header", |folder| overwrite(&folder.database(), 0, &[0xa5; 100])),
    ("garbage everywhere", |folder| fs::write(folder.database(), vec![0x5a; 50_000]).unwrap()),
    ("nothing left", |folder| fs::write(folder.database(), b"").unwrap()),
    ("a few bytes left", |folder| fs::write(folder.database(), b"SQLite format 3").unwrap()),
    ("half left", |folder| {
        let length = fs::metadata(folder.database()).unwrap().len();
        let file = OpenOptions::new().write(true).open(folder.database()).unwrap();
        file.set_len(length / 2).unwrap();
    }),
    ("garbage in a later page", |folder| overwrite(&folder.database(), 5 * 4096, &[0xff; 4096])),
    ("zeroed schema page", |folder| overwrite(&folder.database(), 100, &[0; 3996])),
    ("another program's database", |folder| {
        fs::remove_file(folder.database()).unwrap();
        Connection::open(folder.database()).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    }),
    ("only a log left", |folder| {
        fs::rename(folder.database(), folder.path().join("journal.db-wal")).unwrap();
    }),
];

#[test]
fn damaged_database_is_quarantined_and_replaced() {
    for (name, damage) in DAMAGES {
        let folder = filled();
        damage(&folder);
        let is_log = !folder.database().exists();
        let damaged = fs::read(if is_log { folder.path().join("journal.db-wal") } else { folder.database() });

        let (journal, report) = folder.open();
        assert!(report.created, "{name}");
        assert_eq!(report.set_aside.len(), 1, "{name}");
        assert_eq!(report.set_aside[0].name, "journal.db.damaged-1", "{name}");
        let kept = if is_log { "journal.db.damaged-1-wal" } else { "journal.db.damaged-1" };
        assert!(fs::read(folder.path().join(kept)).unwrap() == damaged.unwrap(), "{name}");
        let run = begin_new(&journal, &key(1, "a"));
        journal.finish_run(run.number(), b"done", &[]).unwrap();
        drop(journal);

        // Every opening reports it until it is acknowledged.
        let (journal, report) = folder.open();
        assert_eq!((report.created, report.set_aside.len()), (false, 1), "{name}");
        assert!(matches!(journal.begin_run(&key(1, "a")).unwrap(), RunState::Finished { .. }), "{name}");
        journal.acknowledge_set_aside().unwrap();
        drop(journal);
        assert_eq!(folder.open().1.set_aside, [], "{name}");
    }
}

#[test]
fn second_damage_takes_the_next_name() {
    let folder = filled();
    for expected in 1..=3 {
        overwrite(&folder.database(), 0, &[0xa5; 100]);
        let (journal, report) = folder.open();
        assert_eq!(report.set_aside.len(), expected);
        drop(journal);
    }
    assert!(folder.path().join("journal.db.damaged-3").exists());
}

#[test]
fn loss_is_reported_even_if_the_process_died_before_making_the_new_database() {
    let folder = filled();
    fs::rename(folder.database(), folder.path().join("journal.db.damaged-1")).unwrap();
    fs::write(folder.path().join("journal.db.new"), b"half made").unwrap();
    let (_journal, report) = folder.open();
    assert!(report.created);
    assert_eq!(report.set_aside.len(), 1);
}

#[test]
fn loss_is_reported_even_if_the_process_died_between_quarantining_the_log_and_the_database() {
    let folder = filled();
    // The database without its log is an older one, and sound.
    let log = folder.path().join("journal.db.damaged-1-wal");
    for _ in 0..2 {
        fs::write(&log, b"a log with the latest commits").unwrap();
        for is_acknowledged in [false, true] {
            let (journal, report) = folder.open();
            let names: Vec<_> = report.set_aside.into_iter().map(|set_aside| set_aside.name).collect();
            assert_eq!((report.created, names), (false, vec!["journal.db.damaged-1".to_owned()]));
            if is_acknowledged {
                journal.acknowledge_set_aside().unwrap();
            }
        }
        assert_eq!(folder.open().1.set_aside, []);
        // The user removes it, and its name may be reused.
        fs::remove_file(&log).unwrap();
        assert_eq!(folder.open().1.set_aside, []);
    }
}

#[test]
fn damage_detected_while_reading_is_quarantined_by_the_next_opening() {
    let folder = filled();
    // Larger than the bound for a check on opening, so that the damage goes unseen at first.
    let limits = JournalLimits { check_bytes: 0, ..JournalLimits::default() };
    let length = fs::metadata(folder.database()).unwrap().len();
    for page in 3..length / 4096 {
        overwrite(&folder.database(), page * 4096, &[0xff; 4096]);
    }
    match Journal::open(&folder.path(), limits.clone()) {
        Ok((journal, report)) if report.set_aside.is_empty() => {
            let steps = journal.reader().steps(change_journal::RunNumber(1));
            assert!(matches!(steps, Err(JournalError::Damaged)), "{steps:?}");
            drop(journal);
            let (_, report) = Journal::open(&folder.path(), limits).unwrap();
            assert_eq!(report.set_aside.len(), 1);
        }
        // The opening's own row needs pages too, so the damage may surface there.
        other => assert!(other.is_ok_and(|(_, report)| report.set_aside.len() == 1)),
    }
}

#[test]
fn missing_parent_is_an_error_of_its_own() {
    let folder = Folder::new();
    let refused = Journal::open(&folder.path().join("deeper"), JournalLimits::default());
    assert!(matches!(refused, Err(OpenError::Missing)), "{refused:?}");
}

#[test]
fn no_error_text_names_a_path_of_the_host() {
    let folder = Folder::new();
    let path = folder.path();
    let mut errors: Vec<OpenError> = vec![
        Journal::open(&path.join("deeper"), JournalLimits::default()).unwrap_err(),
        Journal::open_read_only(&path).unwrap_err(),
    ];
    fs::write(&path, b"a file, not a folder").unwrap();
    errors.push(Journal::open(&path, JournalLimits::default()).unwrap_err());
    fs::remove_file(&path).unwrap();
    fs::create_dir_all(path.join("journal.db")).unwrap();
    errors.push(Journal::open(&path, JournalLimits::default()).unwrap_err());
    errors.push(Journal::open_read_only(&path).unwrap_err());
    fs::remove_dir(path.join("journal.db")).unwrap();
    let _journal = folder.journal();
    errors.push(Journal::open(&path, JournalLimits::default()).unwrap_err());
    for error in errors {
        let text = whole_text(&error);
        let parent = path.parent().unwrap().to_str().unwrap();
        assert!(!text.contains(parent) && !text.contains("journal.db"), "{text}");
    }
}

#[test]
fn closing_keeps_the_writes_of_every_clone() {
    let folder = Folder::new();
    let journal = folder.journal();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let journal = journal.clone();
            scope.spawn(move || {
                let name = format!("document {thread}");
                journal.write_documents(&[DocumentWrite::Put { name: &name, bytes: b"value" }]).unwrap();
            });
        }
    });
    drop(journal);
    assert_eq!(folder.journal().reader().documents("document ").unwrap().len(), 4);
}

/// A process that was killed while starting another has briefly left its lock to that one.
#[test]
fn holder_that_has_ended_is_waited_for_and_one_that_lives_is_not() {
    for (last_words, is_waited_for) in [("sleep 1 &", true), ("exec sleep 60", false)] {
        let folder = Folder::new();
        drop(folder.journal());
        let script = format!("exec 9<>lock; flock 9; printf %s $$ >&9; echo held; {last_words}");
        let mut holder = Command::new("sh")
            .args(["-c", &script])
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut word = [0; 4];
        holder.stdout.take().unwrap().read_exact(&mut word).unwrap();
        if is_waited_for {
            holder.wait().unwrap();
        }
        let opened = Journal::open(&folder.path(), JournalLimits::default());
        match opened {
            Ok(_) => assert!(is_waited_for),
            Err(OpenError::Held { process_id }) => {
                assert_eq!((is_waited_for, process_id), (false, Some(holder.id())));
            }
            Err(other) => panic!("{other}"),
        }
        // One that has ended is not there to be killed.
        let _ = holder.kill();
        holder.wait().unwrap();
    }
}

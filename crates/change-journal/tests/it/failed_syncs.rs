//! A log that cannot be synced: acknowledged writes are kept, refused ones are not, and the journal resumes
//! without being reopened once syncs succeed.
//!
//! `strace` makes the calls fail, in a separate process.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use change_journal::{ContentHash, DocumentWrite, Journal, JournalError, JournalLimits, RunState};

use crate::support::{Folder, begin_new, file_step, key};
use test_support::{child, folder_of_child};

/// The number of documents that a child writes.
const WRITES: u32 = 6;

/// Runs an ignored test in a process in which the syncs of `name` in the journal's folder fail with `fault`, such as
/// `error=EIO:when=3`.
fn with_failing_syncs(child_name: &str, folder: &Folder, name: &str, fault: &str) -> Command {
    let program = child(child_name, &folder.path());
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-e", "trace=fsync,fdatasync", "-o"]).arg(trace(folder));
    command.args(["-e", &format!("inject=fsync,fdatasync:{fault}")]);
    command.arg("-P").arg(folder.path().join(name)).arg("--").arg(program.get_program());
    command.args(program.get_args());
    for (name, value) in program.get_envs() {
        command.env(name, value.unwrap());
    }
    command
}

fn trace(folder: &Folder) -> PathBuf {
    folder.path().with_file_name("trace")
}

fn injected(folder: &Folder) -> usize {
    fs::read_to_string(trace(folder)).unwrap().matches("INJECTED").count()
}

#[track_caller]
fn succeeds(mut command: Command) -> String {
    let output = command.output().expect("this test needs the program strace");
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    text
}

/// Parses the child's report into acknowledged and refused writes.
fn reported(text: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let all = |word: &str| {
        text.split_whitespace().filter_map(|said| said.strip_prefix(word)).map(str::to_owned).collect()
    };
    (all("kept:"), all("refused:"))
}

fn names(folder: &Path) -> BTreeSet<String> {
    let journal = Journal::open(folder, JournalLimits::default()).unwrap().0;
    journal.reader().documents("").unwrap().into_iter().map(|head| head.name).collect()
}

#[test]
fn one_failed_sync_of_the_log_is_made_good_without_a_restart() {
    // Every thread counts its own syncs. The first ones are met by opening, which is refused as a whole then.
    let mut failed = 0;
    for number in 1..=WRITES + 6 {
        let folder = Folder::new();
        drop(folder.journal());
        let fault = format!("error=EIO:when={number}");
        let mut command =
            with_failing_syncs("failed_syncs::child_writes_documents", &folder, "journal.db-wal", &fault);
        command.env("KILLED", "1");
        let output = command.output().expect("this test needs the program strace");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (kept, refused) = reported(&text);
        assert_eq!(refused, BTreeSet::new(), "sync {number}: {text}");
        if text.contains("not opened") {
            continue;
        }
        failed += injected(&folder);
        assert_eq!(kept.len(), WRITES as usize, "sync {number}: {text}");
        assert_eq!(names(&folder.path()), kept, "sync {number}");
    }
    assert!(failed >= WRITES as usize - 2, "only {failed} syncs failed, so this shows nothing");
}

#[test]
fn writes_refused_while_syncs_failed_do_not_appear_later() {
    let folder = Folder::new();
    drop(folder.journal());
    // The fourth sync of the writing thread and the next nine: more than are tried for one write.
    let command = with_failing_syncs(
        "failed_syncs::child_writes_documents",
        &folder,
        "journal.db-wal",
        "error=EIO:when=4..13",
    );
    let (kept, refused) = reported(&succeeds(command));
    assert!(!refused.is_empty() && !kept.is_empty(), "{kept:?} {refused:?}");
    assert_eq!(injected(&folder), 10);
    assert!(kept.contains("last"), "{kept:?}");
    assert_eq!(names(&folder.path()), kept);
}

#[test]
#[ignore = "runs as a child of the tests of failed syncs"]
fn child_writes_documents() {
    let Some(folder) = folder_of_child() else { return };
    let limits =
        JournalLimits { lazy_delay: std::time::Duration::from_secs(600), ..JournalLimits::default() };
    let Ok((journal, _)) = Journal::open(&folder, limits) else {
        println!(" not opened ");
        return;
    };
    let write = |name: &str| {
        let done = journal.write_documents(&[DocumentWrite::Put { name, bytes: name.as_bytes() }]);
        let kept = journal.reader().document(name).unwrap().is_some();
        assert_eq!(kept, done.is_ok(), "{name}: {done:?}");
        match done {
            Ok(_) => println!(" kept:{name} "),
            Err(JournalError::NotSynced) => println!(" refused:{name} "),
            Err(other) => panic!("{other:?}"),
        }
        kept
    };
    for number in 0..WRITES - 1 {
        write(&format!("document-{number}"));
    }
    // The disk takes writes again at some time, and nothing else is needed.
    assert!((0..20).any(|_| write("last")), "the journal never recovered");
    if std::env::var_os("KILLED").is_some() {
        // Nothing is closed, so that the next opening finds the log as it is.
        println!();
        std::process::abort();
    }
}

#[test]
fn log_of_a_killed_process_is_written_once_more() {
    let folder = Folder::new();
    let output = child("failed_syncs::child_records_and_is_killed", &folder.path()).output().unwrap();
    assert!(!output.status.success());
    let log = folder.path().join("journal.db-wal");
    assert!(fs::metadata(&log).unwrap().len() > 8192);
    let (journal, report) = folder.open();
    assert!(report.after_crash);
    // What a loss of power leaves if the log's pages were never written: the database alone has to hold it all.
    assert!(fs::metadata(&log).unwrap().len() < 65_536, "the old log is still there");
    let RunState::Finished { outcome, .. } = journal.begin_run(&key(1, "a")).unwrap() else { panic!() };
    assert_eq!(outcome, b"done");
    let copy = Folder::new();
    fs::create_dir(copy.path()).unwrap();
    fs::copy(folder.database(), copy.database()).unwrap();
    let RunState::Finished { .. } = copy.journal().begin_run(&key(1, "a")).unwrap() else { panic!() };
}

#[test]
#[ignore = "runs as a child of log_of_a_killed_process_is_written_once_more"]
fn child_records_and_is_killed() {
    let Some(folder) = folder_of_child() else { return };
    let journal = Journal::open(&folder, JournalLimits::default()).unwrap().0;
    let run = begin_new(&journal, &key(1, "a"));
    journal.record_steps(run.number(), 0, &[file_step("x", &vec![7; 200_000], "ok")]).unwrap();
    journal.finish_run(run.number(), b"done", &[]).unwrap();
    std::process::abort();
}

#[test]
fn large_content_outlives_the_failed_sync_of_another_caller_who_keeps_it() {
    let folder = Folder::new();
    drop(folder.journal());
    let shelf = format!("blobs/{}", &ContentHash::of(LARGE).to_string()[..2]);
    fs::create_dir_all(folder.path().join(&shelf)).unwrap();
    // The first sync of the shelf belongs to the first caller; those of later callers fail.
    let command =
        with_failing_syncs("failed_syncs::child_keeps_a_content_twice", &folder, &shelf, "error=EIO:when=2+");
    succeeds(command);
    assert_eq!(injected(&folder), 1, "only the child's control meets a failing sync");
}

const LARGE: &[u8] = &[7; 100_000];

#[test]
#[ignore = "runs as a child of large_content_outlives_the_failed_sync_of_another_caller_who_keeps_it"]
fn child_keeps_a_content_twice() {
    let Some(folder) = folder_of_child() else { return };
    let limits = JournalLimits {
        inline_content_bytes: 1000,
        // The first caller's row stays on its way into a commit until this test asks for one.
        lazy_delay: std::time::Duration::from_secs(600),
        ..JournalLimits::default()
    };
    let journal = Journal::open(&folder, limits).unwrap().0;
    let hash = journal.keep_content(LARGE).unwrap();
    let second = journal.keep_content(LARGE);
    journal.flush().unwrap();
    assert!(journal.reader().content(&hash).unwrap().as_deref() == Some(LARGE), "{second:?}");

    // The control: syncs of this folder do fail, and a file that no write relies on goes then, because a second
    // sync of its folder would prove nothing.
    let name = hash.to_string();
    let path = folder.join("blobs").join(&name[..2]).join(&name);
    journal.collect_garbage(&change_journal::GarbageRule::default()).unwrap();
    fs::write(&path, LARGE).unwrap();
    journal.keep_content(LARGE).unwrap_err();
    assert!(!path.exists());
}

#[test]
fn disk_that_fails_while_an_old_log_is_written_again_keeps_the_journal_closed() {
    let folder = Folder::new();
    let output = child("failed_syncs::child_records_and_is_killed", &folder.path()).output().unwrap();
    assert!(!output.status.success());
    let command = with_failing_syncs("failed_syncs::child_cannot_open", &folder, "journal.db", "error=EIO");
    succeeds(command);
    assert!(injected(&folder) > 0);
    let RunState::Finished { .. } = folder.journal().begin_run(&key(1, "a")).unwrap() else { panic!() };
}

#[test]
#[ignore = "runs as a child of disk_that_fails_while_an_old_log_is_written_again_keeps_the_journal_closed"]
fn child_cannot_open() {
    let Some(folder) = folder_of_child() else { return };
    let refused = Journal::open(&folder, JournalLimits::default());
    assert!(matches!(refused, Err(change_journal::OpenError::Database(_))), "{refused:?}");
}

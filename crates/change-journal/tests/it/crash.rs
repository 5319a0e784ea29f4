//! An acknowledged write survives `kill -9` at any point.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use change_journal::{
    ChangeRecord, ContentHash, DocumentWrite, EntryRecord, Journal, JournalLimits, Recall, Run, RunKey,
    RunState, StepKind,
};

use crate::support::{Folder, file_step};
use test_support::{child, folder_of_child};

const THREADS: u64 = 3;

/// Small enough that some contents become files and the log is folded in all the time.
fn limits() -> JournalLimits {
    JournalLimits {
        inline_content_bytes: 2000,
        checkpoint_bytes: 100_000,
        lazy_delay: Duration::from_millis(3),
        ..JournalLimits::default()
    }
}

fn key(round: u64, thread: u64, sequence: u64) -> RunKey {
    let conversation = format!("{round}-{thread}");
    RunKey {
        content: ContentHash::of(format!("{conversation}-{sequence}").as_bytes()),
        conversation,
        sequence,
    }
}

fn content(key: &RunKey, index: usize) -> Vec<u8> {
    let mut bytes = format!("{}/{}/{index}\n", key.conversation, key.sequence).into_bytes();
    bytes.resize(20 + (key.sequence as usize * 977 + index * 1013) % 4000, b'.');
    bytes
}

#[test]
fn acknowledged_writes_survive_kill_9() {
    let folder = Folder::new();
    for round in 0..rounds(12) {
        let mut writer = child("crash::child_writes_until_it_is_killed", &folder.path())
            .env("ROUND", round.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        let started = lines.by_ref().find(|line| line.as_ref().unwrap().contains("ack "));
        assert!(started.is_some(), "the child ended before it wrote anything");
        // An uneven time, so that the rounds end at different points.
        std::thread::sleep(Duration::from_micros(1 + (round * round * 977) % 150_000));
        writer.kill().unwrap();
        writer.wait().unwrap();

        let mut acknowledged: HashMap<RunKey, String> = HashMap::new();
        for line in started.into_iter().chain(lines) {
            let line = line.unwrap();
            // The first line shares its row with what the test harness says.
            let Some((_, words)) = line.split_once("ack ") else { continue };
            let words: Vec<_> = words.split_whitespace().collect();
            let [thread, sequence, what] = words[..] else { panic!("half a line: {line}") };
            acknowledged
                .insert(key(round, thread.parse().unwrap(), sequence.parse().unwrap()), what.to_owned());
        }
        assert!(!acknowledged.is_empty());
        let (journal, report) = Journal::open(&folder.path(), limits()).unwrap();
        assert!(report.after_crash && !report.after_restart && report.set_aside.is_empty(), "{report:?}");
        for (key, what) in &acknowledged {
            check(&journal, key, what);
        }
        check_all_or_nothing(&journal);
        drop(journal);
        assert!(!folder.path().join("suspect").exists());
    }
}

/// Returns the number of kills: `usual`, or more in a longer run.
fn rounds(usual: u64) -> u64 {
    std::env::var("CHANGE_JOURNAL_CRASH_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Checks that the journal holds at least every acknowledged write.
fn check(journal: &Journal, key: &RunKey, what: &str) {
    let (rank, number) = match journal.begin_run(key).unwrap() {
        RunState::Finished { number, outcome } => {
            assert_eq!(outcome, b"done");
            let document = journal.reader().document(&key.conversation).unwrap().unwrap();
            let sequence: u64 = String::from_utf8(document.bytes).unwrap().parse().unwrap();
            assert!(sequence >= key.sequence);
            ("finished", number)
        }
        RunState::Resumed { run, steps } => match steps.recall(3) {
            Recall::Finished(outcome) => {
                assert_eq!(outcome, b"exit 0");
                ("ended", run.number())
            }
            Recall::Unknown => ("started", run.number()),
            Recall::NotStarted => ("recorded", run.number()),
        },
        other => panic!("{what} was acknowledged for {key:?} and is {other:?}"),
    };
    let ranks = ["recorded", "started", "ended", "finished"];
    let position = |word| ranks.iter().position(|rank| *rank == word).unwrap();
    assert!(position(rank) >= position(what), "{what} was acknowledged for {key:?}, found {rank}");
    for (change, index) in journal.reader().changes_of_run(number).unwrap().iter().zip(0..) {
        let hash = change.after.unwrap().content.unwrap();
        assert!(journal.reader().content(&hash).unwrap().unwrap() == content(key, index));
    }
}

/// Checks that no run shows a part of a commit.
fn check_all_or_nothing(journal: &Journal) {
    let runs = journal.reader().runs(&Default::default(), 100_000).unwrap();
    for run in runs {
        let steps = journal.reader().steps(run.number).unwrap();
        let ended = steps.get(3).is_some_and(|step| step.outcome.is_some());
        let changes = journal.reader().changes_of_run(run.number).unwrap();
        assert!(steps.len() == 3 || steps.len() == 4, "{steps:?}");
        assert_eq!(changes.len(), if ended { 4 } else { 3 });
    }
}

#[test]
#[ignore = "runs as a child of acknowledged_writes_survive_kill_9"]
fn child_writes_until_it_is_killed() {
    let Some(folder) = folder_of_child() else { return };
    let round: u64 = std::env::var("ROUND").unwrap().parse().unwrap();
    let (journal, _) = Journal::open(&folder, limits()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let journal = journal.clone();
            scope.spawn(move || {
                // The parent kills this process; the bound is for a parent that is gone itself.
                for sequence in 0..100_000 {
                    write_run(&journal, round, thread, sequence);
                }
            });
        }
    });
}

#[expect(clippy::print_stdout, reason = "the parent reads what is acknowledged")]
fn write_run(journal: &Journal, round: u64, thread: u64, sequence: u64) {
    let key = key(round, thread, sequence);
    let say = |what: &str| println!("ack {thread} {sequence} {what}");
    let RunState::New(run) = journal.begin_run(&key).unwrap() else { panic!() };
    let run: &Run = &run;
    let contents: Vec<_> = (0..4).map(|index| content(&key, index)).collect();
    let steps: Vec<_> = contents[..3].iter().map(|bytes| file_step("x", bytes, "ok")).collect();
    let numbers = journal.record_steps(run.number(), 0, &steps).unwrap();
    say("recorded");
    journal.settle_changes(&numbers).unwrap();
    journal.start_step(run.number(), 3, StepKind::ShellCommand, "make").unwrap();
    say("started");
    let effect = ChangeRecord::intended(b"out.o", None, Some(EntryRecord::file(&contents[3])));
    journal.finish_step(run.number(), 3, b"exit 0", &[effect]).unwrap();
    say("ended");
    let bytes = sequence.to_string();
    let document = DocumentWrite::Put { name: &key.conversation, bytes: bytes.as_bytes() };
    journal.finish_run(run.number(), b"done", &[document]).unwrap();
    say("finished");
}

#[test]
fn process_killed_while_it_opens_or_closes_damages_nothing() {
    for round in 0..rounds(15) {
        let folder = Folder::new();
        let mut opener =
            child("crash::child_opens_and_closes", &folder.path()).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(3000 + (round * 2713) % 60_000));
        opener.kill().unwrap();
        opener.wait().unwrap();
        let (journal, report) = Journal::open(&folder.path(), limits()).unwrap();
        assert_eq!(report.set_aside, [], "{report:?}");
        // Each opening of the child wrote one run after it had checked all earlier ones.
        let runs = journal.reader().runs(&Default::default(), 100_000).unwrap();
        for (run, sequence) in runs.iter().rev().zip(0..) {
            assert_eq!(run.key.sequence, sequence);
        }
    }
}

#[test]
#[ignore = "runs as a child of process_killed_while_it_opens_or_closes_damages_nothing"]
fn child_opens_and_closes() {
    let Some(folder) = folder_of_child() else { return };
    for sequence in 0..10_000 {
        let (journal, _) = Journal::open(&folder, limits()).unwrap();
        let RunState::New(run) = journal.begin_run(&key(0, 0, sequence)).unwrap() else { panic!() };
        journal.finish_run(run.number(), b"done", &[]).unwrap();
    }
}

#[test]
fn lock_of_a_killed_process_is_gone() {
    let folder = Folder::new();
    let mut writer = child("crash::child_writes_until_it_is_killed", &folder.path())
        .env("ROUND", "0")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("ack ")));
    let held = Journal::open(&folder.path(), limits());
    let id = writer.id();
    assert!(
        matches!(held, Err(change_journal::OpenError::Held { process_id: Some(holder) }) if holder == id)
    );
    writer.kill().unwrap();
    writer.wait().unwrap();
    open_after(&folder.path());
}

fn open_after(folder: &Path) {
    let (_, report) = Journal::open(folder, limits()).unwrap();
    assert!(report.after_crash && !report.created);
}

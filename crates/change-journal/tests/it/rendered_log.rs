//! The log of a journal, rendered for a reader, and the text of every error.

use std::fmt::Write;
use std::io;

use change_journal::{
    ChangeRecord, ContentHash, DatabaseFailure, DocumentWrite, Entry, EntryRecord, Journal, JournalError,
    OpenError, Oversized, RecordedAttributes, RunFilter, RunNumber, StepKind, StepRecord,
};

use crate::support::{begin_new, file_step, key};

/// Renders everything that a reader sees of the runs, apart from times.
fn render(journal: &Journal) -> String {
    let reader = journal.reader();
    let mut log = String::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let outcome = |outcome: &Option<Vec<u8>>| outcome.as_deref().map_or("unknown".to_owned(), text);
    let mut runs = reader.runs(&RunFilter::default(), 100).unwrap();
    runs.reverse();
    for run in runs {
        let end = if run.finished_at.is_some() { "finished" } else { "unfinished" };
        writeln!(log, "run {} of {}/{}, {end}", run.number, run.key.conversation, run.key.sequence).unwrap();
        for step in reader.steps(run.number).unwrap() {
            let (kind, description) = (step.kind, &step.description);
            writeln!(log, "  step {} {kind:?} `{description}`: {}", step.index, outcome(&step.outcome))
                .unwrap();
            let changes = reader.changes_of_run(run.number).unwrap();
            for change in changes.iter().filter(|change| change.step == step.index) {
                let [before, after] = [change.before, change.after].map(|side| render_side(journal, side));
                let undoes = change.undoes.map_or(String::new(), |number| format!(", undoes {number}"));
                let (number, path, state) = (change.number, text(&change.path), change.state);
                writeln!(log, "    change {number} {path}: {before} -> {after} [{state:?}{undoes}]").unwrap();
            }
        }
        writeln!(log, "  outcome: {}", outcome(&run.outcome)).unwrap();
    }
    for document in reader.documents("").unwrap() {
        writeln!(log, "document {}, {} bytes", document.name, document.length_bytes).unwrap();
    }
    log
}

fn render_side(journal: &Journal, side: Option<Entry>) -> String {
    let Some(entry) = side else { return "absent".to_owned() };
    let bytes = entry.content.and_then(|hash| journal.reader().content(&hash).unwrap());
    let content =
        bytes.map_or("not kept".to_owned(), |bytes| format!("{:?}", String::from_utf8_lossy(&bytes)));
    let attributes = match entry.attributes {
        RecordedAttributes::Content(_) => " with attributes",
        _ => "",
    };
    let mode = entry.mode.map_or(String::new(), |mode| format!(" {mode:o}"));
    format!("{:?}{mode} {content}{attributes}", entry.kind)
}

#[test]
fn a_log_shows_every_kind_of_step_change_and_outcome() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "create and edit"));
    let created = file_step("notes.txt", b"one\n", "created");
    let edited = StepRecord {
        kind: StepKind::FileChange,
        description: "edit notes.txt",
        outcome: b"edited",
        changes: vec![ChangeRecord::intended(
            b"notes.txt",
            Some(EntryRecord { mode: Some(0o644), ..EntryRecord::file(b"one\n") }),
            Some(EntryRecord { mode: Some(0o755), ..EntryRecord::file(b"two\n") }),
        )],
    };
    let read = StepRecord {
        kind: StepKind::Reading,
        description: "read plan.txt",
        outcome: b"12 lines",
        changes: Vec::new(),
    };
    let numbers = journal.record_steps(run.number(), 0, &[created, edited, read]).unwrap();
    journal.settle_changes(&numbers[..1]).unwrap();
    journal.publish_changes(&numbers[1..]).unwrap();
    journal.start_step(run.number(), 3, StepKind::ShellCommand, "make").unwrap();
    let removed = ChangeRecord::intended(b"old.o", Some(EntryRecord::file(b"object")), None);
    let by_command = journal.finish_step(run.number(), 3, b"exit code 0", &[removed]).unwrap();
    journal.conflict_change(by_command[0], b"exit code 0, one conflict").unwrap();
    let session = DocumentWrite::Put { name: "sessions/a", bytes: b"state" };
    journal.finish_run(run.number(), b"four steps", &[session]).unwrap();

    let undo = begin_new(&journal, &key(2, "undo"));
    let restored = ChangeRecord {
        undoes: Some(numbers[1]),
        ..ChangeRecord::intended(
            b"notes.txt",
            Some(EntryRecord::file(b"two\n")),
            Some(EntryRecord::file(b"one\n")),
        )
    };
    let step = StepRecord {
        kind: StepKind::FileChange,
        description: "undo change 2",
        outcome: b"undone",
        changes: vec![restored],
    };
    journal.record_steps(undo.number(), 0, &[step]).unwrap();
    journal.start_step(undo.number(), 1, StepKind::ShellCommand, "make test").unwrap();
    journal.flush().unwrap();
    insta::assert_snapshot!(render(&journal));
}

#[test]
fn every_error_has_a_text_that_names_the_next_fact() {
    let (run, hash) = (RunNumber(7), ContentHash::of(b""));
    let failure = DatabaseFailure { code: 5, text: "database is locked" };
    let open = [
        OpenError::Held { process_id: Some(42) },
        OpenError::Held { process_id: None },
        OpenError::Newer { found: 9, supported: 2 },
        OpenError::ReadOnly,
        OpenError::Denied,
        OpenError::Missing,
        OpenError::NoSpace,
        OpenError::Damaged,
        OpenError::Io(io::ErrorKind::Interrupted.into()),
        OpenError::Database(failure),
    ];
    let too_large = |what| JournalError::TooLarge { what, length_bytes: 11, limit_bytes: 10 };
    let journal = [
        JournalError::NoSpace,
        JournalError::ReadOnly,
        JournalError::RunNotOpen { run },
        JournalError::StepRecorded { run, index: 3 },
        JournalError::StepNotOpen { run, index: 3 },
        JournalError::StepUnfinished { run, index: 3 },
        JournalError::EmptyChange,
        JournalError::UnknownUndo,
        too_large(Oversized::Content),
        too_large(Oversized::Outcome),
        too_large(Oversized::Document),
        JournalError::ContentMissing { hash },
        JournalError::ContentDamaged { hash },
        JournalError::Damaged,
        JournalError::NotSynced,
        JournalError::Closed,
        JournalError::Io(io::ErrorKind::Interrupted.into()),
        JournalError::Database(failure),
    ];
    let mut texts: Vec<String> = open.iter().map(ToString::to_string).collect();
    texts.extend(journal.iter().map(ToString::to_string));
    texts.push(failure.to_string());
    texts.push("abc".parse::<ContentHash>().unwrap_err().to_string());
    insta::assert_snapshot!(texts.join("\n"));
}

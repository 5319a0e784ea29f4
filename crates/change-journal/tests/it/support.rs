//! Owns the fixtures of several tests: keys, steps and folders.

use change_journal::{
    ChangeRecord, ContentHash, EntryRecord, Journal, JournalLimits, OpenReport, Run, RunKey, RunState,
    StepKind, StepRecord,
};
use tempfile::TempDir;

pub(crate) fn key(sequence: u64, text: &str) -> RunKey {
    RunKey { conversation: "talk".into(), sequence, content: ContentHash::of(text.as_bytes()) }
}

pub(crate) fn file_step<'a>(path: &'a str, bytes: &'a [u8], outcome: &'a str) -> StepRecord<'a> {
    StepRecord {
        kind: StepKind::FileChange,
        description: path,
        outcome: outcome.as_bytes(),
        changes: vec![ChangeRecord::intended(path.as_bytes(), None, Some(EntryRecord::file(bytes)))],
    }
}

/// A temporary folder for a journal.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.0.path().join("journal")
    }

    pub(crate) fn open(&self) -> (Journal, OpenReport) {
        Journal::open(&self.path(), JournalLimits::default()).unwrap()
    }

    pub(crate) fn journal(&self) -> Journal {
        self.open().0
    }

    pub(crate) fn database(&self) -> std::path::PathBuf {
        self.path().join("journal.db")
    }
}

pub(crate) fn begin_new(journal: &Journal, key: &RunKey) -> Run {
    match journal.begin_run(key).unwrap() {
        RunState::New(run) => run,
        other => panic!("expected a new run, got {other:?}"),
    }
}

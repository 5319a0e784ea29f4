//! A durable record of what was done to a folder: runs, their steps, the changes that they make, and named
//! documents that change together with the end of a run.
//!
//! Its purpose is that a run happens once: beginning a run twice resumes, reports or refuses it, even if the
//! process was killed in between. It keeps both sides of every change, so that changes can be redone after a
//! crash and undone later.
//!
//! The request of a run and the meaning of its outcomes are opaque to it, and it never touches the files
//! whose changes it records. It owns one folder: an SQLite database, files for large contents, and a lock.
//!
//! # Example
//!
//! ```
//! use change_journal::{
//!     ChangeRecord, ContentHash, EntryRecord, Journal, RunKey, RunState, StepKind, StepRecord,
//! };
//!
//! let journal = Journal::in_memory()?;
//! let key = RunKey { conversation: "demo".into(), sequence: 1, content: ContentHash::of(b"the request") };
//! let RunState::New(run) = journal.begin_run(&key)? else { panic!("a new key begins a new run") };
//!
//! let change = ChangeRecord::intended(b"notes.txt", None, Some(EntryRecord::file(b"hello\n")));
//! let step = StepRecord {
//!     kind: StepKind::FileChange,
//!     description: "create notes.txt",
//!     outcome: b"created",
//!     changes: vec![change],
//! };
//! let changes = journal.record_steps(run.number(), 0, &[step])?; // on the disk from here on
//! // … now write the file itself, then say so:
//! journal.publish_changes(&changes)?;
//! journal.finish_run(run.number(), b"one file was created", &[])?;
//!
//! assert!(matches!(journal.begin_run(&key)?, RunState::Finished { .. }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod change;
mod clock;
mod document;
mod error;
mod garbage;
mod journal;
mod limits;
mod open_runs;
mod reader;
mod run;
mod step;
mod store;
mod write;

pub use change::{
    Attributes, ChangeNumber, ChangeRecord, ChangeState, Content, Entry, EntryKind, EntryRecord,
    RecordedAttributes, RecordedChange,
};
pub use content_hash::{ContentHash, ContentHashError};
pub use document::{Document, DocumentHead, DocumentVersion, DocumentWrite};
pub use error::{DatabaseFailure, JournalError, OpenError, Oversized};
pub use garbage::{GarbageReport, GarbageRule};
pub use journal::Journal;
pub use limits::JournalLimits;
pub use open_runs::Run;
pub use reader::JournalReader;
pub use run::{RecordedRun, RunFilter, RunKey, RunNumber, RunState};
pub use step::{Recall, RecordedStep, ResumedSteps, StepKind, StepRecord};
pub use store::counters::JournalCounts;
pub use store::open::OpenReport;
pub use store::set_aside::SetAside;

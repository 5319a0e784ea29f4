//! Applies a small edit script to a folder at most once, however often and at whichever point it is stopped.
//!
//! ```text
//! cargo run -p change-journal --example at_most_once -- JOURNAL-FOLDER TARGET-FOLDER NAME=TEXT…
//! ```
//!
//! Each `NAME=TEXT` sets a file. Run the same command twice: the second run changes nothing. Stop it in
//! between and run it again: it completes the recorded changes, and decides none twice.

use std::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use change_journal::{
    ChangeRecord, ContentHash, EntryRecord, Journal, JournalLimits, Recall, RunKey, RunState, StepKind,
    StepRecord,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(journal_folder), Some(target_folder)) = (arguments.next(), arguments.next()) else {
        return Err("two folders are needed, and what to set".into());
    };
    let edits: Vec<String> = arguments.collect();
    let mut out = std::io::stdout().lock();

    let (journal, report) = Journal::open(Path::new(&journal_folder), JournalLimits::default())?;
    for lost in &report.set_aside {
        writeln!(out, "a damaged journal was kept as {}: its record of earlier runs is lost", lost.name)?;
    }
    redo(&journal, Path::new(&target_folder))?;

    let key = RunKey {
        conversation: "command line".into(),
        sequence: 0,
        content: ContentHash::of(edits.join("\n").as_bytes()),
    };
    let (run, steps) = match journal.begin_run(&key)? {
        RunState::New(run) => (run, Default::default()),
        RunState::Resumed { run, steps } => (run, steps),
        RunState::Finished { outcome, .. } => {
            writeln!(out, "already done: {}", String::from_utf8_lossy(&outcome))?;
            return Ok(());
        }
        RunState::InProgress { .. } | RunState::KnownElsewhere { .. } => {
            return Err("the same edits are being made elsewhere".into());
        }
    };

    for (edit, index) in edits.iter().zip(0..) {
        if matches!(steps.recall(index), Recall::Finished(_)) {
            continue;
        }
        let (name, text) = edit.split_once('=').ok_or("an edit is NAME=TEXT")?;
        let path = Path::new(&target_folder).join(name);
        let before = fs::read(&path).ok();
        let change = ChangeRecord::intended(
            name.as_bytes(),
            before.as_deref().map(EntryRecord::file),
            Some(EntryRecord::file(text.as_bytes())),
        );
        let step = StepRecord {
            kind: StepKind::FileChange,
            description: name,
            outcome: b"set",
            changes: vec![change],
        };
        let numbers = journal.record_steps(run.number(), index, &[step])?;
        write_synced(&path, text.as_bytes())?;
        journal.settle_changes(&numbers)?;
    }
    let outcome = format!("{} files were set", edits.len());
    journal.finish_run(run.number(), outcome.as_bytes(), &[])?;
    writeln!(out, "{outcome}, {:?}", journal.counts())?;
    Ok(())
}

/// Redoes the changes that were recorded before the process was stopped.
fn redo(journal: &Journal, target_folder: &Path) -> Result<(), Box<dyn Error>> {
    for change in journal.reader().unsettled_changes()? {
        let name = String::from_utf8(change.path)?;
        if let Some(hash) = change.after.and_then(|after| after.content)
            && let Some(bytes) = journal.reader().content(&hash)?
        {
            write_synced(&target_folder.join(name), &bytes)?;
        }
        journal.settle_changes(&[change.number])?;
    }
    Ok(())
}

fn write_synced(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

//! The changes that "the last change" refers to, and the failures of an undo.

use std::collections::BTreeSet;

use change_journal::{
    ChangeState, Entry, EntryKind, JournalError, JournalReader, RecordedChange, RunNumber, StepKind,
};
use file_index::GitIgnores;
use local_workspace::{Undo, UndoError, undone_by};

use crate::failure::{Exit, Failure};
use crate::state::bookkeeping::Bookkeeping;

/// The number of changes that one query reads.
const PAGE: u32 = 500;

/// Returns the undo of the last reply that changed anything on purpose and is in force. Without `reply`, later work of
/// other clients counts too: one change of a file, or all changes of a command.
///
/// Bookkeeping is never undone alone. It is undone together with a reply that it obstructs, because later commands have
/// changed the same files.
pub fn last(
    journal: &JournalReader,
    ignores: GitIgnores<'_>,
    reply: bool,
) -> Result<Option<Undo>, JournalError> {
    let mut bookkeeping = Bookkeeping::new(journal, ignores);
    let mut passed = Vec::new();
    let mut before = None;
    loop {
        let changes = journal.latest_changes(before, PAGE)?;
        let Some(oldest) = changes.last() else { return Ok(None) };
        before = Some(oldest.number);
        for change in &changes {
            if !is_in_force(journal, change)? {
                continue;
            }
            // Remembered: should the reply beneath touch the same paths, these changes have to be undone before it can be.
            if bookkeeping.holds(change)? {
                passed.push(change.clone());
                continue;
            }
            if is_of_a_reply(journal, change.run)? {
                return of_reply(journal, change.run, &passed).map(Some);
            }
            if !reply {
                return last_of_step(journal, change).map(Some);
            }
        }
    }
}

/// Returns the undo of all that a reply has changed, with the later bookkeeping of the same files.
fn of_reply(
    journal: &JournalReader,
    run: RunNumber,
    passed: &[RecordedChange],
) -> Result<Undo, JournalError> {
    let changes = journal.changes_of_run(run)?;
    let paths: BTreeSet<&[u8]> = changes.iter().map(|change| &*change.path).collect();
    let riding: Vec<_> =
        passed.iter().filter(|later| later.run != run && paths.contains(&*later.path)).collect();
    if riding.is_empty() {
        return Ok(Undo::Run(run));
    }
    let mut numbers: Vec<_> = riding.iter().map(|change| change.number).collect();
    // Those whose contents were not kept are among them: the undo names the paths that stay.
    for change in &changes {
        if change.state != ChangeState::Conflicted && undone_by(journal, change.number)?.is_none() {
            numbers.push(change.number);
        }
    }
    Ok(Undo::Changes(numbers))
}

/// Returns the undo of one change of a file, or of everything that a command did.
fn last_of_step(journal: &JournalReader, change: &RecordedChange) -> Result<Undo, JournalError> {
    let steps = journal.steps(change.run)?;
    let is_command =
        steps.iter().any(|step| step.index == change.step && step.kind == StepKind::ShellCommand);
    if !is_command {
        return Ok(Undo::Changes(vec![change.number]));
    }
    let mut numbers = Vec::new();
    for other in journal.changes_of_run(change.run)?.into_iter().filter(|other| other.step == change.step) {
        if other.state != ChangeState::Conflicted && undone_by(journal, other.number)?.is_none() {
            numbers.push(other.number);
        }
    }
    Ok(Undo::Changes(numbers))
}

fn is_in_force(journal: &JournalReader, change: &RecordedChange) -> Result<bool, JournalError> {
    let is_folder = [change.before, change.after].iter().flatten().all(|side| side.kind == EntryKind::Folder);
    // A content that was not kept cannot be restored, so the change is no candidate.
    let is_kept = [change.before, change.after].iter().flatten().all(Entry::was_kept);
    Ok(!is_folder
        && is_kept
        && change.undoes.is_none()
        && change.state != ChangeState::Conflicted
        && undone_by(journal, change.number)?.is_none())
}

/// Checks whether a run is a reply: only replies to messages have a sequence.
fn is_of_a_reply(journal: &JournalReader, run: RunNumber) -> Result<bool, JournalError> {
    Ok(journal.run(run)?.is_some_and(|run| run.key.sequence > 0))
}

/// Explains a failure.
pub fn explain(error: &UndoError) -> Failure {
    let failure = |exit| Failure::new(exit, error.to_string());
    match error {
        UndoError::Unknown { .. } => {
            failure(Exit::Usage).advise("`agentd log` lists the changes with their numbers")
        }
        UndoError::Nothing => nothing(),
        UndoError::InParts { .. } => failure(Exit::Failed).advise(
            "`agentd log` lists what was changed; undo or repeat it when the disk takes writes again",
        ),
        UndoError::AlreadyUndone { by, .. } => {
            failure(Exit::Failed).advise(format!("`agentd undo {by}` takes that undo back"))
        }
        _ => failure(Exit::Failed),
    }
}

/// Returns the failure of an undo where nothing was done.
pub fn nothing() -> Failure {
    Failure::new(Exit::Failed, "there is nothing to undo").advise("`agentd log` lists what was done")
}

#[cfg(test)]
mod tests {
    use change_journal::{
        ChangeNumber, ChangeRecord, Content, ContentHash, EntryRecord, Journal, RunKey, RunState, StepRecord,
    };
    use sandbox_fs::{FileRoot, FsPolicy, RootRules};

    use super::*;

    /// Records a run of one step for each kind and changes. Returns the numbers of all changes.
    fn record(
        journal: &Journal,
        sequence: u64,
        steps: &[(StepKind, Vec<ChangeRecord<'_>>)],
    ) -> Vec<ChangeNumber> {
        let content = ContentHash::of(&sequence.to_le_bytes());
        let key = RunKey { conversation: "test".into(), sequence, content };
        let RunState::New(run) = journal.begin_run(&key).unwrap() else { panic!("it is new") };
        let steps: Vec<_> = steps
            .iter()
            .map(|(kind, changes)| StepRecord {
                kind: *kind,
                description: "step",
                outcome: b"",
                changes: changes.clone(),
            })
            .collect();
        let numbers = journal.record_steps(run.number(), 0, &steps).unwrap();
        journal.publish_changes(&numbers).unwrap();
        numbers
    }

    #[test]
    fn what_was_not_kept_of_a_reply_is_among_its_changes_beside_later_bookkeeping() {
        let folder = tempfile::tempdir().unwrap();
        let root = FileRoot::open(folder.path(), &RootRules::none(), FsPolicy::private()).unwrap();
        let journal = Journal::in_memory().unwrap();
        let made = |path, bytes| ChangeRecord::intended(path, None, Some(EntryRecord::file(bytes)));
        let large = EntryRecord { content: Content::NotKept(None), ..EntryRecord::file(b"") };
        let index = |before: &'static [u8], after: &'static [u8]| {
            ChangeRecord::intended(
                b".git/index",
                Some(EntryRecord::file(before)),
                Some(EntryRecord::file(after)),
            )
        };
        let command = vec![index(b"0", b"1"), ChangeRecord::intended(b"large", None, Some(large))];
        let reply = [
            (StepKind::FileChange, vec![made(b"code".as_slice(), b"text")]),
            (StepKind::ShellCommand, command),
        ];
        let reply = record(&journal, 1, &reply);
        let undo = || last(journal.reader(), GitIgnores::new(&root), true).unwrap().unwrap();
        let run = journal.reader().change(reply[0]).unwrap().unwrap().run;
        assert_eq!(undo(), Undo::Run(run), "the control: all of it");
        let later = record(&journal, 0, &[(StepKind::ShellCommand, vec![index(b"1", b"2")])]);
        let Undo::Changes(mut numbers) = undo() else { panic!("it has the later bookkeeping, too") };
        numbers.sort_unstable();
        assert_eq!(numbers, [reply, later].concat());
    }
}

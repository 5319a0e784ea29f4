//! The changes that "the last change" refers to, and the failures of an undo.

pub(crate) mod older_work;
mod unrecorded_work;

use std::collections::BTreeSet;

use change_journal::{
    ChangeNumber, ChangeState, Entry, EntryKind, JournalError, JournalReader, RecordedChange, RunNumber,
    StepKind,
};
use file_index::GitIgnores;
use local_workspace::{Undo, UndoError, undone_by};
use rel_path::RelPath;

use crate::failure::{Exit, Failure};
use crate::last_change::unrecorded_work::{UnrecordedWork, interrupted_command, undos};
use crate::secret_use::SecretRules;
use crate::state::bookkeeping::Bookkeeping;

/// The number of changes that one query reads.
const PAGE: u32 = 500;

/// Returns the undo of the last reply that changed anything on purpose and is in force. Without `reply`, later work of
/// other clients counts too: one change of a file, or all changes of a command.
///
/// Bookkeeping is never undone alone. It is undone together with a reply that it obstructs, because later commands have
/// changed the same files. `is_running` returns true for runs that this process is carrying out. Quotations in a
/// refusal are masked by `rules`.
///
/// # Errors There is nothing to undo, or something newer cannot be undone: an older change is never undone
/// instead.
pub fn last(
    journal: &JournalReader,
    ignores: GitIgnores<'_>,
    reply: bool,
    is_running: &dyn Fn(RunNumber) -> bool,
    rules: &SecretRules,
) -> Result<Undo, Failure> {
    let mut search = Search::new(journal, ignores);
    let newest = search.newest(reply).map_err(unreadable)?;
    let run = newest.as_ref().map(|(change, _)| change.run);
    let interrupted = interrupted_command(journal, run, reply, is_running).map_err(unreadable)?;
    let newest_of_all = match (search.unrecorded.take(), interrupted) {
        (Some(change), Some(command)) if change.run > command.run => Some(change),
        (change, command) => command.or(change),
    };
    match (newest_of_all, newest) {
        (Some(newer), older) => Err(newer.refusal(journal, rules, older.map(|(change, _)| change))),
        (None, Some((_, undo))) => Ok(undo),
        (None, None) => Err(search.passed.first().filter(|_| !reply).map_or_else(nothing, only_bookkeeping)),
    }
}

/// Returns the undo of the reply, the call or the command that made a change, which has to be in force.
///
/// # Errors
/// There is no such change, or it is undone already.
pub fn whole(
    journal: &JournalReader,
    ignores: GitIgnores<'_>,
    number: ChangeNumber,
) -> Result<Undo, Failure> {
    let refused = |error: &UndoError| Err(explain(error));
    let Some(change) = journal.change(number).map_err(unreadable)? else {
        return refused(&UndoError::Unknown { number });
    };
    if let Some(by) = undone_by(journal, number).map_err(unreadable)? {
        return refused(&UndoError::AlreadyUndone { number, by });
    }
    if change.undoes.is_some() {
        return Ok(Undo::Run(change.run));
    }
    Search::new(journal, ignores).down_to(&change).map_err(unreadable)
}

/// A walk through the changes, the newest first.
struct Search<'a> {
    journal: &'a JournalReader,
    bookkeeping: Bookkeeping<'a>,
    /// Remembered: if the reply below touches the same paths, these changes have to be undone first.
    passed: Vec<RecordedChange>,
    /// The replies and steps whose changes cannot be restored, so that each is judged once.
    judged: BTreeSet<(RunNumber, Option<u32>)>,
    /// The newest of them that no undo has named yet.
    unrecorded: Option<UnrecordedWork>,
}

impl<'a> Search<'a> {
    fn new(journal: &'a JournalReader, ignores: GitIgnores<'a>) -> Search<'a> {
        let (passed, judged) = (Vec::new(), BTreeSet::new());
        Search { journal, bookkeeping: Bookkeeping::new(journal, ignores), passed, judged, unrecorded: None }
    }

    /// Returns the newest change with which an undo begins, and that undo.
    fn newest(&mut self, reply: bool) -> Result<Option<(RecordedChange, Undo)>, JournalError> {
        let mut before = None;
        loop {
            let changes = self.journal.latest_changes(before, PAGE)?;
            let Some(oldest) = changes.last() else { return Ok(None) };
            before = Some(oldest.number);
            for change in &changes {
                if !self.is_on_purpose(change)? {
                    continue;
                }
                let is_of_a_reply = is_of_a_reply(self.journal, change.run)?;
                if reply && !is_of_a_reply {
                    continue;
                }
                if is_restorable(change) || self.is_undone_by_folders(change, is_of_a_reply)? {
                    return Ok(Some((change.clone(), self.undo_of(change)?)));
                }
            }
        }
    }

    /// Returns the undo of the whole work that a change is part of.
    fn down_to(&mut self, wanted: &RecordedChange) -> Result<Undo, JournalError> {
        let mut before = None;
        loop {
            let changes = self.journal.latest_changes(before, PAGE)?;
            let newer: Vec<_> = changes.iter().take_while(|change| change.number > wanted.number).collect();
            for change in &newer {
                self.is_on_purpose(change)?;
            }
            before = match changes.last() {
                Some(oldest) if newer.len() == changes.len() => Some(oldest.number),
                _ => return self.undo_of(wanted),
            };
        }
    }

    /// Checks whether a change is in force and not bookkeeping, which is remembered.
    fn is_on_purpose(&mut self, change: &RecordedChange) -> Result<bool, JournalError> {
        if !is_in_force(self.journal, change)? {
            return Ok(false);
        }
        let is_bookkeeping = self.bookkeeping.holds(change)?;
        // Including changes without contents: the undo names the path, and is not refused because of it.
        if is_bookkeeping && !is_folder(change) {
            self.passed.push(change.clone());
        }
        Ok(!is_bookkeeping)
    }

    /// Checks whether the work of a change that cannot be restored alone consists of folders, which can be. Remembers
    /// work of which nothing can be undone.
    fn is_undone_by_folders(
        &mut self,
        change: &RecordedChange,
        is_of_a_reply: bool,
    ) -> Result<bool, JournalError> {
        let step = (!is_of_a_reply).then_some(change.step);
        if !self.judged.insert((change.run, step)) {
            return Ok(false);
        }
        let mut lost = Vec::new();
        let mut undoing = Vec::new();
        let mut has_only_folders = true;
        for other in self.journal.changes_of_run(change.run)? {
            if step.is_some_and(|step| step != other.step) || other.state == ChangeState::Conflicted {
                continue;
            }
            if let Some(by) = undone_by(self.journal, other.number)? {
                undoing.push(by);
                continue;
            }
            if self.bookkeeping.holds(&other)? {
                continue;
            }
            if is_restorable(&other) {
                // The walk will reach it.
                return Ok(false);
            }
            has_only_folders &= is_folder(&other);
            if !is_folder(&other) {
                lost.push(other);
            }
        }
        // An undo of all of it has named what it could not restore; one of single changes has not.
        let undos = undos(self.journal, &undoing)?;
        let is_named = |path: &[u8]| {
            let path = RelPath::from_bytes(path).unwrap_or_default().to_string();
            undos.iter().any(|undone| undone.not_undoable.contains(&path))
        };
        let unnamed: Vec<_> = lost.into_iter().filter(|other| !is_named(&other.path)).collect();
        if !unnamed.is_empty() && self.unrecorded.is_none() {
            self.unrecorded = Some(UnrecordedWork::of_changes(change, unnamed));
        }
        Ok(has_only_folders && undoing.is_empty())
    }

    fn undo_of(&self, change: &RecordedChange) -> Result<Undo, JournalError> {
        match is_of_a_reply(self.journal, change.run)? {
            true => of_reply(self.journal, change.run, &self.passed),
            false => of_step(self.journal, change, &self.passed),
        }
    }
}

/// Returns the undo of all changes of a reply, with the later bookkeeping of the same files.
fn of_reply(
    journal: &JournalReader,
    run: RunNumber,
    passed: &[RecordedChange],
) -> Result<Undo, JournalError> {
    let changes = journal.changes_of_run(run)?;
    let later = later_bookkeeping(&changes, passed.iter().filter(|later| later.run != run));
    if later.is_empty() {
        return Ok(Undo::Run(run));
    }
    with_later(journal, later, &changes)
}

/// Returns the undo of one change of a file, or of everything that a command did, with the later bookkeeping of the same
/// files.
fn of_step(
    journal: &JournalReader,
    change: &RecordedChange,
    passed: &[RecordedChange],
) -> Result<Undo, JournalError> {
    let steps = journal.steps(change.run)?;
    let is_command =
        steps.iter().any(|step| step.index == change.step && step.kind == StepKind::ShellCommand);
    let changes = match is_command {
        true => {
            journal.changes_of_run(change.run)?.into_iter().filter(|one| one.step == change.step).collect()
        }
        false => vec![change.clone()],
    };
    let is_other = |later: &&RecordedChange| (later.run, later.step) != (change.run, change.step);
    let later = later_bookkeeping(&changes, passed.iter().filter(is_other));
    with_later(journal, later, &changes)
}

/// Returns the numbers of later bookkeeping of the paths of some changes.
fn later_bookkeeping<'a>(
    changes: &[RecordedChange],
    passed: impl Iterator<Item = &'a RecordedChange>,
) -> Vec<ChangeNumber> {
    let paths: BTreeSet<&[u8]> = changes.iter().map(|change| &*change.path).collect();
    passed.filter(|later| paths.contains(&*later.path)).map(|later| later.number).collect()
}

/// Returns the undo of later bookkeeping and of those of the changes that are in force.
fn with_later(
    journal: &JournalReader,
    later: Vec<ChangeNumber>,
    changes: &[RecordedChange],
) -> Result<Undo, JournalError> {
    let mut numbers = later;
    // Including changes whose contents were not kept: the undo names the paths that stay.
    for change in changes {
        if change.state != ChangeState::Conflicted && undone_by(journal, change.number)?.is_none() {
            numbers.push(change.number);
        }
    }
    Ok(Undo::Changes(numbers))
}

fn is_in_force(journal: &JournalReader, change: &RecordedChange) -> Result<bool, JournalError> {
    Ok(change.undoes.is_none()
        && change.state != ChangeState::Conflicted
        && undone_by(journal, change.number)?.is_none())
}

/// Checks whether an undo may begin with a change: a folder is removed with its entries, and a content that was not
/// kept cannot be restored.
fn is_restorable(change: &RecordedChange) -> bool {
    !is_folder(change) && [change.before, change.after].iter().flatten().all(Entry::was_kept)
}

fn is_folder(change: &RecordedChange) -> bool {
    [change.before, change.after].iter().flatten().all(|side| side.kind == EntryKind::Folder)
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
            failure(Exit::Failed).advise(format!("`agentd undo {by}` reverts that undo"))
        }
        _ => failure(Exit::Failed),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is used with map_err")]
fn unreadable(error: JournalError) -> Failure {
    Failure::new(Exit::Failed, format!("the journal cannot be read: {error}"))
}

/// Returns the failure of an undo with nothing to undo.
pub fn nothing() -> Failure {
    Failure::new(Exit::Failed, "there is nothing to undo").advise("`agentd log` lists what was done")
}

/// Returns the failure of an undo if all changes in force are bookkeeping, such as those of a `git commit`.
fn only_bookkeeping(newest: &RecordedChange) -> Failure {
    let number = newest.number;
    nothing().advise(format!(
        "what is in force changed only files that git ignores or keeps for itself: `agentd undo {number} --whole` undoes the newest command of it"
    ))
}

#[cfg(test)]
mod tests {
    use change_journal::{
        ChangeRecord, Content, ContentHash, EntryRecord, Journal, RunKey, RunState, StepRecord,
    };
    use sandbox_fs::{FileRoot, FsPolicy, RootRules};
    use secret_placeholders::Withheld;

    use super::*;

    /// Records a run of one step for each kind and changes. Returns the numbers of all changes.
    fn record(
        journal: &Journal,
        sequence: u64,
        steps: &[(StepKind, Vec<ChangeRecord<'_>>)],
    ) -> Vec<ChangeNumber> {
        record_of(journal, &sequence.to_le_bytes(), sequence, steps)
    }

    /// Records a run of this content.
    fn record_of(
        journal: &Journal,
        content: &[u8],
        sequence: u64,
        steps: &[(StepKind, Vec<ChangeRecord<'_>>)],
    ) -> Vec<ChangeNumber> {
        let content = ContentHash::of(content);
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

    fn root() -> (tempfile::TempDir, FileRoot) {
        let folder = tempfile::tempdir().unwrap();
        let root = FileRoot::open(folder.path(), &RootRules::none(), FsPolicy::private()).unwrap();
        (folder, root)
    }

    /// Returns what `last` says: the undo, or the message and the advice of its refusal.
    fn outcome(journal: &Journal, root: &FileRoot, reply: bool) -> Result<Undo, (String, String)> {
        let rules = SecretRules { secrets: None, withheld: Withheld::default() };
        last(journal.reader(), GitIgnores::new(root), reply, &|run| journal.is_open(run), &rules)
            .map_err(|failure| (failure.message, failure.advice.unwrap_or_default()))
    }

    fn made<'a>(path: &'a [u8], bytes: &'a [u8]) -> ChangeRecord<'a> {
        ChangeRecord::intended(path, None, Some(EntryRecord::file(bytes)))
    }

    fn made_too_large(path: &[u8]) -> ChangeRecord<'_> {
        let large = EntryRecord { content: Content::NotKept(None), ..EntryRecord::file(b"") };
        ChangeRecord::intended(path, None, Some(large))
    }

    #[test]
    fn a_command_of_which_nothing_was_recorded_is_not_passed_over() {
        let (_folder, root) = root();
        let journal = Journal::in_memory().unwrap();
        let first = record(&journal, 0, &[(StepKind::FileChange, vec![made(b"code", b"text")])]);
        assert_eq!(outcome(&journal, &root, false), Ok(Undo::Changes(first)), "the control");
        let large = vec![made_too_large(b"large"), made_too_large(b"larger")];
        let command = [(StepKind::ShellCommand, large)];
        record_of(&journal, b"second", 0, &command);
        let (message, advice) = outcome(&journal, &root, false).unwrap_err();
        assert!(message.contains("number 2, of `large` and 1 more paths, by `step`"), "{message}");
        assert!(message.ends_with("before it, `step` made change 1"), "{message}");
        assert!(advice.contains("`agentd undo 1 --whole` undoes what was done before"), "{advice}");
        let whole = whole(journal.reader(), GitIgnores::new(&root), ChangeNumber(1)).unwrap();
        assert_eq!(whole, Undo::Changes(vec![ChangeNumber(1)]));
        // It is not a reply, so the last reply is a different one.
        let reply = record(&journal, 7, &[(StepKind::FileChange, vec![made(b"other", b"text")])]);
        record_of(&journal, b"third", 0, &command);
        let run = journal.reader().change(reply[0]).unwrap().unwrap().run;
        assert_eq!(outcome(&journal, &root, true), Ok(Undo::Run(run)));
        assert!(outcome(&journal, &root, false).is_err());
    }

    #[test]
    fn what_an_undo_has_not_named_is_not_passed_over() {
        let undo_of = |not_undoable: &[&str]| {
            let (_folder, root) = root();
            let journal = Journal::in_memory().unwrap();
            record(&journal, 0, &[(StepKind::FileChange, vec![made(b"code", b"text")])]);
            let changes = vec![made(b"small", b"text"), made_too_large(b"large")];
            let numbers = record_of(&journal, b"later", 0, &[(StepKind::ShellCommand, changes)]);
            let undone = serde_json::json!({
                "run": 3, "paths": [], "keptFolders": [], "commands": [], "notUndoable": not_undoable
            });
            let outcome_of_undo = serde_json::json!({ "outcome": { "Ok": undone } }).to_string();
            let back = ChangeRecord::intended(b"small", Some(EntryRecord::file(b"text")), None);
            let key = RunKey { conversation: "test".into(), sequence: 0, content: ContentHash::of(b"undo") };
            let RunState::New(run) = journal.begin_run(&key).unwrap() else { panic!("it is new") };
            let step = StepRecord {
                kind: StepKind::FileChange,
                description: "undo",
                outcome: outcome_of_undo.as_bytes(),
                changes: vec![ChangeRecord { undoes: Some(numbers[0]), ..back }],
            };
            journal.publish_changes(&journal.record_steps(run.number(), 0, &[step]).unwrap()).unwrap();
            outcome(&journal, &root, false)
        };
        let (message, _) = undo_of(&[]).unwrap_err();
        assert!(message.contains("number 3, of `large`, by `step`"), "{message}");
        assert_eq!(undo_of(&["large"]), Ok(Undo::Changes(vec![ChangeNumber(1)])), "the control");
    }

    #[test]
    fn a_command_that_was_interrupted_is_not_passed_over() {
        let (_folder, root) = root();
        let journal = Journal::in_memory().unwrap();
        record(&journal, 0, &[(StepKind::FileChange, vec![made(b"code", b"text")])]);
        let key = RunKey { conversation: "test".into(), sequence: 0, content: ContentHash::of(b"later") };
        let RunState::New(run) = journal.begin_run(&key).unwrap() else { panic!("it is new") };
        journal.start_step(run.number(), 0, StepKind::ShellCommand, "make all").unwrap();
        assert!(outcome(&journal, &root, false).is_ok(), "it runs in this process");
        drop(run);
        let (message, advice) = outcome(&journal, &root, false).unwrap_err();
        assert!(message.contains("interrupted") && message.contains("`make all`"), "{message}");
        assert!(advice.contains("`agentd undo 1 --whole`"), "{advice}");
        record_of(&journal, b"newest", 0, &[(StepKind::FileChange, vec![made(b"more", b"text")])]);
        assert_eq!(outcome(&journal, &root, false), Ok(Undo::Changes(vec![ChangeNumber(2)])));
    }

    #[test]
    fn a_command_that_only_changed_a_repository_is_named() {
        let (_folder, root) = root();
        let journal = Journal::in_memory().unwrap();
        let refusal_of = |reply| outcome(&journal, &root, reply).unwrap_err();
        assert!(!refusal_of(false).1.contains("--whole"), "the control");
        let changes = vec![made(b".git/refs/heads/main", b"1"), made(b".git/index", b"2")];
        let numbers = record(&journal, 0, &[(StepKind::ShellCommand, changes)]);
        let (message, advice) = refusal_of(false);
        assert!(message.contains("nothing to undo") && advice.contains("`agentd undo 2 --whole`"));
        let whole = whole(journal.reader(), GitIgnores::new(&root), ChangeNumber(2)).unwrap();
        assert_eq!(whole, Undo::Changes(numbers));
        assert!(!refusal_of(true).1.contains("--whole"), "it is not a reply");
    }

    #[test]
    fn a_command_that_only_made_folders_is_undone() {
        let (_folder, root) = root();
        let journal = Journal::in_memory().unwrap();
        record(&journal, 0, &[(StepKind::FileChange, vec![made(b"code", b"text")])]);
        let folder = EntryRecord { kind: EntryKind::Folder, ..EntryRecord::file(b"") };
        let step = vec![ChangeRecord::intended(b"sub", None, Some(folder))];
        let numbers = record_of(&journal, b"later", 0, &[(StepKind::ShellCommand, step)]);
        assert_eq!(outcome(&journal, &root, false), Ok(Undo::Changes(numbers)));
    }

    #[test]
    fn what_was_not_kept_of_a_reply_is_among_its_changes_with_later_bookkeeping() {
        let (_folder, root) = root();
        let journal = Journal::in_memory().unwrap();
        let index = |before: &'static [u8], after: &'static [u8]| {
            ChangeRecord::intended(
                b".git/index",
                Some(EntryRecord::file(before)),
                Some(EntryRecord::file(after)),
            )
        };
        let command = vec![index(b"0", b"1"), made_too_large(b"large")];
        let reply = [(StepKind::FileChange, vec![made(b"code", b"text")]), (StepKind::ShellCommand, command)];
        let reply = record(&journal, 1, &reply);
        let undo = || outcome(&journal, &root, true).unwrap();
        let run = journal.reader().change(reply[0]).unwrap().unwrap().run;
        assert_eq!(undo(), Undo::Run(run), "the control: all of it");
        let later = record(&journal, 0, &[(StepKind::ShellCommand, vec![index(b"1", b"2")])]);
        let Undo::Changes(mut numbers) = undo() else { panic!("it has the later bookkeeping, too") };
        numbers.sort_unstable();
        assert_eq!(numbers, [reply, later].concat());
    }
}

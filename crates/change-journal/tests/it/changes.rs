//! Changes keep both sides, and their states only move forward.

use change_journal::{
    Attributes, ChangeNumber, ChangeRecord, ChangeState, Content, ContentHash, Entry, EntryKind, EntryRecord,
    GarbageRule, Journal, JournalError, RecordedAttributes, StepKind, StepRecord,
};

use crate::support::{Folder, begin_new, file_step, key};

fn one_step<'a>(changes: Vec<ChangeRecord<'a>>) -> StepRecord<'a> {
    StepRecord { kind: StepKind::FileChange, description: "edit", outcome: b"ok", changes }
}

#[test]
fn both_sides_read_back_as_they_were_recorded() {
    let folder = Folder::new();
    let journal = folder.journal();
    let run = begin_new(&journal, &key(1, "a"));
    let path = b"not utf-8 \xff/x";
    let before = EntryRecord { mode: Some(0o755), ..EntryRecord::file(b"old") };
    let after = EntryRecord {
        kind: EntryKind::Symlink,
        content: Content::Bytes(b"target"),
        mode: None,
        attributes: Attributes::Unknown,
    };
    let numbers = journal
        .record_steps(
            run.number(),
            7,
            &[one_step(vec![
                ChangeRecord::intended(path, Some(before), Some(after)),
                ChangeRecord::intended(b"gone", Some(EntryRecord::file(b"old")), None),
            ])],
        )
        .unwrap();
    let changes = journal.reader().changes_of_run(run.number()).unwrap();
    assert_eq!(changes.iter().map(|change| change.number).collect::<Vec<_>>(), numbers);

    let change = &changes[0];
    assert_eq!((change.run, change.step, change.path.as_slice()), (run.number(), 7, path.as_slice()));
    let (before, after) = (change.before.unwrap(), change.after.unwrap());
    assert_eq!((before.kind, before.mode, before.length_bytes), (EntryKind::File, Some(0o755), Some(3)));
    assert_eq!((after.kind, after.mode, after.length_bytes), (EntryKind::Symlink, None, Some(6)));
    assert_eq!(journal.reader().content(&before.content.unwrap()).unwrap().unwrap(), b"old");
    assert_eq!(journal.reader().content(&after.content.unwrap()).unwrap().unwrap(), b"target");
    assert!(change.this_boot);
    assert_eq!(change.state, ChangeState::Intended);

    assert_eq!(changes[1].after, None);
    assert_eq!(changes[1].before.unwrap().content, before.content);
}

#[test]
fn change_without_sides_is_refused() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    let refused =
        journal.record_steps(run.number(), 0, &[one_step(vec![ChangeRecord::intended(b"x", None, None)])]);
    assert!(matches!(refused, Err(JournalError::EmptyChange)), "{refused:?}");
}

#[test]
fn held_content_must_really_be_held() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    let hash = ContentHash::of(b"first");
    let held = EntryRecord {
        kind: EntryKind::File,
        content: Content::Held(hash),
        mode: None,
        attributes: Attributes::Unknown,
    };
    let step = one_step(vec![ChangeRecord::intended(b"x", Some(held), Some(EntryRecord::file(b"second")))]);

    let refused = journal.record_steps(run.number(), 0, std::slice::from_ref(&step));
    assert!(matches!(refused, Err(JournalError::ContentMissing { hash: missing }) if missing == hash));
    assert!(!journal.reader().holds_content(&ContentHash::of(b"second")).unwrap());

    journal.record_steps(run.number(), 0, &[file_step("x", b"first", "ok")]).unwrap();
    journal.record_steps(run.number(), 1, &[step]).unwrap();
    let change = journal.reader().changes_of_path(b"x", 1).unwrap().remove(0);
    assert_eq!(change.before.unwrap().length_bytes, Some(5));
}

#[test]
fn content_that_is_not_kept_is_known_by_its_hash_alone() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    let hash = ContentHash::of(b"huge");
    let side = |content| {
        Some(EntryRecord { kind: EntryKind::File, content, mode: None, attributes: Attributes::Unknown })
    };
    let change =
        ChangeRecord::intended(b"x", side(Content::NotKept(None)), side(Content::NotKept(Some(hash))));
    journal.record_steps(run.number(), 0, &[one_step(vec![change])]).unwrap();
    let change = journal.reader().changes_of_run(run.number()).unwrap().remove(0);
    assert_eq!(change.before.unwrap().content, None);
    assert_eq!(change.after.unwrap().content, Some(hash));
    assert_eq!(journal.reader().content(&hash).unwrap(), None);
}

#[test]
fn states_only_move_forward() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    let steps = [file_step("x", b"1", "ok"), file_step("y", b"2", "ok"), file_step("z", b"3", "ok")];
    let numbers = journal.record_steps(run.number(), 0, &steps).unwrap();
    let unsettled = || -> Vec<(u64, ChangeState)> {
        journal.flush().unwrap();
        let changes = journal.reader().unsettled_changes().unwrap();
        changes.iter().map(|change| (change.number.0, change.state)).collect()
    };
    use ChangeState::{Intended, Published};
    assert_eq!(unsettled(), [(1, Intended), (2, Intended), (3, Intended)]);
    journal.publish_changes(&numbers[..2]).unwrap();
    assert_eq!(unsettled(), [(1, Published), (2, Published), (3, Intended)]);
    journal.settle_changes(&numbers[..1]).unwrap();
    journal.publish_changes(&numbers[..1]).unwrap();
    assert_eq!(unsettled(), [(2, Published), (3, Intended)]);
    journal.conflict_change(numbers[1], b"CONFLICT").unwrap();
    journal.settle_changes(&numbers[1..2]).unwrap();
    assert_eq!(unsettled(), [(3, Intended)]);
    assert_eq!(journal.reader().change(numbers[1]).unwrap().unwrap().state, ChangeState::Conflicted);
}

#[test]
fn conflict_replaces_the_outcome_of_its_step() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    let steps = [file_step("x", b"1", "ok"), file_step("y", b"2", "ok")];
    let numbers = journal.record_steps(run.number(), 0, &steps).unwrap();
    journal.conflict_change(numbers[1], b"CONFLICT").unwrap();
    journal.flush().unwrap();
    let steps = journal.reader().steps(run.number()).unwrap();
    let outcomes: Vec<_> = steps.into_iter().filter_map(|step| step.outcome).collect();
    assert_eq!(outcomes, [b"ok".to_vec(), b"CONFLICT".to_vec()]);
}

#[test]
fn conflicts_of_one_step_replace_its_outcome_together() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    journal.start_step(run.number(), 0, StepKind::ShellCommand, "make").unwrap();
    let change = |path| ChangeRecord::intended(path, None, Some(EntryRecord::file(b"x")));
    let changes = [change(b"a"), change(b"b"), change(b"c")];
    let numbers = journal.finish_step(run.number(), 0, b"exit 0", &changes).unwrap();
    journal.settle_changes(&numbers[..1]).unwrap();
    journal.conflict_changes(&numbers[..2], b"exit 0, but").unwrap();
    journal.flush().unwrap();
    let states: Vec<_> =
        journal.reader().changes_of_run(run.number()).unwrap().iter().map(|change| change.state).collect();
    use ChangeState::{Conflicted, Intended, Settled};
    assert_eq!(states, [Settled, Conflicted, Intended]);
    let outcome = journal.reader().steps(run.number()).unwrap().remove(0).outcome;
    assert_eq!(outcome.as_deref(), Some(&b"exit 0, but"[..]));
    // A settled change was applied, so its step keeps its outcome.
    journal.conflict_changes(&numbers[..1], b"no").unwrap();
    journal.flush().unwrap();
    let outcome = journal.reader().steps(run.number()).unwrap().remove(0).outcome;
    assert_eq!(outcome.as_deref(), Some(&b"exit 0, but"[..]));
}

#[test]
fn marks_survive_closing_without_a_flush() {
    let folder = Folder::new();
    {
        let journal = folder.journal();
        let run = begin_new(&journal, &key(1, "a"));
        let numbers = journal.record_steps(run.number(), 0, &[file_step("x", b"1", "ok")]).unwrap();
        journal.settle_changes(&numbers).unwrap();
    }
    let (journal, report) = folder.open();
    assert_eq!(report.unsettled_changes, 0);
    assert_eq!(journal.reader().unsettled_changes().unwrap(), []);
}

#[test]
fn marks_reach_the_disk_after_the_delay_without_anyone_asking() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    let numbers = journal.record_steps(run.number(), 0, &[file_step("x", b"1", "ok")]).unwrap();
    journal.settle_changes(&numbers).unwrap();
    let started = std::time::Instant::now();
    while !journal.reader().unsettled_changes().unwrap().is_empty() {
        assert!(started.elapsed() < std::time::Duration::from_secs(60), "the mark never arrived");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(journal.counts().commits, 1);
    assert_eq!(journal.counts().background_commits, 1);
}

#[test]
fn undo_names_an_existing_change() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    let undo = |undoes| ChangeRecord {
        undoes: Some(undoes),
        ..ChangeRecord::intended(b"x", Some(EntryRecord::file(b"1")), None)
    };
    let refused = journal.record_steps(run.number(), 0, &[one_step(vec![undo(ChangeNumber(1))])]);
    assert!(matches!(refused, Err(JournalError::UnknownUndo)), "{refused:?}");

    let done = journal.record_steps(run.number(), 0, &[file_step("x", b"1", "ok")]).unwrap();
    let undone = journal.record_steps(run.number(), 1, &[one_step(vec![undo(done[0])])]).unwrap();
    assert_eq!(journal.reader().change(undone[0]).unwrap().unwrap().undoes, Some(done[0]));
    assert_eq!(journal.reader().changes_undoing(done[0]).unwrap()[0].number, undone[0]);
    assert_eq!(journal.reader().changes_undoing(undone[0]).unwrap(), []);
}

#[test]
fn feed_gives_every_change_once_in_order() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    for index in 0..7 {
        journal.record_steps(run.number(), index, &[file_step("x", b"1", "ok")]).unwrap();
    }
    let (mut after, mut pages) = (ChangeNumber::default(), Vec::new());
    loop {
        let page = journal.reader().changes(after, 3).unwrap();
        let Some(last) = page.last() else { break };
        after = last.number;
        pages.push(page.iter().map(|change| change.step).collect::<Vec<_>>());
    }
    assert_eq!(pages, [vec![0, 1, 2], vec![3, 4, 5], vec![6]]);
    let latest = |before, limit| -> Vec<u64> {
        let changes = journal.reader().latest_changes(before, limit).unwrap();
        changes.iter().map(|change| change.number.0).collect()
    };
    assert_eq!(latest(None, 3), [7, 6, 5]);
    assert_eq!(latest(Some(ChangeNumber(5)), 9), [4, 3, 2, 1]);
}

#[test]
fn effects_of_a_command_come_with_its_outcome() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    journal.start_step(run.number(), 0, StepKind::ShellCommand, "make").unwrap();
    let change = ChangeRecord::intended(b"out.o", None, Some(EntryRecord::file(b"object")));
    let numbers = journal.finish_step(run.number(), 0, b"exit 0", &[change]).unwrap();
    assert_eq!(journal.reader().change(numbers[0]).unwrap().unwrap().path, b"out.o");
    assert_eq!(journal.counts().commits, 2);
}

#[test]
fn attributes_read_back_and_are_kept_as_long_as_the_change() {
    let journal = Journal::in_memory().unwrap();
    let run = begin_new(&journal, &key(1, "a"));
    let listed = EntryRecord { attributes: Attributes::Bytes(b"list"), ..EntryRecord::file(b"secret") };
    let plain = EntryRecord { attributes: Attributes::Bytes(b""), ..EntryRecord::file(b"plain") };
    let recorded = RecordedAttributes::Content(ContentHash::of(b"list"));
    let again = EntryRecord { attributes: Attributes::Recorded(recorded), ..EntryRecord::file(b"x") };
    let changes = vec![
        ChangeRecord::intended(b"a", Some(listed), Some(plain)),
        ChangeRecord::intended(b"b", Some(EntryRecord::file(b"unknown")), Some(again)),
    ];
    journal.record_steps(run.number(), 0, &[one_step(changes)]).unwrap();
    let reader = journal.reader();
    let read = reader.changes_of_run(run.number()).unwrap();
    let sides = |index: usize| {
        [read[index].before, read[index].after].map(|side: Option<Entry>| side.unwrap().attributes)
    };
    assert_eq!(sides(0), [recorded, RecordedAttributes::None]);
    assert_eq!(sides(1), [RecordedAttributes::Unknown, recorded]);
    let rule = GarbageRule { limit_bytes: 0, ..GarbageRule::default() };
    journal.collect_garbage(&rule).unwrap();
    assert_eq!(reader.content(&ContentHash::of(b"list")).unwrap().as_deref(), Some(&b"list"[..]));
}

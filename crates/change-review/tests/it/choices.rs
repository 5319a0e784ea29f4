//! Carrying out only what was chosen.

use std::collections::BTreeSet;

use change_review::{
    FileStep, HunkId, ProposedStep, RecordingWorkspace, Resolution, SelectedWorkspace, Selection, StepEffect,
    StepVerdict, hunks,
};
use memory_workspace::MemoryWorkspace;
use proptest::prelude::*;
use wap_core::{
    Call, CancelFlag, ConversationId, FileChange, ModifyFile, ModifyOperation, Origin, ReadFile, Reason,
    Retention, RunKey, StopProcess, Workspace, WriteFile,
};

fn origin() -> Origin {
    Origin {
        conversation: ConversationId("test".to_owned()),
        run: RunKey { sequence: 1, digest: "one".to_owned() },
        step: 0,
        retention: Retention::Process,
    }
}

fn read(workspace: &dyn Workspace, path: &str) -> Option<String> {
    let (origin, cancel) = (origin(), CancelFlag::new());
    let call = Call { origin: &origin, cancel: &cancel, time_left: None };
    let request = ReadFile { path: path.to_owned(), ..ReadFile::default() };
    workspace.read_file(&call, &request).ok().map(|read| read.content)
}

fn write(path: &str, content: &str) -> FileChange {
    let (path, content) = (path.to_owned(), content.to_owned());
    FileChange::Write(WriteFile { path, content, mode: None, create_directories: None, judged: None })
}

fn step(number: u32, before: &str, after: &str) -> ProposedStep {
    let file = FileStep::between("a.txt", Some(before.as_bytes()), Some(after.as_bytes()));
    ProposedStep {
        step: number,
        title: "change a.txt".to_owned(),
        effect: StepEffect::File(file),
        problem: None,
    }
}

fn ids(step: &ProposedStep) -> Vec<HunkId> {
    match &step.effect {
        StepEffect::File(file) => file.hunks.iter().map(|hunk| hunk.id.clone()).collect(),
        StepEffect::Command(_) => Vec::new(),
    }
}

fn carry_out(
    workspace: &MemoryWorkspace,
    resolution: Resolution,
    changes: &[FileChange],
) -> Vec<Result<wap_core::FileChanged, wap_core::WapError>> {
    let (origin, cancel) = (origin(), CancelFlag::new());
    let call = Call { origin: &origin, cancel: &cancel, time_left: None };
    SelectedWorkspace::new(workspace, resolution)
        .change_files(&call, changes)
        .expect("the batch is carried out")
}

const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\n";
const AFTER: &str = "ONE\ntwo\nthree\nfour\nFIVE\nsix\n";

#[test]
fn a_step_that_is_left_out_does_not_reach_the_workspace() {
    let workspace = MemoryWorkspace::with_files([("a.txt", BEFORE), ("b.txt", "b\n")]);
    let steps = [step(0, BEFORE, AFTER), step(1, "b\n", "B\n")];
    let selection = Selection([(0, StepVerdict::LeaveOut)].into());
    let changes = [write("a.txt", AFTER), write("b.txt", "B\n")];
    let answers = carry_out(&workspace, Resolution::of(&selection, &steps), &changes);
    assert_eq!(answers[0].as_ref().map_err(wap_core::WapError::reason), Err(Reason::LeftOut));
    assert!(answers[1].is_ok());
    assert_eq!(read(&workspace, "a.txt").as_deref(), Some(BEFORE));
    assert_eq!(read(&workspace, "b.txt").as_deref(), Some("B\n"));
    // The control: without the choice both are written.
    let all = carry_out(&workspace, Resolution::default(), &changes);
    assert!(all.iter().all(Result::is_ok));
    assert_eq!(read(&workspace, "a.txt").as_deref(), Some(AFTER));
}

#[test]
fn steps_that_are_sent_back_and_steps_that_are_left_out_have_answers_of_their_own() {
    let workspace = MemoryWorkspace::with_files([("a.txt", BEFORE)]);
    let steps = [step(0, BEFORE, AFTER)];
    let left_out = Resolution::of(&Selection::nothing(&steps), &steps);
    let answers = [Resolution::of_sent_back(&steps), left_out].map(|resolution| {
        let answers = carry_out(&workspace, resolution, &[write("a.txt", AFTER)]);
        let error = answers[0].as_ref().unwrap_err();
        (error.reason(), error.message().to_owned())
    });
    let expected = ["the user sent this back; nothing was done", "the user left this out; nothing was done"];
    assert_eq!(answers, expected.map(|text| (Reason::LeftOut, text.to_owned())));
    assert_eq!(read(&workspace, "a.txt").as_deref(), Some(BEFORE));
}

#[test]
fn a_reply_that_is_sent_back_stops_no_process() {
    let workspace = MemoryWorkspace::with_files([("a.txt", BEFORE)]);
    let steps = [step(0, BEFORE, AFTER)];
    let stop = |resolution| {
        // After the change, and with a number that no step of the proposal has.
        let origin = Origin { step: 1, ..origin() };
        let call = Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None };
        let request = StopProcess { name: "server".to_owned() };
        SelectedWorkspace::new(&workspace, resolution).stop_process(&call, &request).unwrap_err().reason()
    };
    assert_eq!(stop(Resolution::of_sent_back(&steps)), Reason::LeftOut);
    // The control: otherwise the inner workspace answers, which has no such process.
    assert_ne!(stop(Resolution::default()), Reason::LeftOut);
}

#[test]
fn one_hunk_of_a_change_is_carried_out() {
    let workspace = MemoryWorkspace::with_files([("a.txt", BEFORE)]);
    let steps = [step(0, BEFORE, AFTER)];
    let taken = ids(&steps[0])[1].clone();
    let selection = Selection([(0, StepVerdict::Hunks([taken].into()))].into());
    let change = FileChange::Modify(ModifyFile {
        path: "a.txt".to_owned(),
        operations: vec![ModifyOperation::Delete { start_line: 1, end_line: 5, was: None }],
        ..ModifyFile::default()
    });
    let answers = carry_out(&workspace, Resolution::of(&selection, &steps), &[change]);
    let Ok(wap_core::FileChanged::Modified(modified)) = &answers[0] else { panic!("{answers:?}") };
    assert_eq!(modified.warnings.len(), 1, "{:?}", modified.warnings);
    assert_eq!(read(&workspace, "a.txt").as_deref(), Some("one\ntwo\nthree\nfour\nFIVE\nsix\n"));
}

#[test]
fn a_part_of_a_file_that_has_changed_elsewhere_finds_its_lines() {
    let workspace = MemoryWorkspace::with_files([("a.txt", "zero\none\ntwo\nthree\nfour\nfive\n")]);
    let steps = [step(0, BEFORE, AFTER)];
    let selection = Selection([(0, StepVerdict::Hunks([ids(&steps[0])[1].clone()].into()))].into());
    let answers = carry_out(&workspace, Resolution::of(&selection, &steps), &[write("a.txt", AFTER)]);
    assert!(answers[0].is_ok(), "{answers:?}");
    assert_eq!(read(&workspace, "a.txt").as_deref(), Some("zero\none\ntwo\nthree\nfour\nFIVE\nsix\n"));
}

#[test]
fn a_part_whose_lines_are_gone_is_refused() {
    let workspace = MemoryWorkspace::with_files([("a.txt", "one\nand nothing else\n")]);
    let steps = [step(0, BEFORE, AFTER)];
    let selection = Selection([(0, StepVerdict::Hunks([ids(&steps[0])[1].clone()].into()))].into());
    let answers = carry_out(&workspace, Resolution::of(&selection, &steps), &[write("a.txt", AFTER)]);
    assert!(answers[0].is_err(), "{answers:?}");
    assert_eq!(read(&workspace, "a.txt").as_deref(), Some("one\nand nothing else\n"));
}

#[test]
fn a_part_of_a_step_that_has_no_parts_any_more_is_never_the_whole() {
    let taken = ids(&step(0, BEFORE, AFTER))[1].clone();
    let selection = Selection([(0, StepVerdict::Hunks([taken].into()))].into());
    let file = FileStep::between("a.txt", None, Some(AFTER.as_bytes()));
    let step = ProposedStep { step: 0, title: file.title(), effect: StepEffect::File(file), problem: None };
    assert_eq!(*selection.normal(&[step]).verdict(0), StepVerdict::LeaveOut);
}

#[test]
fn steps_are_recorded_with_their_answers() {
    let workspace = MemoryWorkspace::with_files([("a.txt", BEFORE)]);
    let recording = RecordingWorkspace::new(&workspace);
    let (origin, cancel) = (origin().at_step(7), CancelFlag::new());
    let call = Call { origin: &origin, cancel: &cancel, time_left: None };
    let changes = [write("a.txt", AFTER), write("no/folder/b.txt", "b\n")];
    recording.change_files(&call, &changes).expect("the batch is carried out").len();
    let (_, steps) = recording.into_parts();
    let outcomes: Vec<_> = steps.iter().map(|step| (step.step, step.outcome.success)).collect();
    assert_eq!(outcomes, [(7, true), (8, false)]);
}

fn lines() -> impl Strategy<Value = String> {
    proptest::collection::vec("[ab]{0,2}", 0..12).prop_map(|lines| lines.join("\n"))
}

proptest! {
    /// All hunks are the change, none are none, and any choice is a text between the two.
    #[test]
    fn hunks_are_the_change(before in lines(), after in lines(), choice in any::<u16>()) {
        let all = hunks(&before, &after);
        let steps = [step(0, &before, &after)];
        let text = |taken: BTreeSet<HunkId>| {
            let selection = Selection([(0, StepVerdict::Hunks(taken))].into());
            match Resolution::of(&selection, &steps).0.remove(&0) {
                None => after.clone(),
                Some(change_review::Instead::Nothing | change_review::Instead::SentBack) => before.clone(),
                Some(change_review::Instead::Part { after, .. }) => after,
            }
        };
        let names: BTreeSet<HunkId> = all.iter().map(|hunk| hunk.id.clone()).collect();
        prop_assert_eq!(names.len(), all.len());
        prop_assert_eq!(text(names.clone()), after.clone());
        if !all.is_empty() {
            prop_assert_eq!(text(BTreeSet::new()), before.clone());
        }
        let chosen: BTreeSet<HunkId> = all.iter().enumerate()
            .filter(|(index, _)| choice >> (index % 16) & 1 == 1)
            .map(|(_, hunk)| hunk.id.clone())
            .collect();
        // What is left of the change is the hunks that were not chosen.
        let between = text(chosen.clone());
        let length: usize = all.iter().filter(|hunk| chosen.contains(&hunk.id))
            .map(|hunk| hunk.new_text.len()).sum();
        let removed: usize = all.iter().filter(|hunk| chosen.contains(&hunk.id))
            .map(|hunk| hunk.old_text.len()).sum();
        if !chosen.is_empty() {
            prop_assert_eq!(between.len() + removed, before.len() + length);
        }
    }
}

#[test]
fn the_first_step_of_a_file_says_what_it_was_planned_on() {
    let created = FileStep::between("new.txt", None, Some(b"n\n"));
    let created =
        ProposedStep { step: 2, title: created.title(), effect: StepEffect::File(created), problem: None };
    let unknown = FileStep { path: "failed.txt".to_owned(), ..FileStep::default() };
    let unknown =
        ProposedStep { step: 3, title: unknown.title(), effect: StepEffect::File(unknown), problem: None };
    let steps = [step(0, "1\n", "2\n"), step(1, "2\n", "3\n"), created, unknown];
    let files = change_review::files_before(&steps);
    let hash = content_hash::ContentHash::of(b"1\n").to_string();
    let expected = [("a.txt".to_owned(), Some(hash)), ("new.txt".to_owned(), None)];
    assert_eq!(files, expected.into());
}

/// Carries out one hunk of a change over a file that now has different content.
fn part_over(now: &str, (before, after): (&str, &str), hunk: usize) -> (bool, String) {
    let workspace = MemoryWorkspace::with_files([("a.txt", now)]);
    let steps = [step(0, before, after)];
    let selection = Selection([(0, StepVerdict::Hunks([ids(&steps[0])[hunk].clone()].into()))].into());
    let answers = carry_out(&workspace, Resolution::of(&selection, &steps), &[write("a.txt", after)]);
    (answers[0].is_ok(), workspace.text("a.txt").expect("the file stays"))
}

#[test]
fn a_part_over_another_file_changes_exactly_its_lines() {
    let crlf = ("a\r\nb\r\nc\r\nd\r\ne\r\n", "a\r\nB\r\nc\r\nd\r\nE\r\n");
    assert_eq!(
        part_over("z\r\na\r\nb\r\nc\r\nd\r\ne\r\n", crlf, 0),
        (true, "z\r\na\r\nB\r\nc\r\nd\r\ne\r\n".to_owned())
    );
    let mixed = ("a\nb\r\nc\nd\ne\n", "a\nB\r\nc\nd\nE\n");
    assert_eq!(part_over("z\na\nb\r\nc\nd\ne\n", mixed, 0), (true, "z\na\nB\r\nc\nd\ne\n".to_owned()));
    let end = ("a\nb\nc\nd", "A\nb\nc\nd\nmore");
    assert_eq!(part_over("z\na\nb\nc\nd", end, 1), (true, "z\na\nb\nc\nd\nmore".to_owned()));
    let removed = ("a\nb\nc\nd\ne\n", "a\nc\nd\nE\n");
    assert_eq!(part_over("z\na\nb\nc\nd\ne\n", removed, 0), (true, "z\na\nc\nd\ne\n".to_owned()));
}

#[test]
fn a_part_is_not_carried_out_on_lines_that_are_only_like_its_own() {
    let change = ("fn a() {\n    total = 1;\n}\nx\ny\nz\n", "fn a() {\n    total = 2;\n}\nx\ny\nZ\n");
    for now in [
        "total = 1;\nother\n",
        "\ttotal = 1;\n",
        "    total  = 1;\n",
        "    total = 1;  \n",
        "    total = 1;\r\n",
    ] {
        assert_eq!(part_over(now, change, 0), (false, now.to_owned()));
    }
}

#[test]
fn a_choice_among_equal_hunks_does_not_move_to_another_place() {
    let text = |first: &str, second: &str, third: &str| {
        format!("one\n{first}\nend one\n\n\ntwo\n{second}\nend two\n\n\nthree\n{third}\nend three\n")
    };
    let (before, after) = (text("x", "x", "x"), text("y", "y", "y"));
    let old = step(0, &before, &after);
    assert_eq!(ids(&old).len(), 3);
    // The second one is chosen; then the user makes the first change.
    let selection = Selection([(0, StepVerdict::Hunks([ids(&old)[1].clone()].into()))].into());
    let now = step(0, &text("y", "x", "x"), &after);
    assert_eq!(ids(&now).len(), 2);
    let resolution = Resolution::of(&selection, &[now]);
    let change_review::Instead::Part { after: chosen, .. } = &resolution.0[&0] else {
        panic!("{resolution:?}")
    };
    assert_eq!(*chosen, text("y", "y", "x"));
    // Equal hunks between equal lines are distinguished by their order, as far as that goes.
    let same = step(0, "x\nq\nx\nq\nx\n", "y\nq\ny\nq\ny\n");
    assert_eq!(ids(&same).into_iter().collect::<BTreeSet<_>>().len(), 3);
}

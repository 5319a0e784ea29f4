//! The news since the last review.

use std::collections::BTreeMap;

use change_review::{
    CommandStep, Content, Decision, FileStep, Instead, Proposal, ProposalId, ProposedStep, Resolution,
    SinceReview, State, StepEffect,
};
use proptest::prelude::*;

fn file(step: u32, path: &str, before: Option<&str>, after: Option<&str>) -> ProposedStep {
    let file = FileStep::between(path, before.map(str::as_bytes), after.map(str::as_bytes));
    ProposedStep { step, title: file.title(), effect: StepEffect::File(file), problem: None }
}

fn command(step: u32, text: &str) -> ProposedStep {
    let effect = CommandStep { command: text.to_owned(), ..CommandStep::default() };
    ProposedStep { step, title: format!("run {text}"), effect: StepEffect::Command(effect), problem: None }
}

/// A decided proposal of which these steps were left out, by their number; all of them if nothing landed.
fn decided(id: u64, steps: Vec<ProposedStep>, left_out: Option<&[u32]>) -> Proposal {
    let resolution: BTreeMap<u32, Instead> = match left_out {
        Some(left_out) => left_out.iter().map(|step| (*step, Instead::Nothing)).collect(),
        None => steps.iter().map(|step| (step.step, Instead::Nothing)).collect(),
    };
    Proposal {
        id: ProposalId(id),
        conversation: "s1".to_owned(),
        front_end: "session".to_owned(),
        came_at: 0,
        subject: String::new(),
        content: Content::Reply(serde_json::Value::Null),
        steps,
        is_tried: false,
        state: State::Decided(Decision {
            resolution: Resolution(resolution),
            review: String::new(),
            has_landed: left_out.is_some(),
            answers: serde_json::Value::Null,
            is_answered: true,
            is_closed: false,
        }),
    }
}

/// Returns the news, a line for each step and for each dropped one.
fn rendered(steps: &[ProposedStep], earlier: &[Proposal]) -> String {
    let Some(since) = SinceReview::of(steps, earlier) else { return "nothing\n".to_owned() };
    let mut text = String::new();
    for step in steps {
        let news = match since.steps.get(&step.step) {
            None => "new".to_owned(),
            Some(news) => match &news.changed {
                None => format!("as in {}", news.review),
                Some(changed) => {
                    let hunks: String = changed
                        .hunks
                        .iter()
                        .map(|hunk| format!(" {:?} -> {:?}", hunk.old_text, hunk.new_text))
                        .collect();
                    let note = changed.note.as_deref().map(|note| format!(" ({note})")).unwrap_or_default();
                    format!("not as in {}:{hunks}{note}", news.review)
                }
            },
        };
        text.push_str(&format!("{}: {news}\n", step.title));
    }
    since.dropped.iter().for_each(|title| text.push_str(&format!("dropped: {title}\n")));
    text
}

#[test]
fn a_second_try_shows_what_has_become_of_each_step() {
    let first = decided(
        1,
        vec![
            file(0, "a.txt", Some("1\n2\n3\n"), Some("one\n2\nthree\n")),
            file(1, "same.txt", Some("x\n"), Some("y\n")),
            file(2, "gone.txt", Some("x\n"), Some("y\n")),
            command(3, "cargo test"),
            command(4, "rm -r target"),
        ],
        None,
    );
    let second = [
        file(0, "a.txt", Some("1\n2\n3\n"), Some("one\n2\nTHREE\n")),
        file(1, "same.txt", Some("x\n"), Some("y\n")),
        file(2, "new.txt", None, Some("n\n")),
        command(3, "cargo test"),
        command(4, "cargo fmt"),
    ];
    insta::assert_snapshot!(rendered(&second, &[first]), @r#"
    change a.txt: not as in 1: "three\n" -> "THREE\n"
    change same.txt: as in 1
    create new.txt: new
    run cargo test: as in 1
    run cargo fmt: new
    dropped: change gone.txt
    dropped: run rm -r target
    "#);
}

#[test]
fn what_landed_is_compared_with_the_folder_alone() {
    let steps = || vec![file(0, "a.txt", Some("1\n"), Some("2\n")), command(1, "cargo test")];
    assert_eq!(rendered(&steps(), &[decided(1, steps(), Some(&[]))]), "nothing\n");
    // The control: the same, with the command left out.
    let with_control = rendered(&steps(), &[decided(1, steps(), Some(&[1]))]);
    assert_eq!(with_control, "change a.txt: new\nrun cargo test: as in 1\n");
    // An older review says nothing about what has landed since.
    let later = [decided(2, steps(), Some(&[])), decided(1, steps(), None)];
    assert_eq!(rendered(&steps(), &later), "nothing\n");
}

#[test]
fn the_newest_review_of_a_file_counts_and_other_files_do_not() {
    let first = decided(1, vec![file(0, "a.txt", Some("1\n"), Some("2\n"))], None);
    let second = decided(2, vec![file(0, "a.txt", Some("1\n"), Some("3\n"))], None);
    let other = decided(3, vec![file(0, "b.txt", None, Some("b\n"))], Some(&[]));
    let now = [file(0, "a.txt", Some("1\n"), Some("4\n"))];
    assert_eq!(rendered(&now, &[other, second, first]), "change a.txt: not as in 2: \"3\\n\" -> \"4\\n\"\n");
}

#[test]
fn a_file_that_is_kept_or_cannot_be_shown_is_compared_as_far_as_possible() {
    let bytes = |step, after: &[u8]| {
        let file = FileStep::between("b.bin", Some(b"\xff"), Some(after));
        ProposedStep { step, title: file.title(), effect: StepEffect::File(file), problem: None }
    };
    let first = decided(
        1,
        vec![
            bytes(0, b"\xfe"),
            file(1, "gone.txt", Some("1\n"), None),
            file(2, "kept.txt", Some("1\n"), None),
        ],
        None,
    );
    let now = [
        bytes(0, b"\xfe"),
        file(1, "gone.txt", Some("1\n2\n"), None),
        file(2, "kept.txt", Some("1\n"), Some("2\n")),
    ];
    insta::assert_snapshot!(rendered(&now, std::slice::from_ref(&first)), @r"
    change b.bin: as in 1
    delete gone.txt: as in 1
    change kept.txt: not as in 1:
    ");
    let other = [bytes(0, b"\xfd")];
    assert!(
        rendered(&other, &[first])
            .starts_with("change b.bin: not as in 1: (the two states cannot be compared)")
    );
}

proptest! {
    #[test]
    fn the_difference_leads_from_what_was_seen_to_what_is_proposed(
        (base, reviewed, now) in ("[ab\n]{0,12}", "[ab\n]{0,12}", "[ab\n]{0,12}"),
    ) {
        let first = decided(1, vec![file(0, "a", Some(&base), Some(&reviewed))], None);
        let since = SinceReview::of(&[file(0, "a", Some(&base), Some(&now))], &[first]).expect("it was sent back");
        match &since.steps[&0].changed {
            None => prop_assert_eq!(reviewed, now),
            Some(changed) => {
                prop_assert_ne!(&reviewed, &now);
                prop_assert_eq!((changed.before.as_ref(), changed.after.as_ref()), (Some(&reviewed), Some(&now)));
            }
        }
    }
}

#[test]
fn a_command_with_another_variable_is_another_command() {
    let with = |value: &str| {
        let mut step = command(0, "make test");
        let StepEffect::Command(command) = &mut step.effect else { unreachable!("it runs a command") };
        command.environment = [("MAKEFLAGS".to_owned(), value.to_owned())].into();
        vec![step]
    };
    let earlier = [decided(1, with("-j2"), None)];
    assert_eq!(
        rendered(&with("--eval=$(shell ./evil)"), &earlier),
        "run make test: new\ndropped: run make test\n"
    );
    // The control: the same command with the same variable comes again.
    let again = SinceReview::of(&with("-j2"), &earlier);
    assert!(again.is_some_and(|since| since.steps.contains_key(&0) && since.dropped.is_empty()));
}

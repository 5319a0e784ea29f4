//! The review as the model reads it.

use change_review::{
    CommandStep, Comment, Draft, FileStep, ProposedStep, Selection, Side, StepEffect, StepVerdict,
    review_text,
};

const BEFORE: &str = "fn main() {\n    let a = 1;\n    let b = 2;\n    println!(\"{a} {b}\");\n}\n";
const AFTER: &str = "fn main() {\n    let a = 10;\n    let b = 2;\n    println!(\"{a}, {b}\");\n}\n";

fn steps() -> Vec<ProposedStep> {
    let file = FileStep::between("src/main.rs", Some(BEFORE.as_bytes()), Some(AFTER.as_bytes()));
    let command = CommandStep { command: "cargo test\necho done".to_owned(), ..CommandStep::default() };
    vec![
        ProposedStep {
            step: 0,
            title: "change src/main.rs".to_owned(),
            effect: StepEffect::File(file),
            problem: None,
        },
        ProposedStep {
            step: 1,
            title: "run cargo test".to_owned(),
            effect: StepEffect::Command(command),
            problem: None,
        },
    ]
}

#[test]
fn half_of_a_change_with_two_comments() {
    let steps = steps();
    let StepEffect::File(file) = &steps[0].effect else { unreachable!("the first step changes a file") };
    let selection = Selection(
        [(0, StepVerdict::Hunks([file.hunks[1].id.clone()].into())), (1, StepVerdict::LeaveOut)].into(),
    );
    let on_line =
        Comment::on_lines(&steps[0], Side::After, (2, 2), "Ten is too much.").expect("the line is there");
    let draft = Draft {
        comments: vec![on_line, Comment::on_step(&steps[1], "The tests need a database here.")],
        summary: "Nearly there.".to_owned(),
        ..Draft::default()
    };
    insta::assert_snapshot!(review_text(&steps, &selection, &draft, &str::to_owned, &nothing));
}

#[test]
fn all_of_it_without_a_word_is_no_section() {
    assert_eq!(review_text(&steps(), &Selection::default(), &Draft::default(), &str::to_owned, &nothing), "");
}

#[test]
fn nothing_of_it() {
    let steps = steps();
    insta::assert_snapshot!(review_text(
        &steps,
        &Selection::nothing(&steps),
        &Draft::default(),
        &str::to_owned,
        &nothing,
    ));
}

/// No file is hidden.
fn nothing(_: &str) -> bool {
    false
}

#[test]
fn lines_of_a_hidden_file_are_not_quoted() {
    let steps = steps();
    let on_line = Comment::on_lines(&steps[0], Side::After, (2, 2), "Ten?").expect("the line is there");
    let path = on_line.path.clone();
    let draft = Draft { comments: vec![on_line], ..Draft::default() };
    let selection = Selection::nothing(&steps);
    let text = review_text(&steps, &selection, &draft, &str::to_owned, &|hidden| hidden == path);
    assert!(!text.contains("10") && text.contains("(lines that hold a secret)"), "{text}");
    let text = review_text(&steps, &selection, &draft, &str::to_owned, &nothing);
    assert!(text.contains("10"), "{text}");
}

#[test]
fn lines_and_commands_with_a_secret_are_not_quoted() {
    let steps = steps();
    let on_line = Comment::on_lines(&steps[0], Side::After, (2, 2), "Ten?").expect("the line is there");
    let draft = Draft { comments: vec![on_line, Comment::on_step(&steps[1], "Why?")], ..Draft::default() };
    let mask =
        |text: &str| text.replace("10", "⟦secret:number:1⟧").replace("cargo test", "⟦secret:number:2⟧");
    let text = review_text(&steps, &Selection::nothing(&steps), &draft, &mask, &nothing);
    assert!(!text.contains("10") && !text.contains("cargo"), "{text}");
    assert!(text.contains("(lines that hold a secret)") && text.contains("(which holds a secret)"), "{text}");
    // The control: without a mask both are quoted.
    let text = review_text(&steps, &Selection::nothing(&steps), &draft, &str::to_owned, &nothing);
    assert!(text.contains("10") && text.contains("cargo test"), "{text}");
}

//! The order in which a proposal is read.

use change_review::{CommandStep, FileStep, ProposedStep, StepEffect, reading_order};
use proptest::prelude::*;

fn step(number: usize, effect: StepEffect) -> ProposedStep {
    ProposedStep {
        step: u32::try_from(number).expect("a few steps"),
        title: String::new(),
        effect,
        problem: None,
    }
}

/// Makes the steps of a proposal: a path with the text before and after, or a command after `$`.
fn steps(changes: &[(&str, &str, &str)]) -> Vec<ProposedStep> {
    let effect = |(path, before, after): &(&str, &str, &str)| match path.strip_prefix("$ ") {
        Some(command) => {
            StepEffect::Command(CommandStep { command: command.to_owned(), ..CommandStep::default() })
        }
        None => {
            let before = Some(before.as_bytes()).filter(|before| !before.is_empty());
            StepEffect::File(FileStep::between(*path, before, Some(after.as_bytes())))
        }
    };
    changes.iter().map(effect).enumerate().map(|(number, effect)| step(number, effect)).collect()
}

fn order<'a>(changes: &[(&'a str, &str, &str)]) -> Vec<&'a str> {
    reading_order(&steps(changes)).into_iter().map(|index| changes[index].0).collect()
}

#[test]
fn definitions_come_before_uses_and_tests_after_code() {
    let changes = [
        ("$ cargo test", "", ""),
        ("Cargo.lock", "", "version = 4\n"),
        ("tests/undo.rs", "", "#[test]\nfn it_undoes() { undo_all(1); }\n"),
        ("src/main.rs", "fn main() {}\n", "fn main() {\n    undo_all(limit());\n}\n"),
        ("src/undo.rs", "", "pub fn undo_all(limit: u32) -> Undone { Undone::of(limit) }\n"),
        ("src/limits.rs", "// Limits.\n", "// Limits.\nfn limit() -> u32 { 3 }\n"),
        ("src/undone.rs", "", "pub struct Undone(u32);\n"),
        ("README.md", "", "Undo.\n"),
    ];
    let expected = [
        "src/limits.rs",
        "src/undone.rs",
        "src/undo.rs",
        "src/main.rs",
        "README.md",
        "tests/undo.rs",
        "$ cargo test",
        "Cargo.lock",
    ];
    assert_eq!(order(&changes), expected);
}

#[test]
fn without_dependencies_and_in_circles_the_order_of_the_proposal_stays() {
    let apart = [("b.py", "", "def one(): pass\n"), ("a.py", "", "def two(): pass\n")];
    assert_eq!(order(&apart), ["b.py", "a.py"]);
    let circle = [
        ("b.py", "", "def one():\n    three()\n"),
        ("a.py", "", "def two():\n    one()\n"),
        ("c.py", "", "def three():\n    two()\n"),
    ];
    assert_eq!(order(&circle), ["b.py", "a.py", "c.py"]);
    // A name that many files define says nothing.
    let many: Vec<_> =
        ["z.py", "y.py", "x.py", "w.py"].map(|path| (path, "", "def main():\n    main()\n")).to_vec();
    assert_eq!(order(&many), ["z.py", "y.py", "x.py", "w.py"]);
}

#[test]
fn a_definition_that_was_there_before_moves_nothing() {
    let changes = [
        ("main.py", "start()\n", "start(helper())\n"),
        ("lib.py", "def helper():\n    return 1\n", "def helper():\n    return 2\n"),
    ];
    assert_eq!(order(&changes), ["main.py", "lib.py"]);
}

proptest! {
    /// Every step is shown once, the steps of a file follow each other, and no rank is mixed with another.
    #[test]
    fn nothing_is_lost(texts in prop::collection::vec((0_usize..8, "(def|fn|class|[a-d]{3}|\\(|\\)| |\n){0,12}"), 0..12)) {
        let paths = ["a.py", "b.py", "c.rs", "tests/d.py", "go.sum", "$ make", "e/f.rs", "\u{202e}.py"];
        let changes: Vec<_> = texts.iter().map(|(path, text)| (paths[*path], "", &**text)).collect();
        let steps = steps(&changes);
        let order = reading_order(&steps);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..steps.len()).collect::<Vec<_>>());
        let mut listed: Vec<&str> = order.iter().map(|index| changes[*index].0).collect();
        let rank = |path: &str| match path {
            "tests/d.py" => 1,
            "$ make" => 2,
            "go.sum" => 3,
            _ => 0,
        };
        prop_assert!(listed.is_sorted_by_key(|path| rank(path)), "{:?}", listed);
        listed.retain(|path| !path.starts_with('$'));
        listed.dedup();
        let count = listed.len();
        listed.sort_unstable();
        listed.dedup();
        prop_assert_eq!(listed.len(), count);
    }
}

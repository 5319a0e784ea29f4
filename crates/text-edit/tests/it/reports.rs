//! The parts of an edit besides its bytes: shifts, outcomes, refusals with their lines.

use text_edit::{EditErrorKind, EditLimits, Edited, Numbering, Operation, SearchText, Shift, apply};

use crate::{edit, insert, regex, replace};

fn replace_text(search: &str, replacement: &str) -> Operation {
    Operation::ReplaceText {
        search: SearchText::of_lines(search),
        replacement: replacement.to_owned(),
        expected: 1,
        within: None,
    }
}

fn edited(operations: &[Operation]) -> Edited {
    apply(b"1\n2\n3\n4\n", operations, Numbering::Original, &EditLimits::default()).unwrap()
}

#[test]
fn an_edit_reports_the_lines_from_which_others_have_moved() {
    let edited = edited(&[insert(1, "a\nb"), replace(3, 4, "c")]);
    assert_eq!(edited.shifts(), [Shift { from_line: 2, by: 2 }]);
}

#[test]
fn a_text_replaced_by_itself_does_not_differ() {
    let source = b"1\n2\n3\n4\n";
    assert!(!edited(&[replace(2, 2, "2")]).differs_from(source));
    assert!(edited(&[replace(2, 2, "two")]).differs_from(source));
}

#[test]
fn outcomes_of_texts_name_their_operations() {
    let edited = edited(&[insert(0, "0"), replace_text("2\n", "two\n"), replace_text("4\n", "four\n")]);
    let operations: Vec<usize> = edited.texts.iter().map(|text| text.operation_index).collect();
    assert_eq!(operations, [1, 2]);
}

#[test]
fn hunks_of_the_first_step_do_not_count_against_the_limit() {
    let limits = EditLimits { hunk_limit: 2, ..EditLimits::default() };
    let apply = |operations: &[Operation]| {
        apply(b"1\nx\n2\nx\n3\nx\n4\n", operations, Numbering::Original, &limits).map_err(|error| error.kind)
    };
    let [three, one] = [regex("x", "y", "g"), regex("1", "one", "")];
    apply(std::slice::from_ref(&three)).unwrap();
    let too_many = EditErrorKind::TooManyStretches { limit: 2 };
    assert_eq!(apply(&[three, one.clone()]).unwrap_err(), too_many);
    // As many as the limit are allowed, for any number of steps.
    let two = regex("2", "two", "");
    apply(&[one.clone(), two.clone()]).unwrap();
    assert_eq!(apply(&[one, two, regex("3", "three", "")]).unwrap_err(), too_many);
}

#[test]
fn refusals_of_several_operations_and_of_texts_name_their_lines() {
    let lines = |source: &str, operations: &[Operation]| {
        let error = edit(source.as_bytes(), operations, Numbering::Original).unwrap_err();
        error.kind.lines_in_question()
    };
    assert_eq!(lines("1\n2\n3\n", &[replace(1, 1, "a"), replace(1, 2, "b")]), Some(1..=2));
    assert_eq!(lines("a\nb\na\n", &[replace_text("a\n", "c\n")]), Some(1..=1));
    // The new text is already there, and the old one only with another indentation.
    let already_there = lines("x\n  old\nnew\n", &[replace_text("old\n", "new\n")]);
    assert_eq!(already_there, Some(3..=3));
}

#[test]
fn a_pass_over_the_text_costs_a_fixed_part_and_one_that_grows_with_it() {
    // A line is put into 16 KiB: 2^14 steps, and one for each 16 bytes.
    let text = "0123456789abcde\n".repeat(1 << 10);
    let insert = [crate::insert(1, "x")];
    let with = |base_work| {
        let limits = EditLimits { base_work, work_factor: 0, ..EditLimits::default() };
        apply(text.as_bytes(), &insert, Numbering::Original, &limits).map(drop).map_err(|error| error.kind)
    };
    let cost = (1 << 14) + (1 << 10);
    assert_eq!(with(cost), Ok(()));
    assert_eq!(with(cost - 1), Err(EditErrorKind::TooMuchWork { limit_steps: cost - 1 }));
}

//! Operations of one call that conflict.

use text_edit::{Conflict, EditErrorKind, Numbering, Operation, SearchText};

use crate::{delete, edit, insert, regex, replace};

fn conflict(operations: &[Operation]) -> Conflict {
    let error = edit(b"1\n2\n3\n4\n5\n", operations, Numbering::Original).unwrap_err();
    let EditErrorKind::Conflict(conflict) = error.kind else { panic!("{error}") };
    assert_eq!(error.operation_index, Some(conflict.second));
    *conflict
}

#[test]
fn operations_on_the_same_lines_conflict() {
    let cases: &[(&str, &[Operation], std::ops::RangeInclusive<usize>)] = &[
        ("same line twice", &[replace(2, 2, "a"), replace(2, 2, "b")], 2..=2),
        ("same text twice", &[replace(2, 2, "a"), replace(2, 2, "a")], 2..=2),
        ("overlap", &[delete(1, 3), replace(3, 4, "b")], 3..=4),
        ("overlap, lower one first", &[replace(3, 4, "b"), delete(1, 3)], 1..=3),
        ("clamped end", &[delete(3, 99), replace(5, 5, "b")], 5..=5),
        ("insertion into a range", &[replace(2, 4, "a"), insert(3, "b")], 3..=4),
        ("range over an insertion", &[insert(3, "a"), delete(2, 4)], 2..=4),
    ];
    for (name, operations, lines) in cases {
        let conflict = conflict(operations);
        assert_eq!((conflict.first, conflict.second, &conflict.lines), (0, 1, lines), "{name}");
    }
}

#[test]
fn a_conflict_quotes_both_texts() {
    let conflict = conflict(&[insert(5, "z"), replace(2, 3, "a\nb"), replace(3, 3, "c\n")]);
    assert_eq!((conflict.first, conflict.second), (1, 2));
    assert_eq!((conflict.first_text.as_str(), conflict.second_text.as_str()), ("a\nb", "c"));
    assert_eq!(conflict.to_string(), "operations 2 and 3 both touch line 3");
}

#[test]
fn a_line_that_an_expression_has_changed_cannot_be_replaced_as_well() {
    let conflict = conflict(&[insert(0, "0"), regex("4", "four", ""), replace(3, 4, "x")]);
    assert_eq!((conflict.first, conflict.second, conflict.lines), (1, 2, 3..=4));
    assert_eq!((conflict.first_text.as_str(), conflict.second_text.as_str()), ("3\nfour", "x"));
}

#[test]
fn lines_next_to_those_that_an_expression_changed_can_be_edited() {
    let operations = [insert(0, "0"), regex("[24]", "a\nb", "g"), replace(3, 3, "x"), insert(4, "y")];
    let edited = edit(b"1\n2\n3\n4\n5\n", &operations, Numbering::Original).unwrap();
    assert_eq!(String::from_utf8(edited).unwrap(), "0\n1\na\nb\nx\na\nb\ny\n5\n");
}

#[test]
fn an_expression_sees_the_result_of_earlier_operations() {
    let operations = [replace(2, 2, "old old"), regex("old", "new", "g"), regex("new", "newer", "")];
    let edited = edit(b"1\n2\nold\n", &operations, Numbering::Original).unwrap();
    assert_eq!(String::from_utf8(edited).unwrap(), "1\nnewer new\nnew\n");
}

#[test]
fn insertions_at_one_line_stay_in_order_over_an_expression() {
    let operations =
        [insert(2, "a"), replace(3, 3, "x"), regex("5", "five", ""), insert(2, "b"), insert(3, "c")];
    let edited = edit(b"1\n2\n3\n4\n5\n", &operations, Numbering::Original).unwrap();
    assert_eq!(String::from_utf8(edited).unwrap(), "1\n2\na\nb\nx\nc\n4\nfive\n");
}

#[test]
fn sequential_operations_never_conflict() {
    let operations = [replace(2, 2, "a"), replace(2, 2, "b"), insert(2, "c"), delete(1, 2)];
    let edited = edit(b"1\n2\n3\n", &operations, Numbering::Sequential).unwrap();
    assert_eq!(String::from_utf8(edited).unwrap(), "c\n3\n");
}

#[test]
fn a_conflict_with_an_earlier_step_names_the_operation_that_touched_the_lines() {
    // The expression ends a step in which two or three operations touched adjacent lines.
    let first = |operations: &[Operation]| conflict(operations).first;
    let five = || regex("5", "five", "");
    assert_eq!(first(&[replace(1, 1, "a"), replace(2, 2, "b"), five(), replace(2, 2, "x")]), 1);
    assert_eq!(first(&[replace(3, 3, "c"), replace(2, 2, "b"), five(), replace(2, 2, "x")]), 1);
    assert_eq!(
        first(&[replace(1, 1, "a"), replace(3, 3, "c"), replace(2, 2, "b"), five(), replace(2, 2, "x")]),
        2
    );
    assert_eq!(first(&[replace(2, 2, "b"), replace(4, 4, "d"), five(), replace(2, 4, "x")]), 0);
}

#[test]
fn lines_inserted_between_kept_ones_are_quoted_with_them() {
    let between = Operation::ReplaceText {
        search: SearchText::of_lines("2\n3\n"),
        replacement: "2\nnew\n3\n".to_owned(),
        expected: 1,
        within: None,
    };
    let conflict = conflict(&[between, replace(2, 3, "x")]);
    assert_eq!((conflict.first, conflict.second, conflict.lines), (0, 1, 2..=3));
    assert_eq!((conflict.first_text.as_str(), conflict.second_text.as_str()), ("2\nnew\n3", "x"));
}

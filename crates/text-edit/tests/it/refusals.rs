//! Refusals, and the details in them that help the caller.

use insta::assert_snapshot;
use text_edit::{
    Difference, EditErrorKind, ExcerptLimits, Lines, Numbering, Source, already_applied, excerpt,
    find_unique, first_difference,
};

use crate::{delete, edit, insert, regex, replace};

#[test]
fn ranges_outside_the_text_are_refused_with_the_total() {
    for (start_line, end_line, total_lines, text) in [
        (0, 1, 2, "a\nb\n"),
        (-1, 1, 2, "a\nb\n"),
        (2, 1, 2, "a\nb\n"),
        (3, 3, 2, "a\nb"),
        (1, 1, 0, ""),
        (i64::MIN, i64::MAX, 1, "a"),
        (i64::MAX, i64::MAX, 1, "a"),
    ] {
        for operation in [replace(start_line, end_line, "x"), delete(start_line, end_line)] {
            let operations = [insert(0, "x"), operation];
            let error = edit(text.as_bytes(), &operations, Numbering::Original).unwrap_err();
            assert_eq!(error.operation_index, Some(1));
            assert_eq!(error.kind, EditErrorKind::InvalidRange { start_line, end_line, total_lines });
        }
    }
}

#[test]
fn refusals_read_well() {
    let text = |operations: &[_]| edit(b"a\nb\n", operations, Numbering::Original).unwrap_err().to_string();
    assert_snapshot!(text(&[]), @"there are no operations");
    assert_snapshot!(text(&[delete(3, 4)]), @"operation 1: invalid line range 3-4 for a text of 2 lines");
    assert_snapshot!(text(&[insert(-1, "")]), @"operation 1: invalid position after line -1 in a text of 2 lines");
    assert_snapshot!(text(&[regex("a", "", "q")]), @"operation 1: bad flag 'q' (flags are g, i, m, s and u, each at most once)");
    assert_snapshot!(text(&[regex("(", "", "")]), @"operation 1: invalid regular expression at byte 0: unclosed group");
    assert_snapshot!(text(&[regex("a", "$1", "")]), @"operation 1: bad group $1 in the replacement (the expression has 0 groups; $$ is a dollar sign)");
}

#[test]
fn nothing_is_applied_when_a_later_operation_is_bad() {
    for numbering in [Numbering::Original, Numbering::Sequential] {
        assert!(edit(b"a\nb\n", &[delete(1, 1), regex("(", "", "")], numbering).is_err());
    }
}

#[test]
fn refusals_name_the_lines_to_look_at() {
    let lines = |text: &[u8], operation| {
        edit(text, &[operation], Numbering::Original).unwrap_err().kind.lines_in_question()
    };
    assert_eq!(lines(b"a\nb\nc\n", delete(5, 9)), Some(3..=3));
    assert_eq!(lines(b"a\nb\nc\n", delete(3, 1)), Some(1..=3));
    assert_eq!(lines(b"a\nb\nc\n", delete(-2, 2)), Some(1..=2));
    assert_eq!(lines(b"a\nb\nc\n", insert(-2, "x")), Some(1..=1));
    assert_eq!(lines(b"", delete(1, 1)), None);
    assert_eq!(lines(b"a\n", regex("(", "", "")), None);
}

#[test]
fn excerpts_are_numbered_and_bounded() {
    let text: String = (1..=12).map(|line| format!("line {line}\n")).collect();
    let source = Source::parse(text.as_bytes()).unwrap();
    let limits = ExcerptLimits { line_limit: 4, line_limit_chars: 6 };
    let text = excerpt(&source, 9..=10, 1, &limits);
    assert_eq!((text.omitted_lines, text.total_lines), (0, 12));
    assert_snapshot!(text, @r#"
     8|line 8
     9|line 9
    10|line 1…
    11|line 1…
    "#);
    assert!(text.lines[2].is_cut && !text.lines[1].is_cut);
    let past_the_end = excerpt(&source, 20..=30, 2, &limits);
    let numbers: Vec<usize> = past_the_end.lines.iter().map(|line| line.line_number).collect();
    assert_eq!(numbers, [10, 11, 12]);
    let all = excerpt(&source, 1..=12, 3, &limits);
    assert_eq!((all.lines.len(), all.omitted_lines), (4, 8));
    let nothing = excerpt(&Source::parse(b"").unwrap(), 1..=1, 3, &limits);
    assert_eq!(nothing.lines, []);
}

#[test]
fn the_first_difference_is_found() {
    let different = |line_index, expected: Option<&str>, present: Option<&str>| {
        let (expected, present) = (expected.map(str::to_owned), present.map(str::to_owned));
        Some(Difference { line_index, expected, present })
    };
    assert_eq!(first_difference(["a", "b"], ["a", "b"]), None);
    assert_eq!(first_difference(["a", "b"], ["a", "c"]), different(1, Some("b"), Some("c")));
    assert_eq!(first_difference(["a"], ["a", ""]), different(1, None, Some("")));
    assert_eq!(first_difference(["a"], [] as [&str; 0]), different(0, Some("a"), None));
}

#[test]
fn edits_that_are_already_there_are_recognised() {
    let source = Source::parse(b"a\r\nb\r\nc").unwrap();
    let cases = [
        (replace(2, 2, "b\nc"), true),
        (replace(2, 9, "b\n"), true),
        (replace(2, 2, "x"), false),
        (replace(3, 3, "c\nd"), false),
        (replace(i64::MIN, 1, "a"), false),
        (replace(i64::MAX, i64::MAX, "a"), false),
        (insert(0, "a"), true),
        (insert(1, "b\nc"), true),
        (insert(2, "b"), false),
        (insert(i64::MAX, "b"), false),
        (delete(1, 1), false),
        (replace(1, 1, ""), false),
    ];
    for (operation, expected) in cases {
        assert_eq!(already_applied(&source, &operation), expected, "{operation:?}");
    }
}

#[test]
fn lines_are_found_only_if_they_occur_once() {
    let source = Source::parse(b"a\nb\na\nb\nc\r\nab\n").unwrap();
    let unique = |lines: &[&str]| find_unique(&source, &Lines::from_body(lines));
    assert_eq!(unique(&["b", "c"]), Some(4..=5));
    assert_eq!(unique(&["c"]), Some(5..=5));
    assert_eq!(unique(&["a", "b", "a"]), Some(1..=3));
    assert_eq!(unique(&["ab"]), Some(6..=6));
    assert_eq!(unique(&["a", "b"]), None);
    assert_eq!(unique(&["b", "x"]), None);
    assert_eq!(unique(&[]), None);
}

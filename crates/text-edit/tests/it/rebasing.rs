//! Operations on an earlier version, carried to the current one.

use text_edit::{
    EditErrorKind, EditLimits, LineMap, Numbering, Operation, Source, Stale, StaleReason, rebase,
};

use crate::{delete, edit, insert, regex, replace};

const EARLIER: &str = "fn a() {\n    one();\n    two();\n}\n\nfn b() {}\n";

fn rebased(current: &str, operation: Operation) -> Result<String, EditErrorKind> {
    let (earlier, now) =
        (Source::parse(EARLIER.as_bytes()).unwrap(), Source::parse(current.as_bytes()).unwrap());
    let map = LineMap::between(&earlier, &now);
    let operations = rebase(&[operation], &earlier, &now, &map, &EditLimits::default()).map_err(|error| {
        assert_eq!(error.operation_index, Some(0));
        error.kind
    })?;
    let edited = edit(current.as_bytes(), &operations, Numbering::Original).unwrap();
    Ok(String::from_utf8(edited).unwrap())
}

fn stale(current: &str, operation: Operation) -> Stale {
    let kind = rebased(current, operation).unwrap_err();
    let lines = kind.lines_in_question();
    let EditErrorKind::Stale(stale) = kind else { panic!("{kind}") };
    assert_eq!(lines, stale.present_lines);
    *stale
}

#[test]
fn operations_follow_their_lines() {
    let current = "// new\nfn a() {\n    one();\n    two();\n    three();\n}\n\nfn b() {}\n// end\n";
    let cases = [
        (replace(2, 3, "    x();"), "// new\nfn a() {\n    x();\n    three();\n}\n\nfn b() {}\n// end\n"),
        (delete(1, 1), "// new\n    one();\n    two();\n    three();\n}\n\nfn b() {}\n// end\n"),
        (
            insert(3, "    x();"),
            "// new\nfn a() {\n    one();\n    two();\n    x();\n    three();\n}\n\nfn b() {}\n// end\n",
        ),
        (
            insert(0, "x"),
            "x\n// new\nfn a() {\n    one();\n    two();\n    three();\n}\n\nfn b() {}\n// end\n",
        ),
        (
            insert(6, "x"),
            "// new\nfn a() {\n    one();\n    two();\n    three();\n}\n\nfn b() {}\nx\n// end\n",
        ),
        (
            insert(7, "x"),
            "// new\nfn a() {\n    one();\n    two();\n    three();\n}\n\nfn b() {}\n// end\nx\n",
        ),
        (delete(6, 99), "// new\nfn a() {\n    one();\n    two();\n    three();\n}\n\n// end\n"),
        (
            regex("two", "2", ""),
            "// new\nfn a() {\n    one();\n    2();\n    three();\n}\n\nfn b() {}\n// end\n",
        ),
    ];
    for (operation, expected) in cases {
        assert_eq!(rebased(current, operation.clone()).unwrap(), expected, "{operation:?}");
    }
}

#[test]
fn changed_lines_are_refused_with_both_texts() {
    let stale = stale("fn a() {\n    one();\n    2();\n}\n\nfn b() {}\n", replace(2, 3, "    x();"));
    assert_eq!(stale.reason, StaleReason::Changed);
    assert_eq!((&stale.lines, &stale.present_lines), (&(2..=3), &Some(2..=3)));
    assert_eq!(
        (stale.expected.as_str(), stale.present.as_str()),
        ("    one();\n    two();", "    one();\n    2();")
    );
    let difference = stale.first_difference.clone().unwrap();
    assert_eq!(difference.line_index, 1);
    assert_eq!(
        (difference.expected.as_deref(), difference.present.as_deref()),
        (Some("    two();"), Some("    2();"))
    );
    assert!(!stale.already_applied && stale.moved_to.is_none());
    assert_eq!(stale.to_string(), "lines 2-3 have changed since they were shown");
}

#[test]
fn lines_inserted_between_are_not_removed_unseen() {
    let current = "fn a() {\n    one();\n    // kept?\n    two();\n}\n\nfn b() {}\n";
    let stale = stale(current, replace(2, 3, "    x();"));
    assert_eq!(stale.reason, StaleReason::Interrupted { inserted: 1 });
    assert_eq!(stale.present, "    one();\n    // kept?\n    two();");
    assert_eq!(stale.present_lines, Some(2..=4));
}

#[test]
fn an_insertion_needs_the_line_before_it() {
    let current = "fn a() {\n    one();\n}\n\nfn b() {}\n";
    let stale = stale(current, insert(3, "    x();"));
    assert_eq!((&stale.lines, &stale.present_lines, stale.present.as_str()), (&(3..=3), &None, ""));
}

#[test]
fn an_edit_that_is_already_there_is_recognised() {
    let replaced = stale("fn a() {\n    x();\n}\n\nfn b() {}\n", replace(2, 3, "    x();\n"));
    assert!(replaced.already_applied);
    let deleted = stale("fn a() {\n}\n\nfn b() {}\n", delete(2, 3));
    assert!(deleted.already_applied);
    let other = stale("fn a() {\n    y();\n}\n\nfn b() {}\n", replace(2, 3, "    x();\n"));
    assert!(!other.already_applied);
}

#[test]
fn lines_that_moved_as_a_whole_are_found() {
    // The comparison keeps the longer function and considers the shorter one moved.
    let stale = stale("fn b() {}\nfn a() {\n    one();\n    two();\n}\n\n", replace(6, 6, "fn b() { x() }"));
    assert_eq!(stale.moved_to, Some(1..=1));
}

#[test]
fn numbers_are_checked_against_the_shown_text() {
    let current = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let range = |start_line, end_line| EditErrorKind::InvalidRange { start_line, end_line, total_lines: 6 };
    assert_eq!(rebased(current, delete(7, 7)).unwrap_err(), range(7, 7));
    assert_eq!(rebased(current, delete(3, 2)).unwrap_err(), range(3, 2));
    let position = EditErrorKind::InvalidPosition { after_line: -1, total_lines: 6 };
    assert_eq!(rebased(current, insert(-1, "x")).unwrap_err(), position);
}

#[test]
fn a_map_from_edits_serves_as_well() {
    let earlier = Source::parse(EARLIER.as_bytes()).unwrap();
    let limits = EditLimits::default();
    let first =
        text_edit::apply(EARLIER.as_bytes(), &[insert(1, "    zero();")], Numbering::Original, &limits)
            .unwrap();
    let second = text_edit::apply(&first.bytes, &[delete(6, 6)], Numbering::Original, &limits).unwrap();
    let now = Source::parse(&second.bytes).unwrap();
    let map = first.line_map.compose(&second.line_map);
    let operations = rebase(&[replace(6, 6, "fn c() {}")], &earlier, &now, &map, &limits).unwrap();
    assert_eq!(operations, [replace(6, 6, "fn c() {}")]);
    let operations = rebase(&[replace(3, 4, "x")], &earlier, &now, &map, &limits).unwrap();
    assert_eq!(operations, [replace(4, 5, "x")]);
}

//! Line edits change the addressed lines and no other byte.

use text_edit::{Lines, Numbering, Operation};

use crate::{delete, edit, insert, replace};

#[test]
fn edits_keep_the_format_of_the_text() {
    let cases: &[(&str, &[u8], Operation, &[u8])] = &[
        ("dominant ending for new lines", b"a\r\nb\r\n", insert(1, "x\ny"), b"a\r\nx\r\ny\r\nb\r\n"),
        ("mixed endings stay", b"a\nb\r\nc\r\nd\n\r\n", replace(3, 3, "x"), b"a\nb\r\nx\r\nd\n\r\n"),
        ("tie goes to the first ending", b"a\r\nb\nc", replace(3, 3, "x\ny"), b"a\r\nb\nx\r\ny"),
        ("lone carriage returns are text", b"a\rb\nc\n", replace(2, 2, "x"), b"a\rb\nx\n"),
        ("content with its own endings", b"a\nb\n", replace(1, 1, "x\r\ny\r\n"), b"x\ny\nb\n"),
        ("content with LF into CRLF", b"a\r\nb\r\n", replace(1, 1, "x\ny\n"), b"x\r\ny\r\nb\r\n"),
        ("mark and first line", b"\xEF\xBB\xBFa\nb\n", replace(1, 1, "x"), b"\xEF\xBB\xBFx\nb\n"),
        ("mark sent back", b"\xEF\xBB\xBFa\nb\n", replace(1, 1, "\u{FEFF}x"), b"\xEF\xBB\xBFx\nb\n"),
        ("mark of an empty text", b"\xEF\xBB\xBF", insert(0, "x"), b"\xEF\xBB\xBFx\n"),
        ("empty text gets LF", b"", insert(0, "x\ny"), b"x\ny\n"),
        ("blank content is a blank line", b"a\nb\nc\n", replace(2, 2, ""), b"a\n\nc\n"),
        ("no lines delete", b"a\nb\nc\n", removal(2, 2), b"a\nc\n"),
        ("deleting all", b"a\r\nb\r\n", delete(1, 2), b""),
        ("latin-1 bytes stay", b"\xE9t\xE9\nb\n\xFF", replace(2, 2, "x"), b"\xE9t\xE9\nx\n\xFF"),
    ];
    run(cases);
}

#[test]
fn a_missing_final_newline_stays_missing() {
    let cases: &[(&str, &[u8], Operation, &[u8])] = &[
        ("replace last", b"a\nb", replace(2, 2, "x\ny\n"), b"a\nx\ny"),
        ("delete last", b"a\nb", delete(2, 2), b"a"),
        ("delete last of CRLF", b"a\r\nb", delete(2, 2), b"a"),
        ("delete all", b"a\nb", delete(1, 2), b""),
        ("insert after last", b"a\nb", insert(2, "x"), b"a\nb\nx"),
        ("append to CRLF", b"a\r\nb", insert(99, "x\ny"), b"a\r\nb\r\nx\r\ny"),
        ("edit above", b"a\nb", replace(1, 1, "x"), b"x\nb"),
        ("only line", b"a", replace(1, 1, "x"), b"x"),
        ("only line, insert after", b"a", insert(1, "x"), b"a\nx"),
        ("ending in a carriage return", b"a\nb\r", insert(1, "x"), b"a\nx\nb\r"),
        ("kept line with CRLF becomes last", b"a\nb\nc\r\nd", delete(4, 4), b"a\nb\nc"),
    ];
    run(cases);
}

#[test]
fn a_blank_last_line_keeps_its_newline() {
    // Without an ending it would be no line at all.
    let cases: &[(&str, &[u8], Operation, &[u8])] = &[
        ("insert a blank line at the end", b"a\nb", insert(2, ""), b"a\nb\n\n"),
        ("replace the last line by a blank one", b"a\nb", replace(2, 2, ""), b"a\n\n"),
        ("delete after a blank line", b"a\n\nb", delete(3, 3), b"a\n\n"),
        ("replace the only line by a blank one", b"b", replace(1, 1, ""), b"\n"),
    ];
    run(cases);
}

#[test]
fn an_emptied_text_keeps_its_format_within_the_call() {
    let operations = [delete(1, 2), insert(0, "x\ny")];
    let edited = edit(b"a\r\nb", &operations, Numbering::Sequential).unwrap();
    assert_eq!(edited, b"x\r\ny");
}

#[test]
fn operations_of_a_call_mean_the_text_before_it() {
    let text = b"1\n2\n3\n4\n5\n6\n";
    let cases: &[(&str, &[Operation], &[u8])] = &[
        ("top down", &[insert(0, "a\nb"), replace(3, 4, "x"), delete(6, 6)], b"a\nb\n1\n2\nx\n5\n"),
        ("bottom up", &[delete(6, 6), replace(3, 4, "x"), insert(0, "a\nb")], b"a\nb\n1\n2\nx\n5\n"),
        (
            "insertions around a range",
            &[replace(3, 4, "x"), insert(4, "b"), insert(2, "a")],
            b"1\n2\na\nx\nb\n5\n6\n",
        ),
        (
            "insertions at one place",
            &[insert(2, "a"), insert(2, "b"), insert(2, "c")],
            b"1\n2\na\nb\nc\n3\n4\n5\n6\n",
        ),
        ("insertion between two ranges", &[delete(1, 2), replace(3, 6, "y"), insert(2, "x")], b"x\ny\n"),
        ("adjacent ranges", &[replace(1, 3, "a"), replace(4, 6, "b")], b"a\nb\n"),
    ];
    for (name, operations, expected) in cases {
        let edited = edit(text, operations, Numbering::Original).unwrap();
        assert_eq!(String::from_utf8_lossy(&edited), String::from_utf8_lossy(expected), "{name}");
    }
}

fn removal(start_line: i64, end_line: i64) -> Operation {
    Operation::Replace { start_line, end_line, content: Lines::none() }
}

fn run(cases: &[(&str, &[u8], Operation, &[u8])]) {
    for (name, source, operation, expected) in cases {
        for numbering in [Numbering::Original, Numbering::Sequential] {
            let edited = edit(source, std::slice::from_ref(operation), numbering).unwrap();
            assert_eq!(edited.escape_ascii().to_string(), expected.escape_ascii().to_string(), "{name}");
        }
    }
}

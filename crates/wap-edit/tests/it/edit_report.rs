//! The changed lines in the answer to an edit.

use text_edit::{EditLimits, Source, apply};
use wap_core::{ChangedLines, FileVersion, ModifyFile, ModifyOperation};
use wap_edit::{FileEdit, Rewrite};

fn replace(start_line: i64, end_line: i64, new_content: &str) -> ModifyOperation {
    ModifyOperation::Replace { start_line, end_line, new_content: new_content.into(), was: None }
}

/// Edits a text and returns the report of the answer.
fn report(text: &str, operations: Vec<ModifyOperation>) -> Option<ChangedLines> {
    let request = ModifyFile { path: "a".into(), operations, ..ModifyFile::default() };
    let current = Source::parse(text.as_bytes()).unwrap();
    let version = FileVersion("v1".into());
    let edit = FileEdit {
        path: "a",
        current: &current,
        version: version.clone(),
        before_run: None,
        request: &request,
    };
    let mut applied =
        |operations: &[_], numbering| apply(text.as_bytes(), operations, numbering, &EditLimits::default());
    let edited = edit.apply(&mut |_| None, &mut applied).unwrap();
    edited.response("a".into(), &request, version, FileVersion("v2".into()), Vec::new()).changed
}

fn numbered(lines: usize) -> String {
    (1..=lines).map(|number| format!("line {number}\n")).collect()
}

#[test]
fn changed_lines_are_shown_with_their_new_numbers_and_two_lines_of_context() {
    let report = report(&numbered(12), vec![replace(5, 5, "five\nand a half")]).unwrap();
    assert_eq!((report.first_line, report.last_line), (3, 8));
    assert!(report.notes.is_empty(), "{:?}", report.notes);
    insta::assert_snapshot!(report.text, @r"
    3|line 3
    4|line 4
    5|five
    6|and a half
    7|line 6
    8|line 7
    (old lines from 6 on moved down by 1 line)
    ");
}

#[test]
fn a_deletion_shows_the_lines_around_it() {
    let deletion = ModifyOperation::Delete { start_line: 4, end_line: 9, was: None };
    let report = report(&numbered(12), vec![deletion]).unwrap();
    insta::assert_snapshot!(report.text, @r"
    2|line 2
    3|line 3
    4|line 10
    5|line 11
    (old lines from 10 on moved up by 6 lines)
    ");
}

#[test]
fn several_passages_are_bounded_and_do_not_overlap() {
    let operations = [2, 5, 40, 60, 80].map(|line| replace(line, line, "changed"));
    let report = report(&numbered(99), operations.to_vec()).unwrap();
    insta::assert_snapshot!(report.text, @r"
    1|line 1
    2|changed
    3|line 3
    4|line 4
    5|changed
    6|line 6
    7|line 7
    ...
    38|line 38
    39|line 39
    40|changed
    41|line 41
    42|line 42
    (and 2 more passages)
    ");
}

#[test]
fn a_large_change_is_cut() {
    let long = "a very long line ".repeat(1_000);
    let report = report(&numbered(3), vec![replace(2, 2, &format!("{long}\n").repeat(500))]).unwrap();
    assert!(report.text.len() < 3_000, "{} bytes", report.text.len());
    assert!(report.text.contains("(490 more lines)"), "{}", report.text);
}

#[test]
fn a_body_that_repeats_an_adjacent_line_is_noted() {
    let text = "fn main() {\n    first();\n    second();\n}\n";
    let after = report(text, vec![replace(2, 2, "    first(1);\n    second();")]).unwrap();
    assert_eq!(
        after.notes,
        ["line 3 repeats line 4, just after the edited lines: check that the line numbers were right"]
    );
    let before = report(text, vec![replace(3, 3, "    first();\n    second(2);")]).unwrap();
    assert_eq!(
        before.notes,
        ["line 3 repeats line 2, just before the edited lines: check that the line numbers were right"]
    );
}

#[test]
fn repeated_brackets_and_ordinary_edits_are_not_noted() {
    let text = "if a {\n    b();\n}\nc();\n}\n";
    assert!(report(text, vec![replace(4, 4, "c();\n}")]).unwrap().notes.is_empty());
    assert!(report(text, vec![replace(2, 2, "    d();")]).unwrap().notes.is_empty());
}

#[test]
fn an_edit_without_effect_has_no_report() {
    let same = ModifyOperation::RegexReplace { pattern: "x".into(), replacement: "y".into(), flags: None };
    assert_eq!(report("a\n", vec![same]), None);
}

#[test]
fn a_file_without_lines_has_only_the_moves() {
    let all = ModifyOperation::Delete { start_line: 1, end_line: 3, was: None };
    let report = report(&numbered(3), vec![all]).unwrap();
    assert_eq!((report.first_line, report.last_line, &*report.text), (0, 0, ""));
}

#[test]
fn a_rewrite_shows_the_changed_lines_unless_the_file_is_new() {
    let old = numbered(9);
    let new = old.replace("line 5\n", "five\nand a half\n");
    let rewrite = Rewrite::between(Some(old.as_bytes()), new.as_bytes());
    assert_eq!((rewrite.lines_added, rewrite.lines_removed), (2, 1));
    insta::assert_snapshot!(rewrite.changed.unwrap().text, @r"
    3|line 3
    4|line 4
    5|five
    6|and a half
    7|line 6
    8|line 7
    (old lines from 6 on moved down by 1 line)
    ");
    let whole = Rewrite { lines_added: 9, ..Rewrite::default() };
    assert_eq!(Rewrite::between(None, old.as_bytes()), whole);
    assert_eq!(Rewrite::between(Some(b"\0"), old.as_bytes()), whole);
    assert_eq!(Rewrite::between(Some(old.as_bytes()), old.as_bytes()), Rewrite::default());
    assert_eq!(Rewrite::between(Some(old.as_bytes()), b"\0"), Rewrite::default());
}

#[test]
fn a_rewrite_has_no_notes_about_line_numbers() {
    let repeated = Rewrite::between(
        Some(b"let one = 1;\nlet two = 2;\n"),
        b"let one = 1;\nlet one = 1;\nlet two = 2;\n",
    );
    assert!(repeated.changed.unwrap().notes.is_empty());
}

#[test]
fn a_rewrite_in_another_format_is_noted() {
    let cases: [(&[u8], &[u8], Option<&str>); 9] = [
        (b"a\r\nb\r\n", b"a\nB\n", Some("line endings changed from CRLF to LF")),
        (b"a\nb\n", b"a\r\nB\r\n", Some("line endings changed from LF to CRLF")),
        (b"a\r\nb\r\n", b"a\r\nb\r\nc\n", Some("the file has both CRLF and LF line endings now")),
        (b"\xEF\xBB\xBFa\n", b"a\n", Some("byte-order mark removed")),
        (
            b"\xFF\xFEa\0\n\0",
            b"a\n",
            Some("encoding changed from UTF-16LE to UTF-8, byte-order mark removed"),
        ),
        (b"a\r\nb\r\n", b"a\r\nB\r\n", None),
        (b"a\r\nb\n", b"a\r\nB\n", None),
        (b"a\r\n", b"a", None),
        (b"a", b"a\nb\n", None),
    ];
    for (old, new, note) in cases {
        assert_eq!(Rewrite::between(Some(old), new).format_note.as_deref(), note, "{old:?} {new:?}");
        assert_eq!(Rewrite::between(None, new).format_note, None);
    }
}

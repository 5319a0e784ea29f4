//! Bodies with the line numbers of a view in front of their lines.

use memory_workspace::MemoryWorkspace;
use proptest::{collection::vec, prelude::*, sample::select};
use tagproto::{Block, Dialect, Item, RepairKind, Strictness, read, read_in};
use wap_core::numbered_view;

use crate::fixture::round_trip::{run, session};

/// Reads an EDIT_FILE of lines 12 to 13 in a file with the given body; returns the text to be written, or the error.
fn edit(path: &str, body: &str) -> Result<String, String> {
    block(&format!("[EDIT_FILE path=\"{path}\" start_line=\"12\" end_line=\"13\"]\n{body}\n[/EDIT_FILE]"))
}

fn create(path: &str, body: &str) -> Result<String, String> {
    block(&format!("[CREATE_FILE path=\"{path}\"]\n{body}\n[/CREATE_FILE]"))
}

fn block(reply: &str) -> Result<String, String> {
    let read = read_in(reply, Strictness::Repair, Dialect::Agentd);
    assert_eq!(read.refused, None, "{reply}");
    match &read.items[..] {
        [Item::Block(block)] => match &block.value {
            Block::EditFile { body, .. } | Block::CreateFile { body, .. } => Ok(body.text().to_owned()),
            other => panic!("{other:?}"),
        },
        [Item::Error(error)] => Err(error.to_string()),
        other => panic!("{other:?}"),
    }
}

/// Reads an EDIT_FILE of a file of twenty lines and carries it out; returns the lines from line 12, without the last ones.
fn edited(path: &str, body: &str) -> String {
    let lines: String = (1..=20).map(|number| format!("line {number}\n")).collect();
    let workspace = MemoryWorkspace::with_files([(path, lines)]);
    let reply =
        format!("[EDIT_FILE path=\"{path}\" start_line=\"12\" end_line=\"12\"]\n{body}\n[/EDIT_FILE]");
    let execution = run(&reply, &session("T", Dialect::Agentd), &workspace);
    assert_eq!(execution.failed_blocks(), 0, "{reply}");
    assert!(execution.results[0].notes[0].starts_with("the numbers of the view ('12|') were removed"));
    let text = workspace.text(path).unwrap();
    let (above, below) = ("line 11\n", "\nline 13\n");
    let start = text.find(above).unwrap() + above.len();
    text[start..start + text[start..].find(below).unwrap()].to_owned()
}

#[test]
fn numbers_of_the_view_are_removed_from_a_body() {
    // In an edit, the workspace does it, since it has the file.
    assert_eq!(edit("a.py", "12|    return x"), Ok("12|    return x".into()));
    assert_eq!(edited("a.py", "12|    return x"), "    return x");
    assert_eq!(edited("a.py", "12|    if x:\n13|        return x"), "    if x:\n        return x");
    assert_eq!(edited("a.py", "12|x = 1\n13|y = 2\n14|"), "x = 1\ny = 2\n");
    assert_eq!(edited("a.js", "12| * one\n13| * two"), " * one\n * two");
    assert_eq!(edited("notes.txt", "12|a\n13|  b\n14|"), "a\n  b\n");
    assert_eq!(create("a.rs", " 1|a\n 2|b"), Ok("a\nb".into()));
    let reply = "[CREATE_FILE path=\"a.rs\"]\n1|fn a() {}\n[/CREATE_FILE]";
    assert!(read_in(reply, Strictness::Repair, Dialect::Agentd).repairs.contains(RepairKind::Gutter));
    // The dialect of the original has no views with numbers.
    assert!(!read(reply, Strictness::Repair).repairs.contains(RepairKind::Gutter));
}

#[test]
fn content_is_never_taken_for_numbers() {
    for (path, body) in [
        ("rows.psv", "12|north\n13|south\n14|  east"),
        ("a.py", "12|x\n14|y"),
        ("a.py", "12|x\n\n13|y"),
        ("a.py", "17|x"),
        ("a.rs", "    1|2\n    |3"),
        ("a.md", "13|x"),
        ("rows.txt", "1|north\n2|south\n3|east"),
    ] {
        assert_eq!(edit(path, body), Ok(body.to_owned()), "{path}");
    }
    assert_eq!(create("rows.txt", "1|a\n2|b\n3|c"), Ok("1|a\n2|b\n3|c".into()));
}

#[test]
fn numbers_that_do_not_fit_fail_the_block() {
    let unfit = "has line numbers in front of its lines; send the lines as they are";
    for answer in [
        edit("a.py", "17|    if x:\n18|        return x"),
        create("a.py", "400|def f():\n401|    return 1"),
        // A listing may have such numbers.
        create("expected.out", "1|hello\n2|\n3|world"),
        // One space may belong to the bar, or to the line.
        edit("a.py", "12| x = 1\n13| y = 2"),
    ] {
        let error = answer.unwrap_err();
        assert!(error.contains(unfit), "{error}");
    }
}

fn line() -> impl Strategy<Value = String> {
    let piece = select(&["    ", "return x", "|", "12|", "é", "\t", "", "if a:", "{", " 3|"][..]);
    vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn numbered_body_of_code_is_what_it_was_or_fails(lines in vec(line(), 1..12)) {
        let text = lines.join("\n");
        let body = numbered_view(&format!("{text}\n"), 1);
        let body = body.strip_suffix('\n').unwrap();
        let reply = format!("[CREATE_FILE path=\"a.rs\"]\n{body}\n[/CREATE_FILE]");
        match block(&reply) {
            Ok(read) => prop_assert_eq!(read, text),
            Err(error) => prop_assert!(error.contains("has line numbers in front"), "{}", error),
        }
    }
}

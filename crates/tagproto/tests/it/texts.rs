//! Texts and blocks for the properties: near misses of the protocol rather than noise, which would never hold a tag.

use proptest::{collection::vec, option, prelude::*, sample::select};
use tagproto::{Block, Body, ReadRange};

/// Pieces that replies and damaged replies are made of.
const PIECES: &[&str] = &[
    "[CREATE_FILE path=\"a.py\"]",
    "[CREATE_FILE path=“a.py”]",
    "[/CREATE_FILE]",
    "[EDIT_FILE path=\"b\" start_line=\"1\" end_line=\"2\"]",
    "[/EDIT_FILE]",
    "[DELETE_FILE path=\"x\"]",
    "[READ_FILE path=&quot;x&quot; /]",
    "[RUN_COMMAND]",
    "[/RUN_COMMAND]",
    "[MESSAGE]",
    "[/MESSAGE]",
    "[DONE]",
    "[/DONE]",
    "[done]",
    "[/done]",
    "[Create_File path=\"c\"]",
    "[/Create_File]",
    "\\[RUN\\_COMMAND\\]",
    "\\[/RUN\\_COMMAND\\]",
    "**[DONE]**",
    "**[/DONE]**",
    "> [CREATE_FILE path=\"q\"]",
    "> [/CREATE_FILE]",
    "- [MESSAGE]",
    "1. `[READ_FILE path=\"x\"]`",
    "&#91;DONE&#93;",
    "&#91;/DONE&#93;",
    "[CREATE_FILE path=\"long/",
    "name\"]",
    "[READ_FILE path=\"[m](http://m)\"]",
    "```",
    "```py",
    "~~~",
    "<think>",
    "</think>",
    "=== HEADER ===",
    "=== PROMPT ===",
    "def f():",
    "return 1",
    "    return 1",
    "all: b",
    "1 | a",
    "2 |   b",
    "3 | c",
    "1\ta",
    "1: x",
    "> x",
    "Copy code",
    "bash",
    "// ... existing code ...",
    "x【4†source】",
    "\u{200b}",
    "\u{feff}",
    "\u{a0}",
    "\u{202f}",
    " ",
    "\t",
    "\r",
    "\n",
    "\n",
    "\n",
    "\n",
    "\n",
    "\r\n",
    "\"",
    "'",
    "“",
    "”",
    "’",
    "–",
    "&amp;",
    "&lt;",
    "\\_",
    "_",
    "]",
    "[",
    "=",
    "path",
    "é",
    "\u{0}",
    "\u{2028}",
    "text",
];

/// Any text: mostly pieces of the protocol, sometimes anything at all.
pub(crate) fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![20 => select(PIECES).prop_map(str::to_owned), 1 => any::<String>()];
    let line = prop_oneof![20 => select(PIECES).prop_map(|piece| format!("{piece}\n")), 1 => any::<String>()];
    prop_oneof![
        vec(line, 0..16).prop_map(|lines| lines.concat()),
        vec(piece, 0..24).prop_map(|pieces| pieces.concat()),
    ]
}

/// A path in which nothing looks as if copying had changed it.
fn plain_path() -> impl Strategy<Value = String> {
    prop_oneof![
        select(&["a.py", "Makefile", "docs/a b.md", "x[1].rs", "../up", "t.tsv", "m.yaml"][..])
            .prop_map(str::to_owned),
        "[a-zA-Z0-9 ._/é\\[\\]=]{1,12}",
    ]
}

fn any_path() -> impl Strategy<Value = String> {
    prop_oneof![
        plain_path(),
        select(&["What’s.txt", "a\\_b", "R&amp;D", "a\u{a0}b"][..]).prop_map(str::to_owned),
        "[^\"\n]{1,12}",
    ]
}

/// Lines that keep what a text can carry: none ends with a carriage return, and none satisfies `is_left_out`.
fn lines_without(is_left_out: fn(&str) -> bool) -> impl Strategy<Value = String> {
    any_text().prop_map(move |text| {
        let lines = text.split('\n').map(|line| line.trim_end_matches('\r'));
        lines.filter(|line| !is_left_out(line)).collect::<Vec<_>>().join("\n")
    })
}

fn blocks(
    path: BoxedStrategy<String>,
    lines: BoxedStrategy<String>,
) -> impl Strategy<Value = Block<'static>> {
    let body = prop_oneof![1 => Just(Body::no_lines()), 6 => lines.clone().prop_map(Body::of_lines)].boxed();
    let was = proptest::option::of("[^\"\r\n]{0,12}");
    let shown = lines.prop_map(|text| text.trim().to_owned()).boxed();
    prop_oneof![
        4 => (path.clone(), body.clone()).prop_map(|(path, body)| Block::CreateFile { path: path.into(), body }),
        3 => (path.clone(), any::<i32>(), any::<i32>(), was, body).prop_map(|(path, start_line, end_line, was, body)| {
            let was = was.map(Into::into);
            Block::EditFile { path: path.into(), start_line, end_line, was, body }
        }),
        1 => path.clone().prop_map(|path| Block::DeleteFile { path: path.into() }),
        1 => (path, option::of(any::<i32>()), option::of(any::<i32>())).prop_map(|(path, start_line, end_line)| {
            let range = match (start_line, end_line) {
                (None, None) => ReadRange::Whole,
                _ => ReadRange::Lines { start_line, end_line },
            };
            Block::ReadFile { path: path.into(), range }
        }),
        1 => shown.clone().prop_filter_map("empty command", |command| {
            (!command.is_empty()).then(|| Block::RunCommand { command: command.into() })
        }),
        1 => shown.clone().prop_map(|text| Block::Message { text: text.into() }),
        1 => shown.prop_map(|text| Block::Done { summary: text.into() }),
    ]
}

/// Any block that can be written.
pub(crate) fn any_block() -> impl Strategy<Value = Block<'static>> {
    blocks(any_path().boxed(), lines_without(|line| line.trim().starts_with("[/")).boxed())
}

/// A block with a path that nothing has changed.
pub(crate) fn block_with_plain_path() -> impl Strategy<Value = Block<'static>> {
    blocks(plain_path().boxed(), lines_without(|line| line.trim().starts_with("[/")).boxed())
}

/// A block whose body holds nothing like a closing tag either, however damaged.
pub(crate) fn plain_block() -> impl Strategy<Value = Block<'static>> {
    blocks(plain_path().boxed(), lines_without(|line| line.contains("[/") || line.contains("&#91;")).boxed())
}

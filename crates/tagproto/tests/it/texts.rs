//! Texts and blocks for the properties: near misses of the protocol rather than noise, which would never hold a tag.

use proptest::{collection::vec, prelude::*, sample::select};
use tagproto::{Block, Body};

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

/// Lines of a body, none of which is a closing tag or ends with a carriage return.
fn body_text() -> impl Strategy<Value = String> {
    any_text().prop_map(|text| {
        let lines = text.split('\n').map(|line| line.trim_end_matches('\r'));
        let kept: Vec<&str> = lines.filter(|line| !line.trim().starts_with("[/")).collect();
        kept.join("\n")
    })
}

fn body() -> impl Strategy<Value = Body<'static>> {
    prop_oneof![1 => Just(Body::no_lines()), 6 => body_text().prop_map(Body::of_lines)]
}

fn shown() -> impl Strategy<Value = String> {
    body_text().prop_map(|text| text.trim().to_owned())
}

fn path() -> impl Strategy<Value = String> {
    prop_oneof![
        select(
            &[
                "a.py",
                "Makefile",
                "docs/a b.md",
                "x[1].rs",
                "What’s.txt",
                "../up",
                "a\\_b",
                "R&amp;D",
                "t.tsv",
                "m.yaml"
            ][..]
        )
        .prop_map(str::to_owned),
        "[^\"\n]{1,12}",
    ]
}

/// Any block that can be written.
pub(crate) fn any_block() -> impl Strategy<Value = Block<'static>> {
    prop_oneof![
        4 => (path(), body()).prop_map(|(path, body)| Block::CreateFile { path: path.into(), body }),
        3 => (path(), any::<i32>(), any::<i32>(), body()).prop_map(|(path, start_line, end_line, body)| {
            Block::EditFile { path: path.into(), start_line, end_line, body }
        }),
        1 => path().prop_map(|path| Block::DeleteFile { path: path.into() }),
        1 => path().prop_map(|path| Block::ReadFile { path: path.into() }),
        1 => shown().prop_filter_map("empty command", |command| {
            (!command.is_empty()).then(|| Block::RunCommand { command: command.into() })
        }),
        1 => shown().prop_map(|text| Block::Message { text: text.into() }),
        1 => shown().prop_map(|text| Block::Done { summary: text.into() }),
    ]
}

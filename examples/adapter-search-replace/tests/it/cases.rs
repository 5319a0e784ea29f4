//! The table.

use std::collections::BTreeMap;

use adapter_search_replace::apply;
use memory_workspace::MemoryWorkspace;
use wap_core::{Call, CancelFlag, ConversationId, Origin, Retention, RunKey};

/// Files, by path.
type Files = &'static [(&'static str, &'static str)];

struct Case {
    name: &'static str,
    files: Files,
    reply: &'static str,
    /// A part of the text for the model; nothing for a reply that is carried out.
    refused: &'static str,
    /// Every file afterwards; none where nothing has changed.
    after: Files,
}

pub(crate) fn with_call<T>(run: impl FnOnce(&Call<'_>) -> T) -> T {
    let origin = Origin {
        conversation: ConversationId("test".into()),
        run: RunKey::unnumbered("reply"),
        step: 0,
        retention: Retention::Process,
    };
    run(&Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None })
}

const CASES: &[Case] = &[
    Case {
        name: "one block",
        files: &[("a", "1\n2\n3\n")],
        reply: "a\n<<<<<<< SEARCH\n2\n=======\nII\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "1\nII\n3\n")],
    },
    Case {
        name: "prose around blocks",
        files: &[("a", "1\n2\n")],
        reply: "I change it.\n\na\n<<<<<<< SEARCH\n2\n=======\nII\n>>>>>>> REPLACE\n\nThat is all.\n",
        refused: "",
        after: &[("a", "1\nII\n")],
    },
    Case {
        name: "a fence around the block",
        files: &[("a.py", "1\n2\n")],
        reply: "a.py\n```python\n<<<<<<< SEARCH\n2\n=======\nII\n>>>>>>> REPLACE\n```\n",
        refused: "",
        after: &[("a.py", "1\nII\n")],
    },
    Case {
        name: "the path within the fence",
        files: &[("a.py", "1\n2\n")],
        reply: "```\na.py\n<<<<<<< SEARCH\n2\n=======\nII\n>>>>>>> REPLACE\n```\n",
        refused: "",
        after: &[("a.py", "1\nII\n")],
    },
    Case {
        name: "a path in backticks",
        files: &[("a", "1\n")],
        reply: "`a`\n<<<<<<< SEARCH\n1\n=======\nI\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "I\n")],
    },
    Case {
        name: "a path in bold with a colon",
        files: &[("a", "1\n")],
        reply: "**a**:\n<<<<<<< SEARCH\n1\n=======\nI\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "I\n")],
    },
    Case {
        name: "a path as a heading",
        files: &[("s/a", "1\n")],
        reply: "### `s/a`\n<<<<<<< SEARCH\n1\n=======\nI\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("s/a", "I\n")],
    },
    Case {
        name: "a path with dots in front",
        files: &[("s/a", "1\n")],
        reply: "./s/a\n<<<<<<< SEARCH\n1\n=======\nI\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("s/a", "I\n")],
    },
    Case {
        name: "two blocks of one file, the path said once",
        files: &[("a", "1\n2\n3\n")],
        reply: "a\n<<<<<<< SEARCH\n1\n=======\nI\nI\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\n3\n=======\nIII\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "I\nI\n2\nIII\n")],
    },
    Case {
        name: "a block that builds on the one before",
        files: &[("a", "1\n")],
        reply: "a\n<<<<<<< SEARCH\n1\n=======\n2\n>>>>>>> REPLACE\n<<<<<<< SEARCH\n2\n=======\n3\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "3\n")],
    },
    Case {
        name: "blocks from the end to the start",
        files: &[("a", "1\n2\n3\n")],
        reply: "a\n<<<<<<< SEARCH\n3\n=======\n>>>>>>> REPLACE\n<<<<<<< SEARCH\n1\n=======\n0\n1\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "0\n1\n2\n")],
    },
    Case {
        name: "two files",
        files: &[("a", "1\n"), ("b", "1\n")],
        reply: "a\n<<<<<<< SEARCH\n1\n=======\nA\n>>>>>>> REPLACE\nb\n<<<<<<< SEARCH\n1\n=======\nB\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "A\n"), ("b", "B\n")],
    },
    Case {
        name: "lines are deleted",
        files: &[("a", "1\n2\n3\n")],
        reply: "a\n<<<<<<< SEARCH\n2\n=======\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "1\n3\n")],
    },
    Case {
        name: "a blank line at the end is kept",
        files: &[("a", "1\n2\n")],
        reply: "a\n<<<<<<< SEARCH\n1\n=======\n1\n\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "1\n\n2\n")],
    },
    Case {
        name: "one blank line alone",
        files: &[("a", "1\n2\n")],
        reply: "a\n<<<<<<< SEARCH\n1\n=======\n\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "\n2\n")],
    },
    Case {
        name: "a second line that divides the block",
        files: &[("a", "Title\n")],
        reply: "a\n<<<<<<< SEARCH\nTitle\n=======\nTitle\n=======\n>>>>>>> REPLACE\n",
        refused: "the block at line 2 of the reply has two lines `=======`",
        after: &[],
    },
    Case {
        name: "a line of equals signs in a block with eight signs",
        files: &[("a", "Title\n=======\n")],
        reply: "a\n<<<<<<<< SEARCH\nTitle\n=======\n========\nOther\n=======\n>>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "Other\n=======\n")],
    },
    Case {
        name: "marks of different lengths",
        files: &[("a", "1\n")],
        reply: "a\n<<<<<<<< SEARCH\n1\n=======\nI\n>>>>>>>> REPLACE\n",
        refused: "is not whole",
        after: &[],
    },
    Case {
        name: "a tag as a fence, and a path before it",
        files: &[("a.py", "1\n")],
        reply: "a.py\n<source>\n<<<<<<< SEARCH\n1\n=======\nI\n>>>>>>> REPLACE\n</source>\n",
        refused: "",
        after: &[("a.py", "I\n")],
    },
    Case {
        name: "a tag as a fence is not the name of a new file",
        files: &[],
        reply: "<source>\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n</source>\n",
        refused: "line 2 of the reply does not say its file",
        after: &[],
    },
    Case {
        name: "a tag with a language as a fence, and a new file",
        files: &[],
        reply: "d/n\n<code lang=\"py\">\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n</code>\n",
        refused: "",
        after: &[("d/n", "new\n")],
    },
    Case {
        name: "a fence of tildes",
        files: &[("a.py", "1\n")],
        reply: "a.py\n~~~\n<<<<<<< SEARCH\n1\n=======\nI\n>>>>>>> REPLACE\n~~~\n",
        refused: "",
        after: &[("a.py", "I\n")],
    },
    Case {
        name: "a word of prose is not the name of a new file",
        files: &[],
        reply: "Certainly!\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n",
        refused: "line 2 of the reply does not say its file",
        after: &[],
    },
    Case {
        name: "a heading is not the name of a new file",
        files: &[("a", "1\n")],
        reply: "### Changes:\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n",
        refused: "does not say its file",
        after: &[],
    },
    Case {
        name: "a blank line below the path",
        files: &[("a.py", "1\n"), ("b.py", "1\n")],
        reply: "a.py\n<<<<<<< SEARCH\n1\n=======\nA\n>>>>>>> REPLACE\n\nb.py\n\n<<<<<<< SEARCH\n1\n=======\nB\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a.py", "A\n"), ("b.py", "B\n")],
    },
    Case {
        name: "a blank line that both parts begin with",
        files: &[("a", "1\n2\n")],
        reply: "a\n<<<<<<< SEARCH\n\n2\n=======\n\nII\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "1\nII\n")],
    },
    Case {
        name: "a blank line that only SEARCH begins with",
        files: &[("a", "1\n2\n")],
        reply: "a\n<<<<<<< SEARCH\n\n2\n=======\nII\n>>>>>>> REPLACE\n",
        refused: "the search text does not occur",
        after: &[],
    },
    Case {
        name: "a blank line that is there is part of the text",
        files: &[("a", "x\n\nx\n")],
        reply: "a\n<<<<<<< SEARCH\n\nx\n=======\ny\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "x\ny\n")],
    },
    Case {
        name: "lines that stay keep an odd ending",
        files: &[("a", "1\r\n2\n3\r\n4\n5\n")],
        reply: "a\n<<<<<<< SEARCH\n1\n2\n3\n4\n=======\n1\nII\n3\nIV\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "1\r\nII\n3\r\nIV\n5\n")],
    },
    Case {
        name: "a new file",
        files: &[],
        reply: "d/n.txt\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("d/n.txt", "new\n")],
    },
    Case {
        name: "a new file, then a block about it",
        files: &[],
        reply: "n\n<<<<<<< SEARCH\n=======\none\ntwo\n>>>>>>> REPLACE\n<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("n", "one\n2\n")],
    },
    Case {
        name: "an empty file is filled",
        files: &[("a", "")],
        reply: "a\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "new\n")],
    },
    Case {
        name: "a file without a last newline stays so",
        files: &[("a", "1\n2")],
        reply: "a\n<<<<<<< SEARCH\n2\n=======\nII\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "1\nII")],
    },
    // Mistakes of other tools.
    Case {
        name: "CRLF stays CRLF",
        files: &[("a", "1\r\n2\r\n3\r\n")],
        reply: "a\n<<<<<<< SEARCH\n2\n=======\nII\nII\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "1\r\nII\r\nII\r\n3\r\n")],
    },
    Case {
        name: "a reply in CRLF on a file in LF",
        files: &[("a", "1\n2\n")],
        reply: "a\r\n<<<<<<< SEARCH\r\n2\r\n=======\r\nII\r\n>>>>>>> REPLACE\r\n",
        refused: "",
        after: &[("a", "1\nII\n")],
    },
    Case {
        name: "text that occurs twice",
        files: &[("a", "x\ny\nx\n")],
        reply: "a\n<<<<<<< SEARCH\nx\n=======\nX\n>>>>>>> REPLACE\n",
        refused: "occurs twice, expected 1: at lines 1, 3",
        after: &[],
    },
    Case {
        name: "text that occurs twice, distinguished by its neighbour",
        files: &[("a", "x\ny\nx\n")],
        reply: "a\n<<<<<<< SEARCH\ny\nx\n=======\ny\nX\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "x\ny\nX\n")],
    },
    Case {
        name: "the second of two files fails",
        files: &[("a", "1\n"), ("b", "1\n")],
        reply: "a\n<<<<<<< SEARCH\n1\n=======\nA\n>>>>>>> REPLACE\nb\n<<<<<<< SEARCH\n9\n=======\nB\n>>>>>>> REPLACE\n",
        refused: "'b' was not changed, nor anything else",
        after: &[],
    },
    Case {
        name: "the second of two files is protected",
        files: &[("a", "1\n"), (".git/config", "1\n")],
        reply: "a\n<<<<<<< SEARCH\n1\n=======\nA\n>>>>>>> REPLACE\n.git/config\n<<<<<<< SEARCH\n1\n=======\nB\n>>>>>>> REPLACE\n",
        refused: "'.git/config' could not be changed, so nothing was",
        after: &[],
    },
    Case {
        name: "a new file beside one that fails",
        files: &[(".git/config", "1\n")],
        reply: "n\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n.git/config\n<<<<<<< SEARCH\n1\n=======\nB\n>>>>>>> REPLACE\n",
        refused: "so nothing was",
        after: &[],
    },
    Case {
        name: "the second block of a file fails",
        files: &[("a", "1\n2\n")],
        reply: "a\n<<<<<<< SEARCH\n1\n=======\nI\n>>>>>>> REPLACE\n<<<<<<< SEARCH\n9\n=======\nIX\n>>>>>>> REPLACE\n",
        refused: "for the block at line 7 of the reply: the search text does not occur",
        after: &[],
    },
    Case {
        name: "a path out of the workspace",
        files: &[("a", "1\n")],
        reply: "../../outside/x\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n",
        refused: "at line 2 of the reply: ",
        after: &[],
    },
    Case {
        name: "a byte-order mark before the first line",
        files: &[("a", "\u{feff}1\n2\n")],
        reply: "a\n<<<<<<< SEARCH\n1\n2\n=======\n1\nII\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "\u{feff}1\nII\n")],
    },
    // Refusals instead of guesses.
    Case {
        name: "the indentation has drifted",
        files: &[("a", "if x:\n        y()\n")],
        reply: "a\n<<<<<<< SEARCH\nif x:\n    y()\n=======\nif x:\n    z()\n>>>>>>> REPLACE\n",
        refused: "most like it is lines 1-2, where line 2 is `        y()` and not `    y()` (they differ in whitespace or control characters)",
        after: &[],
    },
    Case {
        name: "tabs and blanks",
        files: &[("a", "\tx\n")],
        reply: "a\n<<<<<<< SEARCH\n    x\n=======\n    y\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "\ty\n")],
    },
    Case {
        name: "blanks at the end of a line",
        files: &[("a", "x  \n")],
        reply: "a\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n",
        refused: "",
        after: &[("a", "y\n")],
    },
    Case {
        name: "it is done already",
        files: &[("a", "1\nII\n")],
        reply: "a\n<<<<<<< SEARCH\n2\n=======\nII\n>>>>>>> REPLACE\n",
        refused: "the search text does not occur",
        after: &[],
    },
    Case {
        name: "a line only looks like a part",
        files: &[("a", "12\n")],
        reply: "a\n<<<<<<< SEARCH\n1\n=======\nI\n>>>>>>> REPLACE\n",
        refused: "the search text does not occur",
        after: &[],
    },
    Case {
        name: "an empty SEARCH on a file with text",
        files: &[("a", "1\n")],
        reply: "a\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n",
        refused: "the file has text already",
        after: &[],
    },
    Case {
        name: "a missing file",
        files: &[],
        reply: "a\n<<<<<<< SEARCH\n1\n=======\nI\n>>>>>>> REPLACE\n",
        refused: "the file of the block at line 2 of the reply",
        after: &[],
    },
    Case {
        name: "a binary file",
        files: &[("a", "1\0\n")],
        reply: "a\n<<<<<<< SEARCH\n1\n=======\nI\n>>>>>>> REPLACE\n",
        refused: "binary",
        after: &[],
    },
    // Replies that cannot be read.
    Case {
        name: "no block",
        files: &[],
        reply: "I would rather not.\n",
        refused: "there is no SEARCH/REPLACE block",
        after: &[],
    },
    Case {
        name: "no path",
        files: &[("a", "1\n")],
        reply: "Change this:\n\n<<<<<<< SEARCH\n1\n=======\nI\n>>>>>>> REPLACE\n",
        refused: "line 3 of the reply does not say its file",
        after: &[],
    },
    Case {
        name: "a block that breaks off",
        files: &[("a", "1\n2\n")],
        reply: "a\n<<<<<<< SEARCH\n1\n=======\nI\n>>>>>>> REPLACE\n<<<<<<< SEARCH\n2\n=======\nI",
        refused: "the block at line 7 of the reply is not whole",
        after: &[],
    },
    Case {
        name: "no line between the parts",
        files: &[("a", "1\n")],
        reply: "a\n<<<<<<< SEARCH\n1\n>>>>>>> REPLACE\n",
        refused: "is not whole",
        after: &[],
    },
    Case {
        name: "a block within a block",
        files: &[("a", "1\n")],
        reply: "a\n<<<<<<< SEARCH\n1\n=======\n<<<<<<< SEARCH\nI\n=======\nI\n>>>>>>> REPLACE\n",
        refused: "the block at line 2 of the reply is not whole",
        after: &[],
    },
];

#[test]
fn every_case_of_the_table_holds() {
    let mut wrong = Vec::new();
    for case in CASES {
        let workspace = MemoryWorkspace::with_files(case.files.iter().copied());
        let said = with_call(|call| apply(&workspace, call, case.reply));
        let text = said.as_ref().err().map(ToString::to_string).unwrap_or_default();
        let as_said = if case.refused.is_empty() { said.is_ok() } else { text.contains(case.refused) };
        let after = if case.refused.is_empty() { case.after } else { case.files };
        let expected: BTreeMap<String, Vec<u8>> =
            after.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
        if !as_said || workspace.files() != expected {
            let files: Vec<_> = expected.keys().map(|path| (path.clone(), workspace.text(path))).collect();
            wrong.push(format!("{}: {text:?}\n   {files:?}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(CASES.len() >= 30);
}

#[test]
fn bytes_that_are_no_text_are_kept() {
    let workspace = MemoryWorkspace::new();
    workspace.set_file("a", b"caf\xe9\nx\n");
    let reply = "a\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n";
    with_call(|call| apply(&workspace, call, reply)).unwrap();
    assert_eq!(workspace.files()["a"], b"caf\xe9\ny\n");
}

//! The table.

use std::collections::BTreeMap;

use adapter_apply_patch::apply;
use memory_workspace::MemoryWorkspace;
use wap_core::{Call, CancelFlag, ConversationId, Origin, Retention, RunKey};

/// Files, by path.
type Files = &'static [(&'static str, &'static str)];

struct Case {
    name: &'static str,
    files: Files,
    patch: &'static str,
    /// A part of the text for the model; nothing for a patch that is carried out.
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
        name: "one chunk",
        files: &[("a", "1\n2\n3\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n 1\n-2\n+II\n 3\n*** End Patch\n",
        refused: "",
        after: &[("a", "1\nII\n3\n")],
    },
    Case {
        name: "prose around the patch",
        files: &[("a", "1\n")],
        patch: "I change it:\n\n*** Begin Patch\n*** Update File: a\n@@\n-1\n+I\n*** End Patch\n\nDone.\n",
        refused: "",
        after: &[("a", "I\n")],
    },
    Case {
        name: "a fence around the patch",
        files: &[("a", "1\n")],
        patch: "```\n*** Begin Patch\n*** Update File: a\n@@\n-1\n+I\n*** End Patch\n```\n",
        refused: "",
        after: &[("a", "I\n")],
    },
    Case {
        name: "no @@ before the first chunk",
        files: &[("a", "1\n2\n")],
        patch: "*** Begin Patch\n*** Update File: a\n 1\n-2\n+II\n*** End Patch\n",
        refused: "",
        after: &[("a", "1\nII\n")],
    },
    Case {
        name: "two chunks",
        files: &[("a", "1\n2\n3\n4\n5\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-1\n+I\n+I\n@@\n 4\n-5\n*** End Patch\n",
        refused: "",
        after: &[("a", "I\nI\n2\n3\n4\n")],
    },
    Case {
        name: "a chunk that finds what the one before has moved",
        files: &[("a", "1\n2\n3\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-1\n@@\n-3\n+III\n*** End Patch\n",
        refused: "",
        after: &[("a", "2\nIII\n")],
    },
    Case {
        name: "a blank line that stays, without its blank",
        files: &[("a", "1\n\n2\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n 1\n\n-2\n+II\n*** End Patch\n",
        refused: "",
        after: &[("a", "1\n\nII\n")],
    },
    Case {
        name: "several files",
        files: &[("a", "1\n"), ("c", "3\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-1\n+A\n*** Add File: d/b\n+B\n+\n*** Delete File: c\n*** End Patch\n",
        refused: "",
        after: &[("a", "A\n"), ("d/b", "B\n\n")],
    },
    Case {
        name: "an empty new file",
        files: &[],
        patch: "*** Begin Patch\n*** Add File: n\n*** End Patch\n",
        refused: "",
        after: &[("n", "")],
    },
    Case {
        name: "a file moves",
        files: &[("a", "1\n2\n")],
        patch: "*** Begin Patch\n*** Update File: a\n*** Move to: d/b\n@@\n-2\n+II\n*** End Patch\n",
        refused: "",
        after: &[("d/b", "1\nII\n")],
    },
    Case {
        name: "a file moves unchanged",
        files: &[("a", "1\n2")],
        patch: "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch\n",
        refused: "",
        after: &[("b", "1\n2")],
    },
    Case {
        name: "a file with CRLF and a mark moves",
        files: &[("a", "\u{feff}1\r\n2\r\n")],
        patch: "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-1\n+I\n*** End Patch\n",
        refused: "",
        after: &[("b", "\u{feff}I\r\n2\r\n")],
    },
    Case {
        name: "lines are only inserted, with lines that stay",
        files: &[("a", "1\n2\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n 1\n+1.5\n 2\n*** End Patch\n",
        refused: "",
        after: &[("a", "1\n1.5\n2\n")],
    },
    Case {
        name: "lines without others go to the end",
        files: &[("a", "1\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n+2\n*** End Patch\n",
        refused: "",
        after: &[("a", "1\n2\n")],
    },
    Case {
        name: "lines without others go below their anchor",
        files: &[("a", "f\n1\ng\n2\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@ f\n+0\n*** End Patch\n",
        refused: "",
        after: &[("a", "f\n0\n1\ng\n2\n")],
    },
    Case {
        name: "an anchor says which of two is meant",
        files: &[("a", "def f():\n  return 1\ndef g():\n  return 1\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@ def g():\n-  return 1\n+  return 2\n*** End Patch\n",
        refused: "",
        after: &[("a", "def f():\n  return 1\ndef g():\n  return 2\n")],
    },
    Case {
        name: "the first below the anchor is meant",
        files: &[("a", "def f():\n  x\ndef g():\n  x\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@ def f():\n-  x\n+  y\n*** End Patch\n",
        refused: "",
        after: &[("a", "def f():\n  y\ndef g():\n  x\n")],
    },
    Case {
        name: "anchors within each other",
        files: &[("a", "class A\n  def f\n    x\nclass B\n  def f\n    x\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@ class B\n@@   def f\n-    x\n+    y\n*** End Patch\n",
        refused: "",
        after: &[("a", "class A\n  def f\n    x\nclass B\n  def f\n    y\n")],
    },
    Case {
        name: "an anchor without its blanks",
        files: &[("a", "class A\n  def f\n    x\n  def g\n    x\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@ def g\n-    x\n+    y\n*** End Patch\n",
        refused: "",
        after: &[("a", "class A\n  def f\n    x\n  def g\n    y\n")],
    },
    Case {
        name: "an anchor that is not there",
        files: &[("a", "1\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@ def h():\n-1\n+I\n*** End Patch\n",
        refused: "the line after @@ is not there",
        after: &[],
    },
    Case {
        name: "an anchor that stands twice",
        files: &[("a", "f\nx\nf\nx\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@ f\n-x\n+y\n*** End Patch\n",
        refused: "the line after @@ stands at the lines 1, 3",
        after: &[],
    },
    Case {
        name: "lines that stand above their anchor only",
        files: &[("a", "x\nf\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@ f\n-x\n+y\n*** End Patch\n",
        refused: "stand above line 3 only",
        after: &[],
    },
    Case {
        name: "the end of the file is meant",
        files: &[("a", "x\ny\nx\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-x\n+z\n*** End of File\n*** End Patch\n",
        refused: "",
        after: &[("a", "x\ny\nz\n")],
    },
    Case {
        name: "lines that are not the last ones",
        files: &[("a", "x\ny\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-x\n+z\n*** End of File\n*** End Patch\n",
        refused: "are not the last ones",
        after: &[],
    },
    Case {
        name: "text that occurs twice",
        files: &[("a", "x\ny\nx\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-x\n+z\n*** End Patch\n",
        refused: "more than once, at the lines 1, 3",
        after: &[],
    },
    Case {
        name: "CRLF stays CRLF",
        files: &[("a", "1\r\n2\r\n3\r\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n 1\n-2\n+II\n+II\n*** End Patch\n",
        refused: "",
        after: &[("a", "1\r\nII\r\nII\r\n3\r\n")],
    },
    Case {
        name: "lines that stay keep an odd ending",
        files: &[("a", "1\r\n2\n3\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n 1\n-2\n+II\n 3\n*** End Patch\n",
        refused: "",
        after: &[("a", "1\r\nII\n3\n")],
    },
    Case {
        name: "a patch in CRLF on a file in LF",
        files: &[("a", "1\n2\n")],
        patch: "*** Begin Patch\r\n*** Update File: a\r\n@@\r\n 1\r\n-2\r\n+II\r\n*** End Patch\r\n",
        refused: "",
        after: &[("a", "1\nII\n")],
    },
    Case {
        name: "a byte-order mark before the first line",
        files: &[("a", "\u{feff}1\n2\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-1\n+I\n*** End Patch\n",
        refused: "",
        after: &[("a", "\u{feff}I\n2\n")],
    },
    Case {
        name: "a path out of the workspace",
        files: &[("a", "1\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-1\n+I\n*** Add File: ../../outside/x\n+x\n*** End Patch\n",
        refused: "'../../outside/x' could not be changed, so nothing was",
        after: &[],
    },
    Case {
        name: "a move out of the workspace",
        files: &[("a", "1\n")],
        patch: "*** Begin Patch\n*** Update File: a\n*** Move to: ../x\n*** End Patch\n",
        refused: "so nothing was",
        after: &[],
    },
    Case {
        name: "the second of two files fails",
        files: &[("a", "1\n"), ("b", "1\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-1\n+A\n*** Update File: b\n@@\n-9\n+B\n*** End Patch\n",
        refused: "does not fit 'b'",
        after: &[],
    },
    Case {
        name: "the second of two files is protected",
        files: &[("a", "1\n"), (".git/config", "1\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-1\n+A\n*** Update File: .git/config\n@@\n-1\n+B\n*** End Patch\n",
        refused: "so nothing was",
        after: &[],
    },
    Case {
        name: "a deletion fails after everything else",
        files: &[("a", "1\n"), ("b", "1\n"), (".git/config", "1\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-1\n+A\n*** Add File: n\n+n\n*** Delete File: b\n*** Delete File: .git/config\n*** End Patch\n",
        refused: "'.git/config' could not be changed",
        after: &[],
    },
    Case {
        name: "a new file that is there already",
        files: &[("a", "1\n"), ("b", "1\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-1\n+A\n*** Add File: b\n+B\n*** End Patch\n",
        refused: "'b' could not be changed, so nothing was",
        after: &[],
    },
    Case {
        name: "a move onto a file",
        files: &[("a", "1\n"), ("b", "1\n")],
        patch: "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch\n",
        refused: "'b' could not be changed",
        after: &[],
    },
    Case {
        name: "a missing file is deleted",
        files: &[("a", "1\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-1\n+A\n*** Delete File: b\n*** End Patch\n",
        refused: "'b' cannot be read, so nothing was changed",
        after: &[],
    },
    Case {
        name: "a file with two kinds of endings moves",
        files: &[("a", "1\r\n2\n3\n4")],
        patch: "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n 1\n-2\n+II\n 3\n*** End Patch\n",
        refused: "",
        after: &[("b", "1\r\nII\n3\n4")],
    },
    Case {
        name: "lines that stay between others keep an odd ending",
        files: &[("a", "1\n2\r\n3\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-1\n+I\n 2\n-3\n+III\n*** End Patch\n",
        refused: "",
        after: &[("a", "I\n2\r\nIII\n")],
    },
    Case {
        name: "blank lines between all parts",
        files: &[("a", "1\n2\n3\n"), ("b", "1\n"), ("c", "1\n")],
        patch: "*** Begin Patch\n\n*** Update File: a\n\n@@\n-1\n+I\n\n@@\n-3\n+III\n\n*** Update File: b\n@@\n-1\n+I\n\n*** Delete File: c\n\n*** Add File: d\n+D\n\n*** End Patch\n",
        refused: "",
        after: &[("a", "I\n2\nIII\n"), ("b", "I\n"), ("d", "D\n")],
    },
    Case {
        name: "a blank line that stays at the end of a chunk, without its blank",
        files: &[("a", "1\n\n2\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-1\n+I\n\n*** End Patch\n",
        refused: "",
        after: &[("a", "I\n\n2\n")],
    },
    Case {
        name: "a blank line without a sign does not choose between two places",
        files: &[("a", "x\n\ny\nx\nz\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-x\n+X\n\n*** End Patch\n",
        refused: "only the blank line at its end says where",
        after: &[],
    },
    Case {
        name: "a blank line with its sign chooses between two places",
        files: &[("a", "x\n\ny\nx\nz\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-x\n+X\n \n*** End Patch\n",
        refused: "",
        after: &[("a", "X\n\ny\nx\nz\n")],
    },
    Case {
        name: "lines without others and a blank line below them",
        files: &[("a", "1\n\n2\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n+3\n\n*** End Patch\n",
        refused: "",
        after: &[("a", "1\n\n2\n3\n")],
    },
    Case {
        name: "a blank line behind the end of the file",
        files: &[("a", "x\ny\nx\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-x\n+z\n*** End of File\n\n*** End Patch\n",
        refused: "",
        after: &[("a", "x\ny\nz\n")],
    },
    Case {
        name: "a blank line within a new file, without its sign",
        files: &[],
        patch: "*** Begin Patch\n*** Add File: a\n+1\n\n+2\n*** End Patch\n",
        refused: "line 4 of the reply means nothing there",
        after: &[],
    },
    Case {
        name: "indented headers",
        files: &[("a", "1\n"), ("b", "1\n"), ("c", "1\n")],
        patch: " *** Begin Patch\n  *** Delete File: b\n  *** Delete File: c\n  *** Update File: a\n@@\n-1\n+I\n*** End Patch\n",
        refused: "",
        after: &[("a", "I\n")],
    },
    Case {
        name: "an indented patch",
        files: &[("a", "1\n  2\n"), ("b", "1\n")],
        patch: "1. this:\n\n   *** Begin Patch\n   *** Update File: a\n   @@\n    1\n   -  2\n   +  II\n\n   *** Update File: b\n   @@\n   -1\n   +I\n   *** End Patch\n",
        refused: "",
        after: &[("a", "1\n  II\n"), ("b", "I\n")],
    },
    Case {
        name: "an indented header within an update is a line of the file",
        files: &[("a", "*** Update File: b\n1\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n *** Update File: b\n-1\n+I\n*** End Patch\n",
        refused: "",
        after: &[("a", "*** Update File: b\nI\n")],
    },
    Case {
        name: "the indentation has drifted",
        files: &[("a", "if x:\n        y()\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n if x:\n-    y()\n+    z()\n*** End Patch\n",
        refused: "line 2 of the file is \"        y()\", the patch has \"    y()\"",
        after: &[],
    },
    Case {
        name: "it is done already",
        files: &[("a", "1\nII\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-2\n+II\n*** End Patch\n",
        refused: "the new lines are at line 2 already",
        after: &[],
    },
    Case {
        name: "chunks in the wrong order",
        files: &[("a", "1\n2\n3\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-3\n+III\n@@\n-1\n+I\n*** End Patch\n",
        refused: "from the top of a file to its end",
        after: &[],
    },
    Case {
        name: "the second chunk does not fit",
        files: &[("a", "1\n2\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-1\n+I\n@@\n-9\n+IX\n*** End Patch\n",
        refused: "the chunk at line 6 of the reply",
        after: &[],
    },
    Case {
        name: "no patch",
        files: &[],
        patch: "I would rather not.\n",
        refused: "there is no `*** Begin Patch`",
        after: &[],
    },
    Case {
        name: "a patch that breaks off",
        files: &[("a", "1\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-1\n+I\n",
        refused: "has no `*** End Patch`",
        after: &[],
    },
    Case {
        name: "two patches",
        files: &[("a", "1\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-1\n+I\n*** End Patch\n*** Begin Patch\n*** Update File: a\n@@\n-1\n+I\n*** End Patch\n",
        refused: "a second patch at line 7",
        after: &[],
    },
    Case {
        name: "two sections for one file",
        files: &[("a", "1\n2\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-1\n+I\n*** Update File: a\n@@\n-2\n+II\n*** End Patch\n",
        refused: "a second section for 'a'",
        after: &[],
    },
    Case {
        name: "a line without its sign",
        files: &[("a", "1\n2\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n-1\nI\n*** End Patch\n",
        refused: "line 5 of the reply means nothing there: \"I\"",
        after: &[],
    },
    Case {
        name: "a line of a new file without its sign",
        files: &[],
        patch: "*** Begin Patch\n*** Add File: a\n+1\n2\n*** End Patch\n",
        refused: "line 4 of the reply",
        after: &[],
    },
    Case {
        name: "a chunk before any file",
        files: &[],
        patch: "*** Begin Patch\n@@\n-1\n*** End Patch\n",
        refused: "line 2 of the reply",
        after: &[],
    },
    Case {
        name: "an empty patch",
        files: &[],
        patch: "*** Begin Patch\n*** End Patch\n",
        refused: "changes nothing",
        after: &[],
    },
    Case {
        name: "a section without changes",
        files: &[("a", "1\n")],
        patch: "*** Begin Patch\n*** Update File: a\n@@\n 1\n*** End Patch\n",
        refused: "changes nothing",
        after: &[],
    },
    Case {
        name: "a section without a path",
        files: &[],
        patch: "*** Begin Patch\n*** Delete File: \n*** End Patch\n",
        refused: "line 2 of the reply",
        after: &[],
    },
];

#[test]
fn every_case_of_the_table_holds() {
    let mut wrong = Vec::new();
    for case in CASES {
        let workspace = MemoryWorkspace::with_files(case.files.iter().copied());
        let said = with_call(|call| apply(&workspace, call, case.patch));
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
fn bytes_that_are_no_text_are_kept_and_not_deleted() {
    let workspace = MemoryWorkspace::new();
    workspace.set_file("a", b"caf\xe9\nx\n");
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch\n";
    with_call(|call| apply(&workspace, call, patch)).unwrap();
    assert_eq!(workspace.files()["a"], b"caf\xe9\ny\n");
    let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";
    let refused = with_call(|call| apply(&workspace, call, patch)).unwrap_err();
    assert!(refused.to_string().contains("not UTF-8 text"), "{refused}");
}

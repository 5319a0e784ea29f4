//! Code with the numbers that a program prints before its lines.

use serde_json::{Value, json};
use wap_edit::check_whole_content;

use crate::refusals::outcome_in;

const CODE: &str = "import os\n\n\ndef main():\n    x = 1\n    y = 2\n    return x\n";

fn edit(path: &str, file: &str, operation: Value) -> String {
    outcome_in(path, file, file, json!({"path": path, "operations": [operation]}))
}

fn replaced(path: &str, file: &str, (first, last): (i64, i64), text: &str) -> String {
    edit(path, file, json!({"type": "replace", "startLine": first, "endLine": last, "newContent": text}))
}

#[test]
fn code_with_consecutive_numbers_is_refused() {
    for text in [
        "3:def main():\n4:    x = 3\n5:    y = 2",
        "1 | def main():\n2 |     x = 3\n3 |     y = 2",
        "1 │ def main():\n2 │     x = 3\n3 │     y = 2",
        "     1\tdef main():\n     2\t    x = 3\n     3\t    y = 2",
        "     1→def main():\n     2→    x = 3\n     3→    y = 2",
        "L1|def main():\nL2|    x = 3\nL3|    y = 2",
        "   9|def main():\n  10|    x = 3",
        " 9 | def main():\n10 |\n11 |     x = 3",
        "9\tdef main():\n10\n11\t    x = 3",
    ] {
        let answer = replaced("app.py", CODE, (4, 6), text);
        assert!(answer.contains("numbers of the view") && answer.contains("INVALID_FIELD"), "{answer}");
        assert!(answer.contains("If such lines are text of the file, write it with a command"), "{answer}");
    }
    let (old, new) = ("    y = 2\n", "1:    y = 3\n2:    z = 3\n");
    let hunk = json!({"type": "replaceText", "oldText": old, "newText": new, "wholeLines": {"within": null}});
    assert!(edit("app.py", CODE, hunk).contains("numbers of the view"));
    let yaml = replaced("a.yaml", "a:\n  b: 1\n", (1, 2), "7→a:\n8→  b: 2");
    assert!(yaml.contains("numbers of the view"), "{yaml}");
}

#[test]
fn lines_with_numbers_of_their_own_are_written() {
    for (path, text) in [
        // Other forms, and lines without indentation.
        ("app.py", "1. x\n2.   y"),
        ("app.py", "1) x\n2)   y"),
        ("app.py", "Line 1:   x\nLine 2:   y"),
        ("app.py", "L1:   x\nL2:   y"),
        ("app.py", "[1]   x\n[2]   y"),
        ("app.py", "1   x\n2   y"),
        ("app.py", "1: x\n2: y"),
        ("app.py", "1 | x\n2 | y"),
        ("app.py", "1:x\n2:y"),
        ("app.py", "8\tann\n9\tbob"),
        // Numbers that are not consecutive, one line, different bars, and lines without numbers.
        ("app.py", "1:  x\n3:  y"),
        ("app.py", "10 |  x\n20 |  y"),
        ("app.py", "1:  x"),
        ("app.py", "1:  x\n2|  y"),
        ("app.py", "s = '''\n1:  x\n2:  y\n'''"),
        // Keys, labels and alternatives.
        ("a.js", "    1:  'x',\n    2:  'y',"),
        ("a.c", "  1:   f();\n  2:   g();"),
        ("a.yaml", "1:  x\n2:  y"),
        ("a.sh", "1|2)   f ;;\n3|4)   g ;;"),
        // Rows and prose.
        ("a.csv", "1\t  x\n2\t  y"),
        ("a.txt", "1:  x\n2:  y"),
        ("a.md", "1:  x\n2:  y"),
        ("a.bas", "1:  PRINT\n2:  GOTO 1"),
    ] {
        let expected = CODE.replace("    x = 1\n    y = 2", text);
        assert_eq!(replaced(path, CODE, (5, 6), text), expected, "{path}");
    }
    // Near such rows, in a string of code.
    let test = "D = '''\n1:  x\n2:  y\n'''\n";
    assert_eq!(replaced("t.py", test, (3, 3), "7:  y\n8:  z"), test.replace("2:  y", "7:  y\n8:  z"));
}

#[test]
fn a_whole_file_of_numbered_code_is_refused() {
    let arrows = "     1→def main():\n     2→    x = 3\n     3→    y = 2\n";
    for content in [arrows, "L1|def main():\nL2|    x = 3\n", "7:def main():\n8:    x = 3\n"] {
        let error = check_whole_content("b.py", None, content).unwrap_err();
        assert!(error.message().contains("content begins its lines with numbers ('"), "{error}");
        assert!(check_whole_content("b.py", Some(b"x = 1\n"), content).is_err(), "{content}");
        // Controls: a file that has such lines already, and files that are not code.
        assert!(check_whole_content("b.py", Some(arrows.as_bytes()), content).is_ok(), "{content}");
        for path in ["b.txt", "expected.out", "b.csv", "b.md"] {
            assert!(check_whole_content(path, None, content).is_ok(), "{path}");
        }
    }
    for content in ["x = '''\n1:  a\n2:  b\n'''\n", "1: a\n2: b\n", "1:  a\n", ""] {
        assert!(check_whole_content("b.py", None, content).is_ok(), "{content}");
    }
}

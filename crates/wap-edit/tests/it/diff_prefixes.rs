//! New lines with the prefixes of a diff.

use serde_json::{Value, json};
use wap_edit::check_whole_content;

use crate::refusals::{NOW, OLD, outcome_in, outcome_on};

const CODE: &str = "import os\n\n\ndef load(path):\n    with open(path) as f:\n        return f.read()\n";

const YAML: &str = "name: demo\nserver:\n  host: localhost\n  port: 8080\nlist:\n- a\n- b\n";

fn replace((first, last): (i64, i64), text: &str) -> Value {
    json!({"type": "replace", "startLine": first, "endLine": last, "newContent": text})
}

fn insert(after: i64, text: &str) -> Value {
    json!({"type": "insert", "afterLine": after, "newContent": text})
}

fn hunk(old: &str, new: &str) -> Value {
    json!({"type": "replaceText", "oldText": old, "newText": new, "wholeLines": {"within": null}})
}

fn assert_refused(path: &str, file: &str, operation: Value) {
    let answer = outcome_in(path, file, file, json!({"path": path, "operations": [operation]}));
    assert!(
        answer.contains("prefixes of a diff (-, + or @@)") && answer.contains("INVALID_FIELD"),
        "{answer}"
    );
}

fn assert_carried_out(path: &str, file: &str, operation: Value, expected: &str) {
    let answer = outcome_in(path, file, file, json!({"path": path, "operations": [operation]}));
    assert_eq!(answer, expected);
}

#[test]
fn new_lines_with_the_prefixes_of_a_diff_are_refused() {
    let request = |version: &str, lines: (i64, i64), text: &str| json!({"path": "a.txt", "operations": [replace(lines, text)], "expectedVersion": version});
    for (version, lines, text) in [
        ("now", (3, 3), "-two\n+TWO"),
        ("now", (3, 4), "-two\n-three\n+TWO\n+more\n"),
        ("now", (6, 9), "-five\n+FIVE"),
        ("seen", (2, 2), "-two\n+TWO"),
        ("seen", (3, 3), " two\n-three\n four"),
    ] {
        let answer = outcome_on(OLD, NOW, request(version, lines, text));
        assert!(answer.contains("prefixes of a diff") && answer.contains("newContent"), "{answer}");
    }
    // Controls: lists, whose lines with a minus are others, lines of one prefix, and a line without any.
    for (text, written) in [
        ("- two\n+ TWO", "- two\n+ TWO"),
        ("-two", "-two"),
        ("+two", "+two"),
        ("-two\n+TWO\nx", "-two\n+TWO\nx"),
    ] {
        let expected = format!("zero\none\n{written}\nthree\nFOUR\nfive\n");
        assert_eq!(outcome_on(OLD, NOW, request("now", (3, 3), text)), expected);
    }
}

#[test]
fn hunks_with_context_lines_are_refused() {
    let strict = "     with open(path) as f:\n-        return f.read()\n+        return f.read().strip()";
    let bare = "    with open(path) as f:\n-        return f.read()\n+        return f.read().strip()";
    for text in [strict, bare] {
        // Also where the context lines are around the range, or the range is wider than the hunk.
        for lines in [(5, 6), (6, 6), (4, 6)] {
            assert_refused("app.py", CODE, replace(lines, text));
        }
        assert_refused("app.py", CODE, insert(6, text));
        assert_refused("app.py", CODE, hunk("    with open(path) as f:\n        return f.read()\n", text));
    }
    let changed = "-        return f.read()\n+        return f.read().strip()";
    assert_refused("app.py", CODE, replace((5, 6), changed));
    assert_refused("app.py", CODE, hunk("        return f.read()\n", changed));
    assert_refused("app.py", CODE, replace((6, 6), "-        return f.read()"));
    assert_refused("app.py", CODE, replace((5, 6), "     with open(path) as f:\n-        return f.read()"));
    assert_refused("a.yaml", YAML, replace((3, 4), "   host: localhost\n-  port: 8080\n+  port: 9090"));
    assert_refused("a.yaml", YAML, replace((6, 7), " - a\n-- b\n+- c"));
    assert_refused("notes.txt", CODE, replace((5, 6), strict));
    assert_refused("app.py", CODE, replace((6, 6), &format!("{changed}\n\\ No newline at end of file")));
}

#[test]
fn code_of_added_lines_alone_is_refused() {
    assert_refused("app.py", CODE, replace((6, 6), "+        return f.read().strip()"));
    assert_refused("app.py", CODE, replace((1, 1), "+import sys\n+\n+import re"));
    assert_refused("app.py", CODE, insert(6, "+\n+def main():\n+    pass"));
    assert_refused("app.py", CODE, hunk("import os\n", "import os\n+import re\n"));
    assert_refused("app.py", CODE, hunk("import os\n", " import os\n+import re\n"));
    assert_refused("a.yaml", YAML, replace((4, 4), "+  port: 9090\n+  tls: true"));
    // Controls: a plus that is an operator, a diff in a string, and lists.
    assert_carried_out(
        "a.pl",
        "f(\n  a => 1\n);\n",
        replace((2, 2), "+{\n  a => 1\n}"),
        "f(\n+{\n  a => 1\n}\n);\n",
    );
    let sum = "x = (a\n- b\n- c)\n";
    assert_carried_out("a.py", sum, replace((2, 3), "+ b\n+ c)"), "x = (a\n+ b\n+ c)\n");
    assert_carried_out("a.py", "x = (a\n-b)\n", replace((2, 2), "+b)"), "x = (a\n+b)\n");
    assert_carried_out("a.py", "x = (a\nb)\n", replace((2, 2), "+1)"), "x = (a\n+1)\n");
    let test = "D = \"\"\"\\\n@@ -1 +1 @@\n-a\n+b\n\"\"\"\nE = \"\"\"\\\nx\n\"\"\"\n";
    let shorter = test.replace("+b", "+c");
    assert_carried_out("a.py", test, replace((4, 4), "+c"), &shorter);
    assert_carried_out("a.py", test, replace((7, 7), "+d"), &test.replace("\nx\n", "\n+d\n"));
    assert_carried_out("a.md", "# A\nx\n", replace((2, 2), "+  one\n+  two"), "# A\n+  one\n+  two\n");
    let within = json!({"type": "replaceText", "oldText": "os", "newText": "+os"});
    assert_carried_out("a.py", "f(os)\n", within, "f(+os)\n");
}

#[test]
fn hunks_with_their_header_are_refused() {
    let body = "@@ -5,2 +5,2 @@\n     with open(path) as f:\n-        return f.read()\n+        return f.read().strip()";
    assert_refused("app.py", CODE, replace((5, 6), body));
    assert_refused("app.py", CODE, replace((5, 6), &format!("--- a/app.py\n+++ b/app.py\n{body}")));
    assert_refused("notes.txt", CODE, replace((5, 6), body));
    assert_refused("app.py", CODE, replace((1, 1), "@@ -1 +1 @@ def x():\n-import so\n+import sys"));
    // Controls: a file that is a diff, one that has a diff, and one in a text that has other lines.
    let header = "@@ -1 +1 @@\n a\n-b";
    assert_carried_out(
        "a.patch",
        "Subject: x\n\na\n",
        replace((3, 3), header),
        &format!("Subject: x\n\n{header}\n"),
    );
    let patch = "@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
    assert_carried_out("a.patch", patch, replace((1, 4), "@@ -1 +1 @@\n-b\n+d"), "@@ -1 +1 @@\n-b\n+d\n");
    assert_carried_out(
        "a.patch",
        patch,
        replace((1, 3), "@@ -1,2 +1,1 @@\n a\n+e"),
        "@@ -1,2 +1,1 @@\n a\n+e\n+c\n",
    );
    assert_carried_out(
        "a.md",
        "```diff\nx\n```\n",
        replace((2, 2), "@@ -1 +1 @@\n-a\n+b"),
        "```diff\n@@ -1 +1 @@\n-a\n+b\n```\n",
    );
}

#[test]
fn lines_with_a_minus_or_a_plus_of_their_own_are_written() {
    let list = "# Changes\n\none\ntwo\n";
    assert_carried_out("a.md", list, replace((3, 4), "- one\n- two"), "# Changes\n\n- one\n- two\n");
    assert_carried_out(
        "a.md",
        list,
        replace((3, 4), "- one\n+ two\n\n  more"),
        "# Changes\n\n- one\n+ two\n\n  more\n",
    );
    assert_carried_out("a.md", list, replace((2, 2), "\n+ zero\n"), "# Changes\n\n+ zero\none\ntwo\n");
    assert_carried_out("a.md", "- a\n- b\n", replace((1, 2), "- a\n- b\n- c"), "- a\n- b\n- c\n");
    assert_carried_out("a.md", "- a\n- b\n", hunk("- a\n", "- a\n+ c\n"), "- a\n+ c\n- b\n");
    assert_carried_out(
        "a.yaml",
        YAML,
        replace((6, 7), "- a\n- b\n- c"),
        &YAML.replace("- b\n", "- b\n- c\n"),
    );
    assert_carried_out("a.yaml", YAML, replace((6, 7), "- a\n-   b"), &YAML.replace("- b\n", "-   b\n"));
    assert_carried_out(
        "a.yaml",
        "a:\n  b: 1\n",
        replace((2, 2), "-  b: 1\n-  c: 2"),
        "a:\n-  b: 1\n-  c: 2\n",
    );
    assert_carried_out("use.txt", "fee\nfo\n", replace((1, 1), "-fee"), "-fee\nfo\n");
    assert_carried_out("use.txt", "fee\nfo\n", replace((1, 2), "fee\n-fo"), "fee\n-fo\n");
    assert_carried_out("a.py", "x = (a\n     - b)\n", replace((2, 2), "- b\n- c)"), "x = (a\n- b\n- c)\n");
    let fixture = "D = \"\"\"\n a\n-b\n c\n\"\"\"\n";
    assert_carried_out(
        "a.py",
        fixture,
        replace((2, 4), " a\n-b\n-d\n+e\n c"),
        "D = \"\"\"\n a\n-b\n-d\n+e\n c\n\"\"\"\n",
    );
    assert_carried_out("a.py", fixture, hunk(" c\n", "-c\n+d\n"), "D = \"\"\"\n a\n-b\n-c\n+d\n\"\"\"\n");
    let text = "let d = \"\n-old\n+new\n\";";
    assert_carried_out("a.rs", "let d = x;\n", replace((1, 1), text), &format!("{text}\n"));
    // Programs that send operations in turn have the lines themselves.
    let in_turn =
        json!({"path": "a.txt", "operations": [replace((3, 3), "-two\n+TWO")], "lineNumbers": "inTurn"});
    assert_eq!(outcome_on(OLD, NOW, in_turn), "zero\none\n-two\n+TWO\nthree\nFOUR\nfive\n");
}

/// Code whose lines models remember inexactly.
const COUNTED: &str = "import os\n\n\ndef main():\n    x = 1  # count\n    name = 'a'\n    return x\n";

#[test]
fn hunks_whose_old_lines_are_inexact_are_refused() {
    for (lines, text) in [
        ((5, 5), "-    x = 1\n+    x = 3"),
        ((5, 5), "-x = 1\n+x = 3"),
        ((5, 5), "-\tx = 1  # count\n+\tx = 3"),
        ((5, 5), "-     x = 1  # count\n+     x = 3"),
        ((6, 6), "-    name = \"a\"\n+    name = \"b\""),
        // Lines that stay have a space or not, one by one.
        ((4, 6), "def main():\n-    x = 1  # count\n+    x = 3\n     name = 'a'"),
        ((4, 6), "def main():\n-    x = 1\n+    x = 3\n     name = 'a'"),
        ((4, 5), " def main():\n-    x = 1\n+    x = 3\n\n"),
        ((4, 6), "def main():\n-    x = 1  # count\n     name = 'a'"),
        // Lines that stay are inexact.
        ((5, 6), "     x = 1\n+    z = 3\n     name = \"a\""),
        ((4, 6), "def main():\n     x = 1  # count\n+    z = 3"),
    ] {
        assert_refused("app.py", COUNTED, replace(lines, text));
    }
    assert_refused("app.py", COUNTED, hunk("    x = 1  # count\n", "-    x = 1\n+    x = 3\n"));
    let json = "{\n  \"port\": 8080,\n  \"host\": \"a\"\n}\n";
    assert_refused("a.json", json, replace((2, 2), "-  \"port\": 8080\n+  \"port\": 9090,"));
    assert_refused("a.toml", "port = 8080 # http\n", replace((1, 1), "-port = 8080\n+port = 9090"));
    assert_refused("a.yaml", YAML, replace((4, 4), "-    port: 8080\n+    port: 9090"));
    assert_refused("Dockerfile", "FROM a\nRUN b --all\n", replace((2, 2), "-RUN b\n+RUN c"));
    let go = "func f() {\n\treturn 1\n}\n";
    assert_refused("main.go", go, replace((2, 2), "-    return 1\n+    return 2"));
    let mixed = "def main():\n-    x = 1  # count\n+    x = 3\n     name = 'a'";
    assert_refused("notes.txt", COUNTED, replace((4, 5), mixed));
}

#[test]
fn lines_with_signs_that_are_no_hunk_are_written() {
    for (path, file, line, text) in [
        // A diff in a string of code, next to lines that it does not have.
        ("t.py", "D = ''\nx = 1\n", 1, "D = '''\n-    x = 1\n+    x = 2\n'''"),
        ("t.py", "D = '''\nold text\n'''\n", 2, "-one thing\n+another thing"),
        ("t.py", "D = '''\n-total = 1\n+total = 2\n'''\n", 2, "-total = 1\n+sum = 1"),
        ("t.py", "D = '''\n@@ ... @@\n-a\n'''\nx = 1  # n\n", 5, "-x = 1\n+x = 2"),
        // Operands, comments, and options.
        ("t.py", "x = (total_a\n- total_b\n- total_c)\n", 2, "- total_b\n+ total_d"),
        ("t.py", "x = (total_a\n- total_b)\n", 2, "-total_b\n+total_d)"),
        ("q.lua", "x = a\n-- count of lines\n", 2, "-- count of lines, all\n+ b"),
        ("q.sql", "select a\n-- count of lines\n", 2, "-- count of lines, all\n+ b"),
        ("a.sh", "sort -n\nx)\n", 2, "-z)\n+y)"),
        ("a.js", "f(`\n1, 1\n`)\n", 2, "-1,\n+2,"),
        // Lists and rows.
        ("a.md", "# A\nfirst item\n", 2, "- first item, longer\n+ second item"),
        ("README", "First item\n", 1, "- First item, longer\n+ Second item"),
        ("a.txt", "first item\n", 1, "-first\n+second"),
        ("a.csv", "total,5\n", 1, "-total,5,6\n+total,7,8"),
        ("a.yaml", "- one item\n", 1, "- one item, longer\n- '+ two'"),
        ("a.patch", "x = 1  # count\n", 1, "-x = 1\n+x = 3"),
    ] {
        let mut lines: Vec<&str> = file.lines().collect();
        lines[line - 1] = text;
        let line = i64::try_from(line).unwrap();
        assert_carried_out(path, file, replace((line, line), text), &(lines.join("\n") + "\n"));
    }
}

#[test]
fn headers_without_numbers_are_refused_in_code() {
    let body = "-    x = 7\n+    x = 3";
    for header in [
        "@@",
        "@@ ... @@",
        "@@ def main():",
        "# change\n@@ -1 +1 @@",
        "\n# change\n\n@@ ... @@",
        "--- a/app.py\n+++ b/app.py\n@@",
    ] {
        assert_refused("app.py", COUNTED, replace((1, 1), &format!("{header}\n{body}")));
    }
    assert_refused("app.py", COUNTED, hunk("    x = 1  # count\n", "@@ ... @@\n     x = 1\n"));
    // Controls: other text, a variable of a class, and code that has such lines.
    assert_carried_out("a.md", "# A\nx\n", replace((2, 2), "@@ ... @@\n-a"), "# A\n@@ ... @@\n-a\n");
    assert_carried_out("a.rb", "class A\nx\n", replace((2, 2), "@@x = 1"), "class A\n@@x = 1\n");
    let test = "D = '''\n@@ a\n'''\n";
    assert_carried_out("t.py", test, replace((2, 2), "@@ b\n-c\n+d"), "D = '''\n@@ b\n-c\n+d\n'''\n");
    assert_carried_out("t.py", test, replace((1, 1), "# D\nD = '''"), &format!("# D\n{test}"));
}

#[test]
fn refusals_have_a_way_to_write_such_lines() {
    let test = "EXPECTED = '''\nold\n'''\n";
    let request = json!({"path": "t.py", "operations": [replace((2, 2), "+new line\n+another")]});
    let answer = outcome_in("t.py", test, test, request);
    assert!(answer.contains("If such lines are text of the file, write it with a command"), "{answer}");
    let written = check_whole_content("a.py", None, "@@ -1 +1 @@\n-a\n+b\n").unwrap_err();
    assert!(written.message().contains("If a diff is its text, write it with a command"), "{written}");
}

#[test]
fn a_whole_file_that_is_a_diff_is_refused() {
    let diff = "--- a/src/app.py\n+++ b/src/app.py\n@@ -5,2 +5,2 @@\n a\n-b\n+c\n";
    let git = format!("diff --git a/src/app.py b/src/app.py\nindex 1234567..89abcde 100644\n{diff}");
    let refused = |path: &str, old: Option<&str>, content: &str| {
        check_whole_content(path, old.map(str::as_bytes), content).is_err()
    };
    for content in [
        diff,
        git.as_str(),
        "@@ -1 +1 @@\n-a\n+b\n",
        "\n--- src/app.py\t2026\n+++ src/app.py\t2026\n@@ -1 +1 @@\n",
        "# change\n@@ ... @@\n-a\n+b\n",
    ] {
        assert!(refused("src/app.py", None, content), "{content}");
    }
    assert!(refused("README", Some("x"), &diff.replace("src/app.py", "README")));
    assert!(refused("a.yaml", Some("x"), diff));
    // Controls: files that hold a diff, or begin with some of its characters.
    for (path, old, content) in [
        ("fix.patch", None, diff),
        ("fix.diff", Some("x"), git.as_str()),
        ("tests/expected.txt", None, diff),
        ("docs/patches.md", None, diff),
        ("tests/diff.json", Some(diff), git.as_str()),
        ("a.yaml", None, "---\nname: a\n"),
        ("a.py", None, "# @@ -1 +1 @@\nx = 1\n"),
        ("a.md", None, "--- \ntitle: a\n---\n@@ -1 +1 @@\n"),
    ] {
        assert!(!refused(path, old, content), "{path}");
    }
}

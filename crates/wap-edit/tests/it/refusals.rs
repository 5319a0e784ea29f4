//! The answers to refused requests, one for each reason.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};
use text_edit::{EditLimits, LineMap, Source, apply};
use wap_core::{FileVersion, ModifyFile, Reason};
use wap_edit::{FileEdit, KnownVersion, check_request};

/// The version that the client saw.
pub(crate) const OLD: &str = "one\ntwo\nthree\nfour\nfive\n";
/// The file now: a line on top, and another text of its fourth line.
pub(crate) const NOW: &str = "zero\none\ntwo\nthree\nFOUR\nfive\n";

/// Applies a request to [`NOW`] and renders the result.
fn outcome(request: Value) -> String {
    outcome_on(OLD, NOW, request)
}

/// Applies a request to a text whose earlier version `seen` the client saw, and renders the result.
pub(crate) fn outcome_on(old: &str, now: &str, request: Value) -> String {
    outcome_in("a.txt", old, now, request)
}

/// Applies a request to the text of a file.
pub(crate) fn outcome_in(path: &str, old: &str, now: &str, request: Value) -> String {
    let request: ModifyFile = serde_json::from_value(request).unwrap();
    if let Err(error) = check_request(&request) {
        return serde_json::to_string_pretty(&error).unwrap();
    }
    let old_bytes = old.as_bytes();
    let (old, now) = (Source::parse(old_bytes).unwrap(), Source::parse(now.as_bytes()).unwrap());
    let edit = FileEdit {
        path,
        current: &now,
        version: FileVersion("now".into()),
        before_run: None,
        request: &request,
    };
    let mut find = |version: &FileVersion| {
        let map = LineMap::between(&old, &now);
        (version.0 == "seen").then(|| KnownVersion { bytes: Arc::from(old_bytes), map })
    };
    let limits = EditLimits::default();
    let edited = edit
        .apply(&mut find, &mut |operations, numbering| apply(now.bytes(), operations, numbering, &limits));
    match edited {
        Ok(edited) => String::from_utf8(edited.edited.bytes).unwrap(),
        Err(error) => serde_json::to_string_pretty(&error).unwrap(),
    }
}

#[test]
fn refusals_name_the_lines_in_question() {
    let replace =
        |line: i64| json!({"type": "replace", "startLine": line, "endLine": line, "newContent": "x"});
    let was = |line: i64, was: &str| json!({"type": "replace", "startLine": line, "endLine": line, "newContent": "x", "was": was});
    let regex = |pattern: &str| json!({"type": "regexReplace", "pattern": pattern, "replacement": "$1"});
    let cases = [
        ("no operations", json!({"path": "a.txt", "operations": []})),
        ("carried over", json!({"path": "a.txt", "operations": [replace(2)], "expectedVersion": "seen"})),
        ("changed since", json!({"path": "a.txt", "operations": [replace(4)], "expectedVersion": "seen"})),
        ("unknown version", json!({"path": "a.txt", "operations": [replace(2)], "expectedVersion": "other"})),
        ("past the end", json!({"path": "a.txt", "operations": [replace(9)]})),
        ("same lines", json!({"path": "a.txt", "operations": [replace(2), replace(2)]})),
        ("was another line", json!({"path": "a.txt", "operations": [was(2, "three")]})),
        ("was nowhere", json!({"path": "a.txt", "operations": [was(2, "seven")]})),
        (
            "in turn, another version",
            json!({
                "path": "a.txt", "operations": [replace(1), replace(2)], "expectedVersion": "seen",
                "lineNumbers": "inTurn"
            }),
        ),
        ("bad expression", json!({"path": "a.txt", "operations": [regex("(")]})),
        ("bad group", json!({"path": "a.txt", "operations": [regex("one")]})),
    ];
    let mut text = String::new();
    for (name, request) in cases {
        write!(text, "== {name}\n{}\n\n", outcome(request)).unwrap();
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_text_that_occurred_twice_when_it_was_seen_is_refused() {
    let old = "a\n  send();\nb\n  send();\n";
    // The second one has changed since, possibly by the requested edit itself.
    let now = "a\n  send();\nb\n  sent();\n";
    let replace = json!({ "type": "replaceText", "oldText": "  send();", "newText": "  sent();" });
    let request =
        |version: &str| json!({ "path": "a.txt", "operations": [replace], "expectedVersion": version });
    insta::assert_snapshot!(outcome_on(old, now, request("seen")));
    // Controls: a client that saw the present text, and one that saw a single place which has moved.
    let edited = "a\n  sent();\nb\n  sent();\n";
    assert_eq!(outcome_on(old, now, request("now")), edited);
    assert_eq!(outcome_on("  send();\na\nb\n  sent();\n", now, request("seen")), edited);
}

#[test]
fn a_text_that_was_seen_is_not_matched_by_lines_from_elsewhere() {
    let old = "a\n    end\n  end\nend\n";
    // The match that was seen now has new lines, and the ends around it are the same with another indentation.
    let now = "a\n    end\nb\n  end\nend\n";
    let replace = json!({ "type": "replaceText", "oldText": "    end\n  end\n", "newText": "    end\n  more\n  end\n" });
    let request =
        |version: &str| json!({ "path": "a.txt", "operations": [replace], "expectedVersion": version });
    insta::assert_snapshot!(outcome_on(old, now, request("seen")));
    // Controls: a client that saw the present text, lines that were reindented in place, and lines that have moved.
    assert_eq!(outcome_on(old, now, request("now")), "a\n    end\nb\n  end\nmore\nend\n");
    let send = json!({ "type": "replaceText", "oldText": "  open();\n  send();\n", "newText": "  open();\n  sent();\n" });
    let request_to_send = json!({ "path": "a.txt", "operations": [send], "expectedVersion": "seen" });
    let (flat, deeper) = ("a\n  open();\n  send();\nend\n", "a\nif\n    open();\n    send();\nend\n");
    let sent = "a\nif\n    open();\n    sent();\nend\n";
    assert_eq!(outcome_on(flat, deeper, request_to_send), sent);
    let moved = "end\na\n    end\n  end\n";
    assert_eq!(outcome_on(old, moved, request("seen")), "end\na\n    end\n  more\n  end\n");
}

#[test]
fn a_blank_line_that_was_added_since_the_file_was_seen_is_not_added_twice() {
    let replace = json!({ "type": "replaceText", "oldText": "one\ntwo\n", "newText": "\none\ntwo\n" });
    let request =
        |version: &str| json!({ "path": "a.txt", "operations": [replace], "expectedVersion": version });
    let (old, now) = ("one\ntwo\n", "\none\ntwo\n");
    let refused = outcome_on(old, now, request("seen"));
    assert!(
        refused.contains("already applied, nothing done") && refused.contains("alreadyApplied"),
        "{refused}"
    );
    // Controls: a client that saw the blank line means a second one, and one whose file has changed elsewhere means the first.
    assert_eq!(outcome_on(old, now, request("now")), "\n\none\ntwo\n");
    assert_eq!(outcome_on("\none\ntwo\n", "\none\ntwo\nmore\n", request("seen")), "\n\none\ntwo\nmore\n");
    assert_eq!(outcome_on(old, "one\ntwo\nmore\n", request("seen")), "\none\ntwo\nmore\n");
}

#[test]
fn content_is_appended_in_the_encoding_of_the_file() {
    let append = |file: &[u8], content: &str| wap_edit::appended("a.txt", file, content);
    for (file, content, expected) in [
        (&b""[..], "é\n", "é\n".as_bytes()),
        (b"a\r\n", "b\n", b"a\r\nb\n"),
        (b"\xef\xbb\xbfa", "é", b"\xef\xbb\xbfa\xc3\xa9"),
        (b"\xff\xfea\0\n\0", "é\n", b"\xff\xfea\0\n\0\xe9\0\n\0"),
        (b"\xfe\xff\0a", "b", b"\xfe\xff\0a\0b"),
        (b"caf\xe9\n", "plain\n", b"caf\xe9\nplain\n"),
        // Not a text: only the bytes count.
        (b"\0\x01", "é", b"\0\x01\xc3\xa9"),
    ] {
        assert_eq!(append(file, content).unwrap(), expected, "{file:?}");
    }
    for (file, content, reason) in [
        (&b"caf\xe9\n"[..], "na\u{ef}ve\n", Reason::InvalidField),
        (b"\xff\xfea\0b", "c", Reason::BinaryFile),
    ] {
        let error = append(file, content).unwrap_err();
        assert_eq!(error.reason(), reason, "{error}");
        assert!(error.message().starts_with("nothing was appended to 'a.txt': "), "{error}");
    }
}

#[test]
fn versions_of_numbered_lines_are_looked_up_once() {
    let text: String = (0..100).map(|number| format!("line {number}\n")).collect();
    let operations: Vec<Value> = (1..=50)
        .map(|line| json!({"type": "replace", "startLine": line, "endLine": line, "newContent": format!("{line}|x")}))
        .collect();
    let request = json!({
        "path": "a.txt", "operations": operations, "expectedVersion": "seen", "viewNumbers": "takeOff",
    });
    let request: ModifyFile = serde_json::from_value(request).unwrap();
    let now = Source::parse(text.as_bytes()).unwrap();
    let version = FileVersion("now".into());
    let edit = FileEdit { path: "a.txt", current: &now, version, before_run: None, request: &request };
    let mut lookups = 0;
    let mut find = |_: &FileVersion| {
        lookups += 1;
        Some(KnownVersion { bytes: Arc::from(text.as_bytes()), map: LineMap::between(&now, &now) })
    };
    let limits = EditLimits::default();
    let edited = edit
        .apply(&mut find, &mut |operations, numbering| apply(now.bytes(), operations, numbering, &limits))
        .unwrap();
    let expected: String = (0..100)
        .map(|number| if number < 50 { "x\n".to_owned() } else { format!("line {number}\n") })
        .collect();
    assert_eq!(String::from_utf8(edited.edited.bytes).unwrap(), expected);
    assert_eq!(edited.warnings.len(), 50);
    // Once for the leading numbers, and once for the lines that they mean.
    assert_eq!(lookups, 2);
}

#[test]
fn new_lines_with_the_numbers_of_their_view_are_refused() {
    let replace = |first: i64, last: i64, text: &str| json!({"path": "a.txt", "operations": [{"type": "replace", "startLine": first, "endLine": last, "newContent": text}]});
    let insert = |after: i64, text: &str| json!({"path": "a.txt", "operations": [{"type": "insert", "afterLine": after, "newContent": text}]});
    let refused = [
        replace(2, 2, "2|    return 5"),
        replace(2, 3, "2|x\n3|y\n"),
        replace(2, 3, "2|x\n3|y\n4|\n"),
        insert(2, "3|x"),
    ];
    for request in refused {
        let answer = outcome(request);
        assert!(answer.contains("numbers of the view") && answer.contains("newContent"), "{answer}");
    }
    let table = "1|ann\n2|ben\n3|cem\n";
    let kept = [
        (NOW, replace(2, 2, "3|x"), "zero\n3|x\ntwo\nthree\nFOUR\nfive\n"),
        (NOW, replace(2, 2, "3|x\ny"), "zero\n3|x\ny\ntwo\nthree\nFOUR\nfive\n"),
        // More leading spaces than in a view of this few lines.
        (NOW, replace(2, 2, "  2|x"), "zero\n  2|x\ntwo\nthree\nFOUR\nfive\n"),
        (NOW, replace(2, 2, "2 x"), "zero\n2 x\ntwo\nthree\nFOUR\nfive\n"),
        // Rows of a table with such numbers.
        (table, replace(2, 2, "2|bo"), "1|ann\n2|bo\n3|cem\n"),
        (table, insert(3, "4|dan"), "1|ann\n2|ben\n3|cem\n4|dan\n"),
    ];
    for (now, request, expected) in kept {
        assert_eq!(outcome_on(OLD, now, request), expected);
    }
}

#[test]
fn numbers_of_the_view_that_was_shown_are_refused_where_lines_have_moved() {
    let request = |version: &str, text: &str| {
        let replace = json!({"type": "replaceText", "oldText": "two", "newText": text});
        json!({"path": "a.txt", "operations": [replace], "expectedVersion": version})
    };
    let (was, is) = ("2|TWO", "3|TWO");
    for (version, text) in [("seen", was), ("seen", is), ("now", is)] {
        let answer = outcome(request(version, text));
        assert!(answer.contains("numbers of the view") && answer.contains("newText"), "{answer}");
    }
    // Controls: a number that this line has in no shown text, and one that the rows of the file have.
    let kept = "zero\none\n2|TWO\nthree\nFOUR\nfive\n";
    assert_eq!(outcome(request("now", was)), kept);
    assert_eq!(
        outcome_on("1|one\ntwo\n", "0|zero\n1|one\ntwo\n", request("seen", was)),
        "0|zero\n1|one\n2|TWO\n"
    );
}

#[test]
fn new_lines_that_begin_with_no_break_spaces_are_refused() {
    let edit = |text: &str| json!({"type": "replace", "startLine": 2, "endLine": 2, "newContent": text});
    let request = |operations: Value| json!({"path": "a.txt", "operations": operations});
    let text = "f {\n  g()\n}\n";
    for (operations, line) in [
        (json!([edit("\u{a0} h()")]), "\"line 1 of the new lines begins with no-break spaces"),
        (
            json!([{"type": "delete", "startLine": 1, "endLine": 1}, edit("  h()\n \u{202f}i()")]),
            "operation 2: line 2 of",
        ),
    ] {
        let answer = outcome_on(OLD, text, request(operations));
        assert!(answer.contains(line) && answer.contains("newContent"), "{answer}");
    }
    let kept = [
        (text, edit("  h(\"1\u{a0}km\")"), "f {\n  h(\"1\u{a0}km\")\n}\n"),
        ("f\n\u{a0}g\n", edit("\u{a0}h"), "f\n\u{a0}h\n"),
    ];
    for (now, operation, expected) in kept {
        assert_eq!(outcome_on(OLD, now, request(json!([operation]))), expected);
    }
    // A program that restores lines has their text.
    let mut in_turn = request(json!([edit("\u{a0} h()")]));
    in_turn["lineNumbers"] = json!("inTurn");
    assert_eq!(outcome_on(OLD, text, in_turn), "f {\n\u{a0} h()\n}\n");
}

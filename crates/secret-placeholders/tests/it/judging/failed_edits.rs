//! Edits that fail: their errors quote what the model sees, and what it sees decides whether they fail.

use secret_placeholders::markers;
use serde_json::Value;
use wap_core::{
    ModifyFile, ModifyOperation, ReadFile, Reason, WapError, WholeLines, Workspace, WorkspaceExt,
};

use crate::judging::whole_lines;
use crate::masking::token;
use crate::over_workspace::{over, read, with_call};
use crate::uncovering::text;

fn edit(workspace: &dyn Workspace, step: u32, operations: Vec<ModifyOperation>) -> Result<(), WapError> {
    let request = ModifyFile { path: "a.py".into(), operations, ..ModifyFile::default() };
    with_call(step, |call| workspace.modify_file(call, &request)).map(drop)
}

/// Returns the texts of an error as they are, one a line: its own form for debugging has escapes in it.
fn texts(error: &WapError) -> String {
    fn add(value: &Value, texts: &mut String) {
        match value {
            Value::String(text) => *texts += &format!("{text}\n"),
            Value::Array(values) => values.iter().for_each(|value| add(value, texts)),
            Value::Object(fields) => fields.values().for_each(|value| add(value, texts)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut texts = String::new();
    add(&serde_json::to_value(error).unwrap(), &mut texts);
    texts
}

/// Values that no rule and no search recognises in another form, each with a part of it.
const VALUES: [(&str, &str); 7] = [
    ("correcthorse", "horse"),
    ("correct\\horse\\battery9", "horse"),
    ("correct\thorse\tbattery9", "horse"),
    ("correct\u{1b}horse battery9", "horse"),
    ("correct\u{a0}horse battery9", "horse"),
    ("correct\u{202e}horse battery9", "horse"),
    ("correct`horse…battery9", "horse"),
];

#[test]
fn an_edit_that_fails_next_to_a_secret_shows_nothing_of_it() {
    let absent = "def f():\n    zzz";
    let operations: [&dyn Fn() -> ModifyOperation; 4] = [
        &|| text(absent, "#"),
        &|| whole_lines(absent, "#"),
        &|| ModifyOperation::ReplaceText {
            old_text: absent.into(),
            new_text: "#".into(),
            expected_matches: Some(2),
            whole_lines: None,
        },
        &|| text("def", "\n"),
    ];
    for (value, part) in VALUES {
        let file = format!("import os\ndef f():\n    password = \"{value}\"\n    def = 1\n");
        for (step, operation) in (1..).zip(operations) {
            let masked = over([("a.py", file.clone())]);
            // Before the file was read, and after.
            for again in [0, 10] {
                let error = edit(&masked, step + again, vec![operation()]).unwrap_err();
                assert_eq!(error.reason(), Reason::Conflict, "{error:?}");
                let texts = texts(&error);
                assert!(!texts.contains(part), "{value:?}: {texts}");
                assert!(texts.contains("⟦secret:password-assignment:1⟧"), "{value:?}: {texts}");
                read(&masked, "a.py", None);
            }
            assert_eq!(masked.inner().text("a.py").unwrap(), file);
            // The control: the engine's own error quotes the line.
            let error = edit(masked.inner(), step + 20, vec![operation()]).unwrap_err();
            assert!(texts(&error).contains(part), "{value:?}: {error:?}");
        }
    }
}

#[test]
fn the_error_reads_as_the_model_sees_the_file() {
    let masked = over([("a.py", "def f():\n    password = \"correcthorse\"\n".to_owned())]);
    let error = edit(&masked, 1, vec![whole_lines("def f():\n    zzz", "#")]).unwrap_err();
    insta::assert_snapshot!(error.message(), @"the search text does not occur; most like it is lines 1-2; line 2 is `    password = \"⟦secret:password-assignment:1⟧\"`; values of the file are hidden: in their place, write the placeholders that the file shows");
}

#[test]
fn a_quoted_line_that_is_cut_shows_no_beginning_of_a_secret() {
    let mut below = 0;
    for padding in 60..130 {
        let line = format!("q {} {}", "y".repeat(padding), token());
        let masked = over([("a.py", format!("alpha\n{line} tail\n"))]);
        // Cut as well, so that the last ellipsis of the message is a different one.
        let operations = || vec![text(&format!("alpha\n{}", "z".repeat(200)), "#")];
        let error = edit(&masked, 1, operations()).unwrap_err();
        assert!(!texts(&error).contains("npm_a1B2"), "{padding}: {error:?}");
        assert!(error.message().contains("yyyy"), "{padding}: {error:?}");
        let error = edit(masked.inner(), 2, operations()).unwrap_err();
        below += usize::from(error.message().contains("npm_a1B2c3…"));
    }
    // The control: the engine's own error is cut there.
    assert_eq!(below, 1);
}

/// An edit that tries a guess at the value of a file.
type Trying<'e> = &'e dyn Fn(&str) -> ModifyOperation;

fn replace_line(line: i64, was: &str) -> ModifyOperation {
    ModifyOperation::Replace {
        start_line: line,
        end_line: line,
        new_content: "three".into(),
        was: Some(was.into()),
    }
}

#[test]
fn the_refusal_of_an_edit_does_not_tell_whether_a_guess_at_a_secret_is_right() {
    let answer = |secret: &str, operation: ModifyOperation, below: bool| {
        let file = format!("one\npassword = \"{secret}\"\ncorrecthorse\ntwo\n");
        let masked = over([("a.py", file)]);
        assert_eq!(
            read(&masked, "a.py", None).replace("correcthorse", ""),
            "one\npassword = \"⟦secret:password-assignment:1⟧\"\n\ntwo\n"
        );
        let version = with_call(0, |call| {
            masked.read_file(call, &ReadFile { path: "a.py".into(), ..ReadFile::default() })
        });
        let version = version.unwrap().version.unwrap().0;
        let workspace: &dyn Workspace = if below { masked.inner() } else { &masked };
        edit(workspace, 1, vec![operation]).map_err(|error| texts(&error).replace(&version, ""))
    };
    let tries: [Trying<'_>; 6] = [
        &|word| whole_lines(&format!("password = \"{word}\""), "three"),
        &|word| whole_lines(&format!("one\npassword = \"{word}\"\nthree"), "three"),
        &|word| text(&format!("password = \"{word}\""), "three"),
        &|word| text(&format!("= \"{word}\"\n"), "three"),
        &|word| replace_line(2, &format!("password = \"{word}\"")),
        &|word| ModifyOperation::ReplaceText {
            old_text: "two".into(),
            new_text: "three".into(),
            expected_matches: None,
            whole_lines: Some(WholeLines {
                behind: vec![format!("password = \"{word}\"")],
                ..WholeLines::default()
            }),
        },
    ];
    for (index, operation) in tries.iter().enumerate() {
        // The same guess at two values, which the model sees alike.
        let both = |below| {
            ["correcthorse", "correcthouse"].map(|secret| answer(secret, operation("correcthorse"), below))
        };
        let [right, wrong] = both(false);
        assert_eq!(right, wrong, "{index}");
        // Neither states the searched text, and both say what to do.
        let error = right.unwrap_err();
        assert!(!error.contains(":2⟧"), "{index}: {error}");
        assert!(index == 5 || error.contains("⟦secret:password-assignment:1⟧"), "{index}: {error}");
        assert!(error.contains("write the placeholders"), "{index}: {error}");
        // The controls: the inner engine reveals it, and text that the model sees is replaced.
        let [right, wrong] = both(true);
        assert!(right.is_ok() == (index != 1) && right != wrong, "{index}");
        if index != 1 {
            answer("correcthorse", operation("⟦secret:password-assignment:1⟧"), false).unwrap();
        }
    }
    // Nor does the placeholder say which of the visible words it stands for.
    let edit = whole_lines("⟦secret:password-assignment:1⟧", "three");
    let error = answer("correcthorse", edit, false).unwrap_err();
    assert!(error.contains("does not occur"), "{error}");
    answer("correcthorse", whole_lines("correcthorse", "three"), false).unwrap();
}

#[test]
fn a_line_that_is_compared_does_not_tell_which_word_a_secret_is() {
    let file = "password = \"correcthorse\"\ncorrecthorse\ncorrecthouse\n";
    let delete = |line, was: &str| {
        let masked = over([("a.py", file.to_owned())]);
        assert!(read(&masked, "a.py", None).ends_with("\ncorrecthorse\ncorrecthouse\n"));
        let was = Some(was.to_owned());
        let answer =
            edit(&masked, 1, vec![ModifyOperation::Delete { start_line: line, end_line: line, was }]);
        answer.map_err(|error| texts(&error))
    };
    let placeholder = "⟦secret:password-assignment:1⟧";
    let (right, wrong) = (delete(2, placeholder).unwrap_err(), delete(3, placeholder).unwrap_err());
    assert_eq!(right, wrong);
    assert!(right.contains("is hidden only on a line like its own"), "{right}");
    // The control: a line is compared as the model sees it.
    delete(1, &format!("password = \"{placeholder}\"")).unwrap();
    delete(2, "correcthorse").unwrap();
    delete(3, "correcthorse").unwrap_err();
}

#[test]
fn an_edit_that_is_sent_again_has_its_answer_and_a_new_one_an_error() {
    let file = "def f():\n    password = \"correcthorse\"\n    return 1\n";
    for operation in [whole_lines("    return 1", "    return 2"), text("return 1", "return 2")] {
        let masked = over([("a.py", file.to_owned())]);
        edit(&masked, 1, vec![operation.clone()]).unwrap();
        edit(&masked, 1, vec![operation.clone()]).unwrap();
        assert_eq!(masked.inner().text("a.py").unwrap(), file.replace("return 1", "return 2"));
        let error = edit(&masked, 2, vec![operation]).unwrap_err();
        assert_eq!(error.reason(), Reason::Conflict);
    }
}

#[test]
fn a_word_of_a_placeholder_counts_for_no_match() {
    let file =
        |more: &str| format!("x = 1{more}\npassword = \"{}\"\nkey = \"{}\"\n", "Kx7".repeat(5), token());
    let visible = |masked| read(&masked, "a.py", None);
    let global = |pattern: &str| ModifyOperation::RegexReplace {
        pattern: pattern.into(),
        replacement: "passwd".into(),
        flags: Some("g".into()),
    };
    for operation in [text("password", "passwd"), global("password"), global("(?i)pass[a-z]+")] {
        let masked = over([("a.py", file(""))]);
        assert!(read(&masked, "a.py", None).matches("password").count() > 1);
        edit(&masked, 1, vec![operation]).unwrap();
        assert_eq!(masked.inner().text("a.py").unwrap(), file("").replace("password", "passwd"));
    }
    for absent in ["secret:", "⟦secret", "npm-token", "1⟧"] {
        let masked = over([("a.py", file(""))]);
        let error = edit(&masked, 1, vec![text(absent, "x")]).unwrap_err();
        assert_eq!(error.reason(), Reason::Conflict, "{absent}");
        assert!(markers(&texts(&error)).all(|(_, marker)| marker.number > 0), "{error:?}");
        assert_eq!(masked.inner().text("a.py").unwrap(), file(""));
    }
    // The control: a whole placeholder is found, moved and removed.
    for new in ["", "f(⟦secret:npm-token:1⟧)"] {
        let masked = over([("a.py", file(""))]);
        read(&masked, "a.py", None);
        edit(&masked, 1, vec![text("⟦secret:npm-token:1⟧", new)]).unwrap();
        let expected = file("").replace(&token(), &new.replace("⟦secret:npm-token:1⟧", &token()));
        assert_eq!(masked.inner().text("a.py").unwrap(), expected);
    }
    // A file with the characters in which they are hidden meanwhile is edited with placeholders as they are.
    let masked = over([("a.py", file("\u{10ff41}"))]);
    edit(&masked, 1, vec![text("x = 1", "x = 2")]).unwrap();
    let error = edit(&masked, 2, vec![text("password", "passwd")]).unwrap_err();
    assert!(error.message().contains("occurs twice"), "{error:?}");
    assert!(visible(masked).contains("x = 2\u{10ff41}\n"));
}

/// An edit that tries a guess.
type Guessing<'e> = &'e dyn Fn(&str) -> Vec<ModifyOperation>;

/// Returns the answer to an edit of a file with a secret, or its refusal, without what the guess is.
fn answer_to(guess: &str, below: bool, operations: Guessing<'_>) -> String {
    let file = format!("one zq = 1\nq = 2\npassword = \"{}\"\nx = 3\n", "correctHorse9staple");
    let masked = over([("a.py", file)]);
    read(&masked, "a.py", None);
    let request = ModifyFile { path: "a.py".into(), operations: operations(guess), ..ModifyFile::default() };
    let workspace: &dyn Workspace = if below { masked.inner() } else { &masked };
    match with_call(1, |call| workspace.modify_file(call, &request)) {
        Ok(mut answer) => {
            answer.version = None;
            answer.changed = None;
            format!("{answer:?}")
        }
        Err(error) => texts(&error),
    }
    .replace(guess, "?")
}

fn regex(pattern: &str, replacement: &str, flags: &str) -> ModifyOperation {
    ModifyOperation::RegexReplace {
        pattern: pattern.into(),
        replacement: replacement.into(),
        flags: Some(flags.into()),
    }
}

#[test]
fn matches_within_a_secret_are_neither_counted_nor_named() {
    let edits: [Guessing<'_>; 4] = [
        // The words of a pattern without a match.
        &|guess| vec![regex(&format!("{guess} nothing"), "q", "")],
        // The matches after the first, of which only that is replaced.
        &|guess| vec![regex(&format!("zq|{guess}"), "QQ", "")],
        // Matches that are replaced by themselves.
        &|guess| vec![regex(guess, guess, "g")],
        &|guess| vec![regex(&format!("(zq|{guess})"), "$1", "g")],
    ];
    for (index, edit) in edits.iter().enumerate() {
        let answers = |below| ["Horse9", "House9"].map(|guess| answer_to(guess, below, edit));
        let [right, wrong] = answers(false);
        assert_eq!(right, wrong, "{index}");
        // The control: the inner engine distinguishes them.
        let [right, wrong] = answers(true);
        assert_ne!(right, wrong, "{index}");
    }
    // What the model sees is counted and named.
    let counted = answer_to("q", false, &|guess| vec![regex(guess, "Q", "")]);
    assert!(counted.contains("replaced: 1, matches: 2"), "{counted}");
    assert!(counted.contains("replaced 1 of 2 matches"), "{counted}");
    let named = answer_to("password", false, &|guess| vec![regex(&format!("{guess} nothing"), "q", "")]);
    assert!(named.contains("line: 3") && named.contains("⟦secret:?-assignment:1⟧"), "{named}");
}

#[test]
fn an_edit_that_changes_a_secret_and_brings_it_back_is_refused() {
    let operations = |guess: &str| vec![regex(guess, "\u{1}", "g"), regex("\u{1}", guess, "g")];
    let refused = answer_to("Horse9", false, &operations);
    assert!(refused.contains("also matches within a secret"), "{refused}");
    // The control: it is carried out by the inner engine, and where it changes visible text.
    assert!(answer_to("Horse9", true, &operations).contains("success: true"));
    assert!(answer_to("zq", false, &operations).contains("success: true"));
}

#[test]
fn the_recorded_answer_to_an_edit_counts_no_match_within_a_secret() {
    let file = format!("zq = 1\npassword = \"{}\"\nx = 3\n", "correctHorse9staple");
    let masked = over([("a.py", file)]);
    let request = ModifyFile {
        path: "a.py".into(),
        // By now the second one fails, and so the whole on the file as it is.
        operations: vec![regex("zq|Horse9", "QQ", ""), text("x = 3", "x = 4")],
        ..ModifyFile::default()
    };
    let send = |workspace: &dyn Workspace| {
        with_call(1, |call| workspace.modify_file(call, &request)).unwrap().replacements[0].matches
    };
    assert_eq!([send(&masked), send(&masked)], [1, 1]);
    // The control: the engine has the other one on record.
    assert_eq!(send(masked.inner()), 2);
}

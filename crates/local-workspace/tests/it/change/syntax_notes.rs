//! Notes on changes after which a file does not parse any more.

use std::sync::Arc;

use local_workspace::LocalWorkspace;
use wap_core::{FileChange, FileChanged, SyntaxCheck, SyntaxError, Workspace};

use crate::fixture::workspace::{Caller, Fixture, change, delete, replace, write};

/// A language of lines, in which only `ok` is a statement.
#[derive(Debug)]
struct OnlyOk;

impl OnlyOk {
    fn first_error(text: &str) -> Option<u64> {
        text.lines().zip(1..).find(|(line, _)| *line != "ok").map(|(_, number)| number)
    }
}

impl SyntaxCheck for OnlyOk {
    fn first_new_error(&self, path: &str, before: &str, after: &str) -> Option<SyntaxError> {
        let line = Self::first_error(after).filter(|_| path.ends_with(".ok"))?;
        Self::first_error(before).is_none().then_some(SyntaxError { line, column: 1, language: "ok" })
    }
}

fn open(fixture: &Fixture) -> LocalWorkspace {
    fixture.open().with_syntax_check(Arc::new(OnlyOk))
}

fn notes(changed: &FileChanged) -> &[String] {
    let changed = match changed {
        FileChanged::Written(written) => &written.changed,
        FileChanged::Modified(modified) => &modified.changed,
        FileChanged::Deleted(_) => &None,
    };
    changed.as_ref().map_or(&[], |changed| &changed.notes)
}

fn is_noted(changed: &FileChanged, line: u64) -> bool {
    notes(changed).iter().any(|note| note.contains(&format!("syntax error at line {line}, column 1")))
}

#[test]
fn change_that_breaks_a_file_stands_and_is_noted() {
    let fixture = Fixture::new();
    let workspace = open(&fixture);
    for (path, before, after, noted) in [
        ("edited.ok", "ok\nok\n", "ok\nno\n", true),
        ("repaired.ok", "ok\nno\n", "ok\nok\n", false),
        ("broken-before.ok", "no\nok\n", "no\nno\n", false),
        ("other.txt", "ok\nok\n", "ok\nno\n", false),
    ] {
        fixture.put(path, before);
        let line = after.lines().nth(1).unwrap();
        let edited = change(&workspace, replace(path, (2, 2), line, None)).unwrap();
        assert_eq!(is_noted(&edited, 2), noted, "{path}: {edited:?}");
        assert_eq!(fixture.text(path).as_deref(), Some(after), "{path}");
        fixture.put(path, before);
        let written = change(&workspace, write(path, after)).unwrap();
        assert_eq!(is_noted(&written, 2), noted, "{path}: {written:?}");
        assert_eq!(fixture.text(path).as_deref(), Some(after), "{path}");
    }
    // A new file has not parsed before.
    assert_eq!(notes(&change(&workspace, write("new.ok", "no\n")).unwrap()), [""; 0]);
    // The control: without a check nothing is said.
    let plain = Fixture::new();
    plain.put("edited.ok", "ok\n");
    let edited = change(&plain.open(), write("edited.ok", "no\n")).unwrap();
    assert_eq!(notes(&edited), [""; 0]);
}

#[test]
fn only_the_last_change_of_a_file_in_a_batch_is_noted() {
    let fixture = Fixture::new();
    let workspace = open(&fixture);
    let to = |path: &str, line: i64, text: &str| replace(path, (line, line), text, None);
    let noted = |changes: &[FileChange]| -> Vec<bool> {
        for path in ["a.ok", "b.ok"] {
            fixture.put(path, "ok\nok\n");
        }
        let outcomes = workspace.change_files(&Caller::once().call(), changes).unwrap();
        outcomes.iter().map(|outcome| !notes(outcome.as_ref().unwrap()).is_empty()).collect()
    };
    assert_eq!(noted(&[to("a.ok", 1, "no"), to("a.ok", 1, "ok")]), [false, false]);
    assert_eq!(noted(&[to("a.ok", 1, "no"), to("a.ok", 2, "no")]), [false, true]);
    assert_eq!(noted(&[to("a.ok", 1, "no"), to("b.ok", 2, "no")]), [true, true]);
    assert_eq!(noted(&[to("a.ok", 1, "no"), delete("a.ok")]), [false, false]);
    assert_eq!(noted(&[to("a.ok", 1, "no"), write("a.ok", "ok\n"), to("b.ok", 1, "ok")]), [false; 3]);
}

#[test]
fn repeated_step_answers_the_note_from_the_record() {
    let fixture = Fixture::new();
    fixture.put("a.ok", "ok\n");
    let caller = Caller::once();
    let changes = [write("a.ok", "no\n")];
    let first = open(&fixture).change_files(&caller.call(), &changes).unwrap();
    assert!(is_noted(first[0].as_ref().unwrap(), 1), "{first:?}");
    // Without a check, so that nothing but the record can have it.
    let again = fixture.open().change_files(&caller.call(), &changes).unwrap();
    assert_eq!(again, first);
}

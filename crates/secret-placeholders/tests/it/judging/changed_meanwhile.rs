//! Files that change between the judging of an edit and the edit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wap_core::{FileChange, FileChanged, ModifyFile, Reason, WapError, Workspace, WriteFile, WriteMode};

use crate::judging::{append, edit};
use crate::masking::token;
use crate::over_workspace::{Masked, over, read, with_call};
use crate::uncovering::text;

/// Has the file `a.js` saved with each of these contents before one batch of changes, and with the last of them before all later ones.
fn saved_meanwhile(masked: &Masked, contents: Vec<String>) -> Arc<AtomicUsize> {
    let batches = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&batches);
    masked.inner().before_changes(move |workspace, _| {
        let batch = counted.fetch_add(1, Ordering::Relaxed);
        workspace.set_file("a.js", &contents[batch.min(contents.len() - 1)]);
    });
    batches
}

fn secret_file() -> String {
    format!("const k = \"{}\";\n", token())
}

#[test]
fn an_edit_is_judged_by_the_file_that_is_there_when_it_is_made() {
    // What was there when the edit came: nothing, or a file without a secret.
    for before in [None, Some("const k = \"npm_\";\n")] {
        let files = || before.map(|text| ("a.js", text.to_owned()));
        let masked = over(files());
        saved_meanwhile(&masked, vec![secret_file()]);
        let error = edit(&masked, 1, "a.js", vec![text("npm_", "npm ")]).unwrap_err();
        assert_eq!(error.reason(), Reason::Conflict, "{error:?}");
        assert!(error.message().contains("does not occur"), "{error:?}");
        assert_eq!(masked.inner().text("a.js").unwrap(), secret_file());
        assert!(!read(&masked, "a.js", None).contains("a1B2"));
        // An edit of what the model sees is made, on the file that is there.
        edit(&masked, 2, "a.js", vec![text("const k", "let k")]).unwrap();
        assert!(masked.inner().text("a.js").unwrap().starts_with("let k = \"npm_a1B2"));
        // The control: without the judgement the value is uncovered.
        let masked = over(files());
        saved_meanwhile(&masked, vec![secret_file()]);
        edit(masked.inner(), 1, "a.js", vec![text("npm_", "npm ")]).unwrap();
        assert!(read(&masked, "a.js", None).contains("a1B2"));
    }
}

#[test]
fn what_is_appended_is_judged_by_the_file_that_is_there_when_it_is_made() {
    let key = ["AKIA", "IOSFODNN7EXAMPLQ"].concat();
    let lines = [("pwd: \"postgres\"".to_owned(), "postgres", "c\""), (format!("key {key}"), &*key, "Z9")];
    let mut uncovered = 0;
    for before in [None, Some("one\n")] {
        for (line, value, tail) in &lines {
            let over = || over(before.map(|text| ("a.js", text.to_owned())));
            let masked = over();
            saved_meanwhile(&masked, vec![line.clone()]);
            let _ = append(&masked, 1, "a.js", tail);
            assert!(!read(&masked, "a.js", None).contains(value), "{tail}");
            // Text that begins a new line is appended.
            append(&masked, 2, "a.js", "\nnext\n").unwrap();
            assert!(masked.inner().text("a.js").unwrap().ends_with("\nnext\n"));
            // The control: without the judgement a value is uncovered.
            let masked = over();
            saved_meanwhile(&masked, vec![line.clone()]);
            append(masked.inner(), 1, "a.js", tail).unwrap();
            uncovered += usize::from(read(&masked, "a.js", None).contains(value));
        }
    }
    assert_eq!(uncovered, 2);
}

#[test]
fn an_edit_of_a_file_that_keeps_changing_is_refused_in_the_end() {
    let masked = over([("a.js", "x = 0\n".to_owned()), ("b.js", "y = 0\n".to_owned())]);
    let batches = saved_meanwhile(&masked, (1..100).map(|number| format!("x = {number}\n")).collect());
    let change = |path: &str, old: &str| {
        let operations = vec![text(old, "z =")];
        FileChange::Modify(ModifyFile { path: path.into(), operations, ..ModifyFile::default() })
    };
    let made = |masked: &Masked, step, changes: &[FileChange]| -> Vec<Result<FileChanged, WapError>> {
        with_call(step, |call| masked.change_files(call, changes)).unwrap()
    };
    let outcomes = made(&masked, 1, &[change("b.js", "y ="), change("a.js", "x =")]);
    assert!(outcomes[0].is_ok(), "{outcomes:?}");
    let error = outcomes[1].as_ref().unwrap_err();
    assert_eq!(error.reason(), Reason::Busy, "{error:?}");
    assert!(error.message().contains("'a.js' keeps changing"), "{error:?}");
    assert!(masked.inner().text("a.js").unwrap().starts_with("x = "));
    assert!((11..25).contains(&batches.load(Ordering::Relaxed)));
    // The control: nothing of it is on record, so that the same call is carried out once the file stays.
    masked.inner().before_changes(|_, _| {});
    let outcomes = made(&masked, 1, &[change("b.js", "y ="), change("a.js", "x =")]);
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert!(masked.inner().text("a.js").unwrap().starts_with("z = "));
    assert_eq!(masked.inner().text("b.js").unwrap(), "z = 0\n");
}

#[test]
fn a_file_that_was_written_by_the_call_before_is_the_judged_one() {
    let masked = over([]);
    let write = |content: &str| {
        FileChange::Write(WriteFile {
            path: "a.js".into(),
            content: content.into(),
            mode: Some(WriteMode::Create),
            ..WriteFile::default()
        })
    };
    let modify = FileChange::Modify(ModifyFile {
        path: "./a.js".into(),
        operations: vec![text("npm_", "npm ")],
        ..ModifyFile::default()
    });
    let changes = [write(&secret_file()), modify];
    let outcomes = with_call(1, |call| masked.change_files(call, &changes)).unwrap();
    assert!(outcomes[0].is_ok(), "{outcomes:?}");
    // The model itself has written the value, and may break it up.
    assert!(outcomes[1].is_ok(), "{outcomes:?}");
    assert!(masked.inner().text("a.js").unwrap().contains("npm a1B2"));
}

//! Changes by which a model would see what is hidden.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use memory_workspace::MemoryWorkspace;
use secret_placeholders::{PlaceholderWorkspace, Withheld};
use wap_core::{
    DeleteFile, ExecuteCommand, ExploreFiles, FileChange, FileChanged, ModifyFile, ModifyOperation,
    QueryType, ReadFile, Reason, SearchFiles, Unobserved, WapError, WholeLines, Workspace, WorkspaceExt,
    WriteFile, WriteMode,
};

use crate::masking::{secrets, token};
use crate::over_workspace::{Masked, over, read, search, with_call};

/// A part of the token that no rule recognises.
const PART: &str = "a1B2c3D4e5F6a1B2";

fn file() -> String {
    format!("const k = \"{}\";\nconst pwd = \"postgres\";\nimage: postgres\n", token())
}

fn modify(operations: Vec<ModifyOperation>) -> ModifyFile {
    ModifyFile { path: "a.js".into(), operations, ..ModifyFile::default() }
}

pub(crate) fn text(old_text: &str, new_text: &str) -> ModifyOperation {
    ModifyOperation::ReplaceText {
        old_text: old_text.into(),
        new_text: new_text.into(),
        expected_matches: None,
        whole_lines: None,
    }
}

fn regex(pattern: &str, replacement: &str) -> ModifyOperation {
    ModifyOperation::RegexReplace {
        pattern: pattern.into(),
        replacement: replacement.into(),
        flags: Some("g".into()),
    }
}

/// Each call is a step of its own.
fn next_step() -> u32 {
    static STEP: AtomicU32 = AtomicU32::new(100);
    STEP.fetch_add(1, Ordering::Relaxed)
}

fn edit(workspace: &dyn Workspace, operations: Vec<ModifyOperation>) -> Result<String, WapError> {
    let answer = with_call(next_step(), |call| workspace.modify_file(call, &modify(operations)))?;
    Ok(format!("{answer:?}"))
}

fn write(path: &str, content: &str, mode: WriteMode) -> WriteFile {
    WriteFile { path: path.into(), content: content.into(), mode: Some(mode), ..WriteFile::default() }
}

#[test]
fn no_edit_takes_a_secret_apart() {
    let edits = [
        vec![text("npm_", "npm ")],
        vec![text("npm_a", "npm_a\n")],
        vec![text("const k", "let k"), text("npm_", "npm ")],
        vec![regex("npm_(\\w+)", "npm $1")],
        vec![regex("([a-z])([A-Z0-9])", "$1 $2")],
        vec![regex("const k = \"(.{3}).", "const k = \"$1 ")],
        vec![regex("npm_a.{6}", "")],
    ];
    for operations in edits {
        let masked = over([("a.js", file())]);
        // Before the model has read the file, and after.
        for _ in 0..2 {
            let answer = edit(&masked, operations.clone());
            assert!(!format!("{answer:?}").contains(PART), "{answer:?}");
            assert!(answer.is_err(), "{answer:?}");
            assert!(!read(&masked, "a.js", None).contains("B2"));
            assert_eq!(masked.inner().text("a.js").unwrap(), file());
        }
        // The control: the engine below carries it out, and what is left of the secret is shown.
        let masked = over([("a.js", file())]);
        edit(masked.inner(), operations).unwrap();
        assert!(read(&masked, "a.js", None).contains("B2"));
    }
}

#[test]
fn an_edit_of_the_visible_text_next_to_a_secret_works() {
    let edits = [
        vec![text("const k", "let token")],
        vec![text("\"⟦secret:npm-token:1⟧\"", "f(\"⟦secret:npm-token:1⟧\")")],
        vec![regex("const (\\w+) = \"(.*)\"", "let $1 = '$2'")],
        vec![text("image: postgres", "image: alpine"), text("const k", "other:7 const k")],
        vec![text("const k = \"⟦secret:npm-token:1⟧\";", "")],
    ];
    for operations in edits {
        let masked = over([("a.js", file())]);
        read(&masked, "a.js", None);
        let answer = edit(&masked, operations).unwrap();
        assert!(!answer.contains(PART), "{answer}");
        assert_ne!(masked.inner().text("a.js").unwrap(), file());
    }
}

#[test]
fn a_text_edit_does_not_tell_whether_a_guess_at_a_secret_is_right() {
    let masked = over([("a.js", file())]);
    let answer = |guess: &str| {
        let request = ModifyFile { path: "./a.js".into(), ..modify(vec![text(guess, "")]) };
        let error = with_call(next_step(), |call| masked.modify_file(call, &request)).unwrap_err();
        format!("{error:?}").replace(guess, "?")
    };
    assert_eq!(answer("npm_a1B2c"), answer("npm_a1B2d"));
    // The control: a text that the model sees is found.
    edit(&masked, vec![text("const k", "let k")]).unwrap();
}

#[test]
fn lines_of_a_secret_are_hidden_although_those_by_which_it_is_recognised_go() {
    let boundary = |word| format!("-----{word} {}{}-----\n", "PRIVATE ", "KEY");
    let key = format!("{}{}{}", boundary("BEGIN"), "Ab3/".repeat(16) + "\n", boundary("END"));
    let deletion = |line| ModifyOperation::Delete { start_line: line, end_line: line, was: None };
    let operations = vec![deletion(1), deletion(3)];
    let masked = over([("a.js", key.clone())]);
    edit(&masked, operations.clone()).unwrap();
    assert!(!read(&masked, "a.js", None).contains("Ab3/"));
    // The control: a line that is left of a key that was never looked at is not recognised.
    let masked = over([("a.js", key)]);
    edit(masked.inner(), operations).unwrap();
    assert!(read(&masked, "a.js", None).contains("Ab3/"));
}

#[test]
fn what_is_appended_to_a_line_does_not_uncover_it() {
    let open = "pwd: \"postgres\"";
    let append = write("a.js", "x: \"", WriteMode::Append);
    let masked = over([("a.js", open.to_owned())]);
    // A quote after the value, so that the rule sees another value.
    let tricks = ["c\"", "\"\"", "x\"y"];
    for trick in tricks {
        let request = WriteFile { content: trick.into(), ..append.clone() };
        let before = masked.inner().text("a.js").unwrap();
        if with_call(1, |call| masked.write_file(call, &request)).is_err() {
            assert_eq!(masked.inner().text("a.js").unwrap(), before);
        }
        assert!(!read(&masked, "a.js", None).contains("postgres"), "{trick}");
    }
    let newline = WriteFile { content: "\nnext\n".into(), ..append };
    with_call(2, |call| masked.write_file(call, &newline)).unwrap();
    assert!(masked.inner().text("a.js").unwrap().ends_with("\nnext\n"));
}

#[test]
fn a_value_next_to_one_that_the_model_has_made_up_is_hidden() {
    // The end of the invented value is the beginning of the secret, and both together are longer than each.
    let neighbour = "zzzzzzzz1npm_";
    let both = format!("zzzzzzzz1{}\n", token());
    assert!(both.contains(neighbour) && both.contains(&token()));
    let files =
        [("a.js", file()), ("b.js", format!("password = \"{neighbour}\"\n")), ("c.txt", both.clone())];
    let masked = over(files);
    for path in ["a.js", "b.js", "c.txt", "a.js"] {
        let visible = read(&masked, path, None);
        assert!(!visible.contains(PART), "{path}: {visible}");
    }
    // The placeholder that the model writes means that text.
    let written = write("d.txt", "zzzzzzzz1⟦secret:npm-token:1⟧\n", WriteMode::Create);
    if with_call(1, |call| masked.write_file(call, &written)).is_ok() {
        assert_eq!(masked.inner().text("d.txt").unwrap(), both);
        assert!(!read(&masked, "d.txt", None).contains(PART));
    }
}

#[test]
fn a_short_value_is_restored_only_where_it_is_hidden() {
    let masked = over([("a.js", file())]);
    let view = read(&masked, "a.js", None);
    let line = view.lines().nth(1).unwrap();
    let placeholder = line.split('"').nth(1).unwrap();
    assert!(placeholder.starts_with("⟦secret:password-assignment:"), "{view}");
    let whole_line = |new_text: String| ModifyOperation::ReplaceText {
        old_text: line.into(),
        new_text,
        expected_matches: None,
        whole_lines: Some(WholeLines::default()),
    };
    let replaced =
        |new_content| ModifyOperation::Replace { start_line: 3, end_line: 3, new_content, was: None };
    for operation in [
        whole_line(format!("colour {placeholder}")),
        replaced(format!("colour {placeholder}\n")),
        text("const pwd = ", "colour = "),
    ] {
        let error = edit(&masked, vec![operation]).unwrap_err();
        assert!(
            !format!("{error:?}").contains("postgres\\\"")
                && matches!(error.reason(), Reason::InvalidField | Reason::Protected),
            "{error:?}"
        );
    }
    let elsewhere = write("b.txt", &format!("colour {placeholder}\n"), WriteMode::Create);
    let error = with_call(2, |call| masked.write_file(call, &elsewhere)).unwrap_err();
    insta::assert_snapshot!(error.message(), @"the value of ⟦secret:password-assignment:1⟧ is hidden only on a line like its own, and would be shown there: leave it on such a line");
    assert_eq!(masked.inner().text("a.js").unwrap(), file());
    // The control: on such a line it is restored.
    edit(&masked, vec![whole_line(format!("let pwd = \"{placeholder}\";"))]).unwrap();
    assert!(masked.inner().text("a.js").unwrap().contains("let pwd = \"postgres\";"));
    // Nor does a search reveal which of the visible words it is.
    let hits = |query: &str| {
        let hits =
            with_call(3, |call| masked.search_files(call, &search(query, QueryType::Literal))).unwrap();
        (hits.matches.len(), hits.total_matches)
    };
    assert_eq!((hits(placeholder), hits("image")), ((1, 1), (1, 1)));
}

#[test]
fn an_edit_is_judged_together_with_an_earlier_one_of_its_file() {
    let masked = over([("b.js", file())]);
    read(&masked, "b.js", None);
    let changes = [
        FileChange::Write(write("./a.js", "⟦secret:npm-token:1⟧\n", WriteMode::Create)),
        FileChange::Modify(modify(vec![text("npm_", "npm ")])),
    ];
    let answers = with_call(1, |call| masked.change_files(call, &changes)).unwrap();
    assert!(answers[0].is_ok() && answers[1].is_err(), "{answers:?}");
    assert!(!read(&masked, "a.js", None).contains(PART));
}

#[test]
fn an_edit_of_a_file_that_cannot_be_searched_for_secrets_is_by_lines() {
    let long = format!("const k = \"{}\"; {}\n", token(), "x".repeat(2 << 20));
    let masked = over([("a.js", long)]);
    let error = edit(&masked, vec![text("npm_", "npm ")]).unwrap_err();
    assert_eq!(error.reason(), Reason::FileTooLarge, "{error:?}");
    assert!(error.message().contains("a command such as sed"), "{error:?}");
    let line = ModifyOperation::Insert { after_line: 0, new_content: "// top\n".into(), was: None };
    edit(&masked, vec![line]).unwrap();
}

#[test]
fn a_file_of_sixteen_mebibytes_is_edited_by_text() {
    let edit_of = |bytes: usize, line: &str| {
        let first = format!("const k = \"{}\"; let a = 1;\n", token());
        let lines = line.repeat((bytes - first.len()) / line.len());
        let masked = over([("a.js", first + &lines)]);
        edit(&masked, vec![text("let a = 1;", "let a = 2;")])
    };
    for line in ["let b = compute(1, 2);\n".to_owned(), format!("let c = \"{}\";\n", "x".repeat(600_000))] {
        edit_of((16 << 20) - 1_000, &line).unwrap();
    }
    let error = edit_of((16 << 20) + 10_000, "let b = compute(1, 2);\n").unwrap_err();
    assert_eq!(error.reason(), Reason::FileTooLarge, "{error:?}");
}

#[test]
fn the_answer_to_a_write_does_not_compare_a_file_of_credentials_with_a_guess() {
    let files = || [(".env", "PIN=4711\nAPI=x\n".to_owned())];
    let granted = PlaceholderWorkspace::new(
        MemoryWorkspace::with_files(files()),
        Some(Arc::new(secrets())),
        Withheld::except([".env"]).unwrap(),
    );
    let answer = |masked: &Masked, content: &str, mode| {
        let answer = with_call(1, |call| {
            masked.change_files(call, &[FileChange::Write(write(".env", content, mode))])
        });
        match answer.unwrap().remove(0).unwrap() {
            FileChanged::Written(mut written) => {
                // The model knows what it has written.
                written.version = written.version.filter(|_| mode == WriteMode::Append);
                format!("{written:?}")
            }
            other => panic!("{other:?}"),
        }
    };
    let masked = || over(files());
    let overwrite =
        |workspace: &Masked, pin: &str| answer(workspace, &format!("PIN={pin}\n"), WriteMode::Overwrite);
    assert_eq!(overwrite(&masked(), "4711"), overwrite(&masked(), "0815"));
    let appended = answer(&masked(), "X=1\n", WriteMode::Append);
    assert!(appended.contains("version: None") && appended.contains("lines_added: 1"), "{appended}");
    // The control: where the user allows it, the lines are compared.
    assert_ne!(overwrite(&granted, "4711"), overwrite(&masked(), "4711"));
    let error = with_call(2, |call| {
        masked().read_file(call, &ReadFile { path: ".env".into(), ..ReadFile::default() })
    });
    assert_eq!(error.unwrap_err().reason(), Reason::Protected);
}

#[test]
fn a_short_value_is_no_part_of_a_path() {
    let masked = over([("a.js", file())]);
    let view = read(&masked, "a.js", None);
    let placeholder = view.lines().nth(1).unwrap().split('"').nth(1).unwrap().to_owned();
    let attempts = |placeholder: &str| {
        let path = placeholder.to_owned();
        let read = ReadFile { path: path.clone(), ..ReadFile::default() };
        let explore = ExploreFiles { path: path.clone(), ..ExploreFiles::default() };
        let search = SearchFiles { paths: vec![path.clone()], ..search("x", QueryType::Literal) };
        let command = ExecuteCommand {
            command: "true".into(),
            working_directory: Some(path.clone()),
            ..ExecuteCommand::default()
        };
        let delete = FileChange::Delete(DeleteFile { path, ..DeleteFile::default() });
        [
            with_call(10, |call| masked.read_file(call, &read)).map(|answer| format!("{answer:?}")),
            with_call(10, |call| masked.explore_files(call, &explore)).map(|answer| format!("{answer:?}")),
            with_call(10, |call| masked.search_files(call, &search)).map(|answer| format!("{answer:?}")),
            with_call(11, |call| masked.execute_command(call, &command, &mut Unobserved))
                .map(|answer| format!("{answer:?}")),
            with_call(12, |call| masked.change_files(call, &[delete]))
                .and_then(|mut answers| answers.remove(0).map(|answer| format!("{answer:?}"))),
        ]
    };
    for answer in attempts(&placeholder) {
        let error = answer.unwrap_err();
        assert_eq!(error.reason(), Reason::InvalidField, "{error:?}");
        assert!(!format!("{error:?}").contains("postgres"), "{error:?}");
    }
    // The control: a long value is restored, and hidden in the answer.
    for answer in attempts("⟦secret:npm-token:1⟧").into_iter().take(3) {
        let error = answer.unwrap_err();
        assert_ne!(error.reason(), Reason::InvalidField);
        assert!(!format!("{error:?}").contains(PART), "{error:?}");
    }
}

//! Placeholders in paths and other names, which errors and listings show in parts.

use wap_core::{
    DeleteFile, ExecuteCommand, ExploreFiles, FileChange, ModifyFile, QueryType, ReadFile, Reason,
    SearchFiles, Unobserved, WapError, Workspace, WorkspaceExt, WriteFile, WriteMode,
};

use crate::masking::token;
use crate::over_workspace::{Masked, over, read, search, with_call};
use crate::uncovering::text;

/// Values at which a path is split or normalized, each with a part that is left.
const VALUES: [(&str, &str); 6] = [
    ("Xk9wQ4://qLm4Wz7Yt/T01ABC", "qLm4Wz7Yt"),
    ("./abcd1234xyz", "abcd1234xyz"),
    ("Xk9wQ4/../qLm4Wz7Yt", "Xk9wQ4"),
    ("wJalrXUtnF3MI/K7MDENG9", "wJalrXUtnF3MI"),
    ("dir1\\file2secret3", "file2secret3"),
    ("abcd 1234\u{a0}xyz9", "abcd 1234"),
];

/// Carries out every call that takes a name.
fn answers(workspace: &dyn Workspace, name: &str) -> Vec<Result<String, WapError>> {
    let path = || name.to_owned();
    let write = WriteFile {
        path: path(),
        content: "x\n".into(),
        mode: Some(WriteMode::Create),
        create_directories: Some(true),
        judged: None,
    };
    let modify = ModifyFile { path: path(), operations: vec![text("x", "y")], ..ModifyFile::default() };
    let change = |step, change: FileChange| {
        with_call(step, |call| workspace.change_files(call, &[change]))
            .and_then(|mut answers| answers.remove(0).map(|answer| format!("{answer:?}")))
    };
    let command = |command: ExecuteCommand| {
        with_call(4, |call| workspace.execute_command(call, &command, &mut Unobserved))
            .map(|answer| format!("{answer:?}"))
    };
    let read = ReadFile { path: path(), ..ReadFile::default() };
    let explore = ExploreFiles { path: path(), ..ExploreFiles::default() };
    let search = SearchFiles { paths: vec![path()], ..search("x", QueryType::Literal) };
    vec![
        change(1, FileChange::Delete(DeleteFile { path: path(), ..DeleteFile::default() })),
        change(2, FileChange::Modify(modify)),
        change(3, FileChange::Write(write)),
        command(ExecuteCommand {
            command: "true".into(),
            working_directory: Some(path()),
            ..ExecuteCommand::default()
        }),
        with_call(0, |call| workspace.read_file(call, &read)).map(|answer| format!("{answer:?}")),
        with_call(0, |call| workspace.explore_files(call, &explore)).map(|answer| format!("{answer:?}")),
        with_call(0, |call| workspace.search_files(call, &search)).map(|answer| format!("{answer:?}")),
        with_call(0, |call| workspace.file_states(call, &[path()], None)).map(|answer| format!("{answer:?}")),
    ]
}

fn with_value(value: &str) -> (Masked, String) {
    let masked = over([("a.py", format!("password = \"{value}\"\n"))]);
    let view = read(&masked, "a.py", None);
    let placeholder = view.split('"').nth(1).unwrap().to_owned();
    assert!(placeholder.starts_with("⟦secret:"), "{view}");
    (masked, placeholder)
}

#[test]
fn no_value_that_a_path_divides_is_restored_into_a_name() {
    for (value, part) in VALUES {
        for (before, behind) in [("", ""), ("folder/", "/more.txt"), ("@output/", ""), ("../", "/..")] {
            let (masked, placeholder) = with_value(value);
            for (index, answer) in
                answers(&masked, &format!("{before}{placeholder}{behind}")).into_iter().enumerate()
            {
                let error = answer.unwrap_err();
                assert_eq!(error.reason(), Reason::InvalidField, "{index}: {error:?}");
                let text = format!("{error:?}");
                assert!(!text.contains(part) && text.contains("use a command"), "{index}: {text}");
            }
            assert_eq!(masked.inner().files().len(), 1, "{value}");
        }
        // The control: an answer of the engine shows the part.
        let (masked, _) = with_value(value);
        let visible = answers(masked.inner(), value).into_iter().any(|answer| match answer {
            Ok(answer) => answer.contains(part),
            Err(error) => error.message().contains(part),
        });
        assert!(visible, "{value}");
    }
}

#[test]
fn a_file_is_named_by_a_value_that_is_one_word() {
    let name = &*Box::leak(format!("{}.txt", token()).into_boxed_str());
    let masked = over([(name, "content x\n".to_owned())]);
    let listed = with_call(0, |call| masked.explore_files(call, &ExploreFiles::default())).unwrap();
    let visible = &listed.files[0].path;
    assert_eq!(visible, "⟦secret:npm-token:1⟧.txt");
    assert_eq!(read(&masked, visible, None), "content x\n");
    let edit = ModifyFile {
        path: visible.clone(),
        operations: vec![text("content", "CONTENT")],
        ..ModifyFile::default()
    };
    with_call(1, |call| masked.modify_file(call, &edit)).unwrap();
    assert_eq!(masked.inner().text(name).unwrap(), "CONTENT x\n");
    // A name that has the form of a placeholder is not a secret.
    let literal = "⟦secret:other:7⟧.txt";
    let masked = over([(literal, "content x\n".to_owned())]);
    let listed = with_call(0, |call| masked.explore_files(call, &ExploreFiles::default())).unwrap();
    let visible = &listed.files[0].path;
    assert_eq!(visible, "⟦secret:literal:1⟧.txt");
    assert_eq!(read(&masked, visible, None), "content x\n");
}

//! The first message of a session: the shape of a large folder, and files that were not requested.

use memory_workspace::MemoryWorkspace;
use proptest::collection::vec;
use proptest::prelude::*;
use tagproto::{
    Context, Dialect, OutboxLimits, Session, SuggestedFile, estimated_tokens, gather_first, read_outbox,
    render_outbox,
};
use wap_core::{FileVersion, LineSpan, TaskFile};

use crate::fixture::call_frame::Frame;

use super::properties::hostile;

fn session(task: &str, budget: Option<u32>) -> Session {
    let id = "a1b2c3d4".parse().unwrap();
    Session::new(id, task, "2026-01-01T00:00:00Z", Dialect::Agentd, budget)
}

fn workspace(files: &[(&str, &str)]) -> MemoryWorkspace {
    MemoryWorkspace::with_files(files.iter().map(|(path, text)| (*path, *text)))
}

fn first_message(workspace: &MemoryWorkspace, session: &Session, files: &[TaskFile]) -> (Context, String) {
    let frame = Frame::new("outbox");
    let context = gather_first(session, workspace, &frame.call(), &OutboxLimits::default(), files).unwrap();
    let text = render_outbox(session, &context, "sandbox: level=full").text;
    (context, text)
}

fn task_file(path: &str) -> TaskFile {
    TaskFile { path: path.to_owned(), ..TaskFile::default() }
}

#[test]
fn readme_and_files_of_the_task_are_shown_with_their_numbers() {
    let long: String = (1..=900).map(|number| format!("line {number} of a long file\n")).collect();
    let workspace = workspace(&[
        ("README.md", "# Sums\n\nAdds numbers.\n"),
        ("src/sums.py", "def sums(numbers):\n    return sum(numbers)\n"),
        ("src/long.py", &long),
    ]);
    let long_file = TaskFile {
        passages: vec![LineSpan { first: 400, last: 403 }],
        outline: vec![1, 50, 880],
        ..task_file("src/long.py")
    };
    let files = [task_file("src/sums.py"), long_file, task_file("gone.py")];
    let (_, text) = first_message(&workspace, &session("Let sums take words", Some(3_000)), &files);
    let parts = read_outbox(&text).unwrap();
    let paths: Vec<_> = parts.suggested.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["README.md", "src/sums.py", "src/long.py"], "{text}");
    assert!(
        text.contains("--- src/sums.py ---\n1|def sums(numbers):\n2|    return sum(numbers)\n--- end"),
        "{text}"
    );
    let numbers = parts.suggested[2].parts.clone().unwrap();
    for line in [1, 50, 400, 401, 402, 403, 880] {
        assert!(numbers.contains(&line), "{line} {numbers:?}");
    }
    assert!(text.contains("--- src/long.py --- (parts of 900 lines)\n"), "{text}");
    assert!(text.contains("\n400|line 400 of a long file\n"), "{text}");
}

#[test]
fn credentials_are_shown_only_if_the_task_names_them() {
    let workspace = workspace(&[(".env", "TOKEN=secret-value\n"), ("a.py", "print(1)\n")]);
    let files = [task_file(".env"), task_file("a.py")];
    let (_, text) = first_message(&workspace, &session("print more", None), &files);
    assert!(!text.contains("secret-value") && text.contains("1|print(1)\n"), "{text}");
    let (_, text) = first_message(&workspace, &session("add a line to .env", None), &files);
    assert!(text.contains("1|TOKEN=secret-value\n"), "{text}");
}

#[test]
fn a_file_whose_reading_has_a_warning_is_shown_with_a_note() {
    let workspace = MemoryWorkspace::new();
    workspace.set_file("names.py", b"NAME = 'Zo\xeb'\n");
    let (_, text) = first_message(&workspace, &session("task", None), &[task_file("names.py")]);
    let note = read_outbox(&text).unwrap().suggested[0].note.clone().unwrap();
    assert!(text.contains("1|NAME = 'Zo\u{fffd}'\n"), "{text}");
    assert!(note.starts_with("note: ") && note.contains("U+FFFD"), "{note}");
}

#[test]
fn a_small_folder_is_shown_whole() {
    let excerpts = |count: usize, length: usize| {
        let text = "x".repeat(length - 1) + "\n";
        let names: Vec<String> = (0..count).map(|number| format!("src/file_{number:02}.py")).collect();
        let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), text.as_str())).collect();
        files.push((".env", "TOKEN=secret-value\n"));
        let (_, text) = first_message(&workspace(&files), &session("task", None), &[]);
        assert!(!text.contains("secret-value"), "{text}");
        read_outbox(&text).unwrap().suggested.len()
    };
    assert_eq!(excerpts(23, 20), 23);
    // With one more file, or more bytes, the folder is not small.
    assert_eq!(excerpts(24, 20), 0);
    assert_eq!(excerpts(16, 1_022), 16);
    assert_eq!(excerpts(16, 1_023), 0);
}

#[test]
fn a_large_folder_is_shown_by_its_shape_breadth_first() {
    let mut files: Vec<(String, String)> =
        (0..600).map(|number| (format!("data/deep/{number:04}.json"), "{}".to_owned())).collect();
    files.extend((0..100).map(|number| (format!("src/module_{number}.rs"), "//! Code.\n".to_owned())));
    files.push(("src/Cargo.toml".to_owned(), String::new()));
    files.push(("README.md".to_owned(), "# Much\n".to_owned()));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let workspace = workspace(&files);
    let (context, text) = first_message(&workspace, &session("task", Some(24_000)), &[]);
    assert!(context.shape.is_some());
    let parts = read_outbox(&text).unwrap();
    assert!(text.contains("\n  data/deep/ (600 "), "{text}");
    assert!(text.contains("*.json)"), "{text}");
    assert!(parts.listing.iter().any(|entry| entry.path == "src/module_29.rs"), "{text}");
    assert!(parts.listing.iter().any(|entry| entry.path == "README.md"), "{text}");
    assert!(!text.contains("0001.json"), "{text}");
    // With less room, the folder is no longer listed, but its manifest is still named.
    let (_, text) = first_message(&workspace, &session("task", Some(2_700)), &[]);
    assert!(text.contains("src/ (101 files, *.rs *.toml; Cargo.toml)"), "{text}");
    assert!(text.contains("  README.md ("), "{text}");
}

#[test]
fn the_budget_holds_with_many_files_and_the_rest_is_named() {
    let long: String = (1..=300).map(|number| format!("let number_{number} = {number};\n")).collect();
    let names: Vec<String> = (0..30).map(|number| format!("src/file_{number:02}.rs")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), long.as_str())).collect();
    let workspace = workspace(&files);
    let task_files: Vec<TaskFile> = names.iter().map(|name| task_file(name)).collect();
    for budget in [4_000, 8_000, 24_000] {
        let (_, text) = first_message(&workspace, &session("task", Some(budget)), &task_files);
        let tokens = estimated_tokens(&text);
        assert!(tokens <= u64::from(budget), "{tokens} of {budget}");
        assert!(tokens * 10 >= u64::from(budget) * 5, "{tokens} of {budget} are used");
        let count = read_outbox(&text).unwrap().suggested.len();
        assert_eq!(text.contains("(others that may matter, not shown: "), count < 30, "{text}");
    }
}

fn suggested() -> impl Strategy<Value = SuggestedFile> {
    let spans = vec((0_u64..30, 0_u64..8), 0..3);
    let outline = vec(0_u64..30, 0..4);
    let warnings = vec(hostile(), 0..2);
    (hostile(), hostile(), spans, outline, warnings).prop_filter_map(
        "a file with text",
        |(path, text, spans, mut outline, warnings)| {
            outline.sort_unstable();
            outline.dedup();
            let total_lines = text.split_inclusive('\n').count() as u64;
            (!text.is_empty()).then(|| SuggestedFile {
                path,
                version: Some(FileVersion(text.clone())),
                text,
                total_lines,
                passages: spans
                    .into_iter()
                    .map(|(first, more)| LineSpan { first, last: first + more })
                    .collect(),
                outline,
                warnings,
                most_tokens: u64::MAX,
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn shown_lines_read_back_as_lines_of_the_file(files in vec(suggested(), 1..4), budget in 2_500_u32..3_500, task in hostile()) {
        let session = session(&task, Some(budget));
        let context = Context { suggested: files.clone(), ..Context::default() };
        let text = render_outbox(&session, &context, "").text;
        let parts = read_outbox(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        let mut rest = files.iter();
        for excerpt in parts.suggested {
            let content = excerpt.text.clone().unwrap_or_default();
            let is_it = |file: &&SuggestedFile| {
                let lines: Vec<&str> = file.text.split_inclusive('\n').collect();
                let numbers: Vec<u64> = match (&excerpt.parts, excerpt.lines) {
                    (Some(parts), _) => parts.clone(),
                    (None, Some(lines)) => (lines.first..=lines.last).collect(),
                    (None, None) => (1..=lines.len() as u64).collect(),
                };
                let expected: Option<String> =
                    numbers.iter().map(|number| lines.get(*number as usize - 1).copied()).collect();
                expected.is_some_and(|expected| expected == content)
            };
            prop_assert!(rest.any(|file| is_it(&file)), "{excerpt:?}\n{text}");
        }
    }
}

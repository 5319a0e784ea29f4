//! The workspace in memory, beyond the conformance cases.

use std::sync::{Arc, Mutex};

use memory_workspace::MemoryWorkspace;
use serde_json::{Value, json};
use test_support::Caller;
use wap_core::*;

/// The root that the workspace in memory reports.
pub(crate) const ROOT: &str = "/workspace";

fn modify(path: &str, operations: Value, expected: Option<FileVersion>) -> FileChange {
    FileChange::Modify(ModifyFile {
        path: path.into(),
        operations: serde_json::from_value(operations).unwrap(),
        expected_version: expected,
        line_numbers: None,
        seen_versions: None,
        judged: None,
        view_numbers: None,
    })
}

fn write(path: &str, content: &str) -> FileChange {
    FileChange::Write(WriteFile {
        path: path.into(),
        content: content.into(),
        create_directories: Some(true),
        ..WriteFile::default()
    })
}

fn replace(line: i64, content: &str) -> Value {
    json!({ "type": "replace", "startLine": line, "endLine": line, "newContent": content })
}

/// Carries out one operation list as a fresh run.
fn edit(
    workspace: &MemoryWorkspace,
    operations: Value,
    expected: Option<&FileVersion>,
) -> Result<FileChanged, WapError> {
    let mut caller = Caller::once();
    caller.origin.run = RunKey::unnumbered(format!("{operations}{expected:?}{:?}", workspace.text("a")));
    let change = modify("a", operations, expected.cloned());
    workspace.change_files(&caller.at(0).call(), &[change]).unwrap().remove(0)
}

fn version(workspace: &MemoryWorkspace, path: &str) -> FileVersion {
    let request = ReadFile { path: path.into(), ..ReadFile::default() };
    workspace.read_file(&Caller::once().call(), &request).unwrap().version.unwrap()
}

#[test]
fn line_numbers_mean_the_file_before_the_call() {
    let cases = [
        (json!([replace(1, "A\nB"), replace(3, "X")]), "A\nB\n2\nX\n4\n"),
        (
            json!([{ "type": "insert", "afterLine": 2, "newContent": "a" }, { "type": "insert", "afterLine": 2, "newContent": "b" }]),
            "1\n2\na\nb\n3\n4\n",
        ),
        (json!([{ "type": "delete", "startLine": 1, "endLine": 2 }, replace(4, "X")]), "3\nX\n"),
        (
            json!([{ "type": "insert", "afterLine": 1, "newContent": "i" }, replace(2, "X")]),
            "1\ni\nX\n3\n4\n",
        ),
        (
            json!([replace(2, "X"), { "type": "insert", "afterLine": 2, "newContent": "i" }]),
            "1\nX\ni\n3\n4\n",
        ),
        (json!([{ "type": "insert", "afterLine": 9, "newContent": "end" }]), "1\n2\n3\n4\nend\n"),
        (
            json!([{ "type": "regexReplace", "pattern": "1", "replacement": "one\nuno" }, replace(3, "X")]),
            "one\nuno\n2\nX\n4\n",
        ),
    ];
    for (operations, expected) in cases {
        let workspace = MemoryWorkspace::with_files([("a", "1\n2\n3\n4\n")]);
        edit(&workspace, operations.clone(), None).unwrap();
        assert_eq!(workspace.text("a").unwrap(), expected, "{operations}");
    }
}

#[test]
fn operations_on_the_same_lines_conflict_and_change_nothing() {
    let range = |first: i64, last: i64| json!({ "type": "delete", "startLine": first, "endLine": last });
    let insert = |after: i64| json!({ "type": "insert", "afterLine": after, "newContent": "i" });
    let cases = [
        json!([replace(2, "X"), replace(2, "Y")]),
        json!([range(1, 3), replace(2, "Y")]),
        json!([range(1, 3), insert(2)]),
        json!([insert(2), range(1, 3)]),
        json!([{ "type": "regexReplace", "pattern": "2", "replacement": "two" }, replace(2, "Y")]),
    ];
    for operations in cases {
        let workspace = MemoryWorkspace::with_files([("a", "1\n2\n3\n4\n")]);
        let error = edit(&workspace, operations.clone(), None).unwrap_err();
        assert_eq!(error.reason(), Reason::Conflict, "{operations}");
        assert_eq!(workspace.text("a").unwrap(), "1\n2\n3\n4\n", "{operations}");
    }
}

#[test]
fn the_end_of_a_file_and_its_line_endings_are_kept() {
    let cases = [
        ("1\r\n2", json!([{ "type": "insert", "afterLine": 2, "newContent": "3" }]), "1\r\n2\r\n3"),
        ("1\n2", json!([{ "type": "delete", "startLine": 2, "endLine": 2 }]), "1"),
        ("1\n2", json!([replace(2, "x\n\n")]), "1\nx\n\n"),
        ("1\r\n2\n3\r\n", json!([replace(1, "a\r\nb")]), "a\r\nb\r\n2\n3\r\n"),
        ("", json!([{ "type": "insert", "afterLine": 0, "newContent": "x" }]), "x\n"),
        ("1\n2\n", json!([replace(1, "")]), "\n2\n"),
        ("\u{feff}1\n2\n", json!([replace(2, "x")]), "\u{feff}1\nx\n"),
    ];
    for (before, operations, after) in cases {
        let workspace = MemoryWorkspace::with_files([("a", before)]);
        edit(&workspace, operations.clone(), None).unwrap();
        assert_eq!(workspace.text("a").unwrap(), after, "{before:?} {operations}");
    }
}

#[test]
fn numbers_of_an_older_version_are_mapped() {
    let workspace = MemoryWorkspace::with_files([("a", "1\n2\n3\n4\n5\n6\n")]);
    let first = version(&workspace, "a");
    edit(&workspace, json!([replace(2, "x\ny\nz")]), Some(&first)).unwrap();
    edit(&workspace, json!([replace(5, "five")]), Some(&first)).unwrap();
    // A change by the user, and another edit by the first numbers between the two.
    let users = format!("top\n{}", workspace.text("a").unwrap());
    workspace.set_file("a", users);
    edit(&workspace, json!([replace(4, "four")]), Some(&first)).unwrap();
    assert_eq!(workspace.text("a").unwrap(), "top\n1\nx\ny\nz\n3\nfour\nfive\n6\n");
}

#[test]
fn an_edit_of_lines_that_changed_since_shows_both_texts() {
    let workspace = MemoryWorkspace::with_files([("a", "1\n2\n3\n")]);
    let first = version(&workspace, "a");
    workspace.set_file("a", "0\n1\ntwo\n3\n");
    let error = edit(&workspace, json!([replace(2, "X")]), Some(&first)).unwrap_err();
    assert_eq!(error.reason(), Reason::Conflict);
    let detail = |name: &str| error.detail(name).cloned().unwrap_or_default();
    assert_eq!(detail("expectedText"), "2");
    assert_eq!(detail("currentText"), "1|0\n2|1\n3|two\n4|3\n");
    assert_eq!((detail("currentFirstLine"), detail("currentLastLine")), (json!(1), json!(4)));
    assert_eq!(detail("currentVersion"), json!(version(&workspace, "a")));
    assert_eq!(workspace.text("a").unwrap(), "0\n1\ntwo\n3\n");
}

#[test]
fn a_line_inserted_into_the_addressed_range_conflicts() {
    let workspace = MemoryWorkspace::with_files([("a", "1\n2\n3\n")]);
    let first = version(&workspace, "a");
    workspace.set_file("a", "1\nnew\n2\n3\n");
    let range = json!([{ "type": "replace", "startLine": 1, "endLine": 2, "newContent": "X" }]);
    assert_eq!(edit(&workspace, range, Some(&first)).unwrap_err().reason(), Reason::Conflict);
    edit(&workspace, json!([replace(2, "X")]), Some(&first)).unwrap();
    assert_eq!(workspace.text("a").unwrap(), "1\nnew\nX\n3\n");
}

#[test]
fn an_unknown_version_conflicts() {
    let workspace = MemoryWorkspace::with_files([("a", "1\n2\n")]);
    let error = edit(&workspace, json!([replace(1, "X")]), Some(&FileVersion("never".into()))).unwrap_err();
    assert_eq!(error.reason(), Reason::Conflict);
    assert_eq!(error.detail("expectedVersion"), Some(&json!("never")));
    assert_eq!(workspace.text("a").unwrap(), "1\n2\n");
}

#[test]
fn a_bad_range_shows_the_text_around_it() {
    let text: String = (1..=20).map(|line| format!("line {line}\n")).collect();
    let workspace = MemoryWorkspace::with_files([("a", text)]);
    let error = edit(&workspace, json!([replace(21, "X")]), None).unwrap_err();
    assert_eq!(error.reason(), Reason::InvalidRange);
    assert_eq!(error.detail("totalLines"), Some(&json!(20)));
    insta::assert_snapshot!(error, @"invalid line range 21-21 for a text of 20 lines");
    insta::assert_snapshot!(error.detail("currentText").unwrap().as_str().unwrap(), @r#"
    17|line 17
    18|line 18
    19|line 19
    20|line 20
    "#);
}

#[test]
fn a_response_reports_how_later_lines_moved() {
    let workspace = MemoryWorkspace::with_files([("a", "1\n2\n3\n4\n5\n")]);
    let operations = json!([replace(1, "x\ny"), { "type": "delete", "startLine": 3, "endLine": 4 }]);
    let FileChanged::Modified(response) = edit(&workspace, operations, None).unwrap() else { panic!() };
    assert_eq!(response.shifts, [LineShift { from_line: 2, by: 1 }, LineShift { from_line: 5, by: -1 }]);
    assert_eq!((response.lines_added, response.lines_removed), (2, 3));
    assert_eq!(response.version, Some(version(&workspace, "a")));
}

#[test]
fn replacements_are_read_as_in_javascript() {
    let cases = [
        ("(b)", "$10", "", "ab0c\n"),
        ("b", "[$&]", "", "a[b]c\n"),
        ("b", "$$1", "", "a$1c\n"),
        ("(?<x>b)", "$<x>${x}", "", "abbc\n"),
        ("B", "x", "i", "axc\n"),
        ("b", "$ and $x", "", "a$ and $xc\n"),
        ("a.*", "", "gs", ""),
        ("(z)?b", "<$1>", "", "a<>c\n"),
    ];
    for (pattern, replacement, flags, expected) in cases {
        let workspace = MemoryWorkspace::with_files([("a", "abc\n")]);
        let operation = json!([{ "type": "regexReplace", "pattern": pattern, "replacement": replacement, "flags": flags }]);
        edit(&workspace, operation, None).unwrap();
        assert_eq!(workspace.text("a").unwrap(), expected, "{pattern} {replacement}");
    }
}

#[test]
fn an_unusable_regex_is_refused_with_a_reason() {
    let cases = [
        ("(?=b)", "x", "", "look-around"),
        (r"(a)\1", "x", "", "back-reference"),
        ("b", "$1", "", "$1"),
        ("b", "${name}", "", "name"),
        ("b", "x", "y", "'y'"),
        ("b", "$`", "", "bad group"),
    ];
    for (pattern, replacement, flags, why) in cases {
        let workspace = MemoryWorkspace::with_files([("a", "abc\n")]);
        let operation = json!([{ "type": "regexReplace", "pattern": pattern, "replacement": replacement, "flags": flags }]);
        let error = edit(&workspace, operation, None).unwrap_err();
        assert_eq!(error.reason(), Reason::InvalidRegex, "{pattern}");
        assert!(error.message().contains(why), "{pattern}: {error}");
    }
}

#[test]
fn a_batch_continues_after_a_failure_and_sees_its_own_effects() {
    let workspace = MemoryWorkspace::new();
    let changes = [
        write("d/a", "1\n"),
        modify("d/missing", json!([replace(1, "x")]), None),
        modify("d/a", json!([replace(1, "2")]), None),
        FileChange::Delete(DeleteFile { path: "d".into(), ..DeleteFile::default() }),
    ];
    let outcomes = workspace.change_files(&Caller::once().call(), &changes).unwrap();
    let reasons: Vec<_> =
        outcomes.iter().map(|outcome| outcome.as_ref().err().map(WapError::reason)).collect();
    assert_eq!(reasons, [None, Some(Reason::FileNotFound), None, Some(Reason::NotAFile)]);
    assert_eq!(workspace.text("d/a").unwrap(), "2\n");
}

#[test]
fn a_whole_file_of_numbered_code_is_not_written() {
    let numbered = "     1→def main():\n     2→    x = 3\n";
    let workspace = MemoryWorkspace::new();
    let changes =
        [write("b.py", numbered), write("c.py", "def main():\n    x = 3\n"), write("b.txt", numbered)];
    let results = workspace.change_files(&Caller::once().at(0).call(), &changes).unwrap();
    assert_eq!(results[0].as_ref().unwrap_err().reason(), Reason::InvalidField);
    assert_eq!(workspace.text("b.py"), None);
    // Controls: the lines without numbers, and a listing.
    assert!(results[1..].iter().all(Result::is_ok), "{results:?}");
    assert_eq!(workspace.text("b.txt").as_deref(), Some(numbered));
}

#[test]
fn a_step_runs_once() {
    let workspace = MemoryWorkspace::with_files([("a", "1\n")]);
    let caller = Caller::once();
    let append = [FileChange::Write(WriteFile {
        path: "a".into(),
        content: "2\n".into(),
        mode: Some(WriteMode::Append),
        ..WriteFile::default()
    })];
    let first = workspace.change_files(&caller.at(3).call(), &append).unwrap();
    assert_eq!(workspace.change_files(&caller.at(3).call(), &append).unwrap(), first);
    assert_eq!(workspace.text("a").unwrap(), "1\n2\n");
    workspace.change_files(&caller.at(4).call(), &append).unwrap();
    assert_eq!(workspace.text("a").unwrap(), "1\n2\n2\n");

    // An interrupted batch: its first item is recorded, its second is not.
    let batch = [append[0].clone(), write("b", "new\n")];
    workspace.change_files(&caller.at(4).call(), &batch).unwrap();
    assert_eq!(workspace.text("a").unwrap(), "1\n2\n2\n");
    assert_eq!(workspace.text("b").unwrap(), "new\n");

    let request = ExecuteCommand { command: "ls".into(), ..ExecuteCommand::default() };
    let error = workspace.execute_command(&caller.at(3).call(), &request, &mut Unobserved).unwrap_err();
    assert_eq!(error.reason(), Reason::Conflict, "the step was a change of files");
}

fn success(stdout: &str) -> ExecuteCommandResponse {
    ExecuteCommandResponse {
        stdout: stdout.into(),
        stderr: String::new(),
        exit_code: 0,
        is_output_truncated: false,
        duration_ms: 1,
        signal: None,
        background: None,
        whole_output: None,
        sandbox: "level=none".into(),
        warnings: vec![],
        denied: Vec::new(),
    }
}

#[derive(Default)]
struct Watch(Arc<Mutex<String>>);

impl CommandObserver for Watch {
    fn started(&mut self, sandbox: &str) {
        self.0.lock().unwrap().push_str(sandbox);
    }

    fn output(&mut self, _: OutputStream, bytes: &[u8]) {
        self.0.lock().unwrap().push_str(&String::from_utf8_lossy(bytes));
    }
}

#[test]
fn a_scripted_command_is_watched_and_run_once() {
    let workspace = MemoryWorkspace::new();
    workspace.on_command("make", Ok(success("built\n")));
    let request = ExecuteCommand { command: "make".into(), ..ExecuteCommand::default() };
    let caller = Caller::once();
    let mut watch = Watch::default();
    let first = workspace.execute_command(&caller.at(0).call(), &request, &mut watch).unwrap();
    let second = workspace.execute_command(&caller.at(0).call(), &request, &mut watch).unwrap();
    assert_eq!((first.stdout.as_str(), &second), ("built\n", &first));
    assert_eq!(workspace.commands_run(), ["make"]);
    assert_eq!(*watch.0.lock().unwrap(), "level=none; commands=scriptedbuilt\n");
}

#[test]
fn a_command_without_a_script_is_refused() {
    let workspace = MemoryWorkspace::new();
    let command = |command: &str, folder: Option<&str>, timeout| {
        let request = ExecuteCommand {
            command: command.into(),
            working_directory: folder.map(str::to_owned),
            timeout,
            ..ExecuteCommand::default()
        };
        workspace.execute_command(&Caller::once().call(), &request, &mut Unobserved).unwrap_err().reason()
    };
    assert_eq!(command("ls", None, None), Reason::SandboxUnavailable);
    assert_eq!(command(" \n", None, None), Reason::EmptyCommand);
    assert_eq!(command("ls\0", None, None), Reason::InvalidField);
    assert_eq!(command("ls", None, Some(0)), Reason::InvalidField);
    assert_eq!(command("ls", Some("../x"), None), Reason::PathEscapeAttempt);
    assert_eq!(command("ls", Some("nope"), None), Reason::PathNotFound);
}

#[test]
fn paths_are_checked_and_answered_in_canonical_form() {
    let workspace = MemoryWorkspace::with_files([("src/a", "1\n"), (".git/config", "x\n")]);
    let reason = |change: FileChange| {
        workspace
            .change_files(&Caller::once().call(), &[change])
            .unwrap()
            .remove(0)
            .map(|_| ())
            .unwrap_err()
            .reason()
    };
    let fresh = |path: &str| {
        let workspace = MemoryWorkspace::with_files([("src/a", "1\n")]);
        let outcome = workspace.change_files(&Caller::once().call(), &[write(path, "x")]).unwrap().remove(0);
        outcome.map(|changed| changed.path().to_owned()).map_err(|error| error.reason())
    };
    assert_eq!(reason(write(".git/config", "x")), Reason::Protected);
    assert_eq!(fresh(".GIT/hooks/x"), Err(Reason::Protected));
    assert_eq!(fresh("src/../../x"), Err(Reason::PathEscapeAttempt));
    assert_eq!(fresh("/etc/passwd"), Err(Reason::PathEscapeAttempt));
    assert_eq!(fresh("nope/../x"), Err(Reason::PathNotFound));
    assert_eq!(fresh("src/a/../x"), Err(Reason::NotADirectory));
    assert_eq!(fresh("src/a/b"), Err(Reason::NotADirectory));
    assert_eq!(fresh("a:b"), Err(Reason::InvalidName));
    assert_eq!(fresh(""), Err(Reason::InvalidField));
    assert_eq!(fresh("."), Err(Reason::NotAFile));
    assert_eq!(fresh("./src//../src/./a"), Ok("src/a".to_owned()));
    assert_eq!(fresh("/workspace/b"), Ok("b".to_owned()));
}

#[test]
fn a_cancelled_call_changes_nothing() {
    let workspace = MemoryWorkspace::new();
    let caller = Caller::once();
    caller.cancel.cancel();
    let error = workspace.change_files(&caller.at(0).call(), &[write("a", "x")]).unwrap_err();
    assert_eq!(error.reason(), Reason::Cancelled);
    assert!(workspace.files().is_empty());
}

#[test]
fn a_range_is_truncated_at_a_line_and_a_long_line_at_a_character() {
    let limits = Limits { max_file_size: 5, ..Limits::default() };
    let workspace =
        MemoryWorkspace::with_files([("lines", "1\n2\n3\n4\n"), ("long", "ääää\n")]).with_limits(limits);
    let read = |path: &str, start_line| {
        let request = ReadFile { path: path.into(), start_line, end_line: None, ..ReadFile::default() };
        workspace.read_file(&Caller::once().call(), &request)
    };
    let lines = read("lines", Some(1)).unwrap();
    assert_eq!((lines.content.as_str(), lines.is_truncated, lines.returned_lines), ("1\n2\n", true, 2));
    assert_eq!(read("long", Some(1)).unwrap().content, "ää");
    assert_eq!(read("lines", None).unwrap_err().reason(), Reason::FileTooLarge);
}

#[test]
fn files_that_are_not_text_are_refused_or_skipped() {
    let workspace = MemoryWorkspace::with_files([
        ("binary", b"hit\0".as_slice()),
        ("utf16", b"\xff\xfeh\0i\0".as_slice()),
        ("latin1", b"caf\xe9 hit\n".as_slice()),
    ]);
    let read = |path: &str| {
        let request = ReadFile { path: path.into(), ..ReadFile::default() };
        workspace.read_file(&Caller::once().call(), &request)
    };
    assert_eq!(read("binary").unwrap_err().reason(), Reason::BinaryFile);
    assert_eq!(read("utf16").unwrap().content, "hi");
    let latin1 = read("latin1").unwrap();
    assert_eq!((latin1.content.as_str(), latin1.warnings.len()), ("caf\u{fffd} hit\n", 1));

    let request = json!({ "paths": ["."], "query": "hit", "type": "literal" });
    let request: SearchFiles = serde_json::from_value(request).unwrap();
    let response = workspace.search_files(&Caller::once().call(), &request).unwrap();
    assert_eq!((response.total_matches, response.skipped.binary), (1, 1));
}

#[test]
fn a_listing_shows_folders_that_lost_their_files() {
    let workspace = MemoryWorkspace::with_files([("d/a", ""), ("node_modules/x", "")]);
    assert!(workspace.remove_file("d/a"));
    let paths = |request: Value| -> Vec<String> {
        let request: ExploreFiles = serde_json::from_value(request).unwrap();
        let response = workspace.explore_files(&Caller::once().call(), &request).unwrap();
        response.files.into_iter().map(|file| file.path).collect()
    };
    assert_eq!(paths(json!({ "path": "." })), ["d", "node_modules"]);
    assert_eq!(paths(json!({ "path": "", "recursive": true })), ["d"]);
    assert_eq!(paths(json!({ "path": "node_modules", "recursive": true })), ["node_modules/x"]);
}

#[test]
fn operations_in_turn_mean_the_result_of_earlier_ones() {
    let text = "l1\nl2\nl3\nl4\nl5\n";
    let operations = serde_json::json!([
        { "type": "replace", "startLine": 1, "endLine": 1, "newContent": "A\nB\nC" },
        { "type": "replace", "startLine": 3, "endLine": 3, "newContent": "X" }
    ]);
    for (line_numbers, after) in [
        (None, "A\nB\nC\nl2\nX\nl4\nl5\n"),
        (Some(wap_core::LineNumbers::InTurn), "A\nB\nX\nl2\nl3\nl4\nl5\n"),
    ] {
        let workspace = MemoryWorkspace::with_files([("a", text)]);
        let FileChange::Modify(request) = modify("a", operations.clone(), None) else { unreachable!() };
        let request = ModifyFile { line_numbers, ..request };
        workspace.modify_file(&Caller::once().call(), &request).unwrap();
        assert_eq!(workspace.text("a").unwrap(), after);
    }
}

#[test]
fn a_byte_order_mark_stays_when_the_first_line_changes() {
    for (operation, after) in [
        (replace(1, "X"), "\u{feff}X\n2\n"),
        (json!({ "type": "delete", "startLine": 1, "endLine": 1 }), "\u{feff}2\n"),
        (json!({ "type": "insert", "afterLine": 0, "newContent": "0" }), "\u{feff}0\n1\n2\n"),
    ] {
        let workspace = MemoryWorkspace::with_files([("a", "\u{feff}1\n2\n")]);
        let change = modify("a", json!([operation]), None);
        workspace.change_files(&Caller::once().call(), &[change]).unwrap().remove(0).unwrap();
        assert_eq!(workspace.text("a").unwrap(), after);
    }
}

#[test]
fn another_request_under_a_recorded_step_is_refused_and_the_same_one_is_answered_from_the_record() {
    let workspace = MemoryWorkspace::new();
    let caller = Caller::once();
    let change = |content: &str| workspace.change_files(&caller.call(), &[write("a", content)]);
    let first = change("x").unwrap();
    assert_eq!(change("x").unwrap(), first);
    assert_eq!(change("y").unwrap_err().reason(), Reason::Conflict);
    assert_eq!(workspace.text("a").unwrap(), "x");
}

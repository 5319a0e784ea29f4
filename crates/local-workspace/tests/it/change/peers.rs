//! Failures that other tools of this kind have shown. Each failure is one test, named after what must not happen.
//!
//! `sandbox-exec` has its own tests of what a shell can reach and what it may leave running; these tests cover the
//! view of a caller of the tools.

use std::fs;
use std::os::unix::fs::symlink;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sandbox_exec::Level;
use wap_core::*;

use crate::fixture::workspace::*;
use test_support::{child, folder_of_child};

const SECRET: &str = "secret of the outside";

fn bytes(fixture: &Fixture, name: &str) -> Vec<u8> {
    fs::read(fixture.root().join(name)).unwrap()
}

fn search(path: &str, query: &str) -> SearchFiles {
    SearchFiles {
        paths: vec![path.into()],
        query: query.into(),
        query_type: QueryType::Literal,
        recursive: None,
        exclude_patterns: None,
        context_lines: Some(0),
        respect_gitignore: None,
        withheld: None,
    }
}

fn listing(path: &str) -> ExploreFiles {
    ExploreFiles { path: path.into(), recursive: Some(true), max_depth: Some(60), ..ExploreFiles::default() }
}

#[test]
fn two_line_edit_does_not_turn_a_crlf_file_into_lf() {
    let fixture = Fixture::new();
    fixture.put("crlf", "1\r\n2\r\n3\r\n4\r\n5");
    let workspace = fixture.open();
    change(&workspace, replace("crlf", (2, 3), "two\nthree\n", None)).unwrap();
    assert_eq!(bytes(&fixture, "crlf"), b"1\r\ntwo\r\nthree\r\n4\r\n5");
}

#[test]
fn lines_that_were_moved_are_named_as_data_and_in_words() {
    let fixture = Fixture::new();
    fixture.put("moved", "fn a() {\n    one();\n    two();\n}\n\nfn b() {}\n");
    let workspace = fixture.open();
    let version = current_version(&workspace, "moved");
    fixture.put("moved", "fn b() {}\nfn a() {\n    one();\n    two();\n}\n\n");
    let error = change(&workspace, replace("moved", (6, 6), "fn b() { x() }", version)).unwrap_err();
    assert_eq!(error.reason(), Reason::Conflict);
    assert_eq!(error.detail("movedTo"), Some(&serde_json::json!([1, 1])), "{error:?}");
    assert!(error.detail("hint").unwrap().as_str().unwrap().ends_with("1-1"), "{error:?}");
}

#[test]
fn text_that_occurs_twice_is_not_edited_at_the_first_place() {
    let fixture = Fixture::new();
    fixture.put("twice", "start\nsame\nmiddle\nend\n");
    let workspace = fixture.open();
    let version = current_version(&workspace, "twice");
    // The line shown as line 2 now occurs twice, and the intended one cannot be determined.
    let now = "same\nstart\nother\nmiddle\nsame\nend\n";
    fixture.put("twice", now);
    let error = change(&workspace, replace("twice", (2, 2), "edited", version.clone())).unwrap_err();
    assert_eq!(error.reason(), Reason::Conflict);
    assert_eq!(error.detail("hint"), None, "{error:?}");
    assert_eq!(bytes(&fixture, "twice"), now.as_bytes());
    // By its number a line is the one that is meant, however often its text occurs.
    change(&workspace, replace("twice", (5, 5), "edited", None)).unwrap();
    assert_eq!(bytes(&fixture, "twice"), b"same\nstart\nother\nmiddle\nedited\nend\n");
}

#[test]
fn edit_does_not_destroy_the_bytes_of_a_latin1_file() {
    let fixture = Fixture::new();
    fixture.put("latin1", b"caf\xe9\nna\xefve\nend \xff\n");
    let workspace = fixture.open();
    assert!(read(&workspace, "latin1").unwrap().content.starts_with("caf\u{fffd}\n"));
    change(&workspace, replace("latin1", (2, 2), "plain", None)).unwrap();
    assert_eq!(bytes(&fixture, "latin1"), b"caf\xe9\nplain\nend \xff\n");
    // What the encoding cannot be known to hold is refused, with the file as it was.
    let error = change(&workspace, replace("latin1", (2, 2), "na\u{ef}ve", None)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
    assert_eq!(bytes(&fixture, "latin1"), b"caf\xe9\nplain\nend \xff\n");
}

#[test]
fn first_line_after_a_byte_order_mark_can_be_edited() {
    let fixture = Fixture::new();
    fixture.put("marked", "\u{feff}first\nsecond\n");
    let workspace = fixture.open();
    let version = current_version(&workspace, "marked");
    change(&workspace, replace("marked", (1, 1), "FIRST", version)).unwrap();
    assert_eq!(bytes(&fixture, "marked"), "\u{feff}FIRST\nsecond\n".as_bytes());
    let regex = ModifyOperation::RegexReplace {
        pattern: "^FIRST$".into(),
        replacement: "one".into(),
        flags: Some("m".into()),
    };
    change(&workspace, modify("marked", regex, None)).unwrap();
    assert_eq!(bytes(&fixture, "marked"), "\u{feff}one\nsecond\n".as_bytes());
}

#[test]
fn binary_file_is_not_read_as_control_characters() {
    let fixture = Fixture::new();
    let content: Vec<u8> = (0..=255).cycle().take(10_240).collect();
    fixture.put("binary", content);
    let workspace = fixture.open();
    let error = read(&workspace, "binary").unwrap_err();
    assert_eq!(error.reason(), Reason::BinaryFile);
    assert!(error.message().contains("binary") && error.message().contains("10240"), "{error}");
    assert!(serde_json::to_string(&error).unwrap().len() < 1_000);
}

#[test]
fn loop_of_links_gives_no_endless_reply() {
    let fixture = Fixture::new();
    fixture.put("a/b/file", "needle\n");
    for link in ["a/up", "a/b/up", "a/b/top"] {
        symlink("..", fixture.root().join(link)).unwrap();
    }
    symlink("self", fixture.root().join("self")).unwrap();
    let workspace = fixture.open();
    let caller = Caller::once();
    let listed = workspace.explore_files(&caller.call(), &listing(".")).unwrap();
    let paths: Vec<&str> = listed.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["a", "a/b", "a/b/file", "a/b/top", "a/b/up", "a/up", "self"]);
    let response = workspace.search_files(&caller.call(), &search(".", "needle")).unwrap();
    assert_eq!((response.matches.len(), response.total_matches), (1, 1));
}

#[test]
fn twenty_thousand_files_do_not_use_up_the_open_files() {
    let fixture = Fixture::new();
    let status =
        child("change::peers::child_lists_and_searches_with_few_open_files", fixture.path()).status();
    assert!(status.unwrap().success());
}

#[test]
#[ignore = "runs as a child of twenty_thousand_files_do_not_use_up_the_open_files"]
fn child_lists_and_searches_with_few_open_files() {
    let Some(folder) = folder_of_child() else { return };
    let fixture = Fixture::at(&folder);
    // A deep place too: there a listing holds a handle for every level.
    let deep: String = (0..50).map(|level| format!("deep{level}/")).collect();
    fixture.put(&format!("{deep}file"), "needle\n");
    for number in 0..20_000 {
        if number % 100 == 0 {
            fs::create_dir(fixture.root().join(format!("d{}", number / 100))).unwrap();
        }
        let name = format!("d{}/f{number}", number / 100);
        fs::write(fixture.root().join(name), if number % 2_000 == 0 { "needle\n" } else { "hay\n" }).unwrap();
    }
    let workspace = fixture.open();
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(128), ..limit }).unwrap();
    let caller = Caller::once();
    let listed = workspace.explore_files(&caller.call(), &listing(".")).unwrap();
    assert_eq!(listed.total_found, 20_000 + 200 + 50 + 1);
    // Nothing but the way to the entries beyond the limit.
    let of_cut = wap_core::ExploreFilesResponse::cut_warning(listed.files.len(), listed.total_found);
    assert_eq!(listed.warnings, Vec::from_iter(of_cut));
    let response = workspace.search_files(&caller.call(), &search(".", "needle")).unwrap();
    assert_eq!(
        (response.total_matches, response.skipped),
        (11, Skipped::default()),
        "{:?}",
        response.warnings
    );
}

#[test]
fn path_out_of_the_workspace_is_not_written() {
    let fixture = Fixture::new();
    fixture.put("deep/er/file", "x\n");
    fs::write(fixture.outside().join("x"), SECRET).unwrap();
    let workspace = fixture.open();
    let absolute = fixture.outside().join("x");
    let ways =
        ["../outside/x", "deep/er/../../../outside/x", "../../outside/new", absolute.to_str().unwrap()];
    for path in ways {
        for request in [write(path, "x"), replace(path, (1, 1), "x", None), delete(path)] {
            let error = change(&workspace, request).unwrap_err();
            assert_eq!(error.reason(), Reason::PathEscapeAttempt, "{path}");
        }
        assert_eq!(read(&workspace, path).unwrap_err().reason(), Reason::PathEscapeAttempt, "{path}");
    }
    assert_eq!(fs::read_to_string(&absolute).unwrap(), SECRET);
    assert_eq!(fs::read_dir(fixture.outside()).unwrap().count(), 1);
}

/// Checks whether commands are confined on this machine; where they are not, the report says so, and CI fails.
fn is_confined(workspace: &local_workspace::LocalWorkspace) -> bool {
    let level = workspace.sandbox_report().unwrap().level;
    assert!(level >= Level::Namespaces || std::env::var_os("CI").is_none(), "level={level}");
    level >= Level::Namespaces
}

#[test]
fn shell_does_not_walk_past_the_fence() {
    let fixture = Fixture::new();
    let outside = fixture.outside().join("x");
    fs::write(&outside, SECRET).unwrap();
    symlink(&outside, fixture.root().join("link")).unwrap();
    let workspace = fixture.open();
    if !is_confined(&workspace) {
        return;
    }
    let path = outside.to_str().unwrap();
    let command = format!("cat '{path}' ../outside/x link; echo x > '{path}'; rm -f '{path}'; echo done");
    let response = run(&workspace, &command).unwrap();
    assert!(response.stdout.contains("done"), "{response:?}");
    assert!(!response.stdout.contains(SECRET) && !response.stderr.contains(SECRET), "{response:?}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), SECRET);
}

/// Counts the processes that work in the workspace.
fn survivors(fixture: &Fixture) -> usize {
    let is_here = |entry: &fs::DirEntry| {
        fs::read_link(entry.path().join("cwd")).is_ok_and(|folder| folder.starts_with(fixture.root()))
    };
    fs::read_dir("/proc").unwrap().flatten().filter(is_here).count()
}

#[test]
fn timeout_leaves_neither_of_two_sleepers_alive() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let request = ExecuteCommand { timeout: Some(1), ..command("sleep 30 & sleep 29") };
    let outcome = workspace.execute_command(&Caller::once().call(), &request, &mut Unobserved);
    let error = outcome.unwrap_err();
    assert_eq!(error.reason(), Reason::Timeout, "{error}");
    assert_eq!(survivors(&fixture), 0);
}

#[test]
fn failure_of_the_second_of_two_files_is_reported_and_undoes_nothing_unsaid() {
    let fixture = Fixture::new();
    fixture.put("first", "1\n");
    fixture.put("second", "1\n2\n");
    let workspace = fixture.open();
    let nothing_there = ModifyOperation::Delete { start_line: 9, end_line: 9, was: None };
    let half = ModifyFile {
        path: "second".into(),
        operations: vec![
            ModifyOperation::Replace { start_line: 1, end_line: 1, new_content: "one".into(), was: None },
            nothing_there,
        ],
        ..ModifyFile::default()
    };
    let batch = [replace("first", (1, 1), "one", None), FileChange::Modify(half)];
    let caller = Caller::once();
    let outcomes = workspace.change_files(&caller.call(), &batch).unwrap();
    // Each file is reported separately: the first is changed and reported as such, the second is not even half changed.
    assert!(outcomes[0].is_ok());
    assert_eq!(outcomes[1].as_ref().unwrap_err().reason(), Reason::InvalidRange);
    assert_eq!(
        (bytes(&fixture, "first"), bytes(&fixture, "second")),
        (b"one\n".to_vec(), b"1\n2\n".to_vec())
    );
    // The same call again has the same answer, and nothing is done twice.
    assert_eq!(workspace.change_files(&caller.call(), &batch).unwrap(), outcomes);
}

//! The corpus of attacks on files against the engine, through its tools.

use std::fs;

use change_journal::Journal;
use local_workspace::LocalWorkspace;
use sandbox_fs::{FileKind, FileRoot, ResolveMethod};
use wap_core::*;

use crate::corpus::{Case, NEW_TEXT, Reply, Sandbox, Subject, User, run_all, run_text};
use crate::fixture::workspace::{Caller, Fixture, delete, replace};

#[test]
fn the_corpus_holds_with_openat2() {
    run_all::<LocalWorkspace>(ResolveMethod::Openat2, User::Root);
}

#[test]
fn the_corpus_holds_with_the_walker() {
    run_all::<LocalWorkspace>(ResolveMethod::Walker, User::Root);
}

#[test]
fn the_corpus_holds_for_an_ordinary_user_with_openat2() {
    run_all::<LocalWorkspace>(ResolveMethod::Openat2, User::Ordinary);
}

#[test]
fn the_corpus_holds_for_an_ordinary_user_with_the_walker() {
    run_all::<LocalWorkspace>(ResolveMethod::Walker, User::Ordinary);
}

#[test]
fn change_of_gitmodules_is_flagged() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let warnings = |change: FileChange| match crate::fixture::workspace::change(&workspace, change).unwrap() {
        FileChanged::Written(written) => written.warnings.len(),
        FileChanged::Modified(modified) => modified.warnings.len(),
        FileChanged::Deleted(_) => 0,
    };
    assert_eq!(warnings(write("sub/.gitmodules".into(), WriteMode::Create)), 1);
    assert_eq!(warnings(replace("sub/.gitmodules", (1, 1), "x", None)), 1);
    assert_eq!(warnings(write("gitmodules".into(), WriteMode::Create)), 0);
}

#[test]
fn cases_about_the_engine_hold_by_what_they_say() {
    let case = |setup: serde_json::Value, op: &str, path: &str, expect: &str, check: &str| serde_json::json!({ "name": "x", "setup": setup, "op": op, "path": path, "expect": expect, "check": check });
    let secret = serde_json::json!([["file", ".git/config", "[a]\n url = https://u:CANARY@h/p\n"]]);
    let binary = serde_json::json!([["file_b64_content", "z.bin", "AAH/"]]);
    let cases = [
        (case(secret, "read", ".git/config", "ok", "CANARY masked"), None),
        (case(binary, "read", "z.bin", "rejected", "details.reason BINARY_FILE"), None),
        (case(serde_json::json!([]), "write", "sub/.gitmodules", "ok", "warning flag"), None),
        (
            case(serde_json::json!([]), "write", "plain", "ok", "warning flag"),
            Some("nothing is said about it"),
        ),
    ];
    let text =
        serde_json::json!({ "cases": cases.iter().map(|(case, _)| case).collect::<Vec<_>>() }).to_string();
    for (outcome, (case, expected)) in run_text::<LocalWorkspace>(&text).into_iter().zip(&cases) {
        assert_eq!(outcome.as_deref(), *expected, "{case}");
    }
}

impl Subject for LocalWorkspace {
    type Refusal = WapError;

    const NAME: &'static str = "local-workspace";
    const READS_TEXT: bool = true;
    /// Every change is a commit of the journal too.
    const RACE_ROUNDS: u32 = 500;

    fn elsewhere(case: &Case) -> Option<&'static str> {
        let is_counted = case.operation == "edit" && case.has_racer("append");
        is_counted.then_some("sandbox-fs holds the replaced file, where late writes can be counted")
    }

    fn over(root: FileRoot, sandbox: &Sandbox) -> LocalWorkspace {
        let journal = Journal::in_memory().unwrap();
        fs::create_dir(sandbox.top().join("state")).unwrap();
        LocalWorkspace::open(root, journal, Fixture::at(sandbox.top()).config()).unwrap().0
    }

    fn perform(&self, case: &Case, sandbox: &Sandbox) -> Result<Reply, WapError> {
        let path = case.path(sandbox);
        match case.operation.as_str() {
            "read" => read(self, case, path),
            "write" => change(self, write(path, WriteMode::Overwrite)),
            "append" => change(self, write(path, WriteMode::Append)),
            "edit" => {
                let line = |key: &str| case.arguments[key].as_i64().unwrap_or(1);
                let content = case.arguments["content"].as_str().unwrap_or("edited");
                change(self, replace(&path, (line("start_line"), line("end_line")), content, None))
            }
            "delete" => change(self, delete(&path)),
            "list" => list(self, case, path),
            "search" => search(self, case, path),
            other => panic!("the operation '{other}' is not understood"),
        }
    }

    fn text(refusal: &WapError) -> String {
        serde_json::to_string(refusal).unwrap()
    }

    fn fits(code: &str, refusal: &WapError) -> bool {
        use Reason as R;
        let reason = refusal.reason();
        let is_missing = matches!(reason, R::FileNotFound | R::PathNotFound | R::DirectoryNotFound);
        match code {
            "OUTSIDE_WORKSPACE" => reason == R::PathEscapeAttempt,
            "NOT_FOUND" | "ROOT_GONE" | "ROOT_REPLACED" => is_missing,
            "INVALID_PATH" => {
                is_missing
                    || matches!(reason, R::InvalidName | R::NotAFile | R::NotADirectory | R::Protected)
                    || reason == R::PathEscapeAttempt
            }
            "PROTECTED" => reason == R::Protected,
            "NOT_REGULAR" | "IS_DIRECTORY" | "ROOT" => reason == R::NotAFile,
            "NOT_A_DIRECTORY" => reason == R::NotADirectory || is_missing,
            "PERMISSION_DENIED" => matches!(reason, R::OsPermission | R::ReadOnly),
            "LOOP" => reason == R::IsSymlink,
            "TOO_DEEP" => reason == R::InvalidName,
            "HARDLINK" => reason == R::OsPermission,
            "NO_SPACE" => reason == R::NoSpace,
            "CONFLICT" => reason == R::Conflict,
            "IS_SYMLINK" => {
                reason == R::IsSymlink && refusal.detail("target").is_some_and(|target| target.is_string())
            }
            "SIZE_LIMIT_EXCEEDED" => reason == R::FileTooLarge,
            "INVALID_ARGUMENT" => refusal.code() == ErrorCode::InvalidArgument,
            other => panic!("the code '{other}' is not understood"),
        }
    }

    fn kept(_: &WapError) -> &[u8] {
        &[]
    }
}

fn read(workspace: &LocalWorkspace, case: &Case, path: String) -> Result<Reply, WapError> {
    let line = |key: &str| case.arguments[key].as_i64();
    let request =
        ReadFile { path, start_line: line("startLine"), end_line: line("endLine"), ..ReadFile::default() };
    let response = workspace.read_file(&Caller::once().call(), &request)?;
    Ok(Reply { content: response.content.into_bytes(), truncated: response.is_truncated, ..Reply::default() })
}

fn write(path: String, mode: WriteMode) -> FileChange {
    FileChange::Write(WriteFile {
        path,
        content: NEW_TEXT.to_owned(),
        mode: Some(mode),
        create_directories: Some(true),
        judged: None,
    })
}

fn change(workspace: &LocalWorkspace, change: FileChange) -> Result<Reply, WapError> {
    let warnings = match workspace.change_files(&Caller::once().call(), &[change])?.remove(0)? {
        FileChanged::Written(written) => written.warnings,
        FileChanged::Modified(modified) => modified.warnings,
        FileChanged::Deleted(deleted) => deleted.warnings,
    };
    Ok(Reply { is_flagged: Some(!warnings.is_empty()), ..Reply::default() })
}

fn list(workspace: &LocalWorkspace, case: &Case, path: String) -> Result<Reply, WapError> {
    let request = ExploreFiles {
        path,
        recursive: case.arguments["recursive"].as_bool(),
        max_depth: case.arguments["maxDepth"].as_i64(),
        return_metadata: Some(true),
        ..ExploreFiles::default()
    };
    let response = workspace.explore_files(&Caller::once().call(), &request)?;
    let entry = |entry: ExploredFile| (entry.path.clone(), kind(&entry));
    Ok(Reply {
        entries: response.files.into_iter().map(entry).collect(),
        truncated: response.is_truncated || !response.warnings.is_empty(),
        ..Reply::default()
    })
}

fn kind(entry: &ExploredFile) -> FileKind {
    match entry.kind {
        None if entry.is_directory => FileKind::Folder,
        None => FileKind::File,
        Some(EntryKind::Symlink) => FileKind::Link,
        Some(EntryKind::Fifo) => FileKind::Fifo,
        Some(EntryKind::Socket) => FileKind::Socket,
        Some(EntryKind::Device) => FileKind::CharDevice,
    }
}

fn search(workspace: &LocalWorkspace, case: &Case, path: String) -> Result<Reply, WapError> {
    let is_regex = case.arguments["type"] == "regex";
    let request = SearchFiles {
        paths: vec![path],
        query: case.arguments["query"].as_str().unwrap().to_owned(),
        query_type: if is_regex { QueryType::Regex } else { QueryType::Literal },
        recursive: None,
        exclude_patterns: None,
        context_lines: None,
        respect_gitignore: None,
        withheld: None,
    };
    let response = workspace.search_files(&Caller::once().call(), &request)?;
    let texts: Vec<String> = response.matches.iter().map(|entry| entry.match_text.clone()).collect();
    Ok(Reply {
        content: texts.join("\n").into_bytes(),
        matches: response.matches.len() as u64,
        skipped_folder: !response.warnings.is_empty(),
        truncated: response.is_truncated,
        ..Reply::default()
    })
}

//! The examples of the WAP 1.0 document, and the exact names of its responses.

use serde_json::{Value, json};
use wap_core::*;

/// Every usage example of the document, in its order.
pub(crate) fn examples() -> Vec<(&'static str, Value)> {
    vec![
        ("exploreFiles", json!({ "path": "src" })),
        ("executeCommand", json!({ "command": "npm run dev", "background": "web", "ready": "Listening on" })),
        ("stopProcess", json!({ "name": "web" })),
        (
            "exploreFiles",
            json!({ "path": ".", "recursive": true, "excludePatterns": ["**/node_modules/**", "**/.git/**"] }),
        ),
        ("readFile", json!({ "path": "src/app.js" })),
        ("readFile", json!({ "path": "src/app.js", "startLine": 10, "endLine": 20 })),
        (
            "writeFile",
            json!({
                "path": "src/utils/helper.js",
                "content": "function helper() { return true; }",
                "createDirectories": true
            }),
        ),
        ("writeFile", json!({ "path": "logs/app.log", "content": "New log entry", "mode": "append" })),
        (
            "modifyFile",
            json!({
                "path": "src/components/Button.jsx",
                "operations": [{
                    "type": "replace",
                    "startLine": 5,
                    "endLine": 10,
                    "newContent":
                        "// New implementation\nfunction Button() {\n  return <button>Click me</button>;\n}"
                }]
            }),
        ),
        (
            "modifyFile",
            json!({
                "path": "src/api/client.js",
                "operations": [{
                    "type": "regexReplace",
                    "pattern": "oldAPI\\.method\\(([^)]+)\\)",
                    "replacement": "newAPI.improvedMethod($1)",
                    "flags": "g"
                }]
            }),
        ),
        (
            "searchFiles",
            json!({
                "paths": ["src"],
                "query": "TODO:",
                "type": "literal",
                "recursive": true,
                "excludePatterns": ["**/node_modules/**"],
                "contextLines": 2
            }),
        ),
        (
            "searchFiles",
            json!({
                "paths": ["src/api"],
                "query": "api\\.(get|post|put|delete)\\(",
                "type": "regex",
                "recursive": true
            }),
        ),
        ("executeCommand", json!({ "command": "npm test", "workingDirectory": "packages/frontend" })),
        ("executeCommand", json!({ "command": "npm install lodash --save", "timeout": 60000 })),
        ("getWorkspaceInfo", json!({})),
    ]
}

/// The request as JSON, as a client would send it.
pub(crate) fn arguments(request: &Request) -> Value {
    match request {
        Request::ExploreFiles(request) => json!(request),
        Request::ReadFile(request) => json!(request),
        Request::WriteFile(request) => json!(request),
        Request::ModifyFile(request) => json!(request),
        Request::DeleteFile(request) => json!(request),
        Request::SearchFiles(request) => json!(request),
        Request::ExecuteCommand(request) => json!(request),
        Request::StopProcess(request) => json!(request),
        Request::GetWorkspaceInfo => json!({}),
    }
}

#[test]
fn examples_survive_a_round_trip() {
    for (tool, example) in examples() {
        let request = Request::parse(tool, example.clone()).unwrap();
        assert_eq!(request.tool().name(), tool);
        assert_eq!(arguments(&request), example, "{tool}");
    }
}

#[test]
fn operations_of_every_kind_survive_a_round_trip() {
    let operations = json!([
        { "type": "replace", "startLine": 1, "endLine": 2, "newContent": "x" },
        { "type": "insert", "afterLine": 0, "newContent": "" },
        { "type": "delete", "startLine": 3, "endLine": 3 },
        { "type": "regexReplace", "pattern": "a", "replacement": "b" },
    ]);
    let example = json!({ "path": "a", "operations": operations, "expectedVersion": "v1" });
    let request = Request::parse("modifyFile", example.clone()).unwrap();
    assert_eq!(arguments(&request), example);
}

fn line(response: impl Into<Response>) -> String {
    serde_json::to_string(&response.into()).unwrap()
}

/// One response of every tool with every field of the document and none of the extensions that may be absent.
pub(crate) fn responses() -> Vec<Response> {
    let metadata = |path: &str| FileMetadata {
        path: path.into(),
        size: 12,
        is_directory: false,
        last_modified: "2026-01-02T03:04:05Z".into(),
    };
    let explored = ExploredFile {
        path: "src/a.rs".into(),
        is_directory: false,
        metadata: Some(metadata("src/a.rs")),
        kind: None,
    };
    let hit = SearchMatch {
        path: "a".into(),
        line: 2,
        match_text: "hit".into(),
        context_before: vec!["1".into()],
        context_after: vec!["3".into()],
    };
    vec![
        Response::ExploreFiles(ExploreFilesResponse {
            files: vec![explored],
            is_truncated: false,
            total_found: 1,
            warnings: vec![],
        }),
        Response::ReadFile(ReadFileResponse {
            content: "x\n".into(),
            metadata: metadata("a"),
            is_truncated: false,
            total_lines: 1,
            returned_lines: 1,
            version: None,
            warnings: vec![],
        }),
        Response::WriteFile(WriteFileResponse {
            success: true,
            path: "a".into(),
            bytes_written: 2,
            version: None,
            created: true,
            lines_added: 1,
            lines_removed: 0,
            changed: None,
            warnings: vec![],
        }),
        Response::ModifyFile(ModifyFileResponse {
            success: true,
            path: "a".into(),
            version: None,
            previous_version: None,
            shifts: vec![LineShift { from_line: 3, by: -2 }],
            carried: Vec::new(),
            replacements: Vec::new(),
            lines_added: 0,
            lines_removed: 2,
            changed: Some(ChangedLines {
                first_line: 1,
                last_line: 1,
                text: "1|x\n".into(),
                notes: vec!["line 1 repeats line 2".into()],
            }),
            warnings: vec![],
        }),
        Response::DeleteFile(DeleteFileResponse { success: true, path: "a".into(), warnings: Vec::new() }),
        Response::SearchFiles(SearchFilesResponse {
            matches: vec![hit],
            is_truncated: false,
            total_matches: 1,
            skipped: Skipped::default(),
            warnings: vec![],
            has_undecided: false,
        }),
        Response::ExecuteCommand(ExecuteCommandResponse {
            stdout: "o".into(),
            stderr: "e".into(),
            exit_code: 0,
            is_output_truncated: false,
            duration_ms: 7,
            signal: None,
            background: None,
            whole_output: None,
            sandbox: "level=full".into(),
            warnings: vec![],
            denied: Vec::new(),
        }),
        Response::StopProcess(StopProcessResponse {
            name: "web".into(),
            had_ended: false,
            exit_code: Some(143),
            output: "o".into(),
            is_output_truncated: false,
            duration_ms: 7,
            warnings: vec![],
            denied: vec![],
        }),
        Response::GetWorkspaceInfo(WorkspaceInfo {
            root: "/w".into(),
            default_exclusions: vec!["**/.git/**".into()],
            limits: Limits::default(),
            sandbox: "level=full".into(),
            warnings: vec![],
        }),
    ]
}

#[test]
fn responses_carry_the_names_of_the_document() {
    let lines: Vec<String> = responses().into_iter().map(line).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"files":[{"path":"src/a.rs","isDirectory":false,"metadata":{"path":"src/a.rs","size":12,"isDirectory":false,"lastModified":"2026-01-02T03:04:05Z"}}],"isTruncated":false,"totalFound":1}
    {"content":"x\n","metadata":{"path":"a","size":12,"isDirectory":false,"lastModified":"2026-01-02T03:04:05Z"},"isTruncated":false,"totalLines":1,"returnedLines":1}
    {"success":true,"path":"a","bytesWritten":2,"created":true,"linesAdded":1,"linesRemoved":0}
    {"success":true,"path":"a","shifts":[{"fromLine":3,"by":-2}],"linesAdded":0,"linesRemoved":2,"changed":{"firstLine":1,"lastLine":1,"text":"1|x\n","notes":["line 1 repeats line 2"]}}
    {"success":true,"path":"a"}
    {"matches":[{"path":"a","line":2,"matchText":"hit","contextBefore":["1"],"contextAfter":["3"]}],"isTruncated":false,"totalMatches":1}
    {"stdout":"o","stderr":"e","exitCode":0,"isOutputTruncated":false,"durationMs":7,"sandbox":"level=full"}
    {"name":"web","hadEnded":false,"exitCode":143,"output":"o","isOutputTruncated":false,"durationMs":7}
    {"root":"/w","defaultExclusions":["**/.git/**"],"limits":{"maxFileSize":1048576,"maxDirectoryEntries":500,"maxSearchResults":100,"maxOutputSize":1048576,"maxExecutionTime":30000},"sandbox":"level=full"}
    "#);
}

#[test]
fn absolute_metadata_is_below_the_root() {
    let paths: Vec<String> = responses()
        .into_iter()
        .filter_map(|response| match response.with_absolute_metadata("/w/") {
            Response::ReadFile(response) => Some(response.metadata.path),
            Response::ExploreFiles(response) => Some(response.files[0].metadata.clone()?.path),
            _ => None,
        })
        .collect();
    assert_eq!(paths, ["/w/src/a.rs", "/w/a"]);
}

#[test]
fn default_limits_and_exclusions_are_those_of_the_document() {
    assert_eq!(
        json!(Limits::default()),
        json!({
            "maxFileSize": 1048576,
            "maxDirectoryEntries": 500,
            "maxSearchResults": 100,
            "maxOutputSize": 1048576,
            "maxExecutionTime": 30000
        })
    );
    insta::assert_snapshot!(DEFAULT_EXCLUSIONS.join(" "), @"**/node_modules/** **/.git/** **/dist/** **/build/** **/.venv/** **/target/** **/__pycache__/** **/vendor/**");
}

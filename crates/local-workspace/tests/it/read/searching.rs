//! Searching and listing: examined, excluded and counted entries.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use local_workspace::LocalWorkspace;
use serde_json::{Value, json};
use wap_core::*;

use crate::fixture::workspace::*;

fn search(workspace: &LocalWorkspace, request: Value) -> Result<SearchFilesResponse, WapError> {
    let mut whole = json!({ "paths": ["."], "type": "literal", "contextLines": 0 });
    for (key, value) in request.as_object().unwrap() {
        whole[key] = value.clone();
    }
    workspace.search_files(&Caller::once().call(), &serde_json::from_value(whole).unwrap())
}

/// The matches as `path:line:text`.
fn hits(workspace: &LocalWorkspace, request: Value) -> Vec<String> {
    let matches = search(workspace, request).unwrap().matches;
    matches.iter().map(|entry| format!("{}:{}:{}", entry.path, entry.line, entry.match_text)).collect()
}

fn listed(workspace: &LocalWorkspace, request: Value) -> Vec<String> {
    let mut whole = json!({ "path": ".", "recursive": true, "maxDepth": 9 });
    for (key, value) in request.as_object().unwrap() {
        whole[key] = value.clone();
    }
    let request = serde_json::from_value(whole).unwrap();
    let files = workspace.explore_files(&Caller::once().call(), &request).unwrap().files;
    files.into_iter().map(|file| file.path).collect()
}

#[test]
fn overlapping_paths_are_searched_once_in_the_order_of_their_bytes() {
    let fixture = Fixture::new();
    for path in ["b", "a/x", "a-b", "a/deep/y"] {
        fixture.put(path, "hit\n");
    }
    let workspace = fixture.open();
    let request = json!({ "query": "hit", "paths": ["b", "a", ".", "a/deep", "./a/x", "a/../b"] });
    assert_eq!(hits(&workspace, request), ["a-b:1:hit", "a/deep/y:1:hit", "a/x:1:hit", "b:1:hit"]);
}

#[test]
fn lines_and_their_context_have_no_endings() {
    let fixture = Fixture::new();
    fixture.put("crlf", "one\r\ntwo\r\nhit\r\nfour\r\nfive");
    fixture.put("mixed", "one\nhit\r\nthree\n");
    let workspace = fixture.open();
    let matches =
        search(&workspace, json!({ "query": "^hit$", "type": "regex", "contextLines": 1 })).unwrap().matches;
    let context: Vec<_> = matches
        .iter()
        .map(|entry| (&*entry.path, entry.line, &entry.context_before[..], &entry.context_after[..]))
        .collect();
    let text = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let (two, four, one, three) = (text(&["two"]), text(&["four"]), text(&["one"]), text(&["three"]));
    assert_eq!(context, [("crlf", 3, &two[..], &four[..]), ("mixed", 2, &one[..], &three[..])]);
}

#[test]
fn ends_of_lines_are_matched_whatever_ends_the_line() {
    const LINES: [&str; 7] = ["hit", "a hit", "hit;", "", "  ", "def f():", "x\thit"];
    let patterns = [
        "^hit$",
        "hit$",
        "^hit",
        r"^\s*$",
        "^$",
        r"[^;]$",
        r"def \w+\(\):$",
        r"\bhit\b",
        r"\s$",
        r"^\S+$",
        "hit|;$",
    ];
    let fixture = Fixture::new();
    let ended = |ending: &str, last: &str| LINES.join(ending) + last;
    let files = [("crlf", ended("\r\n", "\r\n")), ("lf", ended("\n", "\n")), ("open", ended("\n", ""))];
    for (path, text) in &files {
        fixture.put(path, text);
    }
    let workspace = fixture.open();
    for pattern in patterns {
        let line_by_line = regex::Regex::new(pattern).unwrap();
        let expected: Vec<String> = files
            .iter()
            .flat_map(|(path, _)| LINES.iter().enumerate().map(move |(index, line)| (path, index + 1, line)))
            .filter(|(_, _, line)| line_by_line.is_match(line))
            .map(|(path, number, line)| format!("{path}:{number}:{line}"))
            .collect();
        assert_eq!(hits(&workspace, json!({ "query": pattern, "type": "regex" })), expected, "{pattern}");
    }
}

#[test]
fn matches_near_each_other_are_context_of_each_other() {
    let fixture = Fixture::new();
    fixture.put("a", "1\nhit 2\nhit 3\n4\nhit 5\n6\n7\n8\n9\nhit 10\n");
    let workspace = fixture.open();
    let matches = search(&workspace, json!({ "query": "hit", "contextLines": 2 })).unwrap().matches;
    let around: Vec<_> = matches
        .iter()
        .map(|entry| {
            format!("{}|{}|{}", entry.context_before.join(","), entry.line, entry.context_after.join(","))
        })
        .collect();
    assert_eq!(around, ["1|2|hit 3,4", "1,hit 2|3|4,hit 5", "hit 3,4|5|6,7", "8,9|10|"]);
}

#[test]
fn files_that_are_no_text_are_skipped_and_counted() {
    let fixture = Fixture::new();
    let utf16: Vec<u8> =
        std::iter::once(0xfeff).chain("one\nhit\n".encode_utf16()).flat_map(u16::to_le_bytes).collect();
    fixture.put("utf16", utf16);
    fixture.put("utf8", "hit \u{e9}\n");
    fixture.put("latin1", b"hit caf\xe9\n");
    fixture.put("binary", b"hit\0hit\n");
    fixture.put("late nul", [&b"x\n".repeat(5_000)[..], b"\0\nhit\n"].concat());
    fixture.put("no final newline", "x\nhit");
    let workspace = fixture.open();
    let response = search(&workspace, json!({ "query": "hit" })).unwrap();
    let paths: Vec<_> = response.matches.iter().map(|entry| (&*entry.path, entry.line)).collect();
    assert_eq!(paths, [("late nul", 5_002), ("no final newline", 2), ("utf16", 2), ("utf8", 1)]);
    assert_eq!(response.skipped, Skipped { binary: 1, unreadable: 0, undecodable: 1 });
    // A file that is named is searched as far as that is possible.
    let response = search(&workspace, json!({ "query": "hit", "paths": ["latin1", "binary"] })).unwrap();
    assert_eq!(response.matches[0].match_text, "hit caf\u{fffd}");
    assert_eq!(response.skipped, Skipped { binary: 1, ..Skipped::default() });
}

#[test]
fn totals_are_true_past_the_limit() {
    let fixture = Fixture::new();
    (0..30).for_each(|file| fixture.put(&format!("f{file:02}"), "hit\n".repeat(10)));
    let workspace = fixture.open();
    let response = search(&workspace, json!({ "query": "hit" })).unwrap();
    assert_eq!((response.matches.len(), response.total_matches, response.is_truncated), (100, 300, true));
    assert_eq!(response.matches[99].path, "f09");
}

#[test]
fn links_are_searched_only_when_they_are_named() {
    let fixture = Fixture::new();
    fixture.put("d/a", "hit\n");
    symlink("d/a", fixture.root().join("to file")).unwrap();
    symlink("d", fixture.root().join("to folder")).unwrap();
    symlink(fixture.outside(), fixture.root().join("out")).unwrap();
    fs::write(fixture.outside().join("x"), "hit\n").unwrap();
    let workspace = fixture.open();
    for paths in [json!(["."]), json!(["to file"]), json!(["to folder"]), json!(["to file", "d"])] {
        assert_eq!(hits(&workspace, json!({ "query": "hit", "paths": paths })), ["d/a:1:hit"], "{paths}");
    }
    for path in ["out", "out/x"] {
        let error = search(&workspace, json!({ "query": "hit", "paths": [path] })).unwrap_err();
        assert_eq!(error.reason(), Reason::PathEscapeAttempt);
    }
}

#[test]
fn what_cannot_be_searched_is_said() {
    let fixture = Fixture::new();
    fixture.put("a", "hit\n");
    let workspace = fixture.open();
    let cases = [
        (json!({ "query": "" }), Reason::EmptyQuery),
        (json!({ "query": "hit", "paths": ["nope"] }), Reason::PathNotFound),
        (json!({ "query": "hit", "paths": ["a/b"] }), Reason::NotADirectory),
        (json!({ "query": "hit", "paths": [".."] }), Reason::PathEscapeAttempt),
        (json!({ "query": "hit", "contextLines": -1 }), Reason::InvalidField),
        (json!({ "query": "hit", "excludePatterns": ["[x"] }), Reason::InvalidGlob),
        (json!({ "query": "(?=x)", "type": "regex" }), Reason::InvalidRegex),
        (json!({ "query": "a\nb", "type": "regex" }), Reason::InvalidRegex),
    ];
    for (request, reason) in cases {
        assert_eq!(search(&workspace, request.clone()).unwrap_err().reason(), reason, "{request}");
    }
}

#[test]
fn search_ends_when_its_caller_no_longer_waits() {
    let fixture = Fixture::new();
    fixture.put("a", "hit\n");
    let workspace = fixture.open();
    let request: SearchFiles =
        serde_json::from_value(json!({ "paths": ["."], "query": "hit", "type": "literal" })).unwrap();
    let hurried = Caller { time_left: Some(Duration::ZERO), ..Caller::once() };
    let response = workspace.search_files(&hurried.call(), &request).unwrap();
    assert!(response.is_truncated && !response.warnings.is_empty(), "{response:?}");
    let caller = Caller::once();
    caller.cancel.cancel();
    assert_eq!(workspace.search_files(&caller.call(), &request).unwrap_err().reason(), Reason::Cancelled);
}

#[test]
fn one_huge_file_does_not_keep_a_caller_who_has_left() {
    let fixture = Fixture::new();
    // Some text, and then a hole that takes no space and a long time to read.
    fixture.put("huge", "x\n".repeat(8_192));
    let file = fs::OpenOptions::new().write(true).open(fixture.root().join("huge")).unwrap();
    file.set_len(1 << 40).unwrap();
    let workspace = fixture.open();
    let caller = Caller::once();
    // In the hole there is no line to be found.
    let range =
        ReadFile { path: "huge".into(), start_line: Some(20_000), end_line: None, ..ReadFile::default() };
    let hurried = Caller { time_left: Some(Duration::from_millis(200)), ..Caller::once() };
    let error = workspace.read_file(&hurried.call(), &range).unwrap_err();
    assert_eq!(error.reason(), Reason::Timeout);
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            caller.cancel.cancel();
        });
        workspace.read_file(&caller.call(), &range).unwrap_err()
    });
    assert_eq!(error.reason(), Reason::Cancelled);
    // Matches are not withheld because later ones cannot all be counted.
    let near = ReadFile { start_line: Some(1), end_line: Some(2), ..range };
    let read = workspace.read_file(&Caller::once().call(), &near).unwrap();
    assert_eq!((read.content.as_str(), read.version), ("x\nx\n", None));
    // A line that never ends is not held in memory.
    let response = search(&workspace, json!({ "query": "hit" })).unwrap();
    assert!(response.is_truncated && response.warnings.len() == 1, "{response:?}");
}

/// A tree with rules of git in several folders.
fn ignoring(fixture: &Fixture) {
    fixture.put(".gitignore", "*.log\n/build/\n!keep.log\ndocs/*.tmp\n");
    fixture.put(".git/info/exclude", "private\n*.bak\n");
    fixture.put(".git/config", "[core]\n");
    fixture.put("sub/.gitignore", "!here.log\nsecret.txt\nnested/*\n!nested/kept\n");
    fixture.put("sub/deep/.gitignore", "# a comment\n\nlocal\n!x.bak\n");
    for path in [
        "a.txt",
        "a.log",
        "keep.log",
        "build/out",
        "sub/build/kept",
        "docs/x.tmp",
        "docs/deep/x.tmp",
        "private",
        "x.bak",
        "sub/here.log",
        "sub/other.log",
        "sub/secret.txt",
        "sub/nested/gone",
        "sub/nested/kept",
        "sub/deep/local",
        "sub/deep/secret.txt",
        "sub/deep/x.bak",
        "sub/deep/here.log",
        "secret.txt",
    ] {
        fixture.put(path, "hit\n");
    }
}

/// The paths of that tree that git would list.
const NOT_IGNORED: [&str; 9] = [
    "a.txt",
    "docs/deep/x.tmp",
    "keep.log",
    "secret.txt",
    "sub/build/kept",
    "sub/deep/here.log",
    "sub/deep/x.bak",
    "sub/here.log",
    "sub/nested/kept",
];

#[test]
fn git_ignores_what_its_files_say_in_every_folder() {
    let fixture = Fixture::new();
    ignoring(&fixture);
    let workspace = fixture.open();
    let request = json!({ "query": "hit", "respectGitignore": true, "excludePatterns": [] });
    let response = search(&workspace, request).unwrap();
    let paths: Vec<_> = response.matches.iter().map(|entry| &*entry.path).collect();
    assert_eq!(paths, NOT_IGNORED);
    let request = json!({ "respectGitignore": true, "excludePatterns": [] });
    let files: Vec<_> = listed(&workspace, request)
        .into_iter()
        .filter(|path| fixture.root().join(path).is_file() && !path.ends_with(".gitignore"))
        .collect();
    assert_eq!(files, NOT_IGNORED);
    // Without being asked for, git has no say.
    assert!(listed(&workspace, json!({ "excludePatterns": [] })).contains(&"a.log".to_owned()));
}

#[test]
fn git_itself_agrees_about_what_is_ignored() {
    let fixture = Fixture::new();
    ignoring(&fixture);
    let git = |arguments: &[&str]| {
        let output = std::process::Command::new("git")
            .args(arguments)
            .current_dir(fixture.root())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .output()
            .expect("this test needs git");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let rules = fs::read(fixture.root().join(".git/info/exclude")).unwrap();
    fs::remove_dir_all(fixture.root().join(".git")).unwrap();
    git(&["init", "--quiet"]);
    fs::write(fixture.root().join(".git/info/exclude"), rules).unwrap();
    let listed = git(&["ls-files", "--others", "--exclude-standard"]);
    let mut listed: Vec<_> = listed.lines().filter(|path| !path.ends_with(".gitignore")).collect();
    listed.sort_unstable();
    assert_eq!(listed, NOT_IGNORED);
}

#[test]
fn rules_of_git_that_are_not_obeyed_are_named() {
    let fixture = Fixture::new();
    fixture.put("sub/.gitignore", "*.log\n".repeat(2_000));
    fixture.put("sub/a.log", "hit\n");
    let workspace = fixture.open();
    let request = |git: bool| json!({ "query": "hit", "respectGitignore": git, "excludePatterns": [] });
    let response = search(&workspace, request(true)).unwrap();
    assert_eq!(response.matches.len(), 1);
    assert!(response.warnings[0].contains("`sub/.gitignore`"), "{response:?}");
    let explored: ExploreFiles =
        serde_json::from_value(json!({ "path": ".", "recursive": true, "respectGitignore": true })).unwrap();
    let explored = workspace.explore_files(&Caller::once().call(), &explored).unwrap();
    assert!(explored.files.iter().any(|file| file.path == "sub/a.log"), "{explored:?}");
    assert_eq!(explored.warnings, response.warnings);
    // Control: without git's rules there is nothing to say.
    assert_eq!(search(&workspace, request(false)).unwrap().warnings, [""; 0]);
}

#[test]
fn folder_that_is_named_is_not_excluded_and_what_is_in_it_is() {
    let fixture = Fixture::new();
    for path in ["target/a", "target/sub/b", "target/node_modules/c", "src/target/d"] {
        fixture.put(path, "hit\n");
    }
    let workspace = fixture.open();
    assert_eq!(listed(&workspace, json!({ "path": "target" })), ["target/a", "target/sub", "target/sub/b"]);
    assert_eq!(listed(&workspace, json!({})), ["src"]);
    let request = json!({ "query": "hit", "paths": ["target"] });
    assert_eq!(hits(&workspace, request), ["target/a:1:hit", "target/sub/b:1:hit"]);
    assert!(hits(&workspace, json!({ "query": "hit" })).is_empty());
}

#[test]
fn links_and_special_files_are_listed_with_their_kind_and_not_entered() {
    let fixture = Fixture::new();
    fixture.put("d/a", "x");
    symlink("d", fixture.root().join("link")).unwrap();
    symlink("/etc", fixture.root().join("out")).unwrap();
    let fifo = fixture.root().join("fifo");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(fixture.root().join("socket")).unwrap();
    let workspace = fixture.open();
    let request = ExploreFiles {
        path: ".".into(),
        recursive: Some(true),
        return_metadata: Some(true),
        ..ExploreFiles::default()
    };
    let response = workspace.explore_files(&Caller::once().call(), &request).unwrap();
    let kinds: Vec<_> =
        response.files.iter().map(|file| (&*file.path, file.is_directory, file.kind)).collect();
    let expected = [
        ("d", true, None),
        ("d/a", false, None),
        ("fifo", false, Some(EntryKind::Fifo)),
        ("link", false, Some(EntryKind::Symlink)),
        ("out", false, Some(EntryKind::Symlink)),
        ("socket", false, Some(EntryKind::Socket)),
    ];
    assert_eq!(kinds, expected);
    let metadata: Vec<_> = response.files.iter().map(|file| file.metadata.clone().unwrap()).collect();
    assert_eq!((metadata[1].size, &*metadata[1].path), (1, "d/a"));
    assert!(metadata[1].last_modified.ends_with('Z'), "{metadata:?}");
}

#[test]
fn credentials_of_git_are_neither_read_nor_found() {
    let fixture = Fixture::new();
    let config = "[remote \"origin\"]\n\turl = https://me:s3cret@host/x.git\n[http]\n\textraheader = AUTHORIZATION: basic s3cret\n";
    for folder in [".git", "vendor/x/.git", ".git/modules/y"] {
        fixture.put(&format!("{folder}/config"), config);
    }
    symlink(".git/config", fixture.root().join("link")).unwrap();
    let workspace = fixture.open();
    for path in
        [".git/config", "vendor/x/.git/config", ".git/modules/y/config", "link", "vendor/../.git/config"]
    {
        let response = read(&workspace, path).unwrap();
        assert!(response.content.contains("url = https://***@host/x.git\n"), "{response:?}");
        assert!(!format!("{response:?}").contains("s3cret"), "{response:?}");
        let request = json!({ "query": "s3cret", "paths": [path] });
        assert_eq!(search(&workspace, request).unwrap().total_matches, 0, "{path}");
        let request = json!({ "query": "url", "paths": [path], "contextLines": 20 });
        let response = search(&workspace, request).unwrap();
        assert_eq!(response.total_matches, 1, "{path}");
        assert!(!format!("{response:?}").contains("s3cret"), "{response:?}");
    }
    let request = json!({ "query": "s3cret", "excludePatterns": [] });
    assert_eq!(search(&workspace, request).unwrap().total_matches, 0);
}

#[test]
fn withheld_files_are_passed_over_whatever_they_hold() {
    let fixture = Fixture::new();
    for path in [".env", "a/.ENV.local", "a/server.key", "certs/ca.pem", "certs/tls.pem", "z.txt"] {
        fixture.put(path, "hit\n".repeat(60));
    }
    fixture.put("binary.key", "a\0b");
    symlink(".env", fixture.root().join("link")).unwrap();
    let workspace = fixture.open();
    let answer = |request: Value| search(&workspace, request).unwrap();
    let withheld = json!({ "granted": ["a/*.key"], "harmless": ["certs/ca.pem"] });
    for paths in [json!(["."]), json!([".", ".env", "link"]), json!(["a", "certs", "z.txt", "binary.key"])] {
        let response = answer(json!({ "query": "hit", "paths": paths, "withheld": withheld }));
        assert_eq!(
            (response.total_matches, response.matches.len(), response.has_undecided),
            (180, 100, true),
            "{paths}"
        );
        assert!(
            response.matches.iter().all(|entry| ["a/server.key", "certs/ca.pem"].contains(&&*entry.path))
        );
        assert!(response.skipped.is_empty());
        assert_eq!(
            response.warnings,
            ["matches are left out: search fewer 'paths', or for a longer text"],
            "{paths}"
        );
    }
    let response = answer(json!({ "query": "hit", "paths": ["a"], "withheld": withheld }));
    assert_eq!((response.total_matches, response.has_undecided), (60, false));
    // The control: without the rule, they count.
    let response = answer(json!({ "query": "hit", "paths": ["."] }));
    assert_eq!((response.total_matches, response.skipped.binary), (360, 1));
    assert_eq!(response.matches[0].path, ".env");
}

//! Searching on several threads: the same answer as one line after the other would give, and refusals that help.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use local_workspace::LocalWorkspace;
use proptest::prelude::*;
use serde_json::{Value, json};
use wap_core::{Reason, SearchFiles, SearchFilesResponse, SearchMatch, WapError, Workspace};

use crate::fixture::workspace::{Caller, Fixture};

fn search(workspace: &LocalWorkspace, request: Value) -> Result<SearchFilesResponse, WapError> {
    let request: SearchFiles = serde_json::from_value(request).unwrap();
    workspace.search_files(&Caller::once().call(), &request)
}

fn literal(workspace: &LocalWorkspace, query: &str) -> SearchFilesResponse {
    search(workspace, json!({"paths": ["."], "query": query, "type": "literal"})).unwrap()
}

#[test]
fn expressions_that_cannot_be_used_are_refused_by_name() {
    let fixture = Fixture::new();
    fixture.put("a", "x");
    let workspace = fixture.open();
    let cases = [
        ("(?=x)", Some("look-around"), "look-around"),
        ("(?<!a)b", Some("look-around"), "look-around"),
        (r"(a)\1", Some("a back-reference"), "back-reference"),
        (r"(?P<n>a)\k<n>", Some("a back-reference"), "back-reference"),
        ("(?>a)", Some("an atomic group"), "atomic"),
        (r"\w{1000}{1000}", Some("too large"), "bytes when compiled"),
        ("(unclosed", None, "unclosed group"),
        ("a{3,1}", None, "repetition"),
        (r"a\nb", None, "line by line"),
    ];
    for (query, construct, says) in cases {
        let error = search(&workspace, json!({"paths": ["."], "query": query, "type": "regex"})).unwrap_err();
        assert_eq!(error.reason(), Reason::InvalidRegex, "{query}");
        assert_eq!(error.detail("construct").and_then(Value::as_str), construct, "{query}");
        assert!(error.message().contains(says), "{query}: {error}");
        assert_eq!(error.detail("field").and_then(Value::as_str), Some("query"));
    }
}

#[test]
fn query_that_no_line_can_match_is_refused_and_a_huge_one_too() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let refused = |query: &str, query_type: &str| {
        search(&workspace, json!({"paths": ["."], "query": query, "type": query_type})).unwrap_err().reason()
    };
    assert_eq!(refused("two\nlines", "literal"), Reason::InvalidField);
    assert_eq!(refused(&"x".repeat(1 << 17), "literal"), Reason::RequestTooLarge);
    assert_eq!(refused(&"(".repeat(10_000), "regex"), Reason::InvalidRegex);
    assert_eq!(refused("", "regex"), Reason::EmptyQuery);
}

#[test]
fn characters_of_expressions_mean_nothing_in_a_text() {
    let fixture = Fixture::new();
    fixture.put("a", "f(x) [y] $ ^ \\d (?=z)\nfx\n");
    let workspace = fixture.open();
    for query in ["f(x)", "[y] $ ^", "\\d (?=z)"] {
        let response = literal(&workspace, query);
        assert_eq!((response.total_matches, response.matches[0].line), (1, 1), "{query}");
    }
}

/// Returns the expected matches of a search, line by line.
fn expected(
    files: &BTreeMap<String, Vec<String>>,
    query: &str,
    context: usize,
    most: usize,
) -> (Vec<SearchMatch>, u64) {
    let mut matches = Vec::new();
    let mut total = 0;
    for (path, lines) in files {
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| line.contains(query)) {
            total += 1;
            if matches.len() < most {
                matches.push(SearchMatch {
                    path: path.clone(),
                    line: index as u64 + 1,
                    match_text: line.clone(),
                    context_before: lines[index.saturating_sub(context)..index].to_vec(),
                    context_after: lines[index + 1..(index + 1 + context).min(lines.len())].to_vec(),
                });
            }
        }
    }
    (matches, total)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn several_threads_answer_what_one_after_the_other_would(
        files in proptest::collection::btree_map(
            "[ab]{1,2}/[a-c.]{0,2}x[a-c]",
            proptest::collection::vec("[xyz ]{0,3}", 0..12),
            0..150,
        ),
        query in "[xy]{1,2}",
        context in 0..4_usize,
        most in 1..40_u32,
        ending in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let fixture = Fixture::new();
        // `btree_map` sorts by the bytes of the whole path, as the answer must.
        for (path, lines) in &files {
            fixture.put(path, lines.iter().map(|line| format!("{line}{ending}")).collect::<String>());
        }
        let mut config = fixture.config();
        config.limits.max_search_results = most;
        let workspace = fixture.open_with(fixture.open_journal(), config).0;
        // One start, and several that overlap.
        let starts = if files.is_empty() { vec![vec!["."]] } else { vec![vec!["."], vec![".", "./", "."]] };
        for paths in starts {
            let request = json!({"paths": paths, "query": query, "type": "literal", "contextLines": context});
            let response = search(&workspace, request).unwrap();
            let (matches, total) = expected(&files, &query, context, most as usize);
            prop_assert_eq!(response.is_truncated, total > matches.len() as u64);
            prop_assert_eq!(response.total_matches, total);
            let of_cut = SearchFilesResponse::cut_warning(matches.len(), total);
            prop_assert_eq!(response.warnings, Vec::from_iter(of_cut));
            prop_assert_eq!(response.matches, matches);
        }
    }
}

#[test]
fn files_of_every_size_give_the_same_lines() {
    let fixture = Fixture::new();
    // Around what is read at first, what is searched in memory, and what is streamed.
    let sizes = [65_535, 65_536, 65_537, 262_143, 262_144, 262_145, 1_000_000];
    for size in sizes {
        let mut text = "filler line\n".repeat(size / 12 + 1);
        text.truncate(size - 8);
        text.push_str("\nneedle\n");
        assert_eq!(text.len(), size);
        fixture.put(&format!("{size:07}"), text);
    }
    let workspace = fixture.open();
    let response = literal(&workspace, "needle");
    let lines: Vec<_> = response.matches.iter().map(|one| (one.path.parse().unwrap(), one.line)).collect();
    let line_of = |size: usize| (size as u64 - 8).div_ceil(12) + 1;
    assert_eq!(lines, sizes.map(|size| (size, line_of(size))));
    assert!(
        response
            .matches
            .iter()
            .all(|one| one.context_before[0] == "filler line" && one.context_after.is_empty())
    );
}

#[test]
fn large_files_are_judged_like_small_ones() {
    let fixture = Fixture::new();
    let padding = "x".repeat(100) + "\n";
    let large = |head: &[u8]| [head, padding.repeat(4_000).as_bytes(), b"needle\n"].concat();
    fixture.put("binary", large(b"\0"));
    fixture.put("latin", [&large(b"")[..], b"caf\xe9\n"].concat());
    fixture.put("late-nul", large((padding.repeat(100) + "\0\n").as_bytes()));
    let utf16 = |text: &str| -> Vec<u8> {
        [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let text = String::from_utf8(large(b"")).unwrap();
    fixture.put("utf16", utf16(&text));
    fixture.put("utf16-small", utf16("a\nneedle\n"));
    fixture.put("marked", large(b"\xef\xbb\xbfneedle first\n"));
    let workspace = fixture.open();
    let response = literal(&workspace, "needle");
    let lines: Vec<_> = response.matches.iter().map(|one| (one.path.as_str(), one.line)).collect();
    let expected =
        [("late-nul", 4_102), ("marked", 1), ("marked", 4_002), ("utf16", 4_001), ("utf16-small", 2)];
    assert_eq!(lines, expected);
    assert_eq!(
        (response.skipped.binary, response.skipped.undecodable, response.skipped.unreadable),
        (1, 1, 0)
    );
    let named =
        search(&workspace, json!({"paths": ["latin"], "query": "needle", "type": "literal"})).unwrap();
    assert_eq!((named.total_matches, named.skipped.undecodable), (1, 0));
}

#[test]
fn names_that_are_no_text_are_found_and_can_be_named() {
    let fixture = Fixture::new();
    let folder = fixture.root().join(OsStr::from_bytes(b"d\xff"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join(OsStr::from_bytes(b"\xe9.txt")), "needle\n").unwrap();
    fs::write(folder.join(".gitignore"), "skip\n").unwrap();
    fs::write(folder.join("skip"), "needle\n").unwrap();
    let workspace = fixture.open();
    let request = json!({"paths": ["."], "query": "needle", "type": "literal", "respectGitignore": true});
    let response = search(&workspace, request).unwrap();
    let paths: Vec<_> = response.matches.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(paths, ["d\\xff/\\xe9.txt"]);
    let again = search(&workspace, json!({"paths": paths, "query": "needle", "type": "literal"})).unwrap();
    assert_eq!(again.matches, response.matches);
}

#[test]
fn search_without_any_time_says_so_and_is_a_part() {
    let fixture = Fixture::new();
    fixture.put("a", "needle\n");
    fixture.put("b/c", "needle\n");
    let workspace = fixture.open();
    let caller = Caller { time_left: Some(Duration::ZERO), ..Caller::once() };
    for paths in [json!(["."]), json!(["a", "b"])] {
        let request = json!({"paths": paths, "query": "needle", "type": "literal"});
        let request: SearchFiles = serde_json::from_value(request).unwrap();
        let response = workspace.search_files(&caller.call(), &request).unwrap();
        assert!(response.is_truncated && response.total_matches == 0);
        assert!(!response.warnings.is_empty());
    }
}

#[test]
fn one_bad_path_among_several_is_reported_before_anything_is_searched() {
    let fixture = Fixture::new();
    fixture.put("a", "needle\n");
    let workspace = fixture.open();
    for (path, reason) in [("nope", Reason::PathNotFound), ("../x", Reason::PathEscapeAttempt)] {
        let request = json!({"paths": ["a", ".", path], "query": "needle", "type": "literal"});
        let error = search(&workspace, request).unwrap_err();
        assert_eq!(error.reason(), reason);
    }
}

#[test]
fn cancelling_ends_a_search_of_many_files() {
    let fixture = Fixture::new();
    for number in 0..3_000 {
        fixture.put(&format!("{:02}/{number}", number % 40), "some text\n".repeat(200));
    }
    let workspace = fixture.open();
    let caller = Caller::once();
    // An expression without literals, so that there is something to cancel.
    let request = json!({"paths": ["."], "query": r"(\w+ \w+){3}$|^\d", "type": "regex"});
    let request: SearchFiles = serde_json::from_value(request).unwrap();
    let start = Instant::now();
    let answer = std::thread::scope(|scope| {
        let searching = scope.spawn(|| workspace.search_files(&caller.call(), &request));
        std::thread::sleep(Duration::from_millis(5));
        caller.cancel.cancel();
        searching.join().unwrap()
    });
    // A machine that was done already has nothing to cancel.
    if let Err(error) = answer {
        assert_eq!(error.reason(), Reason::Cancelled);
    }
    assert!(start.elapsed() < Duration::from_secs(30));
    let caller = Caller::once();
    caller.cancel.cancel();
    let error = workspace.search_files(&caller.call(), &request).unwrap_err();
    assert_eq!(error.reason(), Reason::Cancelled);
}

#[test]
fn files_that_come_and_go_while_folders_are_searched_do_no_harm() {
    let fixture = Fixture::new();
    for number in 0..400 {
        fixture.put(&format!("d/{number:03}"), "needle\n");
    }
    let workspace = fixture.open();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _ends_in_any_case = Over(&is_over);
        scope.spawn(|| {
            let outside = fixture.outside().join("secret");
            fs::write(&outside, "needle outside\n").unwrap();
            for round in (0..400).cycle() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let path = fixture.root().join(format!("d/{round:03}"));
                fs::remove_file(&path).unwrap();
                std::os::unix::fs::symlink(&outside, &path).unwrap();
                fs::remove_file(&path).unwrap();
                fs::write(&path, "needle\n").unwrap();
            }
        });
        for _ in 0..30 {
            let response = literal(&workspace, "needle");
            assert!(response.matches.iter().all(|one| one.match_text == "needle"));
            assert!(
                response.total_matches <= 400 && response.total_matches >= 390,
                "{}",
                response.total_matches
            );
        }
    });
}

/// Tells the other thread that it is over, after a failure too.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

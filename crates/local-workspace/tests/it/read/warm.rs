//! A workspace that keeps a list of files answers what one without it answers, whatever was done before the question.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use file_index::{IndexLimits, IndexPhase, IndexReport};
use local_workspace::{EngineConfig, LocalWorkspace};
use proptest::prelude::*;
use serde_json::{Value, json};
use wap_core::{ExploreFiles, Limits, SearchFiles, Workspace};

use crate::fixture::workspace::{Caller, Fixture, change, delete, run, write};

/// The same folder twice: with a list, and without.
struct Both {
    warm: LocalWorkspace,
    cold: LocalWorkspace,
}

/// The time after which a list that is not ready hangs. Some of these lists collect events for a minute.
const PATIENCE: Duration = Duration::from_secs(300);

impl Both {
    fn open(fixture: &Fixture) -> Both {
        Both::with_limits(fixture, IndexLimits::default())
    }

    fn with_limits(fixture: &Fixture, limits: IndexLimits) -> Both {
        Both::showing(Limits::default().max_directory_entries, fixture, limits)
    }

    /// With so many entries in a listing at most.
    fn showing(max_directory_entries: u32, fixture: &Fixture, limits: IndexLimits) -> Both {
        let open = || {
            let limits = Limits { max_directory_entries, ..Limits::default() };
            let config = EngineConfig { limits, ..fixture.config() };
            fixture.open_with(change_journal::Journal::in_memory().unwrap(), config).0
        };
        let (warm, cold) = (open(), open());
        // The first question begins the list.
        assert!(warm.keep_index(limits).unwrap().view().is_none());
        Both { warm, cold }
    }

    fn report(&self) -> IndexReport {
        self.warm.index_report().unwrap()
    }

    /// Waits until everything is known.
    fn settle(&self) {
        let start = Instant::now();
        while self.report().phase != IndexPhase::Ready {
            assert!(start.elapsed() < PATIENCE, "{:?}", self.report());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Checks whether the list answers, on a machine that has time for it.
    fn is_warm(&self) -> bool {
        let index = self.warm.keep_index(IndexLimits::default()).unwrap();
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if index.view().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }

    fn compare_search(&self, request: Value) -> Value {
        let request: SearchFiles = serde_json::from_value(request).unwrap();
        let warm = self.warm.search_files(&Caller::once().call(), &request);
        let cold = self.cold.search_files(&Caller::once().call(), &request);
        assert_eq!(warm, cold, "{request:?}");
        json!(warm.ok())
    }

    fn compare_list(&self, request: Value) -> Value {
        let request: ExploreFiles = serde_json::from_value(request).unwrap();
        let warm = self.warm.explore_files(&Caller::once().call(), &request);
        let cold = self.cold.explore_files(&Caller::once().call(), &request);
        assert_eq!(warm, cold, "{request:?}");
        json!(warm.ok())
    }

    fn compare_names(&self, request: Value, name: &str) -> Value {
        let request: ExploreFiles = serde_json::from_value(request).unwrap();
        let warm = self.warm.find_names(&Caller::once().call(), &request, name);
        let cold = self.cold.find_names(&Caller::once().call(), &request, name);
        assert_eq!(warm, cold, "{request:?} {name}");
        json!(warm.ok())
    }

    /// Every kind of question.
    fn compare(&self) {
        for query in ["needle", "thread", "aa", "a", "Zeile"] {
            self.compare_search(json!({"paths": ["."], "query": query, "type": "literal"}));
        }
        for query in [r"n\w+dle", "(?i)NEEDLE", "thr(ead|ee)", "^$", r"\bneedle\b|x{3}"] {
            self.compare_search(json!({"paths": ["."], "query": query, "type": "regex"}));
        }
        let needle = |paths: Value, more: Value| {
            let mut request = json!({"paths": paths, "query": "needle", "type": "literal"});
            request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            self.compare_search(request);
        };
        needle(json!(["."]), json!({"excludePatterns": []}));
        needle(json!(["."]), json!({"excludePatterns": ["**/b*", "a/**"]}));
        needle(json!(["."]), json!({"respectGitignore": true}));
        needle(json!(["."]), json!({"recursive": false}));
        needle(json!(["a", ".", "a/b"]), json!({}));
        needle(json!(["a"]), json!({}));
        needle(json!(["target"]), json!({}));
        needle(json!(["b/link"]), json!({}));
        needle(json!(["a/x", "."]), json!({}));
        for path in [".", "a", "a/b", "b/link"] {
            for more in [
                json!({}),
                json!({"recursive": true}),
                json!({"recursive": true, "maxDepth": 60, "excludePatterns": []}),
                json!({"recursive": true, "maxDepth": 60, "respectGitignore": true}),
                json!({"recursive": true, "maxDepth": 2}),
            ] {
                let mut request = more;
                request["path"] = json!(path);
                self.compare_list(request.clone());
                for pattern in ["*x*", "b/", "a/**", "**/b/*"] {
                    let mut request = request.clone();
                    request["pattern"] = json!(pattern);
                    self.compare_list(request);
                }
                self.compare_names(request, "b");
            }
        }
    }
}

/// Something that is done to the folder.
#[derive(Clone, Debug)]
enum Deed {
    /// By a call of the workspace.
    Write(usize, usize),
    Delete(usize),
    /// Behind its back.
    Put(usize, usize),
    Append(usize, usize),
    /// With the same size, and times set back.
    Overwrite(usize, usize),
    Remove(usize),
    Rename(usize, usize),
    Folder(usize),
    Symlink(usize, usize),
    HardLink(usize, usize),
    Mode(usize, u32),
    Ignore(usize, usize),
    /// Two folders or files change places.
    Exchange(usize, usize),
    /// A query in between, so that some entries have been examined and others not.
    Ask,
    Pause,
}

const PATHS: [&str; 18] = [
    "a",
    "a/x",
    "a/y",
    "a/b",
    "a/b/x",
    "a/b/c",
    "a/b/c/needle.txt",
    "a-b",
    "a-b/x",
    "a.b",
    "b",
    "b/x",
    "b/link",
    "x",
    "target",
    "target/x",
    "a/target/y",
    ".git/config",
];

const CONTENTS: [&[u8]; 9] = [
    b"needle\n",
    b"no thread\n",
    b"a needle and\nthree threads\n",
    b"",
    b"\0binary needle\n",
    b"latin \xe9 needle\n",
    b"\xff\xfen\0e\0e\0d\0l\0e\0\n\0",
    b"\xef\xbb\xbfneedle\nZeile aa\n",
    b"url = https://user:needle@host/\nneedl",
];

const IGNORES: [&str; 4] = ["x\n", "*.txt\n/b\n", "!x\nc/\n", ""];

fn deed() -> impl Strategy<Value = Deed> {
    let path = 0..PATHS.len();
    let content = 0..CONTENTS.len();
    prop_oneof![
        3 => (path.clone(), content.clone()).prop_map(|(path, content)| Deed::Write(path, content)),
        1 => path.clone().prop_map(Deed::Delete),
        4 => (path.clone(), content.clone()).prop_map(|(path, content)| Deed::Put(path, content)),
        2 => (path.clone(), content.clone()).prop_map(|(path, content)| Deed::Append(path, content)),
        3 => (path.clone(), content).prop_map(|(path, content)| Deed::Overwrite(path, content)),
        2 => path.clone().prop_map(Deed::Remove),
        4 => (path.clone(), path.clone()).prop_map(|(from, to)| Deed::Rename(from, to)),
        2 => path.clone().prop_map(Deed::Folder),
        1 => (path.clone(), path.clone()).prop_map(|(from, to)| Deed::Symlink(from, to)),
        1 => (path.clone(), path.clone()).prop_map(|(from, to)| Deed::HardLink(from, to)),
        1 => (path.clone(), prop::sample::select(vec![0, 0o444, 0o644, 0o755]))
            .prop_map(|(path, mode)| Deed::Mode(path, mode)),
        2 => (path.clone(), 0..IGNORES.len()).prop_map(|(path, rules)| Deed::Ignore(path, rules)),
        3 => (path.clone(), path).prop_map(|(one, other)| Deed::Exchange(one, other)),
        3 => Just(Deed::Ask),
        1 => Just(Deed::Pause),
    ]
}

fn carry_out(deed: &Deed, fixture: &Fixture, both: &Both) {
    let at = |path: usize| fixture.root().join(PATHS[path]);
    let make_parent = |path: &Path| drop(fs::create_dir_all(path.parent().unwrap()));
    // Much of it fails, because of what was done before. That is as good as any other deed.
    match deed {
        Deed::Write(path, content) => {
            if let Ok(text) = std::str::from_utf8(CONTENTS[*content]) {
                let _ = change(&both.warm, write(PATHS[*path], text));
            }
        }
        Deed::Delete(path) => drop(change(&both.warm, delete(PATHS[*path]))),
        Deed::Put(path, content) => {
            make_parent(&at(*path));
            let _ = fs::write(at(*path), CONTENTS[*content]);
        }
        Deed::Append(path, content) => {
            if let Ok(mut file) = fs::OpenOptions::new().append(true).open(at(*path)) {
                let _ = file.write_all(CONTENTS[*content]);
            }
        }
        Deed::Overwrite(path, content) => overwrite(&at(*path), CONTENTS[*content]),
        Deed::Remove(path) => {
            let _ = fs::remove_file(at(*path)).or_else(|_| fs::remove_dir_all(at(*path)));
        }
        Deed::Rename(from, to) => drop(fs::rename(at(*from), at(*to))),
        Deed::Folder(path) => drop(fs::create_dir_all(at(*path))),
        Deed::Symlink(from, to) => {
            let target: PathBuf = Path::new("..").join(PATHS[*to]);
            drop(symlink(target, at(*from)));
        }
        Deed::HardLink(from, to) => drop(fs::hard_link(at(*from), at(*to))),
        Deed::Mode(path, mode) => drop(fs::set_permissions(at(*path), fs::Permissions::from_mode(*mode))),
        Deed::Ignore(path, rules) => {
            let folder = if *path == 0 { fixture.root() } else { at(*path) };
            let _ = fs::write(folder.join(".gitignore"), IGNORES[*rules]);
        }
        Deed::Exchange(one, other) => {
            let aside = fixture.root().join("aside");
            let _ = fs::rename(at(*one), &aside);
            let _ = fs::rename(at(*other), at(*one));
            let _ = fs::rename(&aside, at(*other));
        }
        Deed::Ask => {
            both.compare_search(json!({"paths": ["."], "query": "needle", "type": "literal"}));
        }
        Deed::Pause => std::thread::sleep(Duration::from_millis(3)),
    }
}

/// Writes into the file as it is, without changing its size, and gives it its old times.
fn overwrite(path: &Path, content: &[u8]) {
    let Ok(metadata) = fs::symlink_metadata(path) else { return };
    if !metadata.is_file() {
        return;
    }
    let Ok(mut file) = fs::OpenOptions::new().write(true).open(path) else { return };
    let length = content.len().min(usize::try_from(metadata.size()).unwrap());
    let _ = file.write_all(&content[..length]);
    let _ = file.set_modified(metadata.modified().unwrap());
}

/// Gives every folder its bits back, so that the fixture can be removed.
fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o755));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn warm_and_cold_answer_the_same_after_whatever_was_done(
        first in proptest::collection::vec(deed(), 0..25),
        rounds in proptest::collection::vec((proptest::collection::vec(deed(), 1..8), any::<bool>()), 1..8),
        // Few, so that there are more than are shown.
        context_lines in prop::sample::select(vec![0, 1, 3, 500_u32]),
    ) {
        let fixture = Fixture::new();
        fs::create_dir_all(fixture.root().join("b")).unwrap();
        let limits = IndexLimits { collect: Duration::from_millis(1), ..IndexLimits::default() };
        let both = Both::showing(context_lines, &fixture, limits);
        for deed in &first {
            carry_out(deed, &fixture, &both);
        }
        // Also while the list is being made.
        both.compare();
        for (deeds, settles) in &rounds {
            if *settles {
                both.settle();
            }
            for deed in deeds {
                carry_out(deed, &fixture, &both);
            }
            both.compare();
        }
        both.settle();
        // A list that never answers would be right, too.
        prop_assert!(both.is_warm());
        both.compare();
        open_up(&fixture.root());
    }
}

#[test]
fn list_answers_patterns_and_shows_the_first_paths() {
    let fixture = Fixture::new();
    for number in 0..60 {
        fixture.put(&format!("src/deep/d{}/f{number:02}.rs", number % 7), "fn a() {}\n");
        fixture.put(&format!("src/f{number:02}.md"), "text\n");
    }
    fixture.put("target/debug/f.rs", "");
    let both = Both::showing(5, &fixture, IndexLimits::default());
    both.settle();
    assert!(both.is_warm());
    let paths = |answer: &Value| {
        let files = answer["files"].as_array().unwrap().iter();
        files.map(|file| file["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let by_name = both.compare_list(json!({"path": ".", "pattern": "*.rs"}));
    assert_eq!(by_name["totalFound"], 60);
    assert_eq!(by_name["isTruncated"], true);
    let first = ["f00", "f07", "f14", "f21", "f28"].map(|name| format!("src/deep/d0/{name}.rs"));
    assert_eq!(paths(&by_name), first);
    let by_path = both.compare_list(json!({"path": ".", "pattern": "src/**/d3/*.rs"}));
    assert_eq!(by_path["totalFound"], 9);
    assert_eq!(paths(&by_path)[0], "src/deep/d3/f03.rs");
    let folders = both.compare_list(json!({"path": "src", "pattern": "d?/"}));
    assert_eq!(folders["totalFound"], 7);
    let flat = both.compare_list(json!({"path": "src", "pattern": "*.rs", "recursive": false}));
    assert_eq!(flat["totalFound"], 0);
    let nothing = both.compare_list(json!({"path": "src", "pattern": "deep/**/*.rs"}));
    assert!(nothing["warnings"][0].as_str().unwrap().contains("src/deep/**/*.rs"), "{nothing}");
    // The list does not have what is left out by default, which is asked for here.
    let all = both.compare_list(json!({"path": ".", "pattern": "f.rs", "excludePatterns": []}));
    assert_eq!(paths(&all), ["target/debug/f.rs"]);
}

#[test]
fn change_is_seen_by_the_very_next_question() {
    let fixture = Fixture::new();
    for number in 0..300 {
        fixture.put(&format!("d{}/f{number}.txt", number % 7), "nothing to see\n");
    }
    let both = Both::open(&fixture);
    both.settle();
    let count = |query: &str| {
        let response = both.compare_search(json!({"paths": ["."], "query": query, "type": "literal"}));
        response["totalMatches"].as_u64().unwrap()
    };
    assert_eq!(count("needle"), 0);
    for round in 0..200 {
        // In place, by exchange, and by a call.
        fixture.put("d1/f1.txt", format!("needle{round}\n"));
        assert_eq!(count(&format!("needle{round}")), 1);
        fixture.put("d1/new", format!("needle{round}\n"));
        fs::rename(fixture.root().join("d1/new"), fixture.root().join("d2/f2.txt")).unwrap();
        assert_eq!(count(&format!("needle{round}")), 2);
        change(&both.warm, write("d3/f3.txt", &format!("needle{round}\n"))).unwrap();
        assert_eq!(count(&format!("needle{round}")), 3);
        assert!(both.is_warm());
    }
}

#[test]
fn what_a_command_does_is_seen() {
    let fixture = Fixture::new();
    fixture.put("a/one.txt", "needle\n");
    let both = Both::open(&fixture);
    both.settle();
    run(&both.warm, "mv a b; echo 'needle two' > b/two.txt; mkdir -p c/d/e; cp b/one.txt c/d/e/").unwrap();
    both.compare();
    let response = both.compare_search(json!({"paths": ["."], "query": "needle", "type": "literal"}));
    assert_eq!(response["totalMatches"], 3);
}

#[test]
fn folder_that_is_renamed_as_a_whole_is_followed() {
    let fixture = Fixture::new();
    for number in 0..2000 {
        fixture.put(&format!("old/deep/d{}/f{number}.txt", number % 50), format!("needle {number}\n"));
    }
    let both = Both::open(&fixture);
    both.settle();
    let before = both.compare_search(json!({"paths": ["."], "query": "needle 77", "type": "literal"}));
    fs::rename(fixture.root().join("old"), fixture.root().join("new")).unwrap();
    fixture.put("new/deep/d3/f3.txt", "needle 77 as well\n");
    let after = both.compare_search(json!({"paths": ["."], "query": "needle 77", "type": "literal"}));
    assert_eq!(after["totalMatches"].as_u64(), before["totalMatches"].as_u64().map(|count| count + 1));
    both.compare_list(json!({"path": "", "recursive": true, "maxDepth": 9}));
    both.settle();
    assert!(both.is_warm());
    fixture.put("new/deep/d3/f3.txt", "changed at its new place: needle 77\n");
    both.compare_search(json!({"paths": ["."], "query": "needle 77", "type": "literal"}));
    // Moved out, and changed there: none of our business any more.
    fs::rename(fixture.root().join("new/deep"), fixture.outside().join("deep")).unwrap();
    let gone = both.compare_search(json!({"paths": ["."], "query": "needle", "type": "literal"}));
    assert_eq!(gone["totalMatches"], 0);
}

#[test]
fn overflow_of_the_queue_and_very_many_files_at_once_are_survived() {
    let fixture = Fixture::new();
    fixture.put("first.txt", "needle\n");
    // The thread does not look before the queue is full.
    let limits = IndexLimits { collect: Duration::from_secs(60), ..IndexLimits::default() };
    let both = Both::with_limits(&fixture, limits);
    both.settle();
    let folder = fixture.root().join("many");
    fs::create_dir(&folder).unwrap();
    both.compare_search(json!({"paths": ["."], "query": "needle", "type": "literal"}));
    for number in 0..50_000 {
        fs::write(
            folder.join(format!("f{number:05}")),
            if number % 1000 == 0 { "needle\n" } else { "hay\n" },
        )
        .unwrap();
    }
    let response = both.compare_search(json!({"paths": ["."], "query": "needle", "type": "literal"}));
    assert_eq!(response["totalMatches"], 51);
    both.settle();
    assert!(both.report().restarts > 0, "the queue has not overflowed: {:?}", both.report());
    assert!(both.is_warm());
    let response = both.compare_search(json!({"paths": ["."], "query": "needle", "type": "literal"}));
    assert_eq!(response["totalMatches"], 51);
    both.compare_list(json!({"path": "", "recursive": true}));
}

#[test]
fn without_memory_the_answers_are_the_same_and_the_limit_holds() {
    let fixture = Fixture::new();
    for number in 0..3000_u64 {
        let words: Vec<_> = (0..60)
            .map(|word| format!("{:x}", (number * 61 + word).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            .collect();
        fixture.put(&format!("d{}/f{number}", number % 9), format!("needle{number} {}\n", words.join(" ")));
    }
    let enough = Both::open(&fixture);
    enough.settle();
    let needed = enough.report().memory_bytes;
    let limits = IndexLimits { memory_bytes: (2 << 20) + needed / 2, ..IndexLimits::default() };
    let both = Both::with_limits(&fixture, limits);
    both.settle();
    assert!(both.report().memory_bytes <= limits.memory_bytes, "{:?}", both.report());
    assert!(both.report().memory_bytes < needed, "{needed}: {:?}", both.report());
    both.compare_search(json!({"paths": ["."], "query": "needle77", "type": "literal"}));
    assert!(both.is_warm());
    // Not even the list fits.
    let limits = IndexLimits { memory_bytes: 10_000, ..IndexLimits::default() };
    let both = Both::with_limits(&fixture, limits);
    let start = Instant::now();
    while !matches!(both.report().phase, IndexPhase::Off(_)) {
        assert!(start.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(both.report().memory_bytes < 10_000 + 50_000);
    both.compare_search(json!({"paths": ["."], "query": "needle77", "type": "literal"}));
}

#[test]
fn memory_is_released_without_calls_and_the_next_call_begins_anew() {
    let fixture = Fixture::new();
    for number in 0..500 {
        fixture.put(&format!("f{number}"), format!("needle{number}\n"));
    }
    let limits = IndexLimits { rest_after: Duration::from_millis(400), ..IndexLimits::default() };
    let both = Both::with_limits(&fixture, limits);
    both.settle();
    let start = Instant::now();
    while both.report().phase != IndexPhase::Resting {
        assert!(start.elapsed() < PATIENCE, "{:?}", both.report());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(both.report().memory_bytes < 20_000, "{:?}", both.report());
    fixture.put("f1", "needle again\n");
    both.compare_search(json!({"paths": ["."], "query": "needle", "type": "literal"}));
    let start = Instant::now();
    while !both.is_warm() {
        assert!(start.elapsed() < PATIENCE, "{:?}", both.report());
        std::thread::sleep(Duration::from_millis(5));
    }
    both.compare_search(json!({"paths": ["."], "query": "needle again", "type": "literal"}));
}

#[test]
fn file_with_another_name_outside_is_read_each_time() {
    let fixture = Fixture::new();
    fixture.put("inside.txt", "nothing\n");
    fs::hard_link(fixture.root().join("inside.txt"), fixture.outside().join("twin.txt")).unwrap();
    let both = Both::open(&fixture);
    both.settle();
    // No folder of ours hears of it.
    fs::write(fixture.outside().join("twin.txt"), "needle\n").unwrap();
    let response = both.compare_search(json!({"paths": ["."], "query": "needle", "type": "literal"}));
    assert_eq!(response["totalMatches"], 1);
}

#[test]
fn changes_without_notifications_are_found_by_comparing() {
    let fixture = Fixture::new();
    fixture.put("inside.txt", "nothing\n");
    let limits = IndexLimits { compare_every: Duration::from_millis(200), ..IndexLimits::default() };
    let both = Both::with_limits(&fixture, limits);
    both.settle();
    // A name that it got after it was read.
    std::thread::sleep(Duration::from_millis(50));
    fs::hard_link(fixture.root().join("inside.txt"), fixture.outside().join("twin.txt")).unwrap();
    fs::write(fixture.outside().join("twin.txt"), "needle\n").unwrap();
    let start = Instant::now();
    loop {
        let request = json!({"paths": ["."], "query": "needle", "type": "literal"});
        let request: SearchFiles = serde_json::from_value(request).unwrap();
        if both.warm.search_files(&Caller::once().call(), &request).unwrap().total_matches == 1 {
            break;
        }
        assert!(start.elapsed() < PATIENCE, "{:?}", both.report());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn nothing_is_left_when_the_workspace_is_gone() {
    let fixture = Fixture::new();
    fixture.put("a/b", "needle\n");
    let both = Both::open(&fixture);
    let index = both.warm.keep_index(IndexLimits::default()).unwrap();
    let weak = std::sync::Arc::downgrade(&index);
    drop(index);
    drop(both);
    assert!(weak.upgrade().is_none());
    // Dropping it waits for its thread; what is left of that would hold the folder open.
    assert!(!is_held_open(&fixture.root()));
}

/// Checks whether this process has a handle of the folder.
fn is_held_open(folder: &Path) -> bool {
    let handles = fs::read_dir("/proc/self/fd").unwrap().flatten();
    handles.filter_map(|handle| fs::read_link(handle.path()).ok()).any(|target| target == folder)
}

/// Lists the paths that an engine shows of a whole workspace.
fn listing(engine: &LocalWorkspace) -> (Vec<String>, u64) {
    let request = ExploreFiles { recursive: Some(true), ..ExploreFiles::default() };
    let response = engine.explore_files(&Caller::once().call(), &request).unwrap();
    assert!(response.is_truncated);
    (response.files.into_iter().map(|file| file.path).collect(), response.total_found)
}

#[test]
fn one_large_folder_does_not_hide_the_project() {
    let fixture = Fixture::new();
    for number in 0..600 {
        fixture.put(&format!("aaa/data/{number}.json"), "{}\n");
    }
    for path in ["README.md", "src/lib.rs", "src/inner/mod.rs", "zzz/last.txt"] {
        fixture.put(path, "text\n");
    }
    let both = Both::open(&fixture);
    both.settle();
    assert!(both.is_warm());
    for engine in [&both.warm, &both.cold] {
        let (paths, total) = listing(engine);
        assert_eq!((paths.len(), total), (500, 609), "{paths:?}");
        assert!(paths.is_sorted());
        for path in ["README.md", "aaa/data", "src/inner/mod.rs", "src/lib.rs", "zzz/last.txt"] {
            assert!(paths.iter().any(|one| one == path), "{path} is hidden: {paths:?}");
        }
    }
}

#[test]
fn a_list_passes_over_withheld_files() {
    let fixture = Fixture::new();
    for (path, content) in [(".env", "PIN=4711\n"), ("b.key", "a\0b"), ("c.txt", "PIN=4711\n")] {
        fixture.put(path, content);
    }
    let both = Both::open(&fixture);
    assert!(both.is_warm());
    let request = |withheld: Value| json!({ "query": "PIN=4711", "type": "literal", "paths": ["."], "withheld": withheld });
    let response = both.compare_search(request(json!({})));
    assert_eq!((&response["totalMatches"], &response["skipped"]), (&json!(1), &Value::Null), "{response}");
    let response = both.compare_search(request(Value::Null));
    assert_eq!(
        (&response["totalMatches"], &response["skipped"]["binary"]),
        (&json!(2), &json!(1)),
        "{response}"
    );
}

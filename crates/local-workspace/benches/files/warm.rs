//! Searching with a kept list of files, compared with `rg` and with searching without it.

use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use change_journal::Journal;
use local_workspace::{IndexLimits, IndexPhase, LocalWorkspace};
use wap_core::{ExploreFiles, QueryType, SearchFiles, SearchFilesResponse, Workspace};

use crate::fixture::{call, engine};
use crate::search::rg;
use crate::table::Table;
use crate::tree::{COMMON, RARE, Tree};
use crate::turns::{median, median_of, time, turns};

/// The part of `rg`'s time that a selective search may take.
const SELECTIVE: f64 = 0.05;

/// The factor by which calls may be slower while the list is made.
const BUILDING: f64 = 1.30;

/// The longest time in which the list has to be made, on the slowest of machines.
const PATIENCE: Duration = Duration::from_secs(300);

pub(crate) fn measure(tree: &Tree, table: &mut Table) {
    let open = |name: &str| {
        let state = tree.path().with_extension(name);
        engine(tree.path(), &state, Journal::in_memory().expect("there is memory"))
    };
    let (cold, warm) = (open("state"), open("warm-state"));
    building(tree, &cold, &warm, table);
    for (what, query, query_type) in [
        ("warm, rare text", RARE, QueryType::Literal),
        ("warm, missing text", "not anywhere in here", QueryType::Literal),
        ("warm, rare expression", r"fn reconcile_\w+_\d+\(", QueryType::Regex),
        ("warm, rare text in any case", "(?i)RECONCILE_ledger_[0-9]*5000", QueryType::Regex),
    ] {
        let request = request(query, query_type);
        let ours = || search(&warm, &request);
        // Asked once, so that what it matches is no surprise.
        let without = search(&cold, &request);
        table.check(what, ours().total_matches, without.total_matches);
        assert!(ours() == without, "{what}: other matches than without the list");
        table.check(what, ours().total_matches, rg(tree, query, query_type));
        let measured = turns(|| drop(ours()), || _ = black_box(rg(tree, query, query_type)));
        table.compared(what, "rg", &measured, SELECTIVE);
    }
    for (what, query, query_type) in [
        ("warm, common word", COMMON, QueryType::Literal),
        ("warm, expression without literals", r"\b[a-z]{6} [a-z]{6} [a-z]{6}\b", QueryType::Regex),
    ] {
        let request = request(query, query_type);
        assert!(search(&warm, &request) == search(&cold, &request), "{what}: another answer");
        let measured = turns(|| drop(search(&warm, &request)), || drop(search(&cold, &request)));
        table.compared(what, "cold", &measured, 1.0);
    }
    names(&cold, &warm, table);
    listing(&cold, &warm, table);
    changes(tree, &warm, table);
}

/// Makes the list, concurrently with calls that do not have it.
fn building(tree: &Tree, cold: &LocalWorkspace, warm: &LocalWorkspace, table: &mut Table) {
    let request = request(COMMON, QueryType::Literal);
    let mut calls = || drop(search(cold, &request));
    calls();
    let mut apart: Vec<_> = (0..15).map(|_| time(&mut calls)).collect();
    let resident = resident_bytes();
    let index = warm.keep_index(IndexLimits::default()).expect("there is a thread left");
    let start = Instant::now();
    assert!(index.view().is_none(), "nothing is known yet");
    let mut meanwhile = Vec::new();
    while index.report().phase != IndexPhase::Ready {
        assert!(start.elapsed() < PATIENCE, "{:?}", index.report());
        meanwhile.push(time(&mut calls));
    }
    let taken = start.elapsed();
    let report = index.report();
    let grown = resident_bytes().saturating_sub(resident);
    // As many before as after, because the machine may have got busier or less busy meanwhile.
    apart.extend((0..15).map(|_| time(&mut calls)));
    let what = format!("search beside building ({} calls)", meanwhile.len());
    table.ratio(&what, median(meanwhile), ("alone", median(apart)), BUILDING);
    table.time("building, all the time beside searches", taken, None);
    table.memory("memory of the list and signatures", report.memory_bytes as u64, tree.bytes() / 5);
    table.memory("growth of the process", grown, tree.bytes() / 5);
}

fn names(cold: &LocalWorkspace, warm: &LocalWorkspace, table: &mut Table) {
    let everywhere = ExploreFiles { recursive: Some(true), ..ExploreFiles::default() };
    let find = |workspace: &LocalWorkspace| {
        call(|call| workspace.find_names(call, &everywhere, "module_77")).expect("the search works")
    };
    assert!(find(warm) == find(cold), "other names than without the list");
    let taken = median_of(50, || drop(black_box(find(warm))));
    table.time("warm, name search", taken, Some(Duration::from_millis(5)));
}

/// The whole tree: 500 entries are shown, the others counted.
fn listing(cold: &LocalWorkspace, warm: &LocalWorkspace, table: &mut Table) {
    let deep = ExploreFiles { recursive: Some(true), max_depth: Some(60), ..ExploreFiles::default() };
    let list = |workspace: &LocalWorkspace| {
        call(|call| workspace.explore_files(call, &deep)).expect("the listing works")
    };
    assert!(list(warm) == list(cold), "another listing than without the list");
    let taken = median_of(50, || drop(black_box(list(warm))));
    table.time("warm, listing", taken, Some(Duration::from_millis(5)));
    table.compared("warm, listing", "cold", &turns(|| drop(list(warm)), || drop(list(cold))), 1.0);
}

/// Measures the delay until a search sees a change.
fn changes(tree: &Tree, warm: &LocalWorkspace, table: &mut Table) {
    let path = tree.path().join("changed.rs");
    let mut slowest = Duration::ZERO;
    for number in 0..100 {
        let text = format!("changed_{number}_now");
        fs::write(&path, &text).expect("the tree can be written");
        let start = Instant::now();
        let request = request(&text, QueryType::Literal);
        while search(warm, &request).total_matches != 1 {
            assert!(start.elapsed() < PATIENCE, "the change is never seen");
        }
        slowest = slowest.max(start.elapsed());
    }
    let _ = fs::remove_file(&path);
    table.time("changed file is found, slowest of 100", slowest, Some(Duration::from_millis(100)));
}

fn request(query: &str, query_type: QueryType) -> SearchFiles {
    SearchFiles {
        paths: vec![".".into()],
        query: query.into(),
        query_type,
        recursive: None,
        exclude_patterns: None,
        context_lines: None,
        respect_gitignore: None,
        withheld: None,
    }
}

fn search(workspace: &LocalWorkspace, request: &SearchFiles) -> SearchFilesResponse {
    call(|call| workspace.search_files(call, request)).expect("the search works")
}

/// Returns the memory of this process; 0 where the system does not report it.
fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = resident.and_then(|text| text.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

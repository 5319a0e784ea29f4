//! The time of building an index, of searches and of other requests on a tree of 20,000 files.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use code_index::LocalIndex;
use rel_path::RelPath;
use wap_core::{CancelFlag, CodeIndex, ListSymbols, ReadImpact, SearchCode};

use crate::{call, figure, following, needs, open, sources};

const FILES: usize = 20_000;

/// The longest files of an ordinary tree, and of one of small files: a quarter as long, on average.
const LONGEST_BYTES: usize = 200_000;
const SMALL_BYTES: usize = 9_000;

const QUERIES: [&str; 12] = [
    "parse header value",
    "spawn blocking thread pool",
    "where are errors converted",
    "read_to_end",
    "Deserialize map access",
    "how is the timer wheel advanced",
    "hash table insert probe sequence",
    "utf8 validation",
    "socket bind listen accept",
    "regex lazy dfa cache",
    "impl Display for Error",
    "command line argument suggestions",
];

pub(crate) fn measure(registry: &Path) {
    {
        let (code, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        searches(&built(registry, code.path(), state.path(), SMALL_BYTES));
    }
    let (code, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let index = built(registry, code.path(), state.path(), LONGEST_BYTES);

    let began = Instant::now();
    index.refresh(&CancelFlag::new(), &mut |_| {}).unwrap();
    println!("  a refresh of an unchanged tree takes {:.0} ms", milliseconds(began.elapsed()));

    saved(&index, code.path());
    searches(&index);
    let file = round_file(code.path());
    warm("symbols of a file, p50", || {
        call(|call| index.symbols(call, &ListSymbols { file: file.clone() })).unwrap();
    });
    let impact = || {
        call(|call| index.impact(call, &ReadImpact { file: file.clone(), max_depth: 3 })).unwrap();
    };
    let began = Instant::now();
    impact();
    println!("  the first impact, which resolves all imports, takes {:.0} ms", milliseconds(began.elapsed()));
    warm("impact of a file, p50", impact);
    needs::measure(&index, code.path(), &file);
    following::measure(index, code.path());
}

/// Builds an index over a tree of files of up to `longest_bytes`.
fn built(registry: &Path, code: &Path, state: &Path, longest_bytes: usize) -> LocalIndex {
    let bytes = sources::copy_tree(registry, code, FILES, longest_bytes);
    let count = |number: u64| f64::from(u32::try_from(number).unwrap());
    let (all, each) = (bytes / 1_000_000, count(bytes / FILES as u64) / 1_000.0);
    println!("speed, on {FILES} files of {all} MB, {each:.1} KB each:");
    let index = open(code, state);
    let began = Instant::now();
    let built = index.refresh(&CancelFlag::new(), &mut |_| {}).unwrap();
    let seconds = began.elapsed().as_secs_f64();
    let (files, megabytes) = (count(built.read) / seconds, count(bytes / 1_000) / 1_000.0 / seconds);
    println!("  built in {seconds:.1} s");
    figure("files a second, with symbols and imports", format!("{files:.0}"), ">= 5000", files >= 5_000.0);
    figure("megabytes a second", format!("{megabytes:.1}"), ">= 15", megabytes >= 15.0);
    let status = index.status().unwrap();
    let share = count(status.store_bytes / 1_000) / count(status.text_bytes / 1_000) * 100.0;
    figure("index size, of the text", format!("{share:.0} %"), "< 50 %", share < 50.0);
    index
}

/// Measures the time until a saved file is in the hits.
fn saved(index: &LocalIndex, code: &Path) {
    let mut slowest = Duration::ZERO;
    for number in 0..20 {
        let path = format!("round0/saved{number}.rs");
        fs::write(code.join(&path), format!("fn justsavedname{number}() {{ call(); }}\n")).unwrap();
        let began = Instant::now();
        index.update(&[RelPath::parse(&path).unwrap()], &CancelFlag::new()).unwrap();
        let request = SearchCode { query: format!("justsavedname{number}"), limit: 1 };
        let response = call(|call| index.search(call, &request)).unwrap();
        assert_eq!(response.hits[0].path, path);
        slowest = slowest.max(began.elapsed());
    }
    let taken = milliseconds(slowest);
    figure("a saved file is found, slowest of 20", format!("{taken:.1} ms"), "< 100 ms", taken < 100.0);
}

fn searches(index: &LocalIndex) {
    let mut times: Vec<f64> = Vec::new();
    for _ in 0..5 {
        for query in QUERIES {
            let began = Instant::now();
            let request = SearchCode { query: query.to_owned(), limit: 8 };
            assert!(!call(|call| index.search(call, &request)).unwrap().hits.is_empty(), "{query}");
            times.push(milliseconds(began.elapsed()));
        }
    }
    times.sort_by(f64::total_cmp);
    let (p50, p95) = (times[times.len() / 2], times[times.len() * 95 / 100]);
    figure("search, p50", format!("{p50:.1} ms"), "< 5 ms", p50 < 5.0);
    println!("  search, p95: {p95:.1} ms");
}

fn warm(what: &str, mut ask: impl FnMut()) {
    let mut times: Vec<f64> = (0..50)
        .map(|_| {
            let began = Instant::now();
            ask();
            milliseconds(began.elapsed())
        })
        .collect();
    times.sort_by(f64::total_cmp);
    figure(what, format!("{:.2} ms", times[25]), "< 5 ms", times[25] < 5.0);
}

/// A file of some size that others import: the first `src/lib.rs` of more than 10 KB.
fn round_file(code: &Path) -> String {
    let mut folders: Vec<String> = fs::read_dir(code.join("round0"))
        .unwrap()
        .flatten()
        .map(|one| format!("round0/{}/src/lib.rs", one.file_name().to_str().unwrap()))
        .collect();
    folders.sort();
    let is_large =
        |path: &String| fs::metadata(code.join(path)).is_ok_and(|metadata| metadata.len() > 10_000);
    folders.into_iter().find(is_large).expect("a crate with a large file")
}

pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

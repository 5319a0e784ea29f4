//! Search quality: the mean of one over the rank of the first right file among ten.

use std::fs;
use std::path::Path;

use code_index::LocalIndex;
use serde_json::Value;
use wap_core::{CancelFlag, CodeIndex, SearchCode};

use crate::full_text::FullText;
use crate::resampling::{mean, ratio_interval};
use crate::{call, figure, open, plain_grep, sources};

/// The number of hits that are evaluated.
const MOST_HITS: usize = 10;

/// The goal for the ratio between the index and the better one of plain full text and plain grep.
const CLEARLY: f64 = 1.15;

/// The rankers: the index, full text of raw words, full text of the index's own words, and counting lines.
const RANKERS: [&str; 4] = ["index", "fts5", "same words", "grep"];

/// One over the rank of the first right file, for each ranker.
type Answered = [f64; RANKERS.len()];

pub(crate) fn measure(registry: &Path, is_tuning: bool) {
    println!("search quality, mean reciprocal rank of the first right file among {MOST_HITS}:");
    measure_set(registry, "questions that ranking was tuned by", "tuning.json");
    if !is_tuning {
        measure_set(registry, "questions that were held out", "held-out.json");
    }
}

fn measure_set(registry: &Path, title: &str, file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/index-questions").join(file);
    let bases: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let [index, raw, same, grep] = RANKERS;
    println!("  {title:<38} {:>4} {index:>10} {raw:>10} {same:>10} {grep:>10}", "");
    let mut all = Vec::new();
    for base in bases.as_array().unwrap() {
        let name = base["source"].as_str().unwrap();
        let Some(folder) = sources::folder(registry, base["from"].as_str().unwrap_or("cargo"), name) else {
            println!("  {name:<38} is not here in this version");
            continue;
        };
        let answered = ask(&folder, base["questions"].as_array().unwrap());
        print_line(name, &answered);
        all.extend(answered);
    }
    if all.is_empty() {
        return;
    }
    print_line("all", &all);
    let column = |ranker: usize| mean(all.iter().map(|one| one[ranker]));
    let best = if column(1) >= column(3) { 1 } else { 3 };
    let ratio = column(0) / column(best);
    figure(
        &format!("the index against {}", RANKERS[best]),
        format!("{ratio:.2} times"),
        &format!("{CLEARLY} times"),
        ratio >= CLEARLY,
    );
    for (other, name) in RANKERS.iter().enumerate().skip(1) {
        let pairs: Vec<(f64, f64)> = all.iter().map(|one| (one[0], one[other])).collect();
        let (ratio, [low, high]) = (column(0) / column(other), ratio_interval(&pairs));
        println!("  against {name:<12} {ratio:.2}; in 95 % of resamplings {low:.2} to {high:.2}");
    }
}

fn ask(folder: &Path, questions: &[Value]) -> Vec<Answered> {
    let files = sources::texts(folder);
    let (raw, same) = (FullText::of_raw_words(&files), FullText::of_own_words(&files));
    let state = tempfile::tempdir().unwrap();
    let index = open(folder, state.path());
    index.refresh(&CancelFlag::new(), &mut |_| {}).unwrap();
    let shows = std::env::var_os("QUESTIONS").is_some();
    let answer = |question: &Value| {
        let query = question[0].as_str().unwrap();
        let right: Vec<&str> = question[1].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let ranked =
            [search(&index, query), raw.rank(query), same.rank(query), plain_grep::rank(&files, query)];
        let ranks = ranked.map(|paths| {
            let rank = paths.iter().take(MOST_HITS).position(|path| right.contains(&path.as_str()));
            rank.map_or(0, |at| at + 1)
        });
        if shows {
            println!("    {ranks:?} {query}");
        }
        ranks.map(|rank| if rank == 0 { 0.0 } else { 1.0 / f64::from(u32::try_from(rank).unwrap()) })
    };
    questions.iter().map(answer).collect()
}

fn search(index: &LocalIndex, query: &str) -> Vec<String> {
    let request = SearchCode { query: query.to_owned(), limit: 10 };
    let hits = call(|call| index.search(call, &request)).unwrap().hits;
    hits.into_iter().map(|hit| hit.path).collect()
}

fn print_line(name: &str, answered: &[Answered]) {
    let [index, raw, same, grep] = std::array::from_fn(|ranker| mean(answered.iter().map(|one| one[ranker])));
    let many = answered.len();
    println!("  {name:<38} {many:>4} {index:>10.3} {raw:>10.3} {same:>10.3} {grep:>10.3}");
}

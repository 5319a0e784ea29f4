//! How well questions are answered: the mean of one over the rank of the first right file among ten.

use std::fs;
use std::path::Path;

use serde_json::Value;
use wap_core::{CancelFlag, CodeIndex, SearchCode};

use crate::raw_words::RawWords;
use crate::{call, figure, open, plain_grep, sources};

/// Behind this many hits nobody looks.
const LOOKED_AT: usize = 10;

/// How much better the index has to be than the better one of the others.
const CLEARLY: f64 = 1.15;

pub(crate) fn measure(registry: &Path) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/index-questions/tuning.json");
    let bases: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    println!("search quality, mean reciprocal rank of the first right file among {LOOKED_AT}:");
    println!("  {:<28} {:>9} {:>8} {:>8} {:>8}", "source", "questions", "index", "fts5", "grep");
    let (mut sums, mut count) = ([0.0; 3], 0.0);
    for base in bases.as_array().unwrap() {
        let name = base["source"].as_str().unwrap();
        let folder = registry.join(name);
        if !folder.is_dir() {
            println!("  {name:<28} is not in cargo's cache");
            continue;
        }
        let files = sources::texts(&folder);
        let raw = RawWords::new(&files);
        let state = tempfile::tempdir().unwrap();
        let index = open(&folder, state.path());
        index.refresh(&CancelFlag::new(), &mut |_| {}).unwrap();
        let questions = base["questions"].as_array().unwrap();
        let mut own = [0.0; 3];
        for question in questions {
            let query = question[0].as_str().unwrap();
            let right: Vec<&str> = question[1].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            let request = SearchCode { query: query.to_owned(), limit: 10 };
            let hits = call(|call| index.search(call, &request)).unwrap().hits;
            let ranked = [
                hits.into_iter().map(|hit| hit.path).collect(),
                raw.rank(query),
                plain_grep::rank(&files, query),
            ];
            let ranks = ranked.map(|paths: Vec<String>| {
                paths
                    .iter()
                    .take(LOOKED_AT)
                    .position(|path| right.contains(&path.as_str()))
                    .map_or(0, |at| at + 1)
            });
            if std::env::var_os("QUESTIONS").is_some() {
                println!("    {ranks:?} {query}");
            }
            for (sum, rank) in own.iter_mut().zip(ranks) {
                *sum += if rank == 0 { 0.0 } else { 1.0 / f64::from(u32::try_from(rank).unwrap()) };
            }
        }
        let many = f64::from(u32::try_from(questions.len()).unwrap());
        println!(
            "  {name:<28} {many:>9} {:>8.3} {:>8.3} {:>8.3}",
            own[0] / many,
            own[1] / many,
            own[2] / many
        );
        sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        count += many;
    }
    if count > 0.0 {
        let [index, raw, grep] = sums.map(|sum| sum / count);
        println!("  {:<28} {count:>9} {index:>8.3} {raw:>8.3} {grep:>8.3}", "all");
        let best = f64::max(raw, grep);
        figure(
            "the index against the better one of the others",
            format!("{:.2} times", index / best),
            "1.15 times",
            index >= best * CLEARLY,
        );
    }
}

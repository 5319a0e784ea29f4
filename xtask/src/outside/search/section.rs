//! The section of the page.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::embeddings::Embeddings;
use super::{BM25, Measured, OURS, OwnCost, bm25::words, gain};

pub(super) const HEADING: &str = "CoSQA's questions to the code search";

/// Renders figures, and the questions without a right answer in the first ten by cause.
pub(super) fn section(
    version: &str,
    functions: &[String],
    measured: &[Measured],
    own: &OwnCost,
    peer: &Result<Embeddings, String>,
) -> String {
    let mut text = format!(
        "Questions that people typed into a web search, each with a Python function that people judged to answer it (Jun-jie-Huang/CoCLR at {version}). All {} functions are a folder of one file each, named by its number, so that no path gives an answer away. Each question is one call of the search of `code-index`; Codali's `docdex.search` asks the same, for 8 hits unless the request says otherwise. Plain BM25 (1.2, 0.75) splits at all but letters and digits and has neither stems nor stop words. Only the first ten hits count: a right function behind them is worth nothing. Functions that were not judged for a question count as wrong. `cargo xtask outside search --from DIR` repeats it.\n\n| set | questions | engine | mean reciprocal rank | NDCG | right first | right in ten |\n| --- | --- | --- | --- | --- | --- | --- |\n",
        functions.len(),
    );
    for one in measured {
        for (engine, quality) in &one.engines {
            let _ = writeln!(
                text,
                "| {} | {} | {engine} | {:.3} | {:.3} | {} | {} |",
                one.name,
                one.questions.questions.len(),
                quality.mean_reciprocal(),
                quality.discounted(),
                quality.within(1),
                quality.within(10),
            );
        }
    }
    let _ = write!(text, "\n{}", gain::paragraphs(functions.len(), measured, own, peer));
    text.push_str("\nQuestions whose right function is not in our first ten, by the share of their words that it holds (as plain BM25 splits them):\n\n| set | words held | questions | plain BM25 has it in ten |\n| --- | --- | --- | --- |\n");
    for one in measured {
        for (cause, missed) in causes(functions, one) {
            let by_plain = missed.iter().filter(|index| one.engines[BM25].1.ranks[**index].is_some()).count();
            let _ = writeln!(text, "| {} | {cause} | {} | {by_plain} |", one.name, missed.len());
        }
    }
    text
}

/// Returns the indexes of the missed questions by cause.
fn causes(functions: &[String], measured: &Measured) -> BTreeMap<&'static str, Vec<usize>> {
    let mut causes: BTreeMap<&'static str, Vec<usize>> = BTreeMap::new();
    for (index, question) in measured.questions.questions.iter().enumerate() {
        if measured.engines[OURS].1.ranks[index].is_some() {
            continue;
        }
        let held: Vec<String> = question
            .right
            .iter()
            .filter_map(|number| functions.get(*number))
            .flat_map(|function| words(function))
            .collect();
        let in_query: Vec<String> = words(&question.query).filter(|word| word != "python").collect();
        let count = in_query.iter().filter(|word| held.contains(word)).count();
        let cause = match count * 4 {
            0 => "none",
            four if four < in_query.len() * 2 => "under half",
            _ => "half or more",
        };
        causes.entry(cause).or_default().push(index);
    }
    causes
}

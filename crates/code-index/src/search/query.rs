//! The terms of a query.

use std::collections::HashMap;

use rusqlite::Connection;

use crate::search::query_words::words_of;
use crate::store;

/// A term in more than this share of all files does not select files, and only helps to rank them.
const COMMON_SHARE: f64 = 0.6;

/// The number of files that the store should score for a search.
const SCORED_FILES: f64 = 1_500.0;

/// A term of a query.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    /// The stem, as stored.
    pub(crate) word: String,
    /// The number of files with the term.
    pub(crate) files: f64,
    /// The weight; rare terms have more.
    pub(crate) weight: f64,
    /// True if the term is rare enough to select files.
    pub(crate) selects: bool,
    /// True for a whole name of several parts.
    pub(crate) is_whole: bool,
}

impl Term {
    /// Returns the prefix that every match begins with: a stem that ends in `i` also matches words in `y`.
    pub(crate) fn needle(&self) -> &[u8] {
        self.word.strip_suffix('i').filter(|rest| rest.len() >= 3).unwrap_or(&self.word).as_bytes()
    }
}

/// Looks up the weights of a query's words, without words that occur in no file.
pub(crate) fn terms(connection: &Connection, query: &str) -> Result<Vec<Term>, rusqlite::Error> {
    let texts = f64::from(u32::try_from(store::fact(connection, "texts")?).unwrap_or(u32::MAX));
    let mut counts = HashMap::new();
    let words = words_of(query);
    let mut statement = connection.prepare_cached("SELECT doc FROM word_count WHERE term = ?1")?;
    for (word, _) in &words {
        let count = statement.query_map([word], |row| row.get::<_, f64>(0))?.next().transpose()?;
        counts.extend(count.map(|count| (word.clone(), count)));
    }
    let mut terms: Vec<Term> = words
        .into_iter()
        .filter_map(|(word, is_whole)| {
            let count = *counts.get(&word)?;
            let weight = (1.0 + (texts - count + 0.5) / (count + 0.5)).ln();
            Some(Term { word, files: count, weight, selects: count <= texts * COMMON_SHARE, is_whole })
        })
        .collect();
    if !terms.iter().any(|term| term.selects) {
        terms.iter_mut().for_each(|term| term.selects = true);
    }
    Ok(terms)
}

/// Returns full-text queries, to be tried in order until one finds enough files. Each word is quoted, so it
/// cannot act as an operator.
///
/// The last one finds files with any of the words. The store scores every file that it finds, and in a large
/// folder most files contain the common words. So a first query requires a rare word, or a common one together
/// with another.
pub(crate) fn match_texts(terms: &[Term]) -> Vec<String> {
    let mut selecting: Vec<&Term> = terms.iter().filter(|term| term.selects).collect();
    selecting.sort_by(|left, right| left.files.total_cmp(&right.files));
    let any = |terms: &[&Term]| -> String {
        let words: Vec<String> = terms.iter().map(|term| format!("\"{}\"", term.word)).collect();
        words.join(" OR ")
    };
    let mut files = 0.0;
    let rare = selecting.iter().take_while(|term| {
        files += term.files;
        files <= SCORED_FILES
    });
    let all = any(&selecting);
    match rare.count() {
        count if count == selecting.len() => vec![all],
        0 if selecting.len() == 1 => vec![all],
        0 => vec![format!("({}) AND ({})", any(&selecting[..1]), any(&selecting[1..])), all],
        count => vec![format!("({}) AND ({all})", any(&selecting[..count])), all],
    }
}

//! A search as its words.

use std::collections::HashMap;

use rusqlite::Connection;

use crate::search::query_words::words_of;
use crate::store;

/// Words of more than this share of all files only help to rank what other words have found.
const COMMON_SHARE: f64 = 0.6;

/// Files that are scored for a search, if fewer words find as many.
const SCORED_FILES: f64 = 1_500.0;

/// A word of a search.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    /// As it is stored.
    pub(crate) word: String,
    /// In how many files it is.
    pub(crate) files: f64,
    /// How much it tells: rare words tell more.
    pub(crate) weight: f64,
    /// Whether it is rare enough to be looked up by itself.
    pub(crate) selects: bool,
    /// Whether it is a name of several parts, as a whole.
    pub(crate) is_whole: bool,
}

impl Term {
    /// What every place of the word begins with: a stem that ends in `i` stands for a word that ends in `y` too.
    pub(crate) fn needle(&self) -> &[u8] {
        self.word.strip_suffix('i').filter(|rest| rest.len() >= 3).unwrap_or(&self.word).as_bytes()
    }
}

/// Looks up how much the words tell. Words that occur nowhere are left out.
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

/// The words as queries of the store, of which the first that finds enough is the answer. Each word is quoted, so none of
/// them is an operator.
///
/// The last finds files with any of the words. The store scores every file that it finds, and in a large folder common
/// words are in most: there a first query wants one of the rare words, or a common one beside another.
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

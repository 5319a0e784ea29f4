//! A search as its words.

use std::collections::HashMap;

use rusqlite::Connection;

use crate::words;

/// Words behind this many are passed over.
const MOST_WORDS: usize = 24;

/// Words of more than this share of all files only help to rank what other words have found.
const COMMON_SHARE: f64 = 0.6;

/// Words that say nothing about code, unless nothing else is asked for.
const EMPTY_WORDS: [&str; 58] = [
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "code", "do",
    "does", "each", "every", "find", "for", "from", "get", "gets", "has", "have", "how", "i", "if", "in",
    "into", "is", "it", "its", "no", "not", "of", "on", "one", "or", "show", "so", "that", "the", "their",
    "them", "there", "these", "this", "to", "we", "what", "when", "where", "which", "who", "why", "will",
    "with",
];

/// A word of a search.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    /// As it is stored.
    pub(crate) word: String,
    /// How much it tells: rare words tell more.
    pub(crate) weight: f64,
    /// Whether it is rare enough to be looked up by itself.
    pub(crate) selects: bool,
    /// Whether it is a name of several parts, as a whole.
    pub(crate) is_whole: bool,
}

/// The words of a query, in the order in which they are asked for.
pub(crate) fn words_of(query: &str) -> Vec<(String, bool)> {
    let all = distinct(query, |_| true);
    let telling = distinct(query, |name| !EMPTY_WORDS.contains(&name.to_ascii_lowercase().as_str()));
    if telling.is_empty() { all } else { telling }
}

fn distinct(query: &str, wanted: impl Fn(&str) -> bool) -> Vec<(String, bool)> {
    let mut found: Vec<(String, bool)> = Vec::new();
    let mut folded = String::new();
    for name in words::names(query).filter(|name| wanted(name)) {
        let mut of_name = Vec::new();
        words::words_of_name(name, &mut folded, &mut |word| of_name.push(word.to_owned()));
        let has_parts = of_name.len() > 1;
        for (index, word) in of_name.into_iter().enumerate() {
            if found.len() < MOST_WORDS && !found.iter().any(|(known, _)| *known == word) {
                found.push((word, has_parts && index == 0));
            }
        }
    }
    found
}

/// Looks up how much the words tell. Words that occur nowhere are left out.
pub(crate) fn terms(connection: &Connection, query: &str) -> Result<Vec<Term>, rusqlite::Error> {
    let texts: f64 = connection
        .prepare_cached("SELECT count(*) FROM file WHERE hash IS NOT NULL")?
        .query_row([], |row| row.get(0))?;
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
            Some(Term { word, weight, selects: count <= texts * COMMON_SHARE, is_whole })
        })
        .collect();
    if !terms.iter().any(|term| term.selects) {
        terms.iter_mut().for_each(|term| term.selects = true);
    }
    Ok(terms)
}

/// The words as a query of the store: any of them. Each is quoted, so none of them is an operator.
pub(crate) fn match_text(terms: &[Term]) -> String {
    let words: Vec<String> =
        terms.iter().filter(|term| term.selects).map(|term| format!("\"{}\"", term.word)).collect();
    words.join(" OR ")
}

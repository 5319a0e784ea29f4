//! The words of a query.

use crate::words;

/// The most words of a query; the rest is ignored.
const MOST_WORDS: usize = 24;

/// Stop words: ignored unless the query has no others.
const EMPTY_WORDS: [&str; 58] = [
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "code", "do",
    "does", "each", "every", "find", "for", "from", "get", "gets", "has", "have", "how", "i", "if", "in",
    "into", "is", "it", "its", "no", "not", "of", "on", "one", "or", "show", "so", "that", "the", "their",
    "them", "there", "these", "this", "to", "we", "what", "when", "where", "which", "who", "why", "will",
    "with",
];

/// Returns the distinct words of a query in order; the flag marks a whole name of several parts.
pub(crate) fn words_of(query: &str) -> Vec<(String, bool)> {
    let all = distinct(query, |_| true);
    let telling = distinct(query, |name| !EMPTY_WORDS.contains(&name.to_ascii_lowercase().as_str()));
    if telling.is_empty() { all } else { telling }
}

fn distinct(query: &str, wanted: impl Fn(&str) -> bool) -> Vec<(String, bool)> {
    let mut distinct: Vec<(String, bool)> = Vec::new();
    let mut folded = String::new();
    for name in words::names(query).filter(|name| wanted(name)) {
        let mut of_name = Vec::new();
        words::words_of_name(name, &mut folded, &mut |word| of_name.push(word.to_owned()));
        let has_parts = of_name.len() > 1;
        for (index, word) in of_name.into_iter().enumerate() {
            if distinct.len() < MOST_WORDS && !distinct.iter().any(|(other, _)| *other == word) {
                distinct.push((word, has_parts && index == 0));
            }
        }
    }
    distinct
}

//! SQLite's full-text search, ranked by its BM25.

use rusqlite::Connection;

use crate::{query_words, words};

/// A full-text index of files: their paths and contents.
pub(crate) struct FullText {
    connection: Connection,
    words_of: fn(&str) -> Vec<String>,
}

impl FullText {
    /// Indexes unchanged words, in texts and in queries.
    pub(crate) fn of_raw_words(files: &[(String, String)]) -> FullText {
        FullText::new(files, "unicode61", str::to_owned, raw_words)
    }

    /// Indexes words as the code index splits them: parts of names, stems, and queries without stop words. A comparison with
    /// this one differs only in ranking.
    pub(crate) fn of_own_words(files: &[(String, String)]) -> FullText {
        FullText::new(files, "ascii tokenchars ''_''", own_text, own_words)
    }

    fn new(
        files: &[(String, String)],
        tokenizer: &str,
        text_of: fn(&str) -> String,
        words_of: fn(&str) -> Vec<String>,
    ) -> FullText {
        let connection = Connection::open_in_memory().unwrap();
        let sql = format!(
            "CREATE VIRTUAL TABLE words USING fts5 (name UNINDEXED, path, body, tokenize = '{tokenizer}'); BEGIN"
        );
        connection.execute_batch(&sql).unwrap();
        for (path, text) in files {
            let sql = "INSERT INTO words (name, path, body) VALUES (?1, ?2, ?3)";
            connection.execute(sql, [path, &text_of(path), &text_of(text)]).unwrap();
        }
        connection.execute_batch("COMMIT").unwrap();
        FullText { connection, words_of }
    }

    /// Returns the paths, best first.
    pub(crate) fn rank(&self, query: &str) -> Vec<String> {
        let words: Vec<String> = (self.words_of)(query).iter().map(|word| format!("\"{word}\"")).collect();
        let sql = "SELECT name FROM words WHERE words MATCH ?1 ORDER BY rank LIMIT 100";
        let mut statement = self.connection.prepare_cached(sql).unwrap();
        let rows = statement.query_map([words.join(" OR ")], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }
}

fn raw_words(query: &str) -> Vec<String> {
    let words = query.split(|one: char| !one.is_alphanumeric() && one != '_');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn own_words(query: &str) -> Vec<String> {
    query_words::words_of(query).into_iter().map(|(word, _)| word).collect()
}

fn own_text(text: &str) -> String {
    let mut own = String::new();
    words::each_word(text, |word| {
        own.push_str(word);
        own.push(' ');
    });
    own
}

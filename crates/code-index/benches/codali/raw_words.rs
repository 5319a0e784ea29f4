//! Full text as SQLite has it: words as they stand, ranked by BM25.

use rusqlite::Connection;

/// A full text index of raw words.
pub(crate) struct RawWords {
    connection: Connection,
}

impl RawWords {
    pub(crate) fn new(files: &[(String, String)]) -> RawWords {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE VIRTUAL TABLE words USING fts5 (path, body); BEGIN").unwrap();
        for (path, text) in files {
            connection.execute("INSERT INTO words (path, body) VALUES (?1, ?2)", [path, text]).unwrap();
        }
        connection.execute_batch("COMMIT").unwrap();
        RawWords { connection }
    }

    /// The paths, best first.
    pub(crate) fn rank(&self, query: &str) -> Vec<String> {
        let words: Vec<String> = query
            .split(|one: char| !one.is_alphanumeric() && one != '_')
            .filter(|word| !word.is_empty())
            .map(|word| format!("\"{word}\""))
            .collect();
        let sql = "SELECT path FROM words WHERE words MATCH ?1 ORDER BY rank LIMIT 100";
        let mut statement = self.connection.prepare_cached(sql).unwrap();
        let rows = statement.query_map([words.join(" OR ")], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }
}

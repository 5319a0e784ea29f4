//! Forged stores that came with a folder of code.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use code_index::Opening;
use rusqlite::Connection;
use wap_core::{CodeIndex, IndexError, ReadImpact, ReadSnippet};

use crate::fixture::{Fixture, call, paths, refresh, symbols};

fn fixture() -> Fixture {
    Fixture::new([("a.rs", "mod b;\nfn first_name() {}\n"), ("b.rs", "fn second_name() {}\n")])
}

fn database(fixture: &Fixture) -> PathBuf {
    fixture.state.path().join("index/index.db")
}

/// Builds an index and changes its store, as an attacker who distributes the folder would.
fn plant(fixture: &Fixture, sql: &str) {
    drop(fixture.index());
    let connection = Connection::open(database(fixture)).unwrap();
    connection.execute_batch(sql).unwrap();
    connection.close().unwrap();
}

#[test]
fn a_store_with_a_foreign_schema_is_replaced_before_the_first_request() {
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, i AS definitions, i AS imports, i AS declared FROM n";
    let plants = [
        ("a trigger", "CREATE TRIGGER t AFTER INSERT ON file BEGIN UPDATE fact SET value = 77 WHERE name = 'graph'; END".to_owned()),
        ("a view in place of a table", format!("DROP TABLE outline; CREATE VIEW outline AS {endless}")),
        ("a view next to the tables", format!("CREATE VIEW more AS {endless}")),
        ("a column that is computed", "ALTER TABLE file ADD COLUMN c TEXT GENERATED ALWAYS AS (hex(zeroblob(100000000)))".to_owned()),
        ("an index over an expression", "CREATE INDEX i ON file (length(hex(zeroblob(1000))))".to_owned()),
        ("a table", "CREATE TABLE more (x)".to_owned()),
        ("a table of another module", "CREATE VIRTUAL TABLE more USING fts5 (x)".to_owned()),
    ];
    for (what, sql) in plants {
        let fixture = fixture();
        plant(&fixture, &sql);
        let (index, opening) = fixture.open();
        assert_eq!(opening, Opening::Replaced, "{what}");
        assert_eq!(refresh(&index).read, 2, "{what}");
        assert_eq!(paths(&index, "second_name"), ["b.rs"], "{what}");
    }
    // Controls: an untouched store is kept, and the trigger would have run.
    let fixture = fixture();
    plant(&fixture, "");
    assert_eq!(fixture.open().1, Opening::Existing);
    plant(
        &fixture,
        "CREATE TRIGGER t AFTER INSERT ON fact BEGIN UPDATE fact SET value = 77 WHERE name = 'graph'; END; INSERT INTO fact VALUES ('x', 1)",
    );
    let value = |connection: &Connection| {
        connection.query_row("SELECT value FROM fact WHERE name = 'graph'", [], |row| row.get::<_, i64>(0))
    };
    assert_eq!(value(&Connection::open(database(&fixture)).unwrap()), Ok(77));
}

/// Returns SQL that adds a text with forged contents that the index never read.
fn planted_text(path: &str, id: u32) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    format!(
        "INSERT OR IGNORE INTO folder (path) VALUES ('{folder}');
        INSERT OR IGNORE INTO file
            SELECT {id}, id, '{name}', 1, 20, zeroblob(16), 0 FROM folder WHERE path = '{folder}';
        INSERT INTO outline VALUES ({id}, x'', x'', '');
        INSERT INTO words (rowid, path, definitions, body) VALUES ({id}, 'plant', 'plant planted', 'plant planted');"
    )
}

#[test]
fn paths_out_of_the_folder_lead_nowhere() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.rs");
    fs::write(&secret, "fn planted() {}\n").unwrap();
    let fixture = fixture();
    fixture.write("here.rs", "fn planted() {}\n");
    symlink(&secret, fixture.code.path().join("linked.rs")).unwrap();
    let up = format!("../{}/secret.rs", outside.path().file_name().unwrap().to_str().unwrap());
    let bad =
        [up.as_str(), secret.to_str().unwrap(), "linked.rs", "a/../../x.rs", "", ".", "/", "a\u{0}b", ".env"];
    fixture.write(".env", "fn planted() {}\n");
    let mut sql = "DELETE FROM words WHERE rowid IN (SELECT id FROM file WHERE name = 'here.rs'); DELETE FROM file WHERE name = 'here.rs';".to_owned();
    for (path, id) in bad.iter().chain(&["here.rs"]).zip(1_000..) {
        sql.push_str(&planted_text(&path.replace('\u{0}', "' || char(0) || '"), id));
    }
    plant(&fixture, &sql);
    let (index, opening) = fixture.open();
    assert_eq!(opening, Opening::Existing);
    // Includes the control: forged contents of an existing file are believed until the index reads it.
    assert_eq!(paths(&index, "planted"), ["here.rs"]);
    for path in bad {
        assert!(symbols(&index, path).is_err(), "{path}");
        let doc_id = format!("{path}#1-1");
        let snippet =
            call(|call| index.snippet(call, &ReadSnippet { doc_id: doc_id.clone(), window_lines: 10 }));
        assert_eq!(snippet, Err(IndexError::UnknownDocument { doc_id }));
        let impact = call(|call| index.impact(call, &ReadImpact { file: path.into(), max_depth: 100 }));
        assert!(impact.is_err() || impact.is_ok_and(|impact| impact.outbound.is_empty()), "{path}");
    }
    refresh(&index);
    assert_eq!(index.status().unwrap().files, 3);
    assert_eq!(paths(&index, "planted"), ["here.rs"]);
}

#[test]
fn values_of_any_size_and_kind_do_no_harm() {
    let plants = [
        "UPDATE outline SET definitions = zeroblob(10000000), imports = zeroblob(10000000)",
        "UPDATE outline SET definitions = randomblob(1000000), imports = randomblob(1000000), declared = char(10)",
        // A definition with the largest line, in a missing container; an import that shares a prefix with no other.
        "UPDATE outline SET definitions = x'60016101ffffffff1f', imports = x'04056100'",
        "UPDATE file SET name = CAST(x'ff2f80' AS TEXT) WHERE name = 'a.rs'",
        "UPDATE file SET hash = x'00', language = 99, stamp = -9223372036854775808, size = -1",
        "UPDATE file SET folder = 99",
        "UPDATE folder SET path = CAST(x'ff2f80' AS TEXT)",
        "UPDATE fact SET value = 9223372036854775807",
        "DELETE FROM fact",
        "UPDATE words_config SET v = 99 WHERE k = 'version'",
        "DELETE FROM words_docsize; DELETE FROM words_idx",
    ];
    for sql in plants {
        let fixture = fixture();
        plant(&fixture, sql);
        // A new version of a file, so that the refresh has work.
        fixture.write("b.rs", "fn third_name() {}\n");
        let (index, _) = fixture.open();
        let _ = symbols(&index, "a.rs");
        let _ = call(|call| index.impact(call, &ReadImpact { file: "a.rs".into(), max_depth: 100 }));
        let index = code_index::FollowingIndex::new(
            index,
            code_index::Follows::Folder,
            std::time::Duration::from_secs(60),
        );
        let search = wap_core::SearchCode { query: "third_name".into(), limit: 8 };
        let response =
            call(|call| index.search(call, &search)).unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert_eq!(response.hits[0].path, "b.rs", "{sql}");
    }
}

#[test]
fn links_and_pipes_instead_of_the_stores_files_are_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    let victim = outside.path().join("victim.db");
    let connection = Connection::open(&victim).unwrap();
    connection.execute_batch("CREATE TABLE mine (x); INSERT INTO mine VALUES (1)").unwrap();
    connection.close().unwrap();
    let before = fs::read(&victim).unwrap();

    // The folder itself.
    let fixture = fixture();
    let folder = fixture.state.path().join("index");
    symlink(outside.path(), &folder).unwrap();
    assert!(code_index::LocalIndex::open(&folder, fixture.source(), fixture.limits).is_err());
    fs::remove_file(&folder).unwrap();

    // Files within it.
    fs::create_dir(&folder).unwrap();
    symlink(&victim, folder.join("index.db")).unwrap();
    symlink(outside.path().join("made.lock"), folder.join("lock")).unwrap();
    symlink(outside.path().join("made.keeper"), folder.join("keeper")).unwrap();
    symlink(outside.path().join("made.wal"), folder.join("index.db-wal")).unwrap();
    symlink(outside.path().join("made.shm"), folder.join("index.db-shm")).unwrap();
    assert_eq!(paths(&fixture.index(), "second_name"), ["b.rs"]);
    fs::remove_dir_all(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    fs::hard_link(&victim, folder.join("index.db")).unwrap();
    assert_eq!(paths(&fixture.index(), "second_name"), ["b.rs"]);
    for name in ["lock", "keeper", "index.db", "index.db-wal", "index.db-shm"] {
        fs::remove_dir_all(&folder).unwrap();
        fs::create_dir(&folder).unwrap();
        let made = Command::new("mkfifo").arg(folder.join(name)).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo is part of every system");
        assert_eq!(paths(&fixture.index(), "second_name"), ["b.rs"], "{name}");
    }
    assert_eq!(fs::read(&victim).unwrap(), before);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

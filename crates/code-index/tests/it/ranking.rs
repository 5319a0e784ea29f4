//! The order of hits. The files of a case differ in one sign of relevance; files with the same score are ordered by path, which
//! is usually the wrong order.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::fixture::{Fixture, paths, search};

#[test]
fn every_sign_of_a_right_file_counts() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/index-questions/signs.json");
    let cases: Value = serde_json::from_slice(&fs::read(cases).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for case in cases.as_array().unwrap() {
        let files = case["files"].as_object().unwrap();
        let fixture = Fixture::new(files.iter().map(|(path, pieces)| (path, content(pieces))));
        let order: Vec<&str> = case["order"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let mut ranked = paths(&fixture.index(), case["query"].as_str().unwrap());
        ranked.retain(|path| order.contains(&path.as_str()));
        if ranked != order {
            wrong.push(format!("{}: {ranked:?}", case["claim"].as_str().unwrap()));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn files_named_after_or_defining_the_query_are_found_among_many_mentions() {
    let many = (0..60).map(|number| (format!("notes/{number}.txt"), "a lease, another lease\n"));
    let few = [("src/lease.rs", "// A lease.\n"), ("src/held.rs", "struct LeaseHolder;\n")];
    let few = few.map(|(path, content)| (path.to_owned(), content));
    let fixture = Fixture::new(many.chain(few));
    let index = fixture.index();
    let hits = paths(&index, "lease");
    assert!(hits.contains(&"src/lease.rs".to_owned()), "{hits:?}");
    assert!(hits.contains(&"src/held.rs".to_owned()), "{hits:?}");
}

#[test]
fn an_exact_name_finds_its_definition_first_and_shows_it() {
    let docs =
        (0..40).map(|number| (format!("docs/{number}.md"), "Call `read_file`, read_file(). ".repeat(400)));
    let near = (0..40).map(|number| {
        (format!("near/{number}.rs"), "fn read() { read_file(); }\nfn read_file_of() {}\n".repeat(5))
    });
    let code = [
        ("tests/reading.rs", "fn read_file() {}\n".to_owned()),
        (
            "src/long.rs",
            format!(
                "{}impl Reader {{\n    fn read_file(&self) {{}}\n}}\n",
                "// Something else.\n".repeat(3_000)
            ),
        ),
        ("src/get.py", "class Getter:\n    def get(self): pass\n\ndef other(): pass\n".to_owned()),
        ("src/many.py", "def get_more(): get()\n".repeat(50)),
    ];
    let code = code.map(|(path, content)| (path.to_owned(), content));
    let fixture = Fixture::new(docs.chain(near).chain(code));
    let index = fixture.index();
    let first = |query: &str| {
        let hit = search(&index, query).hits.swap_remove(0);
        (hit.path, hit.snippet)
    };
    for query in ["read_file", " `read_file()` ", "Reader::read_file", "reader.Reader.read_file"] {
        let (path, snippet) = first(query);
        assert_eq!(path, "src/long.rs", "{query}");
        assert!(snippet.contains("fn read_file(&self)"), "{query}: {snippet}");
    }
    assert_eq!(paths(&index, "read_file")[1], "tests/reading.rs");
    for query in ["get", "Getter.get", "get.other"] {
        assert_eq!(first(query).0, "src/get.py", "{query}");
    }
    // Another spelling, or more than a name, is an ordinary search for words.
    assert_ne!(first("READ_FILE").0, "src/long.rs");
    assert_ne!(first("call read_file").0, "src/long.rs");
    assert_ne!(first("Writer::read_file").0, "src/long.rs");
}

/// A text of pieces, each with its number of repetitions.
fn content(pieces: &Value) -> String {
    let piece = |piece: &Value| {
        piece[0].as_str().unwrap().repeat(usize::try_from(piece[1].as_u64().unwrap()).unwrap())
    };
    pieces.as_array().unwrap().iter().map(piece).collect()
}

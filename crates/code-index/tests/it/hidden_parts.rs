//! Parts of files that are hidden from the readers of answers.

use std::fs;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use code_index::{HiddenParts, LocalIndex};
use wap_core::{CodeHit, CodeIndex, DiagnoseImpact, ReadAst, ReadSnippet};

use crate::fixture::{Fixture, call, paths, refresh, search, symbols};

/// Hides some values wherever they occur; more may become known later.
#[derive(Debug, Default)]
struct Values(Mutex<Vec<String>>);

impl Values {
    fn of<const COUNT: usize>(values: [&str; COUNT]) -> Arc<Values> {
        Arc::new(Values(Mutex::new(values.map(str::to_owned).to_vec())))
    }

    fn learn(&self, value: &str) {
        self.0.lock().unwrap().push(value.to_owned());
    }
}

impl HiddenParts for Values {
    fn parts_of(&self, text: &str) -> Vec<Range<usize>> {
        let values = self.0.lock().unwrap();
        let mut parts: Vec<Range<usize>> = values
            .iter()
            .flat_map(|value| text.match_indices(value))
            .map(|(at, value)| at..at + value.len())
            .collect();
        parts.sort_by_key(|part| part.start);
        parts
    }
}

const VALUE: &str = "Alpha9Beta::Gamma7Delta/Epsilon";

fn index(fixture: &Fixture, values: &Arc<Values>) -> LocalIndex {
    let source = fixture.source().hiding(Arc::clone(values) as Arc<dyn HiddenParts>);
    let (index, _) = LocalIndex::open(&fixture.state.path().join("index"), source, fixture.limits).unwrap();
    refresh(&index);
    index
}

fn store_holds(fixture: &Fixture, word: &str) -> bool {
    let files = fs::read_dir(fixture.state.path().join("index")).unwrap();
    let stored: Vec<u8> = files.flat_map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect();
    stored.windows(word.len()).any(|window| window == word.as_bytes())
}

#[test]
fn the_store_has_no_word_of_a_hidden_part_and_no_question_matches_one() {
    let source = format!("// visible word\nuse {VALUE};\npub fn login() {{ connect(\"{VALUE}\"); }}\n");
    let fixture =
        Fixture::new([("a.rs", source.as_str()), (&format!("{}/b.rs", "Zeta8Eta"), "fn kappa() {}\n")]);
    let values = Values::of([VALUE, "Zeta8Eta"]);
    let words = ["alpha9beta", "gamma", "delta", "epsilon", "Alpha9Beta", "zeta", "Zeta8Eta", VALUE];
    let open = index(&fixture, &values);
    for word in words {
        assert_eq!(paths(&open, word), Vec::<String>::new(), "{word}");
    }
    assert_eq!(paths(&open, "login"), ["a.rs"]);
    assert_eq!(paths(&open, "kappa"), ["Zeta8Eta/b.rs"]);
    drop(open);
    assert!(!["gamma", "epsilon"].iter().any(|word| store_holds(&fixture, word)));
    // The control: without hidden parts each of the words is found, and is in the store.
    let fixture = Fixture::new([("a.rs", source.as_str()), ("Zeta8Eta/b.rs", "fn kappa() {}\n")]);
    let open = fixture.index();
    for word in words {
        assert_eq!(paths(&open, word).len(), 1, "{word}");
    }
    drop(open);
    assert!(["gamma", "epsilon"].iter().all(|word| store_holds(&fixture, word)));
}

#[test]
fn neither_rank_nor_passage_depends_on_hidden_parts() {
    let filler = "// nothing\n".repeat(60);
    let text = format!("// needle\n{filler}// needle near {VALUE}\n{filler}// gamma\n");
    let fixture =
        Fixture::new([("a.rs", text.as_str()), ("b.rs", "// needle gamma\n"), ("c.rs", "// gamma\n")]);
    let hits = |open: &LocalIndex, query: &str| -> Vec<CodeHit> { search(open, query).hits };
    let open = index(&fixture, &Values::of([VALUE]));
    // A word that is hidden everywhere counts like one that occurs nowhere.
    assert_eq!(hits(&open, "needle epsilon"), hits(&open, "needle nowhere"));
    let passage = |open: &LocalIndex, query: &str| {
        let hits = hits(open, query);
        let hit = hits.iter().find(|hit| hit.path == "a.rs").unwrap();
        (hit.line_start, hit.line_end)
    };
    assert_eq!(passage(&open, "needle gamma"), passage(&open, "needle"));
    let fixture =
        Fixture::new([("a.rs", text.as_str()), ("b.rs", "// needle gamma\n"), ("c.rs", "// gamma\n")]);
    let open = fixture.index();
    assert_ne!(hits(&open, "needle epsilon"), hits(&open, "needle nowhere"), "the control");
    assert_ne!(passage(&open, "needle gamma"), passage(&open, "needle"), "the control");
}

#[test]
fn a_value_that_becomes_known_after_indexing_is_no_longer_matched() {
    let text = "void Alpha9Beta::Gamma7Delta() {}\nvoid login() {}\n";
    let fixture = Fixture::new([("a.cpp", text), ("b.txt", "only Alpha9Beta::Gamma7Delta\n")]);
    let values = Values::of(["nothing of it"]);
    let open = index(&fixture, &values);
    let names = |open: &LocalIndex| {
        let symbols = symbols(open, "a.cpp").unwrap().symbols;
        symbols.into_iter().map(|one| format!("{} {:?}", one.name, one.container)).collect::<Vec<_>>()
    };
    // The control: nothing knows the value yet.
    assert_eq!(names(&open)[0], "Gamma7Delta Some(\"Alpha9Beta\")");
    assert_eq!(paths(&open, "gamma").len(), 2);
    values.learn("Alpha9Beta::Gamma7Delta");
    assert!(
        !names(&open).iter().any(|name| name.contains("Gamma7") || name.contains("Alpha9")),
        "{:?}",
        names(&open)
    );
    assert!(names(&open).iter().any(|name| name.starts_with("login")), "{:?}", names(&open));
    for query in ["gamma", "Gamma7Delta", "Alpha9Beta::Gamma7Delta", "alpha"] {
        assert_eq!(paths(&open, query), Vec::<String>::new(), "{query}");
    }
    assert_eq!(paths(&open, "login"), ["a.cpp"]);
}

#[test]
fn no_cut_of_a_long_line_divides_a_hidden_part() {
    let token = "t0k3n".repeat(8);
    for before in [60, 80, 99, 100, 101, 120, 139, 140, 141, 160] {
        for after in [200, 260, 290, 300, 301, 330] {
            let (before, after) = ("x".repeat(before), "y".repeat(after));
            let line =
                format!("{}{token}{before} needle {after}{token}{}\n", "z".repeat(300), "w".repeat(300));
            let fixture = Fixture::new([("a.txt", line)]);
            let parts = |open: &LocalIndex| {
                let snippet = search(open, "needle").hits.remove(0).snippet;
                assert!(snippet.contains(" needle ") && snippet.starts_with('…') && snippet.ends_with("…\n"));
                snippet.replace(&token, "").contains("t0k3")
            };
            assert!(!parts(&index(&fixture, &Values::of([&token]))));
        }
    }
    // The control: a cut without knowledge of hidden parts divides one.
    let line = format!("{}{token}{} needle {}\n", "z".repeat(300), "x".repeat(80), "y".repeat(400));
    let fixture = Fixture::new([("a.txt", line)]);
    let snippet = search(&fixture.index(), "needle").hits.remove(0).snippet;
    assert!(snippet.starts_with("…") && !snippet.contains(&token) && snippet.contains("k3nxx"), "{snippet}");
}

#[test]
fn no_import_and_no_node_of_a_tree_comes_from_a_hidden_part() {
    let value = "a\\\\b\\n{c}";
    let text = format!("import x from \"./{value}\";\nconst s = \"{value}\";\nimport y from './missing';\n");
    let fixture = Fixture::new([("a.js", text)]);
    let looked_at = |open: &LocalIndex| {
        let request = DiagnoseImpact { file: None, limit: 10, offset: 0 };
        let imports = call(|call| open.impact_diagnostics(call, &request)).unwrap().diagnostics;
        let tree = call(|call| open.ast(call, &ReadAst { file: "a.js".into(), max_nodes: 100 })).unwrap();
        let escapes = tree.nodes.iter().filter(|node| node.kind == "escape_sequence").count();
        (imports.into_iter().map(|one| one.import).collect::<Vec<_>>(), escapes)
    };
    let (imports, escapes) = looked_at(&index(&fixture, &Values::of([value])));
    assert!(!imports.iter().any(|import| import.contains('b')), "{imports:?}");
    assert!(imports.contains(&"./missing".to_owned()) && escapes == 0, "{imports:?} {escapes}");
    let fixture = Fixture::new([("a.js", format!("const s = \"{value}\";\n"))]);
    assert_eq!(looked_at(&fixture.index()).1, 2, "the control");
}

#[test]
fn a_file_that_is_not_indexed_yet_is_quoted() {
    let fixture = Fixture::new([("a.rs", "fn a() {}\n")]);
    let open = fixture.index();
    fixture.write("b.rs", "fn b() {}\n");
    fixture.write(".hidden.rs", "fn b() {}\n");
    let quoted = |file: &str| {
        call(|call| open.snippet(call, &ReadSnippet { doc_id: file.into(), window_lines: 10 }))
            .map(|read| read.content)
    };
    assert_eq!(quoted("b.rs").unwrap(), "fn b() {}\n");
    assert!(quoted(".hidden.rs").is_err() && quoted("none.rs").is_err());
}

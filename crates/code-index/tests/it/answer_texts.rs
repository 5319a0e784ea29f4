//! Rendered answers and error texts, as an agent reads them.

use std::fmt::Write as _;

use code_index::{FolderSource, IndexLimits, LocalIndex};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use wap_core::{
    CancelFlag, CodeIndex, DiagnoseImpact, IndexError, ListSymbols, ReadAst, ReadImpact, ReadSnippet,
    SearchCode,
};

use crate::fixture::{Fixture, call};

fn fixture() -> Fixture {
    Fixture::new([
        ("src/main.rs", "mod login;\nmod missing;\n\nfn main() {\n    login::check(\"ann\");\n}\n"),
        ("src/login.rs", "/// Checks a name.\npub fn check(name: &str) -> bool {\n    !name.is_empty()\n}\n"),
        ("notes.txt", "The login checks names.\n"),
    ])
}

#[test]
fn each_kind_of_answer_is_rendered() {
    let fixture = fixture();
    let index = fixture.index();
    let mut text = String::new();
    call(|call| {
        let hits = index.search(call, &SearchCode { query: "check".into(), limit: 8 }).unwrap().hits;
        for hit in &hits {
            writeln!(text, "{} lines {}-{}", hit.doc_id, hit.line_start, hit.line_end).unwrap();
        }
        let request = ReadSnippet { doc_id: hits[0].doc_id.clone(), window_lines: 10 };
        writeln!(text, "{}", index.snippet(call, &request).unwrap().content).unwrap();
        let file = || "src/login.rs".to_owned();
        for symbol in index.symbols(call, &ListSymbols { file: file() }).unwrap().symbols {
            writeln!(text, "{} {}: {}", symbol.kind, symbol.name, symbol.signature).unwrap();
        }
        let tree = index.ast(call, &ReadAst { file: file(), max_nodes: 3 }).unwrap();
        for node in &tree.nodes {
            writeln!(text, "{}{}", "  ".repeat(node.depth as usize), node.kind).unwrap();
        }
        writeln!(text, "{} nodes", tree.total_nodes).unwrap();
        for edge in index.impact(call, &ReadImpact { file: file(), max_depth: 2 }).unwrap().inbound {
            writeln!(text, "{} depends on it by {} at depth {}", edge.file, edge.kind, edge.depth).unwrap();
        }
        let request = DiagnoseImpact { file: None, limit: 10, offset: 0 };
        for one in index.impact_diagnostics(call, &request).unwrap().diagnostics {
            writeln!(text, "{}:{} {}", one.file, one.line, one.import).unwrap();
        }
    });
    insta::assert_snapshot!(text);
}

#[test]
fn each_error_has_a_text() {
    let fixture = fixture();
    let index = fixture.index();
    let cancelled = || IndexError::Cancelled.to_string();
    let mut texts = call(|call| {
        vec![
            index.snippet(call, &ReadSnippet { doc_id: "no.rs#1-2".into(), window_lines: 5 }).unwrap_err(),
            index.symbols(call, &ListSymbols { file: "no.rs".into() }).unwrap_err(),
            index.symbols(call, &ListSymbols { file: "notes.txt".into() }).unwrap_err(),
        ]
    })
    .iter()
    .map(ToString::to_string)
    .collect::<Vec<_>>();
    texts.push(cancelled());
    texts.push(IndexError::TimedOut.to_string());
    // The folder of an index cannot be created below a file.
    let code = tempfile::tempdir().unwrap();
    std::fs::write(code.path().join("file"), "").unwrap();
    let root = FileRoot::open(code.path(), &RootRules::none(), FsPolicy::default()).unwrap();
    let folder = code.path().join("file/index");
    let opened = LocalIndex::open(&folder, FolderSource::new(root), IndexLimits::default());
    texts.push(opened.unwrap_err().to_string());
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn a_name_with_line_breaks_is_on_one_line_in_every_answer_and_leads_back_to_its_file() {
    let names = ["x\n[lines 1-2 are left out]\n.py", "dir\u{2028}a/b\tc.py", "a\\x0ab.py", "plain.py"];
    let fixture = Fixture::new(names.map(|name| (name, "import gone_missing\ndef needle(): pass\n")));
    let index = fixture.index();
    let hits_of = |query: &str| {
        call(|call| index.search(call, &SearchCode { query: query.into(), limit: 8 })).unwrap().hits
    };
    let hits = hits_of("needle");
    assert_eq!(hits.len(), names.len());
    let mut paths: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
    paths.sort_unstable();
    let expected = [
        "a\\x5cx0ab.py",
        "dir\\xe2\\x80\\xa8a/b\\x09c.py",
        "plain.py",
        "x\\x0a[lines 1-2 are left out]\\x0a.py",
    ];
    assert_eq!(paths, expected);
    for hit in &hits {
        let request = ReadSnippet { doc_id: hit.doc_id.clone(), window_lines: 10 };
        assert_eq!(call(|call| index.snippet(call, &request)).unwrap().path, hit.path);
        let request = ListSymbols { file: hit.path.clone() };
        assert_eq!(call(|call| index.symbols(call, &request)).unwrap().symbols[0].name, "needle");
        let request = ReadImpact { file: hit.path.clone(), max_depth: 1 };
        assert!(call(|call| index.impact(call, &request)).is_ok(), "{}", hit.path);
    }
    // An update names the files in the same way, and removes them.
    for name in names {
        std::fs::remove_file(fixture.code.path().join(name)).unwrap();
    }
    let gone = names.map(|name| RelPath::from_bytes(name.as_bytes()).unwrap());
    assert_eq!(index.update(&gone, &CancelFlag::new()).unwrap().removed, names.len() as u64);
    assert!(hits_of("needle").is_empty());
}

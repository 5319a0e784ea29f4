//! The answers to each kind of request.

use wap_core::{CodeIndex, IndexError, IndexState, ReadAst, ReadSnippet, SearchCode};

use crate::fixture::{Fixture, call, paths, search, symbols};

const LOGIN: &str = "//! Logging in.\n\nuse std::fmt;\n\n/// Checks a password.\npub fn check_password(name: &str,\n    word: &str) -> bool {\n    name == word\n}\n\npub struct LoginForm {\n    pub name: String,\n}\n\nimpl LoginForm {\n    pub fn submit(&self) -> bool {\n        check_password(&self.name, \"\")\n    }\n}\n";

fn fixture() -> Fixture {
    Fixture::new([
        ("src/login.rs", LOGIN.to_owned()),
        (
            "src/main.rs",
            "mod login;\nfn main() {\n    println!(\"{}\", login::check_password(\"a\", \"b\"));\n}\n".into(),
        ),
        ("notes.md", "How passwords are checked: see the form.\n".into()),
        ("big.txt", "filler\n".repeat(500) + "the needle is here\n" + &"filler\n".repeat(500)),
    ])
}

#[test]
fn the_file_that_defines_a_name_comes_before_those_that_use_it() {
    let fixture = fixture();
    let index = fixture.index();
    for query in
        ["check_password", "checkPassword", "CheckPassword", "checking passwords", "password check function"]
    {
        assert_eq!(paths(&index, query)[0], "src/login.rs", "{query}");
    }
    assert_eq!(paths(&index, "main")[0], "src/main.rs");
}

#[test]
fn a_hit_shows_the_lines_that_match() {
    let fixture = fixture();
    let index = fixture.index();
    let response = search(&index, "needle");
    let hit = &response.hits[0];
    assert_eq!(hit.path, "big.txt");
    assert!(hit.snippet.contains("the needle is here\n"), "{}", hit.snippet);
    assert!((hit.line_start..=hit.line_end).contains(&501));
    assert_eq!(hit.snippet.lines().count() as u64, hit.line_end - hit.line_start + 1);
    assert!(hit.score.is_finite() && hit.score > 0.0);
    assert_eq!(hit.token_estimate, (hit.snippet.len() as u64).div_ceil(4));

    let snippet = call(|call| {
        let request = ReadSnippet { doc_id: hit.doc_id.clone(), window_lines: 11 };
        index.snippet(call, &request)
    })
    .unwrap();
    assert_eq!(
        (snippet.total_lines, snippet.line_end.unwrap() - snippet.line_start.unwrap() + 1),
        (Some(1001), 11)
    );
    assert!(snippet.content.contains("needle"), "{snippet:?}");
}

#[test]
fn query_operators_are_searched_as_words() {
    let fixture = fixture();
    let index = fixture.index();
    for query in [
        "\"check_password",
        "password AND (",
        "body:password NEAR/2",
        "password'; DROP TABLE file; --",
        "^password*",
    ] {
        assert_eq!(paths(&index, query)[0], "src/login.rs", "{query}");
    }
    for query in ["", "   ", "((((", "\0", "zzzzqqq"] {
        assert_eq!(paths(&index, query), Vec::<String>::new(), "{query:?}");
    }
}

#[test]
fn limits_are_kept() {
    let files: Vec<_> = (0..40).map(|number| (format!("f{number}.txt"), "same words here\n")).collect();
    let fixture = Fixture::new(files);
    let index = fixture.index();
    for limit in [1, 8, 30] {
        let response = call(|call| index.search(call, &SearchCode { query: "words".into(), limit })).unwrap();
        assert_eq!(response.hits.len(), limit as usize);
    }
}

#[test]
fn symbols_have_kinds_signatures_ranges_and_containers() {
    let fixture = fixture();
    let index = fixture.index();
    let symbols = symbols(&index, "src/login.rs").unwrap().symbols;
    let lines: Vec<String> = symbols
        .iter()
        .map(|one| {
            let container = one.container.as_deref().unwrap_or("-");
            format!(
                "{} {} {container} {}-{} {}",
                one.kind, one.name, one.line_start, one.line_end, one.signature
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            "function check_password - 6-9 pub fn check_password(name: &str, word: &str) -> bool",
            "struct LoginForm - 11-13 pub struct LoginForm",
            "method submit LoginForm 16-18 pub fn submit(&self) -> bool",
        ]
    );
}

#[test]
fn a_syntax_tree_is_cut_and_counted() {
    let fixture = fixture();
    let index = fixture.index();
    let ast = |max_nodes| {
        call(|call| index.ast(call, &ReadAst { file: "src/login.rs".into(), max_nodes })).unwrap()
    };
    let whole = ast(10_000);
    assert_eq!(whole.nodes.len() as u64, whole.total_nodes);
    assert_eq!((whole.nodes[0].kind.as_str(), whole.nodes[0].depth), ("source_file", 0));
    let function = whole.nodes.iter().find(|node| node.kind == "function_item").unwrap();
    assert_eq!(
        (function.depth, function.line_start, function.column_start, function.line_end, function.column_end),
        (1, 6, 1, 9, 2)
    );
    let cut = ast(5);
    assert_eq!((cut.nodes.as_slice(), cut.total_nodes), (&whole.nodes[..5], whole.total_nodes));
}

#[test]
fn unknown_files_languages_and_documents_are_errors() {
    let fixture = fixture();
    let index = fixture.index();
    let unknown = |file: &str| Err(IndexError::UnknownFile { file: file.into() });
    for file in ["nothing.rs", "../x.rs", "", "src", "/etc/passwd"] {
        assert_eq!(symbols(&index, file), unknown(file));
    }
    assert_eq!(symbols(&index, "notes.md"), Err(IndexError::UnknownLanguage { file: "notes.md".into() }));
    for doc_id in ["", "x", "nothing.rs#1-2", "src/login.rs#0-1", "src/login.rs#5-2", "src/login.rs#1"] {
        let snippet =
            call(|call| index.snippet(call, &ReadSnippet { doc_id: doc_id.into(), window_lines: 40 }));
        assert_eq!(snippet, Err(IndexError::UnknownDocument { doc_id: doc_id.into() }));
    }
}

#[test]
fn an_empty_folder_is_an_empty_index() {
    let fixture = Fixture::new([("a.bin", b"\0\x01".as_slice())]);
    let (index, _) = fixture.open();
    assert_eq!(search(&index, "x").freshness.state, IndexState::Building);
    crate::fixture::refresh(&index);
    assert_eq!(search(&index, "x").freshness.state, IndexState::Empty);
    fixture.write("a.txt", "x\n");
    crate::fixture::refresh(&index);
    assert_eq!(search(&index, "x").freshness.state, IndexState::Ready);
}

#[test]
fn a_path_alone_names_the_top_of_its_file() {
    let lines: String = (1..=100).map(|number| format!("// line {number}\n")).collect();
    let fixture = Fixture::new([("src/a.rs", lines.as_str())]);
    let index = fixture.index();
    let snippet = |doc_id: &str| {
        call(|call| index.snippet(call, &ReadSnippet { doc_id: doc_id.into(), window_lines: 10 }))
    };
    let top = snippet("src/a.rs").unwrap();
    assert_eq!((top.path.as_str(), top.line_start, top.line_end), ("src/a.rs", Some(1), Some(10)));
    assert!(top.content.starts_with("// line 1\n"));
    for unknown in ["src/b.rs", "src", "../a.rs", "src/a.rs#0-1", ""] {
        assert!(snippet(unknown).is_err(), "{unknown}");
    }
}

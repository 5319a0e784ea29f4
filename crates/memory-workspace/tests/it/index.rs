//! The index in memory keeps what the trait promises.

use memory_workspace::MemoryIndex;
use wap_core::{
    Call, CancelFlag, CodeIndex, ConversationId, DiagnoseImpact, IndexError, IndexState, ListSymbols, Origin,
    ReadAst, ReadImpact, ReadSnippet, Retention, RunKey, SearchCode,
};

fn origin() -> Origin {
    Origin {
        conversation: ConversationId("test".into()),
        run: RunKey::unnumbered("1"),
        step: 0,
        retention: Retention::Process,
    }
}

fn index() -> MemoryIndex {
    MemoryIndex::with_files([
        ("a.py", "import b.py\nimport gone.py\ndef login(name):\n    pass\n"),
        ("b.py", "import c.py\nclass Session:\n    login = 1\n    # login again\n"),
        ("c.py", "x = 1\n"),
    ])
}

#[test]
fn hits_are_ranked_limited_and_can_be_opened() {
    let (origin, cancel) = (origin(), CancelFlag::new());
    let call = Call { origin: &origin, cancel: &cancel, time_left: None };
    let response = index().search(&call, &SearchCode { query: "LOGIN".into(), limit: 5 }).unwrap();
    let paths: Vec<_> = response.hits.iter().map(|hit| (hit.path.as_str(), hit.line_start)).collect();
    assert_eq!(paths, [("b.py", 3), ("a.py", 3)]);
    let one = index().search(&call, &SearchCode { query: "login".into(), limit: 1 }).unwrap();
    assert_eq!(one.hits, response.hits[..1]);
    let request = ReadSnippet { doc_id: response.hits[1].doc_id.clone(), window_lines: 2 };
    let snippet = index().snippet(&call, &request).unwrap();
    assert_eq!((snippet.content.as_str(), snippet.total_lines), ("import b.py\nimport gone.py\n", Some(4)));
    let missing = ReadSnippet { doc_id: "doc:z.py".into(), window_lines: 2 };
    let error = IndexError::UnknownDocument { doc_id: "doc:z.py".into() };
    assert_eq!(index().snippet(&call, &missing), Err(error));
}

#[test]
fn dependencies_go_both_ways_to_the_requested_depth() {
    let (origin, cancel) = (origin(), CancelFlag::new());
    let call = Call { origin: &origin, cancel: &cancel, time_left: None };
    let deep = |file: &str, max_depth| {
        let impact = index().impact(&call, &ReadImpact { file: file.into(), max_depth }).unwrap();
        let files = |edges: Vec<wap_core::ImpactEdge>| {
            edges
                .into_iter()
                .map(|edge| format!("{}@{}", edge.file, edge.depth))
                .collect::<Vec<_>>()
                .join(" ")
        };
        (files(impact.inbound), files(impact.outbound), impact.unresolved)
    };
    assert_eq!(deep("a.py", 1), (String::new(), "b.py@1".into(), 1));
    assert_eq!(deep("a.py", 2), (String::new(), "b.py@1 c.py@2".into(), 1));
    assert_eq!(deep("c.py", 9), ("a.py@2 b.py@1".into(), String::new(), 0));
    let all = DiagnoseImpact { file: None, limit: 10, offset: 0 };
    let response = index().impact_diagnostics(&call, &all).unwrap();
    assert_eq!(
        (response.total, response.diagnostics[0].import.as_str(), response.diagnostics[0].line),
        (1, "gone.py", 2)
    );
    let none = DiagnoseImpact { offset: 1, ..all };
    let none = index().impact_diagnostics(&call, &none).unwrap();
    assert_eq!((none.total, none.diagnostics.len()), (1, 0));
}

#[test]
fn symbols_and_trees_are_those_of_the_file() {
    let (origin, cancel) = (origin(), CancelFlag::new());
    let call = Call { origin: &origin, cancel: &cancel, time_left: None };
    let symbols = index().symbols(&call, &ListSymbols { file: "a.py".into() }).unwrap().symbols;
    assert_eq!((symbols[0].name.as_str(), symbols[0].line_start, symbols.len()), ("login", 3, 1));
    assert_eq!(symbols[0].signature, "def login(name)");
    let tree = index().ast(&call, &ReadAst { file: "b.py".into(), max_nodes: 3 }).unwrap();
    assert_eq!((tree.nodes.len(), tree.total_nodes), (3, 4));
    let unknown = index().symbols(&call, &ListSymbols { file: "z.py".into() });
    assert_eq!(unknown, Err(IndexError::UnknownFile { file: "z.py".into() }));
}

#[test]
fn scripted_states_are_in_the_answers() {
    let (origin, cancel) = (origin(), CancelFlag::new());
    let call = Call { origin: &origin, cancel: &cancel, time_left: None };
    let index = index();
    index.set_state(IndexState::Building);
    index.mark_stale("b.py");
    let search = SearchCode { query: "login".into(), limit: 5 };
    let response = index.search(&call, &search).unwrap();
    assert_eq!(
        (response.freshness.state, response.freshness.stale_paths),
        (IndexState::Building, vec!["b.py".into()])
    );
    let other = index.symbols(&call, &ListSymbols { file: "a.py".into() }).unwrap();
    assert!(other.freshness.stale_paths.is_empty());
    index.set_failure(Some(IndexError::Unavailable));
    assert_eq!(index.search(&call, &search), Err(IndexError::Unavailable));
    index.set_failure(None);
    cancel.cancel();
    assert_eq!(index.search(&call, &search), Err(IndexError::Cancelled));
}

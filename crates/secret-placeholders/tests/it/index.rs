//! The adapter over an index in memory.

use std::sync::Arc;

use memory_workspace::MemoryIndex;
use secret_placeholders::{PlaceholderIndex, Withheld};
use wap_core::{
    Call, CodeIndex, DiagnoseImpact, DiagnoseImpactResponse, IndexError, ListSymbols, ListSymbolsResponse,
    ReadAst, ReadAstResponse, ReadImpact, ReadImpactResponse, ReadSnippet, ReadSnippetResponse, SearchCode,
    SearchCodeResponse,
};

use crate::masking::{secrets, token};
use crate::over_workspace::with_call;

type Masked = PlaceholderIndex<Box<MemoryIndex>>;

fn over(files: impl IntoIterator<Item = (&'static str, String)>) -> Masked {
    let index = Box::new(MemoryIndex::with_files(files));
    PlaceholderIndex::new(index, Some(Arc::new(secrets())), Withheld::default())
}

#[test]
fn files_of_credentials_have_no_symbols_and_no_tree() {
    let text = format!("def a(): # {}\n", ["hunter", "2hunter", "2"].concat());
    let masked = over([("credentials", text.clone()), ("a.py", text)]);
    let symbols = |file: &str| {
        with_call(0, |call| masked.symbols(call, &ListSymbols { file: file.into() })).map(|read| read.symbols)
    };
    let refused = IndexError::UnknownFile { file: "credentials".into() };
    assert_eq!(symbols("credentials").unwrap_err(), refused);
    assert_eq!(symbols("a.py").unwrap().len(), 1);
    let tree = ReadAst { file: "credentials".into(), max_nodes: 9 };
    assert_eq!(with_call(0, |call| masked.ast(call, &tree)).unwrap_err(), refused);
}

#[test]
fn a_piece_of_a_key_is_hidden_though_its_first_line_is_not_in_the_piece() {
    let body: String = (0..40).map(|line| format!("{line:02}{}\n", "Ab3/".repeat(15))).collect();
    let boundary = |word| format!("-----{word} {}{}-----\n", "PRIVATE ", "KEY");
    let key = format!("{}{body}{}", boundary("BEGIN"), boundary("END"));
    // A hit without a word of the query that is visible is left out, and the path has one.
    let masked = over([("ab.py", key)]);
    // The index in memory quotes three lines from the first match on.
    let request = SearchCode { query: "20Ab3".into(), limit: 3 };
    let response = with_call(0, |call| masked.search(call, &request)).unwrap();
    assert_eq!(response.hits.len(), 1);
    assert!(!response.hits[0].snippet.contains("Ab3/"), "{response:?}");
}

/// An index that cuts long lines of what a search has matched.
struct Cutting(MemoryIndex);

impl CodeIndex for Cutting {
    fn search(&self, call: &Call<'_>, request: &SearchCode) -> Result<SearchCodeResponse, IndexError> {
        let mut matched = self.0.search(call, request)?;
        for hit in &mut matched.hits {
            hit.snippet = format!("{}…\n", &hit.snippet[..110]);
        }
        Ok(matched)
    }

    fn snippet(&self, call: &Call<'_>, request: &ReadSnippet) -> Result<ReadSnippetResponse, IndexError> {
        self.0.snippet(call, request)
    }

    fn symbols(&self, call: &Call<'_>, request: &ListSymbols) -> Result<ListSymbolsResponse, IndexError> {
        self.0.symbols(call, request)
    }

    fn ast(&self, call: &Call<'_>, request: &ReadAst) -> Result<ReadAstResponse, IndexError> {
        self.0.ast(call, request)
    }

    fn impact(&self, call: &Call<'_>, request: &ReadImpact) -> Result<ReadImpactResponse, IndexError> {
        self.0.impact(call, request)
    }

    fn impact_diagnostics(
        &self,
        call: &Call<'_>,
        request: &DiagnoseImpact,
    ) -> Result<DiagnoseImpactResponse, IndexError> {
        self.0.impact_diagnostics(call, request)
    }
}

#[test]
fn a_cut_line_of_a_piece_shows_no_beginning_of_a_secret() {
    let line = format!("{} {}\n", "x".repeat(90), token());
    let index = Box::new(Cutting(MemoryIndex::with_files([("a.py", line), ("b.py", "x".repeat(200))])));
    let masked = PlaceholderIndex::new(index, Some(Arc::new(secrets())), Withheld::default());
    let request = SearchCode { query: "x".repeat(8), limit: 3 };
    let hits = with_call(0, |call| masked.search(call, &request)).unwrap().hits;
    assert_eq!(hits[0].snippet, format!("{} …\n", "x".repeat(90)));
    assert_eq!(hits[1].snippet, format!("{}…\n", "x".repeat(110)));
}

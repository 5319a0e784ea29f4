//! Code indexes that delegate calls to others.

use crate::{
    Call, CodeIndex, DiagnoseImpact, DiagnoseImpactResponse, IndexError, ListSymbols, ListSymbolsResponse,
    ReadAst, ReadAstResponse, ReadImpact, ReadImpactResponse, ReadSnippet, ReadSnippetResponse, SearchCode,
    SearchCodeResponse,
};

/// An index that delegates each question to another index, with work before or after it.
///
/// Every implementation is a [`CodeIndex`].
pub trait DelegatingIndex: Send + Sync {
    /// Delegates a question. It may go to several indexes, or to one several times.
    ///
    /// `operation` is the name of the method of [`CodeIndex`] that was called.
    ///
    /// # Errors
    ///
    /// Those of the index that answers, and its own.
    fn ask<T>(
        &self,
        call: &Call<'_>,
        operation: &'static str,
        question: impl Fn(&dyn CodeIndex) -> Result<T, IndexError>,
    ) -> Result<T, IndexError>;
}

impl<D: DelegatingIndex> CodeIndex for D {
    fn search(&self, call: &Call<'_>, request: &SearchCode) -> Result<SearchCodeResponse, IndexError> {
        self.ask(call, "search", |index| index.search(call, request))
    }

    fn snippet(&self, call: &Call<'_>, request: &ReadSnippet) -> Result<ReadSnippetResponse, IndexError> {
        self.ask(call, "snippet", |index| index.snippet(call, request))
    }

    fn symbols(&self, call: &Call<'_>, request: &ListSymbols) -> Result<ListSymbolsResponse, IndexError> {
        self.ask(call, "symbols", |index| index.symbols(call, request))
    }

    fn ast(&self, call: &Call<'_>, request: &ReadAst) -> Result<ReadAstResponse, IndexError> {
        self.ask(call, "ast", |index| index.ast(call, request))
    }

    fn impact(&self, call: &Call<'_>, request: &ReadImpact) -> Result<ReadImpactResponse, IndexError> {
        self.ask(call, "impact", |index| index.impact(call, request))
    }

    fn impact_diagnostics(
        &self,
        call: &Call<'_>,
        request: &DiagnoseImpact,
    ) -> Result<DiagnoseImpactResponse, IndexError> {
        self.ask(call, "impact_diagnostics", |index| index.impact_diagnostics(call, request))
    }
}
